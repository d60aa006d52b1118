"""Verdicts for people: sorted, in words, as a table of signs and as intervals above each other."""

import io
import math
import re
from itertools import permutations
from typing import Any

import pytest
from rich.console import Console

import causalfocus as cf
from causalfocus.guarantees.effects import Effect
from causalfocus.learner.effects import Effects
from causalfocus.report.forest import MOST_ROWS, forest_drawing
from causalfocus.report.live import LiveView
from causalfocus.report.matrix import legend_drawing, matrix_drawing
from causalfocus.report.pairs import MOST_PRESENT, Pairs, interval_in_words
from causalfocus.report.spending import by_words, in_brief
from worlds import ACTIONS, rig

NASTY = "<b>heat</b>"


def effect(cause: str = "a", effect: str = "b", **changes: Any) -> Effect:
    """An open pair unless something else is said."""
    facts: dict[str, Any] = {
        "estimate": 0.0,
        "low": -0.5,
        "high": 0.4,
        "verdict": "open",
        "is_settled": False,
        "waits_for": 150.0,
        "matters": 0.3,
        "accuracy": 0.15,
    }
    return Effect(cause=cause, effect=effect, **(facts | changes))


def present(cause: str, effect_: str, low: float, high: float, **changes: Any) -> Effect:
    facts = {"estimate": (low + high) / 2, "verdict": "present", "is_settled": True} | changes
    return effect(cause, effect_, low=low, high=high, **facts)


ABSENT = effect("b", "a", low=-0.1, high=0.1, verdict="absent", is_settled=True)
NONE = effect("c", "a", low=0.0, high=0.0, verdict="absent", is_settled=True)
BLANK = effect("c", "b", low=-math.inf, high=math.inf, waits_for=math.inf)
WEAK = present("a", "c", 0.02, 0.2, verdict="present, small")
STRONG = present("b", "c", -1.0, -0.8)
NEAR = present("a", "b", 0.2, 0.8, is_settled=False, waits_for=120.0)


def pairs_of(*effects: Effect, **changes: Any) -> Pairs:
    return Pairs(effects=Effects(effects, 100), **changes)


ALL = pairs_of(ABSENT, NONE, NEAR, BLANK, WEAK, STRONG)


def test_what_is_there_comes_first_and_what_is_furthest_from_done_last() -> None:
    assert ALL.lines == (STRONG, NEAR, WEAK, ABSENT, NONE, BLANK)
    assert ALL.present == (STRONG, NEAR, WEAK) and ALL.open == (BLANK,)
    far, near = effect("x", "y", waits_for=900.0), effect("y", "x", waits_for=110.0)
    assert pairs_of(near, far, ABSENT).lines == (ABSENT, near, far)
    assert pairs_of(near, far).first_open == (far, near)


def test_pairs_in_words() -> None:
    assert ALL.headline == "4 of 6 pairs settled"
    assert ALL.counts == "3 present (1 of them small), 2 absent, 1 open"
    assert (ALL.waits_for(NEAR), ALL.more(NEAR)) == ("accuracy ±0.15", "about 20")
    assert (ALL.waits_for(STRONG), ALL.more(STRONG)) == ("", "")
    assert (ALL.waits_for(BLANK), ALL.more(BLANK)) == ("a first interval", "")
    assert ALL.without_interval == "1 pair has no interval yet, of effects on b."
    assert ALL.waits_for(effect()) == "its sign, or below 0.3"
    assert interval_in_words(NONE) == "known to be none"
    assert interval_in_words(BLANK) == "none yet"


def test_nothing_is_foretold_of_a_pair_that_is_not_foretold_of_all() -> None:
    """That the middle of an interval is near what matters says nothing for long."""
    late = effect(waits_for=5e6)
    assert pairs_of(late).more(late) == "not foretold yet"
    assert pairs_of(late, to_go=1234).more(late) == "about 1,200"
    assert pairs_of(NEAR, to_go=1234).more(NEAR) == "about 20"


