"""The resolution certificate: what it claims, when it is given, and what it does not depend on."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.guarantees.departures import Reorder
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.kernels.arithmetic.sets import nondescendants
from causalfocus.kernels.gaussian import levels as resolution_levels
from causalfocus.kernels.gaussian import resolution
from causalfocus.oracles import gaussian_estimate
from instances import draw_moments
from worlds import ACTIONS, action_set, actions_of, draw_samples, move, play, rig

SPACE = cf.ModelClass(0.3, intercept=False)


@pytest.mark.parametrize("level", [1.0, 3.0, 8.0])
def test_leaving_early_does_not_change_the_verdict(level: float) -> None:
    for seed in range(6):
        _, moments = draw_moments(3, 600, seed, density=0.8)
        rule = GaussianRule(ACTIONS, SPACE, 0.15, math.exp(-level))
        estimate = gaussian_estimate(moments, SPACE)
        decision = rule.decide(moments, estimate)
        assert (
            decision.survey is None or decision.stop == rule.survey(moments, estimate).rejects_all
        )
        if decision.survey is not None:
            plain = GaussianRule(ACTIONS, SPACE, 0.15, math.exp(-level)).decide(
                moments, estimate, is_due=False
            )
            assert decision.stop == (plain.evidence >= level)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_surely_enough_does_not_move_the_rival(seed: int) -> None:
    """Tables that stop where the evidence suffices: the same verdict and the same least entry."""
    _, moments = draw_moments(4, 500, seed, density=0.6)
    model = gaussian_estimate(moments, SPACE)
    estimate = model.weights
    rule = GaussianRule(ACTIONS, SPACE, 0.15, 0.05)
    split = rule.split(moments)
    assert split is not None
    data = resolution.Data(rule.times(moments), split)
    whole, short = (
        resolution.row_tables(
            data, estimate, rule.scale, -math.inf, enough, True, rule.parents_of(model)
        ).evidence
        for enough in (math.inf, rule.threshold)
    )
    levels = [resolution_levels.row_evidence(tables, estimate) for tables in (whole, short)]
    assert (levels[0] >= rule.threshold) == (levels[1] >= rule.threshold)
    assert levels[1] <= levels[0] + 1e-9
    if levels[0] < rule.threshold:
        assert levels[1] == pytest.approx(levels[0])
        low = whole < rule.threshold
        assert short[low] == pytest.approx(whole[low])


def test_what_the_claim_says() -> None:
    rule = GaussianRule(ACTIONS, cf.ModelClass(0.3), 0.15, 0.05)
    model = cf.LinearSEM([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]], 1.0)

    def truth(direct: float, other: float, backwards: float = 0.0) -> cf.LinearSEM:
        return cf.LinearSEM([[0, backwards, 0], [direct, 0, 0], [0, other, 0]], 1.0)

    assert rule.holds(model, truth(0.5, 0.0))
    assert rule.holds(model, truth(0.36, 0.29))  # weak effects may exist
    assert not rule.holds(model, truth(0.34, 0.0))
    assert not rule.holds(model, truth(0.5, -0.3))
    assert not rule.holds(model, truth(0.0, 0.0, 0.5))
    graph_alone = GaussianRule(ACTIONS, cf.ModelClass(0.3), "graph", 0.05)
    assert graph_alone.holds(model, truth(1.5, 0.0))
    assert not graph_alone.holds(model, truth(0.0, 0.0))


def test_a_weak_effect_may_exist_and_a_missing_one_is_not_certified() -> None:
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, 0.05, 0.0]], 1.0)
    actions = action_set(truth.names)
    moments = cf.Moments.expected(truth, dict.fromkeys(actions, 300))
    estimate = gaussian_estimate(moments, SPACE)
    assert [edge[:2] for edge in estimate.edges] == [("X1", "X2")]
    value = cf.evidence(moments, estimate, SPACE, epsilon=0.15)
    assert value > 3.0
    nothing = cf.LinearSEM(np.zeros((3, 3)), 1.0)
    backwards = cf.LinearSEM([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 1.0)
    shifted = cf.LinearSEM([[0.0, 0.0, 0.0], [0.72, 0.0, 0.0], [0.0, 0.0, 0.0]], 1.0)
    for wrong in (nothing, backwards, shifted):
        assert cf.evidence(moments, wrong, SPACE, epsilon=0.15) < 0


@pytest.mark.parametrize("intercept", [False, True])
def test_relabelling_batching_and_units(intercept: bool) -> None:
    """The order of the names, bulk or single, and a common unit of all variables do not matter."""
    space = cf.ModelClass(0.3, intercept=intercept)
    truth, _ = draw_moments(3, 1, 4, intercept=intercept, density=1.0)
    rng = np.random.default_rng(4)
    taken, samples = draw_samples(truth, 700, rng)
    bulk, single, other = (
        cf.Moments(names) for names in (truth.names, truth.names, ["X3", "X1", "X2"])
    )
    bulk.add_many(taken, samples)
    for action, sample in zip(taken, samples, strict=True):
        single.add(action, sample)
    other.add_many(taken, samples[:, [2, 0, 1]])
    larger = cf.Moments(truth.names)
    larger.add_many([move(a, lambda value: 1000 * value) for a in taken], 1000 * samples)
    estimate = gaussian_estimate(bulk, space)
    value = cf.evidence(bulk, estimate, space, epsilon=0.15)
    assert cf.evidence(single, estimate, space, epsilon=0.15) == value
    mirrored = cf.evidence(other, estimate.relabel(other.names), space, epsilon=0.15)
    assert mirrored == pytest.approx(value, abs=1e-6)
    assert cf.evidence(larger, estimate, space, epsilon=0.15) == pytest.approx(value, abs=1e-6)
    if intercept:
        shift = np.array([100.0, -7.0, 3.0])
        moved = cf.Moments(truth.names)
        by = dict(zip(truth.names, shift.tolist(), strict=True))
        there = [
            cf.do(a.target, a.value + by[a.target]) if a.target and a.value is not None else a
            for a in taken
        ]
        moved.add_many(there, samples + shift)
        assert cf.evidence(moved, estimate, space, epsilon=0.15) == pytest.approx(value, abs=1e-6)


def test_marks_wait_for_the_origin_of_every_row() -> None:
    """With intercepts a row is shifted by its first own sample; a mark before that would let the
    direction know the future. One by one or in bulk, the same marks are kept.
    """
    rng = np.random.default_rng(0)
    taken = [cf.do("a", 1.0)] * 20 + [cf.OBSERVE] * 30
    samples = rng.standard_normal((50, 2))
    samples[:20, 0] = 1.0
    bulk, single = cf.Moments(["a", "b"]), cf.Moments(["a", "b"])
    bulk.add_many(taken, samples)
    for action, sample in zip(taken, samples, strict=True):
        single.add(action, sample)
    assert sorted(bulk._state.marks) == sorted(single._state.marks) == [2]  # not 8, not 16 samples
    # Of a: 12 and 30 samples, less its origin. Of b: 32 and 50, less its own and that of a.
    assert bulk.timed_rows(intercept=True).counts.tolist() == [[11.0, 30.0], [29.0, 48.0]]
    for mark, sums in bulk._state.marks.items():
        assert (sums == single._state.marks[mark]).all()


def test_no_data_one_node_and_the_graph_alone() -> None:
    empty = cf.Moments(["a", "b"])
    assert cf.evidence(empty, gaussian_estimate(empty, SPACE), SPACE, epsilon=0.15) < 0
    alone = cf.Moments(["a"])
    rule = GaussianRule(ACTIONS, SPACE, 0.15, 0.05)
    assert rule.decide(alone, gaussian_estimate(alone, SPACE)).stop
    truth, moments = draw_moments(3, 600, 3, density=0.8)
    estimate = gaussian_estimate(moments, SPACE)
    both = [cf.evidence(moments, estimate, SPACE, epsilon=e) for e in (0.15, "graph")]
    assert both[1] >= both[0]
    assert GaussianRule(ACTIONS, SPACE, "graph", 0.05).holds(estimate, truth)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_run_to_the_certificate_and_back(intercept: bool) -> None:
    """FOCUS with nothing but min_effect; the log replays to the bit; other rules continue it."""
    truth = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [1.4, 0.0, 0.0], [0.2, -0.8, 0.0]],
        [0.3, 5.0, 1.0],
        [1.0, -2.0, 0.5] if intercept else 0.0,
    )
    actions = action_set(truth.names, 3.0)
    space = cf.ModelClass(0.5, intercept=intercept)
    learner = cf.Focus(actions, space, epsilon=0.25, delta=0.1, rule="gaussian")
    assert cf.run(learner, rig(1, truth), max_rounds=5000)
    result = learner.result()
    assert result.certified and learner.guarantee.holds(result.model, truth)
    for interval in result.intervals:
        actual = truth.weights[
            truth.names.index(interval.effect), truth.names.index(interval.cause)
        ]
        assert interval.low <= actual <= interval.high
        assert interval.high - interval.low < 4 * 0.25
    again = learner.replay()
    assert again.result().evidence == result.evidence and again.rounds == learner.rounds
    assert actions_of(again) == actions_of(learner)
    wider = learner.with_rule("class")
    assert wider.rounds == learner.rounds and wider.rule == "class"
    finer = learner.with_space(cf.ModelClass(0.6, intercept=intercept))
    assert finer.rounds == learner.rounds and finer.space.least_effect == 0.6
    assert learner.rule == "gaussian" and learner.space.least_effect == 0.5


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_the_first_perfect_fits_do_not_freeze_the_design(rule: str, intercept: bool) -> None:
    """One sample fits perfectly, and nothing bounds the noise: an infinite divergence, almost."""
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [0.7, 0.0, 0.0], [0.0, 0.6, 0.0]], 1.0)
    actions = action_set(truth.names)
    space = cf.ModelClass(0.2, intercept=intercept)
    learner = cf.Focus(actions, space, epsilon=0.1, rule=rule)
    play(learner, rig(0, truth), 200)
    assert learner.state.hedge.learning_rate > 0.01


def test_what_no_longer_rises_is_aimed_at() -> None:
    """An effect far below min_effect that is plain to see: its direction has to be shown, which the
    game alone does late.
    """
    truth = cf.LinearSEM([[0.0, 0.147], [0.0, 0.0]], [1.0, 0.2])
    actions = action_set(truth.names)
    learner = cf.Focus(actions, cf.ModelClass(0.5), epsilon=0.22, delta=0.2, rule="gaussian")
    assert cf.run(learner, rig(8, truth), max_rounds=3000)
    assert learner.guarantee.holds(learner.result().model, truth)


def test_rivals_are_systems_that_break_the_claim() -> None:
    """A missing edge and a reversed order, with the best rows that they leave."""
    truth, moments = draw_moments(3, 600, 3, density=0.8)
    estimate = gaussian_estimate(moments, SPACE)
    rule = GaussianRule(ACTIONS, SPACE, 0.15, 0.05)
    assert rule.holds(estimate, truth)
    j, k = np.argwhere(estimate.weights)[0]
    others = np.array([int(s) for s in nondescendants(estimate.weights)])
    others[j] &= ~(1 << int(k))
    without = Reorder(others, np.arange(3) == j).rival(estimate, moments, SPACE)
    assert without.weights[j, k] == 0.0 and not rule.holds(estimate, without)
    before = np.array([0b000, 0b001, 0b011])
    turned = Reorder(before, np.ones(3, dtype=bool)).rival(estimate, moments, SPACE)
    assert turned.order.tolist() == [0, 1, 2] and not rule.holds(estimate, turned)
    rows = moments.rows(intercept=False)
    expected = np.linalg.lstsq(rows.grams[2][:2, :2], rows.grams[2][:2, 2], rcond=None)[0]
    assert turned.weights[2, :2] == pytest.approx(expected)


def test_the_reason_names_what_is_left() -> None:
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    actions = action_set(truth.names)
    space = cf.ModelClass(0.3, intercept=False)
    learner = cf.Focus(actions, space, epsilon=0.15, rule="gaussian")
    system = rig(0, truth)
    reasons = set()
    while not learner.has_stopped:
        play(learner, system, 1)
        reasons.add(learner.decision.reason)
    assert any("X1 -> X2" in reason for reason in reasons)
    assert any("breaks the claim is rejected" in reason for reason in reasons)


def test_complexity_of_the_claim() -> None:
    """Two nodes: the closest system moves the one weight by epsilon, or has the order reversed."""
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    space = cf.ModelClass(0.3, intercept=False)
    found = cf.complexity(truth, actions, space, epsilon=0.1, rule="gaussian")
    # All rounds at do(X1, +-2): G = 4, so 1/2 log(1 + 0.1^2 * 4).
    assert found.value == pytest.approx(0.5 * math.log1p(0.04), rel=2e-3)
    assert "X1 -> X2 at" in found.rivals[0].changes
    with pytest.raises(cf.InvalidInputError, match="paper's claim alone"):
        found.lower_bound(0.05)
    blind = cf.ActionSet({"X1": None, "X2": None})
    hidden = cf.complexity(truth, blind, space, epsilon=0.1, rule="gaussian")
    assert not hidden.is_identifiable
