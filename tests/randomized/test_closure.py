"""What certain effects rule out where there are no loops; and what is said if there are some."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.closure import (
    SCALE_OF_A_DESCENT,
    Closed,
    against_order,
    certain_descents,
    certain_effects,
    close,
    closed_at,
    ruled_out,
    without_loops,
)
from causalfocus.guarantees.portions import portions_of, scope_of_all
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.guarantees.randomized_decision import RandomizedDecision
from causalfocus.guarantees.randomized_intervals import (
    Demands,
    intervals_at,
    level_of,
    narrow,
)
from causalfocus.guarantees.randomized_record import (
    left_unknown,
    new_record,
    with_answer,
    with_ask,
    without_ask,
)
from causalfocus.kernels.randomized.records import form_of
from causalfocus.kernels.randomized.row_tests import least_scale, scale_of_coins
from causalfocus.learner.parts import are_same, put_together, take_apart
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.descents import Descents
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import Intent
from randomized import rigs
from randomized.rigs import CHAIN, LOOP, REACH, Bench, Noise, Rig, bench, bounded_evidence, hidden
from worlds import action_set, finish, play, rig

LEVEL = math.log(20)
EVERYTHING = ~np.eye(3, dtype=np.bool_)
BACK = CHAIN.T != 0.0
"""From effect to cause along one arrow of the chain."""


def reachable(has_edge: Bools, start: int) -> set[int]:
    """All that arrows lead to from a node, by walking along them."""
    found: set[int] = set()
    todo = [start]
    while todo:
        for effect in np.flatnonzero(has_edge[:, todo.pop()]):
            if effect not in found:
                found.add(int(effect))
                todo.append(int(effect))
    return found


@given(st.integers(2, 6).flatmap(lambda p: st.lists(st.booleans(), min_size=p * p, max_size=p * p)))
def test_what_is_ruled_out_is_what_a_walk_along_certain_arrows_comes_from(
    arrows: list[bool],
) -> None:
    p = math.isqrt(len(arrows))
    has_edge = np.array(arrows).reshape(p, p) & ~np.eye(p, dtype=np.bool_)
    signs = np.where((np.arange(p * p) % 2 == 0).reshape(p, p), 1.0, -1.0)
    low = np.where(has_edge, np.where(signs > 0, 0.1, -0.3), -0.2)
    high = np.where(has_edge, np.where(signs > 0, 0.3, -0.1), 0.2)
    is_direct = np.tri(p, dtype=np.bool_)
    kept = Intervals(np.where(is_direct, low, -0.2), np.where(is_direct, high, 0.2), 9)
    assert np.array_equal(certain_effects(kept), has_edge & is_direct)
    found = ruled_out(kept, has_edge & ~is_direct)
    seen = against_order(np.where(has_edge, signs, 0.0))
    for j in range(p):
        for i in range(p):
            leads, back = i in reachable(has_edge, j), j in reachable(has_edge, i)
            assert found[j, i] == leads
            assert seen[j, i] == (leads and not back)


@given(
    st.integers(2, 5).flatmap(lambda p: st.lists(st.floats(-1, 1), min_size=p * p, max_size=p * p))
)
def test_a_guess_without_loops_keeps_what_it_can(numbers: list[float]) -> None:
    p = math.isqrt(len(numbers))
    weights = np.array(numbers).reshape(p, p) * ~np.eye(p, dtype=np.bool_)
    certain = np.tril(weights != 0.0, -1) & (np.abs(weights) > 0.5)
    found = without_loops(weights, np.abs(weights), certain)
    assert not any(j in reachable(found != 0.0, j) for j in range(p))
    assert np.array_equal(found[certain], weights[certain])
    for j, k in np.argwhere((weights != 0.0) & (found == 0.0)):
        assert k in reachable((found != 0.0) & (certain | (np.abs(found) >= abs(weights[j, k]))), j)


def worked(weights: Floats, noise: Noise, n: int, seed: int = 0) -> Bench:
    one = bench(weights, noise, seed=seed, failing=0.1, miss=0.1)
    one.play(n)
    return one


def test_rho_is_that_of_all_coefficients_that_were_unknown_at_the_start() -> None:
    """Else tests would be chosen by what was seen."""
    one = worked(CHAIN, hidden, 300)
    for j in range(3):
        causes, stakes = np.flatnonzero(EVERYTHING[j]), one.state.read().stakes
        slow = scale_of_coins(2) * rigs.least_scale(stakes, j, causes)
        assert least_scale(stakes, j, causes) == pytest.approx(slow, rel=1e-9)
        fewer = scale_of_coins(1) * rigs.least_scale(stakes, j, causes[:1])
        assert abs(fewer / slow - 1.0) > 0.1


@pytest.mark.parametrize("n", [150, 900])
@pytest.mark.parametrize("noise", [rigs.gaussian, hidden])
def test_every_row_without_what_is_ruled_out_that_passes_is_within_the_bounds(
    noise: Noise, n: int
) -> None:
    """On a line over more than the bounds; and the bounds are not much wider than what passes."""
    one = worked(CHAIN, noise, n)
    level, own = 1.0, portions_of(scope_of_all(one.state.unknown))
    for j, k in np.argwhere(EVERYTHING):
        out = np.zeros_like(EVERYTHING)
        i = 3 - j - k
        out[j, i] = True
        zero = Intervals(np.where(out, 0.0, -np.inf), np.where(out, 0.0, np.inf), 0)
        found = narrow(one.state.read(), one.state, level, own, zero, out)
        assert found.low[j, i] == found.high[j, i] == 0.0
        if CHAIN[j, i] != 0.0 or not np.isfinite(found.half[j, k]):
            continue
        passed = []
        for x in np.linspace(-1.6, 1.6, 801):
            b = np.zeros(3)
            b[k] = found.middle[j, k] + x * found.half[j, k]
            if bounded_evidence(one.state, j, b).excess(one.state, j, b, level) > 0.0:
                passed.append(abs(x))
        assert 0.7 < max(passed) < 1.0


def grown(
    seed: int, weights: Floats = CHAIN, n: int = 480, order: str = "as asked", acyclic: bool = True
) -> CoinRecord:
    """A record of a rig with a hidden cause, after batches of eight asks."""
    record, rig = (
        new_record(EVERYTHING, acyclic=acyclic),
        Rig(weights, hidden, np.random.default_rng(seed)),
    )
    rng = np.random.default_rng([seed, 3])
    for batch in range(n // 8):
        told: list[tuple[int, Floats | None]] = []
        for i in range(8):
            asked = rng.permutation([True, rng.random() < 0.5, False])
            signs = np.where(asked, rng.choice([-1.0, 1.0], size=3), 0.0)
            number = 8 * batch + i + 1
            record = with_ask(record, Intent(number, asked, signs))
            row = rig.respond(asked, REACH * signs)
            told.append((number, None if number % 25 == 4 else row))
        for number, answer in told if order == "as asked" else reversed(told):
            if answer is None:
                record = without_ask(record, number, -math.log(0.3))
            else:
                record = with_answer(record, number, answer, -math.log(0.3))
    return record


@cache
def grown_once(acyclic: bool = True) -> CoinRecord:
    return grown(1, acyclic=acyclic)


def test_the_closure_is_complete_and_costs_no_width() -> None:
    """All pairs against the order are ruled out, the others are narrower than without."""
    closed, plain = grown_once(), grown_once(acyclic=False)
    unclosed = closed.unclosed
    assert unclosed is not None and plain.unclosed is None
    assert (closed.kept.low >= unclosed.low).all() and (closed.kept.high <= unclosed.high).all()
    is_back = np.triu(EVERYTHING)
    assert not closed.kept.low[is_back].any() and not closed.kept.high[is_back].any()
    assert (plain.kept.half[is_back] > 0.0).all()
    assert closed.kept.half[1, 0] < 0.95 * plain.kept.half[1, 0]
    assert np.array_equal(left_unknown(closed), EVERYTHING & ~is_back)
    assert np.array_equal(left_unknown(plain), EVERYTHING)
    reading = closed.sums.read()
    descents = closed.descents
    assert descents is not None and plain.descents is None
    again = close(reading, closed.sums, -math.log(0.3), Closed(closed.kept, unclosed, descents))
    assert np.array_equal(ruled_out(again.kept, descents.certain), is_back)


def test_new_tests_need_not_tell_the_rest_from_what_is_ruled_out() -> None:
    """The first variable of the chain is free of causes, so its references are zero; the direction
    of the middle one for its cause does not use the coin of its effect, which moves nothing else.
    """
    closed, plain = (
        one.sums.stakes[max(one.sums.stakes)] for one in (grown_once(), grown_once(False))
    )
    is_back = np.triu(EVERYTHING)
    assert not closed.references[is_back].any() and plain.references[is_back].all()
    assert abs(closed.directions[1, 0, 2]) < 1e-6 < 0.05 < abs(plain.directions[1, 0, 2])
    assert closed.directions[1, 2].any()


def test_a_descent_is_a_test_of_one_coin_by_its_definition() -> None:
    """At every level, with the rounds as they were."""
    one, descents = worked(CHAIN, hidden, 120), Descents.empty(3)
    for stakes, asked, signs, row in one.literal.rounds:
        descents = descents.count(asked, signs, row, stakes)
    stakes = one.state.read().stakes
    for i, j in np.argwhere(EVERYTHING):
        s, v = one.literal.sums(i, np.zeros(3), None)
        rho = SCALE_OF_A_DESCENT * float(form_of(stakes, i)[i, i])
        nats = float(rigs.evidence(s, v, rho)[j]) - math.log(6 / 0.05)
        if nats > 0.1:
            assert certain_descents(descents, stakes, nats - 0.01)[i, j]
        assert not certain_descents(descents, stakes, max(nats, 0.0) + 0.01)[i, j]


def test_a_path_is_certain_long_before_its_effects_and_what_is_no_path_is_not() -> None:
    early = grown(1, n=168)
    assert early.descents is not None and not certain_effects(early.kept).any()
    assert early.descents.certain[1, 0] and not left_unknown(early)[0, 1]
    n_wrong = 0
    for seed in range(100):
        descents = grown(seed, n=168).descents
        assert descents is not None
        n_wrong += bool(np.triu(descents.certain).any())
    assert n_wrong <= stats.binom.ppf(1 - 1e-4, 100, 0.3)


def test_claims_with_the_closure_hold_in_a_few_hundred_runs() -> None:
    """With a hidden cause, at delta 0.3; every run in which any interval at any look misses its
    effect, or that is refuted, is wrong. With feedback, which is not allowed here, nearly all are.
    """
    n_runs, n_wrong = 200, 0
    for seed in range(n_runs):
        kept = grown(seed, n=240).kept
        n_wrong += not ((kept.low <= CHAIN) & (kept.high >= CHAIN)).all()
    assert n_wrong <= stats.binom.ppf(1 - 1e-4, n_runs, 0.3)
    loops = [grown(seed, LOOP).kept for seed in range(20)]
    is_wrong = [not ((kept.low <= LOOP) & (kept.high >= LOOP)).all() for kept in loops]
    assert sum(is_wrong) > stats.binom.ppf(1 - 1e-4, 20, 0.3)


def test_a_loop_is_refuted_as_a_loop() -> None:
    one, unclosed = grown(2, LOOP, 1600), None
    unclosed = one.unclosed
    assert unclosed is not None
    assert one.kept.is_refuted.any() and not unclosed.is_refuted.any()
    n_before = one.kept.rounds
    assert grown(2, LOOP, 1608).kept.rounds == n_before, "a refuted record does not look again"


def test_the_order_of_telling_changes_nothing_and_parts_are_put_together() -> None:
    one = grown_once()
    assert are_same(one.kept, grown(1, order="backwards").kept)
    tree, arrays = take_apart(one)
    assert are_same(put_together(CoinRecord, tree, arrays), one)
    assert one.unclosed is not None and left_unknown(one).sum() == 3


def test_levels_with_the_closure_are_those_at_which_it_proves_the_claim() -> None:
    one = grown_once()
    sums, at, demands = (
        one.sums,
        closed_at(one),
        Demands(np.full((3, 3), 0.35), np.full((3, 3), 0.7)),
    )
    level, plain = level_of(sums, CHAIN, demands, at), level_of(sums, CHAIN, demands)
    reading = sums.read()
    assert at is not None and closed_at(grown_once(False)) is None
    assert 0.0 < plain < level
    assert demands.holds(at(reading, level), CHAIN).all()
    assert not demands.holds(at(reading, 1.002 * level), CHAIN).all()
    assert level_of(sums, -CHAIN, demands, at) == 0.0


TRUTH = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, -0.7, 0]], [1.0, 0.9, 1.1])
SPACE = cf.ModelClass(0.3, acyclic=True)
FREE = cf.ModelClass(0.3)


def learner_for(space: cf.ModelClass, seed: int = 0, at_once: int = 1) -> cf.Focus:
    actions = action_set(TRUTH.names, at_once=at_once)
    return cf.Focus(actions, space, epsilon=0.15, delta=0.05, rule="randomized", seed=seed)


def test_a_run_stops_earlier_with_the_evidence_that_says_so() -> None:
    learner, plain = learner_for(SPACE), finish(learner_for(FREE), rig(0, TRUTH), 3_000)
    system = rig(0, TRUTH)
    while not learner.has_stopped and learner.rounds < 3_000:
        play(learner, system, 1)
        decision = learner.decision
        assert isinstance(decision, RandomizedDecision)
        if learner.rounds % 100 == 0 or decision.stop:
            assert decision.stop == (decision.evidence >= decision.threshold)
    assert learner.result().model.edges and plain.has_stopped
    assert learner.guarantee.holds(learner.result().model, TRUTH)
    assert learner.rounds < 0.9 * plain.rounds
    verdicts = {(one.cause, one.effect): one for one in learner.effects()}
    assert verdicts["X3", "X1"].verdict == "absent" and verdicts["X3", "X1"].half == 0.0
    assert all(one.is_settled for one in verdicts.values())


@pytest.mark.parametrize("back", [0.5, 0.9])
def test_feedback_is_refuted_by_name_and_the_same_log_goes_on_without_the_assumption(
    back: float,
) -> None:
    weights = [[0.0, 0.0, back], [0.9, 0.0, 0.0], [0.0, -0.7, 0.0]]
    looped = cf.LinearSEM(weights, [1.0, 0.9, 1.1], loops=True)
    learner = finish(learner_for(SPACE), rig(1, looped), 3_000)
    refuted = learner.result().refuted
    assert learner.decision.refuted and refuted is not None
    assert "there is feedback" in str(refuted) and "acyclic=True" in str(refuted)
    again = finish(learner.with_space(FREE), rig(2, looped), 6_000)
    assert again.has_stopped and not again.decision.refuted
    assert again.guarantee.holds(again.result().model, looped)


def test_replay_is_equal_to_the_bit() -> None:
    one = play(learner_for(SPACE, seed=3, at_once=2), rig(3, TRUTH), 400)
    again = learner_for(SPACE, seed=3, at_once=2)
    for told in one.log:
        assert again.ask() == told.action
        again.tell(told.action, told.sample)
    assert are_same(one.state, again.state)
    coins = one.state.coins
    assert coins is not None and left_unknown(coins).sum() < 6


def test_the_estimate_respects_what_is_ruled_out() -> None:
    """Also where a hidden cause makes the exact engine turn an arrow round."""
    actions = action_set(TRUTH.names)
    rule = RandomizedRule(actions, SPACE, 0.15, 0.05)
    learner = play(learner_for(SPACE), rig(0, TRUTH), 350)
    kept = rule.kept_intervals(learner.moments)
    coins = learner.moments.coins
    assert coins is not None and coins.descents is not None
    assert ruled_out(kept, coins.descents.certain).any()
    names = TRUTH.names
    turned = cf.Moments.expected(
        cf.LinearSEM(-TRUTH.weights.T, [1.0, 0.9, 1.1], names=names), {cf.OBSERVE: 2_000}
    )
    moments = cf.Moments.from_state(names, turned.state, coins)
    found = rule.estimate(moments)
    assert not found.has_loops and (found.weights != 0.0).any()
    assert not found.weights[ruled_out(kept, coins.descents.certain)].any()


def test_the_forecast_counts_on_the_closure() -> None:
    rounds = {}
    for space in (SPACE, FREE):
        rule = RandomizedRule(action_set(TRUTH.names), space, 0.15, 0.05)
        rounds[space.acyclic] = rule.forecast(TRUTH, lambda _: {})
    assert rounds[True] < 0.9 * rounds[False]
    known = replace(FREE, forbidden=(("X2", "X1"), ("X3", "X1"), ("X3", "X2")))
    rule = RandomizedRule(action_set(TRUTH.names), known, 0.15, 0.05)
    assert rule.forecast(TRUTH, lambda _: {}) < rounds[True], "with fewer tests as well"


def test_nothing_is_closed_before_the_first_round() -> None:
    record = new_record(EVERYTHING, acyclic=True)
    assert np.array_equal(left_unknown(record), EVERYTHING)
    assert record.unclosed is not None
    assert are_same(record.unclosed.with_regions(None), no_intervals(EVERYTHING))
    assert record.unclosed.regions is not None and np.isinf(record.unclosed.regions.radii).all()
    assert not np.isfinite(intervals_at(record.sums, LEVEL).high[EVERYTHING]).any()