def test_the_table_of_verdicts_has_every_pair_in_its_place() -> None:
    names = ("a", "b", "c")
    rows = [ABSENT, NONE, NEAR, BLANK, WEAK, STRONG]
    drawn = matrix_drawing(Effects(rows, 100), names)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in drawn.split("<tr>")[2:]]
    plain = [[re.sub("<[^>]+>", "", cell) for cell in row] for row in cells]
    assert plain == [
        ["a", "", "absent", "none"],
        ["b", "+0.5", "", "open"],
        ["c", "0.11 small", "−0.9", ""],
    ]
    assert legend_drawing(Effects(rows, 100), names) == ""


def test_many_variables_have_a_sign_for_each_pair() -> None:
    names = (*(f"x{i}" for i in range(8)), NASTY)
    found = [
        effect(cause, one, low=-0.1, high=0.1, verdict="absent")
        for one, cause in permutations(names, 2)
    ]
    found[0] = present(names[1], names[0], 0.5, 0.7)
    drawn = matrix_drawing(Effects(found, 100), names)
    assert drawn.count("<td") == 1 + 81 and drawn.count(">0<") == 71
    assert 'class="present positive" title="x1 → x0: present, +0.5 to +0.7">+</td>' in drawn
    assert "<b>" not in drawn and drawn.count('scope="col"') == drawn.count('scope="row"') == 9
    legend = legend_drawing(Effects(found, 100), names)
    assert "present, positive" in legend and "present, negative" not in legend


def test_intervals_above_each_other() -> None:
    wide = effect(NASTY, "b", low=-40.0, high=30.0)
    drawn = forest_drawing([STRONG, NEAR, wide])
    assert drawn.count("<g><title>") == 3 and "<b>" not in drawn
    assert drawn.count("<circle") == 2  # no estimate where there is no effect
    xs = [float(x) for d in re.findall(r' d="M([^"]+)"', drawn) for x in d.split()[0:1]]
    assert max(xs) <= 640.0 and min(xs) >= 0.0
    many = [effect(f"x{i}", "y") for i in range(MOST_ROWS + 5)]
    assert forest_drawing(many).count("<g><title>") == MOST_ROWS


def test_of_many_pairs_the_first_are_listed() -> None:
    many = [present(f"x{i}", "y", 0.5 + i, 0.6 + i) for i in range(MOST_PRESENT + 7)]
    pairs = pairs_of(*many, *(effect("z", f"x{i}", waits_for=110.0 + i) for i in range(30)))
    assert not pairs.is_few and len(pairs.first_present) == MOST_PRESENT
    assert pairs.first_present[0] is many[-1]
    assert [one.waits_for for one in pairs.first_open] == [139.0 - i for i in range(10)]


def test_actions_that_set_many_variables_are_named_by_how_many() -> None:
    wide, narrow = cf.do({f"x{i}": 1.0 for i in range(9)}), cf.do({"x1": 1.0, "x2": 2.0})
    assert in_brief(wide) == "set 9 variables" and in_brief(narrow) == str(narrow)
    other = cf.do({f"x{i}": -1.0 for i in range(3, 12)})
    spent = by_words({wide: 3, other: 4, narrow: 2}, at_once=20)
    assert spent == {"set 9 variables": 7, "set x1, x2": 2}


def test_the_live_view_shows_what_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """And does not weigh the evidence for all pairs together, which is dear."""

    def weigh(*_: object) -> float:
        raise AssertionError("the live view weighs the evidence")

    monkeypatch.setattr("causalfocus.guarantees.randomized_decision.level_of", weigh)
    learner = cf.Focus(ACTIONS, cf.ModelClass(0.3), epsilon=0.15, rule="randomized", seed=1)
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with LiveView(console) as view:
        cf.run(learner, rig(), max_rounds=50, on_round=view)
    assert isinstance(console.file, io.StringIO)
    said = re.sub("\\x1b[^a-zA-Z]*[a-zA-Z]", "", console.file.getvalue())
    assert "0 of 6 pairs settled" in said and "round 50" in said and "nats" not in said
