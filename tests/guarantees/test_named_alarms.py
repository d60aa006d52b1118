"""Hidden causes, products, carry-over and heavy tails are called by their names."""

import math
from typing import Literal

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees import guarantee_of
from causalfocus.guarantees.alarm import WORDS, Alarm, Kind
from causalfocus.guarantees.alarms import CLEARLY, DOSE_PART, N_KINDS, W_ALARM, loudest
from causalfocus.guarantees.doses import sets_between
from causalfocus.kernels.evidence import training
from causalfocus.kernels.records import Row
from causalfocus.learner.advice import BEYOND_ALL, OF_NO_BOUND
from causalfocus.report.checks import KIND_WORDS
from worlds import action_set, draw_samples, finish

World = Literal["hidden", "product", "carry-over", "heavy tails", "outliers", "clean"]
TRUTH = cf.LinearSEM([[0.0, 0.0, 0.0], [0.7, 0.0, 0.0], [0.5, -0.6, 0.0]], 1.0)


class Rig:
    """X1 -> X2, and both on X3, in a world that breaks one assumption."""

    def __init__(self, world: World, seed: int) -> None:
        self._world, self._rng = world, np.random.default_rng([seed, 41])
        self._before = self._rng.standard_normal(3)

    def _noise(self) -> Floats:
        rng = self._rng
        fresh = rng.standard_normal(3)
        match self._world:
            case "hidden":
                fresh[2] = 0.7 * fresh[1] + math.sqrt(0.51) * fresh[2]
            case "carry-over":
                fresh = 0.7 * self._before + math.sqrt(0.51) * fresh
            case "heavy tails":
                fresh = rng.standard_t(3, 3) / math.sqrt(3.0)
            case "outliers":
                fresh *= np.where(rng.random(3) < 0.05, 10.0, 1.0)
        self._before = fresh
        return fresh

    def __call__(self, action: cf.Action) -> Floats:
        x, noise = np.zeros(3), self._noise()
        for j in range(3):
            x[j] = TRUTH.weights[j] @ x + noise[j]
            if self._world == "product" and j == 2:
                x[j] += 0.3 * x[0] * x[1]
            if action.target == TRUTH.names[j]:
                x[j] = action.value
        return x


@pytest.mark.parametrize("rule", ["gaussian", "class"])
@pytest.mark.parametrize(
    ("world", "kind", "node"),
    [
        ("hidden", "dose", "X3"),
        ("product", "product", "X3"),
        ("carry-over", "lag", None),
        ("heavy tails", "shape", None),
        ("outliers", "shape", None),
    ],
)
def test_what_is_broken_is_named(world: World, kind: Kind, node: str | None, rule: str) -> None:
    actions, space = action_set(TRUTH.names, reach=1.5), cf.ModelClass(0.3)
    learner = cf.Focus(actions, space, epsilon=0.15, delta=0.05, rule=rule, seed=7)
    finish(learner, Rig(world, 3), 3_000)
    assert learner.is_refuted
    alarm = learner.decision.alarm
    assert alarm is not None and alarm.kind == kind
    assert node is None or alarm.node == node
    said = learner.result().refuted or ""
    assert alarm.words in said and BEYOND_ALL[kind] in said


def test_clean_systems_are_not_refuted() -> None:
    """Over many short logs, at the largest delta that anyone would choose; the exact limit."""
    runs, delta, cried = 60, 0.2, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, 5])
        truth = cf.random_sem(3, density=0.7, seed=seed)
        taken, samples = draw_samples(truth, 400, rng)
        rule = guarantee_of("gaussian", action_set(truth.names), cf.ModelClass(0.15), epsilon=0.07)
        moments, loud = cf.Moments(truth.names), False
        for start in range(0, 400, 100):
            moments.add_many(taken[start : start + 100], samples[start : start + 100])
            found = rule.alarms(moments, truth)
            loud = loud or (bool(found) and found[0].evidence >= math.log(1 / delta))
        cried += loud
    assert stats.beta.ppf(0.95, cried + 1, runs - cried) < delta


