"""The constants in docs/certificate.md are those of the code, and they make a mixture."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from causalfocus.guarantees import alarms
from causalfocus.kernels.exact import certificate
from causalfocus.kernels.gaussian import resolution

ROOT = Path(__file__).parents[2]

CLASS = {
    "edge": certificate.W_EDGE,
    "noise": certificate.W_NOISE,
    "swap": certificate.W_SWAP,
    "alarm": alarms.W_ALARM,
}
GAUSSIAN = {
    "edge": resolution.W_EDGE,
    "weak": resolution.W_WEAK,
    "noise": resolution.W_NOISE,
    "swap": resolution.W_SWAP,
    "alarm": alarms.W_ALARM,
}


def weights_in(section: str) -> dict[str, float]:
    """The table of terms in one section of the document."""
    document = (ROOT / "docs" / "certificate.md").read_text()
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", document, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^\| (\w+) \| (0\.\d+)\b.*\|$", text, re.MULTILINE)
    return {term: float(weight) for term, weight in rows}


@pytest.mark.parametrize(
    ("section", "weights"), [("The terms", CLASS), ("Without a class", GAUSSIAN)]
)
def test_the_document_has_the_weights_of_the_code(section: str, weights: dict[str, float]) -> None:
    assert weights_in(section) == weights


@pytest.mark.parametrize("weights", [CLASS, GAUSSIAN], ids=["class", "gaussian"])
def test_the_weights_of_a_mixture_sum_to_at_most_one(weights: dict[str, float]) -> None:
    """Ville's inequality needs it; in decimals, so that no rounding hides an excess."""
    assert all(weight > 0 for weight in weights.values())
    assert sum(Decimal(repr(weight)) for weight in weights.values()) <= 1


def test_no_weight_of_the_code_is_left_out() -> None:
    for module, weights in ((certificate, CLASS), (resolution, GAUSSIAN)):
        named = {name for name in vars(module) if name.startswith("W_")}
        assert {name.removeprefix("W_").lower() for name in named} == set(weights) - {"alarm"}
