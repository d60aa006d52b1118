"""Set points: against a fine grid, out of reach, and with switches."""

from itertools import product

import numpy as np
import pytest

import causalfocus as cf

SYSTEM = cf.LinearSEM(
    [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 0], [-0.4, 1.5, 2.0, 0]],
    1.0,
    [0, 3, 0, 10],
    ["heat", "flow", "salt", "yield"],
)
RANGES = {"heat": (0.0, 10.0), "flow": (2.0, 6.0), "salt": (-1.0, 1.0), "yield": None}
ACTIONS = cf.ActionSet(RANGES)


def literal_yield(heat: float, flow: float, salt: float) -> float:
    """All three are set, so flow does not follow heat."""
    return 10.0 - 0.4 * heat + 1.5 * flow + 2.0 * salt


def test_it_is_the_least_change_by_a_fine_grid() -> None:
    wished = 17.5
    found = SYSTEM.settings_for({"yield": wished}, ACTIONS)
    assert found.is_reached and list(found.settings) == ["heat", "flow", "salt"]
    assert literal_yield(*found.settings.values()) == pytest.approx(wished, abs=1e-6)
    assert found.means["yield"] == pytest.approx(wished, abs=1e-6)
    units = np.array(
        [found.settings["heat"] - 5, found.settings["flow"] - 4, found.settings["salt"]]
    )
    z = units / [5.0, 2.0, 1.0]
    assert found.size == pytest.approx(np.abs(z).max())
    grid, least = np.linspace(-1.0, 1.0, 201), np.inf
    for a, b in product(grid, grid):
        c = (wished - literal_yield(5 + 5 * a, 4 + 2 * b, 0.0)) / 2.0
        if abs(c) <= 1.0:
            least = min(least, a * a + b * b + c * c)
    assert float(z @ z) <= least + 1e-9 and float(z @ z) == pytest.approx(least, rel=1e-3)


def test_ends_of_ranges_bind() -> None:
    """With one end reached the rest does more: 14 + 2 + 3 + 2 = 21 is the most."""
    found = SYSTEM.settings_for({"yield": 20.9}, ACTIONS)
    assert found.is_reached and found.size == pytest.approx(1.0)
    assert found.settings["flow"] == pytest.approx(6.0)
    for name, value in found.settings.items():
        low, high = RANGES[name] or (0.0, 0.0)
        assert low <= value <= high


def test_what_is_out_of_reach_says_how_near_one_gets() -> None:
    found = SYSTEM.settings_for({"yield": 60}, ACTIONS, using=["flow", "salt"])
    most = max(10 + 1.5 * flow + 2 * salt for flow in (2, 6) for salt in (-1, 1))
    assert not found.is_reached and found.means["yield"] == pytest.approx(most)
    assert found.words.startswith(
        "Out of reach within the ranges: yield comes to 21 at the nearest"
    )
    assert "\n" not in found.words and "flow = 6, salt = 1" in found.words


def test_what_is_set_hides_its_cause_so_fewer_may_reach_further() -> None:
    """Through flow, which may go beyond its own range, heat moves more than alone."""
    chain = cf.LinearSEM([[0, 0, 0], [2.0, 0, 0], [0, 1.0, 0]], 1.0, 0.0, ["heat", "flow", "yield"])
    actions = cf.ActionSet({"heat": (-2, 2), "flow": (-1, 1), "yield": None})
    found = chain.settings_for({"yield": 3}, actions)
    assert found.is_reached and found.settings == pytest.approx({"heat": 1.5})
    assert not chain.settings_for({"yield": 3}, actions, using=["heat", "flow"]).is_reached
    far = chain.settings_for({"yield": 9}, actions)
    assert not far.is_reached and far.means["yield"] == pytest.approx(4.0)


def test_several_wishes() -> None:
    found = SYSTEM.settings_for({"yield": 16, "flow": 6.5}, ACTIONS)
    assert found.is_reached and list(found.settings) == ["heat", "salt"]
    assert found.settings == pytest.approx({"heat": 7.0, "salt": (16 - 10 + 2.8 - 9.75) / 2})
    both = SYSTEM.settings_for({"yield": 30, "flow": 6.5}, ACTIONS)
    assert not both.is_reached and "flow comes to" in both.words and "yield comes to" in both.words


def test_a_switch_stands_at_one_of_its_ends() -> None:
    actions = cf.ActionSet(RANGES, switches=["flow"])
    for wished, end in ((17.5, 6.0), (11.5, 2.0)):
        found = SYSTEM.settings_for({"yield": wished}, actions)
        assert found.is_reached and found.settings["flow"] == end
        assert literal_yield(*found.settings.values()) == pytest.approx(wished, abs=1e-6)


def test_units_change_nothing() -> None:
    scale = np.array([1e3, 1e-3, 1.0, 1e5])
    other = cf.LinearSEM(
        SYSTEM.weights * scale[:, None] / scale, 1.0, SYSTEM.intercepts * scale, SYSTEM.names
    )
    ranges = {
        name: None if span is None else (span[0] * unit, span[1] * unit)
        for (name, span), unit in zip(RANGES.items(), scale, strict=True)
    }
    here = SYSTEM.settings_for({"yield": 17.5}, ACTIONS).settings
    there = other.settings_for({"yield": 17.5e5}, cf.ActionSet(ranges)).settings
    for name, unit in zip(SYSTEM.names, scale[:3], strict=False):
        assert there[name] == pytest.approx(here[name] * unit)


@pytest.mark.parametrize(
    ("wished", "using", "message"),
    [
        ({}, None, "Wishes are values by name"),
        ({"smell": 3}, None, "There is no node named 'smell'"),
        ({"yield": float("nan")}, None, "The wish for yield is a number"),
        ({"yield": "60"}, None, "The wish for yield is a number"),
        ({"yield": 60}, "heat", "using is a list of names"),
        ({"yield": 60}, ["yield"], "yield cannot be used: it has a wish"),
        ({"heat": 3}, ["yield"], "yield cannot be used: it has no range"),
        ({"yield": 60}, [], "Nothing is left to be set"),
    ],
)
def test_what_makes_no_sense_is_refused(wished: object, using: object, message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        SYSTEM.settings_for(wished, ACTIONS, using=using)  # type: ignore[arg-type]


def test_actions_of_other_variables_are_refused() -> None:
    with pytest.raises(cf.InvalidInputError, match="Give those of the same variables"):
        SYSTEM.settings_for({"yield": 60}, cf.ActionSet({"heat": (0, 1)}))
