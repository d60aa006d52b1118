"""Rules with sizes by pair: the same in other units, and right where sizes really differ."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees import guarantee_of
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.wider import wider_classes
from causalfocus.system.sizes import PairSizes
from other_units import (
    DECADES,
    NAMES,
    POWERS,
    WEIGHTS,
    actions_in,
    changes_in,
    model_in,
    sample_of,
    told_in,
)

ONES = np.ones(4)
RULES = ("randomized", "gaussian", "class")


def space_in(units: Floats, rule: str, **more: Any) -> cf.ModelClass:
    if rule == "randomized":
        return cf.ModelClass(matters=changes_in(units), outcomes=["yield"])
    return cf.ModelClass(matters=changes_in(units), widths={"yield": 4 * units[3]}, **more)


def run_in(units: Floats, rule: str) -> tuple[cf.Focus, list[tuple[str, ...]]]:
    """One run, with the same noise whatever the units are."""
    noise = np.random.default_rng(1).normal(size=(1500, 4))
    learner = cf.Focus(actions_in(units), space_in(units, rule), rule=rule, seed=1)
    return learner, told_in(learner, model_in(units), noise, 1500)


def of_effects(learner: cf.Focus, units: Floats) -> list[Any]:
    """Estimates and ends of intervals, in units of ones."""
    by = dict(zip(NAMES, units, strict=True))
    return [
        number * by[one.cause] / by[one.effect]
        for one in learner.effects()
        for number in (one.low, one.estimate, one.high)
        if number is not None
    ]


@pytest.mark.parametrize("rule", RULES)
def test_a_run_in_other_units_is_the_same_run(rule: str) -> None:
    """Powers of two leave every digit as it is: actions, stopping round, evidence, intervals."""
    here, acts = run_in(ONES, rule)
    there, others = run_in(POWERS, rule)
    assert here.decision.stop and not here.decision.refuted
    assert acts == others and here.rounds == there.rounds
    assert there.decision.evidence == pytest.approx(here.decision.evidence, rel=1e-9)
    assert of_effects(there, POWERS) == pytest.approx(of_effects(here, ONES), rel=1e-6)
    assert [v.stand for v in there.verdicts()] == [v.stand for v in here.verdicts()]


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_units_of_any_size_change_no_round(rule: str) -> None:
    here, acts = run_in(ONES, rule)
    there, others = run_in(DECADES, rule)
    assert acts == others and here.rounds == there.rounds
    assert there.decision.evidence == pytest.approx(here.decision.evidence, rel=1e-6)
    assert of_effects(there, DECADES) == pytest.approx(of_effects(here, ONES), rel=1e-6)
    alarms, others_ = here.alarms(), there.alarms()
    assert [(a.kind, a.node) for a in alarms[:3]] == [(a.kind, a.node) for a in others_[:3]]
    loud = [a.evidence for a in alarms if np.isfinite(a.evidence)]
    assert [a.evidence for a in others_ if np.isfinite(a.evidence)] == pytest.approx(loud, abs=1e-5)


def test_by_coins_units_of_any_size_change_no_statement() -> None:
    """The design weighs ties by the last digit, so rounds may differ; what is said of the same
    rounds does not.
    """
    here, _ = run_in(ONES, "randomized")
    there = cf.Focus(actions_in(DECADES), space_in(DECADES, "randomized"), seed=1)
    noise, deviations = (
        np.random.default_rng(1).normal(size=(200, 4)),
        np.sqrt(model_in(DECADES).noise_variances),
    )
    twin = cf.Focus(actions_in(ONES), space_in(ONES, "randomized"), seed=1)
    for row in noise:
        pair = twin.ask(), there.ask()
        if pair[0].targets != pair[1].targets:
            break
        for learner, action, units in zip((twin, there), pair, (ONES, DECADES), strict=True):
            model = model_in(units)
            scaled = row * np.sqrt(model.noise_variances)
            learner.tell(action, sample_of(model, action, scaled))
    assert twin.rounds >= 100 and here.decision.stop and deviations.all()
    assert there.decision.evidence == pytest.approx(twin.decision.evidence, rel=1e-4, abs=1e-4)
    ends = np.array(of_effects(twin, ONES)), np.array(of_effects(there, DECADES))
    is_known = np.isfinite(ends[0])
    assert np.array_equal(is_known, np.isfinite(ends[1]))
    assert ends[1][is_known] == pytest.approx(ends[0][is_known], rel=1e-4, abs=1e-6)


def moments_in(units: Floats, n: int) -> cf.Moments:
    model, rng = model_in(units), np.random.default_rng(3)
    moments = cf.Moments(NAMES)
    for i in range(n):
        ends = 2.0 * (-1) ** (i // 4) * units
        action = cf.OBSERVE if i % 4 == 3 else cf.do(NAMES[i % 4], ends[i % 4])
        moments.add(action, sample_of(model, action, rng.normal(size=4) * units))
    return moments


BOUNDS: dict[str, Any] = {"max_effect": 1.6, "noise_variance": (0.5, 2.0)}


@pytest.mark.parametrize("bounds", [{}, BOUNDS], ids=["free", "bounded"])
@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_sizes_that_are_units_are_those_of_one_number(rule: str, bounds: dict[str, Any]) -> None:
    """Data in other units by a table of sizes, against the same data in plain units by one number:
    the sizes by pair then differ by twelve orders of magnitude, and all else is the same.
    """
    ratio = DECADES[:, None] / DECADES
    table: dict[str, Any] = {}
    if bounds:
        spans = {n: tuple(np.array((0.5, 2.0)) * u**2) for n, u in zip(NAMES, DECADES, strict=True)}
        table = {"max_effect": 1.6 * ratio, "noise_variance": spans}
    plain = guarantee_of(rule, actions_in(ONES), cf.ModelClass(0.4, **bounds), epsilon=0.15)
    by_pair = guarantee_of(
        rule, actions_in(DECADES), cf.ModelClass(0.4 * ratio, **table), epsilon=0.15 * ratio
    )
    if rule == "class" and not bounds:
        # Without a range of the noise the sizes tell units up to one factor for all variables, and
        # the fixed prior of the noise is in these.
        factor = by_pair.units.own / DECADES  # type: ignore[attr-defined]
        assert factor == pytest.approx(np.full(4, factor[0]), rel=1e-9)
    for n in (40, 150, 400):
        here, there = moments_in(ONES, n), moments_in(DECADES, n)
        estimate, other = plain.estimate(here), by_pair.estimate(there)
        assert other.weights / ratio == pytest.approx(estimate.weights, rel=1e-6, abs=1e-9)
        first, second = plain.decide(here, estimate), by_pair.decide(there, other)
        nats = 1e-5 if bounds or rule == "gaussian" else 3.0
        assert second.evidence == pytest.approx(first.evidence, rel=1e-6, abs=nats)
        if nats < 1.0:
            assert first.stop == second.stop
        shares = np.full(len(plain.choices), 1.0 / len(plain.choices))
        gains = plain.gains(estimate, shares)
        assert by_pair.gains(other, shares) == pytest.approx(gains, rel=1e-6, abs=1e-12)
        spans_here, spans_there = plain.intervals(here, estimate), by_pair.intervals(there, other)
        assert len(spans_here) == len(spans_there) > 0
        for one, two in zip(spans_here, spans_there, strict=True) if nats < 1.0 else ():
            unit = ratio[NAMES.index(one.effect), NAMES.index(one.cause)]
            close = pytest.approx(one.low, rel=1e-4, abs=1e-4), pytest.approx(one.high, rel=1e-4)
            assert (two.low / unit, two.high / unit) == close
    lags = plain.lags(first, estimate, np.ones(len(shares)))
    lags_there = by_pair.lags(second, other, np.ones(len(shares)))
    counts = np.ones(len(shares))
    for stage, twin in zip(
        plain.stages(here, estimate, lags, counts),
        by_pair.stages(there, other, lags_there, counts),
        strict=True,
    ):
        if nats < 1.0:
            assert twin.deficits == pytest.approx(stage.deficits, rel=1e-5, abs=1e-4)
        assert twin.gains == pytest.approx(stage.gains, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_a_table_of_one_number_is_that_number(rule: str) -> None:
    one = guarantee_of(rule, actions_in(ONES), cf.ModelClass(0.4, **BOUNDS), epsilon=0.2)
    space = cf.ModelClass(np.full((4, 4), 0.4), **BOUNDS)
    other = guarantee_of(rule, actions_in(ONES), space, epsilon=None)
    off = ~np.eye(4, dtype=np.bool_)
    assert one.accuracies[off] == pytest.approx(other.accuracies[off])
    for n in (60, 300):
        moments = moments_in(ONES, n)
        estimate = one.estimate(moments)
        first, second = one.decide(moments, estimate), other.decide(moments, estimate)
        assert second.evidence == pytest.approx(first.evidence, rel=1e-6, abs=1e-6)
        assert second.stop == first.stop
        assert [(a.kind, a.node) for a in one.alarms(moments, estimate)[:4]] == [
            (a.kind, a.node) for a in other.alarms(moments, estimate)[:4]
        ]
        evidence = [a.evidence for a in one.alarms(moments, estimate)[:4]]
        found = [a.evidence for a in other.alarms(moments, estimate)[:4]]
        assert found == pytest.approx(evidence, abs=1e-5)


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_finer_sizes_for_one_pair_never_raise_the_evidence(rule: str) -> None:
    """Evidence at sizes by pair is at most that at the coarsest of them for all: the claim says
    more. And it is that at the coarsest where the pair with the finer size does not bind.
    """
    moments, sizes = moments_in(ONES, 1500), np.full((4, 4), 0.4)
    coarse = guarantee_of(rule, actions_in(ONES), cf.ModelClass(sizes), epsilon=None)
    estimate = coarse.estimate(moments)
    known = coarse.decide(moments, estimate).evidence
    found = []
    for size in (0.3, 0.1, 0.02):
        sizes[2, 0] = size  # the heat on the flow: no effect
        finer = guarantee_of(rule, actions_in(ONES), cf.ModelClass(sizes), epsilon=None)
        found.append(finer.decide(moments, estimate).evidence)
    assert known > 3.0 and found[-1] < 1.0
    assert all(later <= sooner + 0.5 for sooner, later in zip([known, *found], found, strict=False))


def sizes_at_random(rng: np.random.Generator) -> Floats:
    return rng.choice([0.4, 0.8, 1.6], (3, 3))


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_claims_with_sizes_by_pair_are_wrong_at_most_delta(rule: str) -> None:
    """Forty systems with effects at and just below the sizes of their pairs, and noise by variable:
    stops that are wrong, against the exact binomial limit.
    """
    delta, runs, wrong, stopped = 0.2, 40, 0, 0
    names, spans = ("a", "b", "c"), {"a": (0.5, 1.5), "b": (0.2, 0.4), "c": (1.0, 4.0)}
    actions = cf.ActionSet(dict.fromkeys(names, (-3, 3)))
    for run in range(runs):
        rng = np.random.default_rng([run, 5])
        sizes = sizes_at_random(rng)
        factor = rng.choice([1.0, 1.02, 1.6] if rule == "class" else [0.0, 0.98, 1.0, 1.6], (3, 3))
        weights = np.tril(sizes * factor * rng.choice([-1, 1], (3, 3)), -1)
        weights *= rng.random((3, 3)) < 0.7
        model = cf.LinearSEM(weights, [rng.uniform(*spans[n]) for n in names], names=names)
        space = cf.ModelClass(sizes, noise_variance=spans if rule == "class" else None)
        learner = cf.Focus(actions, space, rule=rule, delta=delta, seed=run)
        while learner.rounds < 400 and not learner.decision.stop:
            action = learner.ask()
            learner.tell(action, model.sample(action, 1, rng)[0])
        decision = learner.decision
        stopped += decision.stop
        is_right = not decision.refuted and learner.guarantee.holds(learner.estimate, model)
        wrong += decision.stop and not is_right
    assert stopped >= runs // 2
    assert wrong <= stats.binom.ppf(0.999, runs, delta)


def test_holds_by_pair() -> None:
    truth = model_in(ONES)
    actions, sizes = actions_in(ONES), np.full((4, 4), 1.0)
    sizes[3, 2], sizes[2, 1] = 0.02, 0.1

    def claimed(**changes: float) -> cf.LinearSEM:
        weights = WEIGHTS.copy()
        for name, weight in changes.items():
            cause, effect = name.split("_")
            weights[NAMES.index(effect), NAMES.index(cause)] = weight
        return cf.LinearSEM(weights, truth.noise_variances, truth.intercepts, names=NAMES)

    for rule in ("gaussian", "class"):
        holds = guarantee_of(rule, actions, cf.ModelClass(sizes), epsilon=None).holds
        assert holds(claimed(heat_yield=0.8 + 0.49), truth)
        assert not holds(claimed(heat_yield=0.8 + 0.51), truth)
        assert not holds(claimed(flow_yield=0.5 + 0.011), truth)
        assert holds(claimed(flow_yield=0.5 + 0.009), truth)
        assert not holds(claimed(press_flow=0.0), truth)  # of 0.7, and 0.1 matters
        # 0.8 of the heat on the yield is below what matters: the gaussian rule need not show it.
        assert holds(claimed(heat_yield=0.0), truth) == (rule == "gaussian")


def test_epsilon_by_pair_is_kept_for_every_pair() -> None:
    """The one number of the kernels is the least of all pairs, in units of what matters."""
    epsilon = PairSizes.of("epsilon", {("heat", "yield"): 0.05, "other": 0.2})
    rule = guarantee_of("class", actions_in(ONES), cf.ModelClass(0.4), epsilon=epsilon)
    assert isinstance(rule, ClassRule) and rule.accuracy == 0.05
    sizes = np.full((4, 4), 0.4)
    sizes[2, 1] = 4.0
    rule = guarantee_of("class", actions_in(ONES), cf.ModelClass(sizes), epsilon=epsilon)
    assert isinstance(rule, ClassRule) and rule.accuracy == pytest.approx(0.05)
    assert ((rule.accuracy * sizes)[~np.eye(4, dtype=np.bool_)] <= 0.2).all()
    assert rule.accuracies[3, 0] == 0.05 and rule.accuracies[2, 1] == 0.2


def test_words_of_classes_by_pair() -> None:
    spans = {"heat": (0.5, 2.0), "yield": (1.0, 2.0)}
    space = space_in(ONES, "class", noise_variance=spans, max_effect={"other": 2.0})
    rule = guarantee_of("class", actions_in(ONES), space, epsilon=None)
    assert rule.claim_in_words().endswith(
        "every weight is within half of what matters of its weight"
    )
    words = rule.assumptions_in_words()
    assert "every effect changes heat by 1.6, press by 1.6, flow by 1.6, yield by 1.6" in words
    assert "none larger than the limit given for its pair" in words
    assert "that of heat between 0.5 and 2, that of yield between 1 and 2" in words
    gaussian = guarantee_of(
        "gaussian", actions_in(ONES), cf.ModelClass(np.eye(4) + 1), epsilon=None
    )
    assert "of the size given for its pair or more is shown" in gaussian.claim_in_words()


def test_wider_classes_by_pair_hold_what_was_fitted() -> None:
    spans = dict.fromkeys(NAMES, (0.01, 0.02))
    space = cf.ModelClass(np.full((4, 4), 0.1), {"other": 0.55}, spans)
    moments = moments_in(ONES, 400)
    steps = list(wider_classes(space, moments, "class"))
    widest = next(
        step.space for step in steps if " with max_effect" in step.words and "noise" in step.words
    )
    fitted = cf.joint_mle(moments, replace(space, max_effect=None, noise_variance=None))
    assert isinstance(widest.max_effect, PairSizes)
    assert widest.contains(fitted) and not space.contains(fitted)
    assert (widest.largest(NAMES) >= space.largest(NAMES)).all()