def test_lag_and_shape_average_to_at_most_one() -> None:
    """One node with unit noise: the lag of a residual, and heavy tails about a fit, both known
    before the samples that they foretell.
    """
    rng = np.random.default_rng(9)
    runs, n, mark = 2000, 44, 32
    logs: dict[str, list[float]] = {"lag": [], "shape": []}
    for _ in range(runs):
        y = rng.standard_normal(n)
        early = cf.Moments(["a"])
        early.add_many([cf.OBSERVE] * n, y[:, None])
        watch = early.state.watch
        likelihood = float(stats.norm.logpdf(y[mark:]).sum())
        shape = watch.residuals.shapes[0, 0] - watch.marks[2].shapes[0, 0]
        logs["shape"].append(float(np.log(np.exp(shape - likelihood).mean())))
        rows = watch.rows(2, about_origins=False)
        (first, n_first), (rest, n_rest) = rows.with_lag(0)
        columns = np.array([rows.extra])
        log_m = training.log_predictive(Row(*first), n_first, Row(*rest), n_rest, columns)
        logs["lag"].append(log_m - likelihood)
    for kind, values in logs.items():
        cut = np.minimum(np.exp(values), 100.0)
        assert 0.7 < cut.mean() < 1 + 4 * cut.std() / math.sqrt(runs), kind


def test_heavy_tails_about_a_parent_that_is_not_reported_are_not_read() -> None:
    """The numerator might close a cycle: no evidence, rather than a doubtful one."""
    truth = cf.LinearSEM([[0.0, 0.0], [1.0, 0.0]], 1.0)
    taken, samples = draw_samples(truth, 300, np.random.default_rng(1))
    moments = cf.Moments(truth.names)
    moments.add_many(taken, samples)
    rule = guarantee_of("gaussian", action_set(truth.names), cf.ModelClass(0.3), epsilon=0.15)

    def nodes(report: cf.LinearSEM) -> set[str]:
        return {alarm.node for alarm in rule.alarms(moments, report) if alarm.kind == "shape"}

    assert nodes(truth) == {"X1", "X2"}
    assert nodes(cf.LinearSEM(np.zeros((2, 2)), 1.0)) == {"X1"}
    assert nodes(cf.LinearSEM([[0.0, 1.0], [0.0, 0.0]], 1.0)) == {"X1"}


def test_doses_are_set_against_all_sets_of_parents() -> None:
    weights = np.zeros((4, 4))
    weights[1, 0] = weights[3, 1] = 1.0  # X1 -> X2 -> X4, and X3 alone
    assert set(sets_between(weights, 1)) == {0b0001, 0b0101}
    assert set(sets_between(weights, 0)) == {0b0000, 0b0100}
    assert next(sets_between(weights, 3)) == 0b0111
    assert len(set(sets_between(weights, 3))) == 4


def test_the_shares_of_the_alarms_sum_to_at_most_their_weight() -> None:
    """Of five nodes: pairs for doses; for every kind its nodes and its causes, pairs or actions."""
    p = 5
    kinds = {"curve": p - 1, "weak": p - 1, "action": 2 * p, "product": (p - 1) * (p - 2) // 2}
    single = ("lag", "shape", "drift", "constant", "noise")
    assert len(kinds) + len(single) == N_KINDS
    each = (1 - DOSE_PART) * W_ALARM / (N_KINDS * p)
    total = sum(p * n * each / n for n in kinds.values()) + p * len(single) * each
    doses = p * (p - 1) * (DOSE_PART * W_ALARM / (p * (p - 1)))
    assert total + doses == pytest.approx(W_ALARM)


def test_bounds_that_are_too_tight_are_named_before_what_is_hardly_louder() -> None:
    noise = Alarm("noise", "X1", None, None, 40.0)
    lag, clear = (
        Alarm("lag", "X1", None, None, 40.0 + more) for more in (0.5 * CLEARLY, 2 * CLEARLY)
    )
    elsewhere = Alarm("lag", "X2", None, None, 41.0)
    assert loudest([lag, noise], 3.0) is noise
    assert loudest([clear, noise], 3.0) is clear
    assert loudest([elsewhere, noise], 3.0) is elsewhere
    assert loudest([lag, noise], 50.0) is None


def test_every_kind_has_its_words_and_its_advice() -> None:
    assert set(WORDS) == set(KIND_WORDS)
    assert set(BEYOND_ALL) >= OF_NO_BOUND
    for kind in ("dose", "lag", "shape"):
        assert 'with_rule("randomized")' in BEYOND_ALL[kind]
    assert 'with_rule("randomized")' not in BEYOND_ALL["product"]
