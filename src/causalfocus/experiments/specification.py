"""What is run: settings, methods, and all that the results depend on."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.experiments.sources import source_digest
from causalfocus.system.space import PAPER_CLASS

DELTAS: Final = (0.1, 0.05, 0.02, 0.01, 0.005)
METHODS: Final = ("focus", "random", "ait-dcdi", "cbed")
HOMES: Final = {
    name: f"causalfocus.experiments.methods.{name.replace('-', '_')}" for name in METHODS
}
"""Modules of the methods. By name, so that the results of one do not depend on the code of the
others."""

CERTIFIED: Final = ("focus", "random")
"""Methods that are run on to their certificate."""


@dataclass(frozen=True, order=True)
class Setting:
    """Number of nodes and density of the graphs."""

    p: int
    density: float

    @property
    def name(self) -> str:
        return f"p{self.p}-d{self.density:g}"

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """From a name such as p6-d0.3."""
        nodes, sign, density = text.partition("-d")
        try:
            setting = cls(int(nodes.removeprefix("p")), float(density))
        except ValueError:
            sign = ""
        if not (sign and nodes.startswith("p")):
            raise InvalidInputError(f"A setting looks like p6-d0.3, got {text!r}.")
        if not (setting.p >= 2 and 0 <= setting.density <= 1):
            raise InvalidInputError(
                f"A setting has two nodes or more and a density from 0 to 1, got {text!r}."
            )
        return setting


PAPER_SETTINGS: Final = (
    Setting(5, 0.3),
    Setting(6, 0.3),
    Setting(7, 0.3),
    Setting(6, 0.4),
    Setting(6, 0.5),
)


def log_spaced(budget: int, n: int = 25) -> tuple[int, ...]:
    """Rounds at which the curves are looked at: from 10 to the budget, evenly on a log scale."""
    return tuple(np.unique(np.geomspace(min(10, budget), budget, n).round().astype(int)).tolist())


@dataclass(frozen=True, kw_only=True)
class Specification:
    """All that the results of a method depend on but setting and replicate.

    Attributes
    ----------
    method : by its name
    budget : rounds of the curves
    most_rounds : to the certificate, for methods that have one
    reach : of the interventions
    epsilon, deltas : of the certificate
    seed : root of all random numbers
    """

    method: str
    budget: int = 1000
    most_rounds: int = 100_000
    reach: float = 2.0
    epsilon: float = 0.07
    deltas: tuple[float, ...] = DELTAS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidInputError(
                f"There is no method {self.method!r}; the methods are {', '.join(METHODS)}."
            )
        if self.budget < 1:
            raise InvalidInputError(f"The budget must be 1 or more rounds, got {self.budget}.")

    @property
    def marks(self) -> tuple[int, ...]:
        return log_spaced(self.budget)

    @property
    def is_certified(self) -> bool:
        return self.method in CERTIFIED

    def to_dict(self) -> dict[str, Any]:
        """Everything, with the fingerprint of the code."""
        return asdict(self) | {
            "marks": list(self.marks),
            "space": asdict(PAPER_CLASS),
            "code": source_digest("causalfocus.experiments.replicate", HOMES[self.method]),
        }

    @property
    def hash(self) -> str:
        """Ten digits that differ between specifications and between versions of the code."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]
