"""Rounds to go on the way: what is weighed with what, and when nothing is said."""

import math
from dataclasses import replace

import pytest

import causalfocus as cf
from causalfocus.guarantees import randomized_forecast
from causalfocus.planning.forecast import forecasts
from causalfocus.planning.remaining import (
    FIRST_FORETOLD,
    LEAST_SHARE,
    foretold_rest,
    rounds_to_go,
)
from worlds import ACTIONS, SPACE, new_focus, play, rig


def total_of(learner: cf.Focus) -> float:
    (found,) = forecasts(
        learner.estimate,
        learner.actions,
        learner.space,
        epsilon=learner.epsilon,
        deltas=(learner.delta,),
        rule=learner.rule,
    )
    return found.rounds


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_a_rule_without_a_plan_subtracts_what_is_done(rule: str) -> None:
    learner = play(new_focus(rule=rule), rig(), 80)
    rest = foretold_rest(learner)
    assert rest == pytest.approx(max(total_of(learner) - 80, LEAST_SHARE * total_of(learner)))
    found = rounds_to_go(learner)
    assert rest is not None and found is not None
    factors = learner.guarantee.spreads.at(80 / (80 + rest))
    ends = tuple(rest * part for part in factors)
    assert (found.low, found.rounds, found.high) == pytest.approx(ends, abs=0.5)


def test_a_plan_counts_the_more_the_further_a_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """As powers whose exponents are shares of the way that is foretold from the start."""
    learner, weights = cf.Focus(ACTIONS, replace(SPACE, intercept=True), seed=0), []
    for _ in range(3):
        play(learner, rig(learner.rounds), 60)
        rest, total = foretold_rest(learner), total_of(learner)
        with monkeypatch.context() as patch:
            patch.setattr(randomized_forecast, "_rounds_from_start", lambda *_: math.inf)
            left = learner.rounds_to_go()  # the plan alone
        assert rest is not None and left is not None and rest != left
        by_total = max(total - learner.rounds, LEAST_SHARE * total)
        trust = math.log(rest / left) / math.log(by_total / left)
        assert trust == pytest.approx(max(1.0 - learner.rounds / total, 0.0), abs=1e-6)
        weights.append(trust)
    assert weights == sorted(weights, reverse=True)


def test_without_a_way_along_the_plan_that_from_the_start_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = play(cf.Focus(ACTIONS, SPACE, seed=0), rig(), 60)
    total = total_of(learner)
    monkeypatch.setattr(randomized_forecast, "_left_of_plan", lambda *_: math.inf)
    assert learner.rounds_to_go() == pytest.approx(total - 60)
    monkeypatch.setattr(randomized_forecast, "MOST_FROM_START", 2)  # as with many variables
    along = learner.rounds_to_go()
    assert along is not None and total - 60 <= along <= 3 * total


def test_where_nothing_can_be_foretold_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds_to_go(play(new_focus(rule="paper", ends="game"), rig(), 40)) is None
    early = play(new_focus(), rig(), FIRST_FORETOLD * 3 - 1)
    assert rounds_to_go(early) is None
    play(early, rig(1), 1)
    assert rounds_to_go(early) is not None
    learner = play(cf.Focus(ACTIONS, SPACE, seed=0), rig(), 60)
    monkeypatch.setattr(cf.Focus, "rounds_to_go", lambda _: 0.5)
    assert rounds_to_go(learner) is None  # the plan leaves out what it waits for
    monkeypatch.setattr(cf.Focus, "rounds_to_go", lambda _: math.inf)
    assert rounds_to_go(learner) is None
