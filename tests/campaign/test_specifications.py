"""Specifications: read back as they were, or refused with the reason."""

import json
from pathlib import Path

import pytest

import causalfocus as cf
from causalfocus.campaign import Specification


def test_specifications_read_back_as_they_were(tmp_path: Path) -> None:
    actions = cf.ActionSet(
        {"heat": (20, 80), "flow": 1.5, "yield": None},
        costs={"observe": 0.5, "heat": 5, cf.do("heat", 80.0): 9},
    )
    space = cf.ModelClass(0.2, 3.0, (0.5, 2.0), intercept=False)
    one = Specification(
        title="Reactor",
        actions=actions,
        units=("°C", "", ""),
        space=space,
        epsilon="graph",
        delta=0.1,
        rule="class",
    )
    assert Specification.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(one.to_dict()))
    assert Specification.read(file) == one
    assert Specification.from_stored(one.to_stored()) == one


def test_switches_read_back_as_they_were(tmp_path: Path) -> None:
    given = "variables: {pump: [0, 1], heat: [20, 80]}\nmin_effect: 0.2\nepsilon: 0.1\n"
    file = tmp_path / "spec.yaml"
    file.write_text(given)
    without = Specification.read(file)
    assert without.actions.switches == () and "switches" not in without.to_dict()
    file.write_text(given + "switches: [pump]\n")
    one = Specification.read(file)
    assert one.actions.switches == ("pump",) and one.actions != without.actions
    assert one.learner().choices.middles == {"heat": 50.0}
    assert Specification.from_dict(json.loads(json.dumps(one.to_dict()))).actions == one.actions
    assert Specification.from_stored(one.to_stored()) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variables": {}}, "needs variables"),
        ({"variables": {"a": {"rnage": [0, 1]}}}, "The variable a has no 'rnage'"),
        ({"variables": {"a": {"range": [3, 1]}}}, "empty range"),
        ({"variables": {"a": {"cost": 3}}}, "a has a cost but no range"),
        ({"variables": {"a": {"range": [0, 1], "unit": 3}}}, "unit of a must be a text"),
        ({"epsilonn": 1}, "has no 'epsilonn'"),
        ({"epsilon": 3}, "above min_effect / 2"),
        ({"delta": 2}, "delta is a probability"),
        (
            {"rule": "never"},
            "one of randomized, gaussian, class, paper, got 'never'",
        ),
        ({"stopping": "evidence"}, "has no 'stopping'. It can have .* rule"),
        ({"title": 3}, "title must be a text"),
        ({"switches": ["c"]}, "no node named 'c'"),
        ({"switches": ["b"]}, "b is among the switches and cannot be set"),
        ({"switches": "a"}, "switches is a list of names, got 'a'"),
        ({"outcomes": []}, r"No coin picks a value of b, .* outcomes=\['b'\] .* specification"),
        ({"noise_variance": 3}, "noise_variance"),
    ],
)
def test_bad_specifications(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {
        "variables": {"a": {"range": [0, 1]}, "b": {}},
        "min_effect": 0.2,
        "epsilon": 0.1,
    }
    good["outcomes"] = ["b"]
    Specification.from_dict(good)
    with pytest.raises(cf.InvalidInputError, match=message):
        Specification.from_dict(good | change)


def test_what_names_no_rule() -> None:
    """Today it is the randomized one; a file that was kept means the default of its time."""
    given = {"variables": {"a": {"range": [0, 1]}, "b": {}}, "min_effect": 0.2, "epsilon": 0.1}
    assert Specification.from_dict(given | {"outcomes": ["b"]}).rule == "randomized"
    for version in (1, 2, 3):
        old = Specification.from_stored(json.dumps({"version": version, **given}))
        assert old.rule == "gaussian" and old.learner().guarantee.name == "gaussian"


def test_specifications_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    with pytest.raises(cf.InvalidInputError, match="cannot be read"):
        Specification.read(file)
    file.write_text("variables: [")
    with pytest.raises(cf.InvalidInputError, match="is not YAML"):
        Specification.read(file)
    file.write_text("min_effect: 1\nepsilon: 0.1\nvariables: {a: [0, 1], a: [1, 2]}\n")
    with pytest.raises(cf.InvalidInputError, match="has 'a' twice"):
        Specification.read(file)
    file.write_text("- a\n- b\n")
    with pytest.raises(cf.InvalidInputError, match="is a mapping, got list"):
        Specification.read(file)
    file.write_text("variables: {a: [0, 1]}\n")
    with pytest.raises(cf.InvalidInputError, match="does not say what matters"):
        Specification.read(file)
    file.write_text("min_effect: 1\nepsilon:\nvariables: {a: [0, 1]}\n")
    with pytest.raises(cf.InvalidInputError, match=r"epsilon is empty.*graph"):
        Specification.read(file)
    other = tmp_path / "spec.json"
    other.write_text("{")
    with pytest.raises(cf.InvalidInputError, match="is not JSON"):
        Specification.read(other)
