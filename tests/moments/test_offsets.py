"""Where zero is does not matter: no alarm, no evidence and no digit comes from an offset."""

from fractions import Fraction

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.records import Row
from causalfocus.oracles import gaussian_estimate
from causalfocus.planning.forecast import forecasts
from worlds import ACTIONS

NAMES = ("a", "b", "c")


def log_about(offset: float, n: int, *, observe_first: bool) -> tuple[list[cf.Action], Floats]:
    """b = 0.8 a, c = -0.6 b, values on a grid so that the offset is added without rounding."""
    rng = np.random.default_rng(3)
    noise = np.round(rng.standard_normal((n, 3)) * 2**16) / 2**16
    actions, rows = [], np.empty((n, 3))
    for s in range(n):
        target = -1 if (s + observe_first) % 4 == 1 else (s + observe_first) % 4 % 3
        level = 2.0 if s % 8 < 4 else -2.0
        x = noise[s].copy()
        for j in range(3):
            if j > 0:
                x[j] += np.round((0.8, -0.6)[j - 1] * x[j - 1] * 2**16) / 2**16
            if j == target:
                x[j] = level
        rows[s] = x + offset
        actions.append(cf.OBSERVE if target < 0 else cf.do(NAMES[target], level + offset))
    return actions, rows


def moments_about(offset: float, *, observe_first: bool) -> cf.Moments:
    moments = cf.Moments(NAMES)
    moments.add_many(*log_about(offset, 700, observe_first=observe_first))
    return moments


RULES = (
    GaussianRule(ACTIONS, cf.ModelClass(0.3), 0.15, 0.05),
    ClassRule(ACTIONS, cf.ModelClass(0.3, 2.0, (0.5, 2.0)), 0.15, 0.05),
)
REPORT = cf.LinearSEM([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, -0.6, 0.0]], 1.0, names=NAMES)


@pytest.mark.parametrize("rule", RULES, ids=["gaussian", "class"])
@pytest.mark.parametrize("observe_first", [True, False])
@pytest.mark.parametrize("offset", [300.0, -(2.0**20), 2.0**34])
def test_evidence_and_alarms_do_not_depend_on_the_offset(
    offset: float, observe_first: bool, rule: GaussianRule | ClassRule
) -> None:
    here, there = (moments_about(at, observe_first=observe_first) for at in (0.0, offset))
    assert rule.decide(there, REPORT).evidence == pytest.approx(
        rule.decide(here, REPORT).evidence, abs=2e-3
    )
    for one, other in zip(rule.intervals(here, REPORT), rule.intervals(there, REPORT), strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-5)
    mine = sorted(a.evidence for a in rule.alarms(here, REPORT))
    theirs = sorted(a.evidence for a in rule.alarms(there, REPORT))
    assert theirs == pytest.approx(mine, abs=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_estimates_move_with_the_offset(intercept: bool) -> None:
    """Weights stay; the constants take up the offset."""
    offset = 2.0**20
    space = cf.ModelClass(0.3, intercept=True)
    here, there = (
        cf.joint_mle(moments_about(at, observe_first=intercept), space) for at in (0.0, offset)
    )
    assert there.weights == pytest.approx(here.weights, abs=1e-9)
    expected = here.intercepts + offset * (1.0 - here.weights.sum(axis=1))
    assert there.intercepts == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", [1.0, 1e-3, 3e-7])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_residuals_keep_their_digits_or_say_so(offset: float, noise: float) -> None:
    """Against exact fractions, at the coefficients that were found: the error moves the evidence,
    n/2 log R, by less than 1e-5; or the row gives no evidence.
    """
    rng = np.random.default_rng(0)
    n = 300
    a = rng.standard_normal(n) + offset
    b = 0.5 * a + noise * rng.standard_normal(n)
    moments = cf.Moments(["a", "b"])
    moments.add_many([cf.OBSERVE] * n, np.column_stack([a, b]))
    rows = moments.evidence_rows(intercept=True)
    fit = least_squares(Row(rows.grams[1], rows.lows[1], 1), np.array([0, 2]), rows.counts[1])
    residual, found = fit.residual, fit.coefficients
    slope, constant = Fraction(float(found[0])), Fraction(float(found[1]))
    exact = sum(
        (Fraction(y) - Fraction(b[0]) - slope * (Fraction(x) - Fraction(a[0])) - constant) ** 2
        for x, y in zip(a[1:].tolist(), b[1:].tolist(), strict=True)
    )
    if noise >= 1e-3 or offset == 0.0:
        assert residual > 0.0  # what is not extreme is not given up
    if residual > 0.0:
        assert 0.5 * n * abs(float(Fraction(residual) / exact - 1)) < 1e-5


def test_a_wild_first_sample_gives_no_evidence_rather_than_wrong_one() -> None:
    """An origin that is billions of standard deviations off leaves too few digits."""
    rng = np.random.default_rng(1)
    n = 400
    a = rng.standard_normal(n)
    b = 0.5 * a + rng.standard_normal(n)
    samples = np.column_stack([a, b])
    samples[0] = 3e9
    moments = cf.Moments(["a", "b"])
    moments.add_many([cf.OBSERVE] * n, samples)
    report = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0, names=["a", "b"])
    for rule in RULES:
        assert not rule.decide(moments, report).stop
        assert all(alarm.evidence < 0 for alarm in rule.alarms(moments, report))


def chain_log(blocks: list[tuple[cf.Action, int]]) -> cf.Moments:
    """a -> b -> c with weights 1 and noise 1, taken block by block."""
    truth = cf.LinearSEM([[0, 0, 0], [1, 0, 0], [0, 1, 0]], 1.0, names=NAMES)
    rng = np.random.default_rng(0)
    moments = cf.Moments(NAMES)
    for action, n in blocks:
        moments.add_many([action] * n, truth.sample(action, n, rng))
    return moments


@pytest.mark.parametrize("n_first", [1, 100])
def test_a_log_that_is_sorted_by_action_is_certified(n_first: int) -> None:
    """What is constant in the first samples of a row, even at a mark, comes to vary later."""
    blocks = [(cf.do("c", 1.0), n_first), (cf.do("b", 2.0), 7 if n_first == 1 else 100)]
    blocks += [(cf.OBSERVE, 1500), (cf.do("a", 2.0), 400), (cf.do("b", -1.0), 400)]
    moments = chain_log([*blocks, (cf.do("c", 1.0), 400)])
    rule = GaussianRule(ACTIONS, cf.ModelClass(0.5), 0.2, 0.05)
    answer = gaussian_estimate(moments, rule.space)
    assert rule.decide(moments, answer).stop
    for interval in rule.intervals(moments, answer):
        assert interval.low <= 1.0 <= interval.high
        assert interval.high - interval.low < 0.4


@pytest.mark.parametrize("far", [50.0, 300.0, 1e5])
def test_a_log_that_begins_with_a_strong_intervention_is_certified(far: float) -> None:
    """The first sample is far from where its own node, and those after it, usually are."""
    truth = cf.LinearSEM([[0, 0], [1, 0]], 1.0, names=["a", "b"])
    space = cf.ModelClass(0.5, 2.0, (0.5, 2.0))
    rng = np.random.default_rng(1)
    taken = [cf.do("a", far), cf.OBSERVE, cf.do("a", 0.0), cf.do("b", -2.0), cf.do("b", 2.0)] * 300
    moments = cf.Moments(["a", "b"])
    for action in taken:
        moments.add(action, truth.sample(action, 1, rng)[0])
    for rule in (ClassRule(ACTIONS, space, 0.2, 0.05), GaussianRule(ACTIONS, space, 0.2, 0.05)):
        assert rule.decide(moments, truth).stop, rule


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_forecasts_do_not_depend_on_the_offset(rule: str) -> None:
    space = cf.ModelClass(0.5, 2.0, (0.5, 2.0))
    found = []
    for offset in (0.0, 300.0, 2.0**20):
        model = cf.LinearSEM([[0.0, 0.0], [0.9, 0.0]], 1.0, [offset, offset - 0.9 * offset])
        actions = cf.ActionSet(dict.fromkeys(model.names, (offset - 2, offset + 2)))
        (forecast,) = forecasts(model, actions, space, epsilon=0.2, deltas=[0.05], rule=rule)
        found.append(forecast.rounds)
    assert found[1:] == pytest.approx([found[0]] * 2, rel=0.01)


def test_samples_beside_expected_moments_keep_one_origin() -> None:
    """Whatever is mixed, marks and sums are about the same origin."""
    model = cf.LinearSEM([[0, 0, 0], [1, 0, 0], [0, 1, 0]], 1.0, names=NAMES)
    moments = cf.Moments.expected(model, {cf.OBSERVE: 40})
    rng = np.random.default_rng(2)
    moments.add_many([cf.OBSERVE] * 300, 50.0 + rng.standard_normal((300, 3)))
    split = moments.split(intercept=True)
    assert split is not None
    assert split.estimation.means[2] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    both = moments.rows(intercept=True)
    assert both.counts.tolist() == [340.0] * 3
    assert both.means[0] == pytest.approx(np.full(3, 50 * 300 / 340), abs=0.5)


@pytest.mark.parametrize("apart", [100.0, 1e6])
def test_parts_with_origins_far_apart_lose_nothing(apart: float) -> None:
    """The second log begins with a value far from all others. Every row has an origin of its own,
    one of its samples, so nothing is lost: merged it is what it is when added in one.
    """
    rng = np.random.default_rng(4)
    parts, whole = [], cf.Moments(["a", "b"])
    for first in (0.0, apart):
        x = rng.standard_normal((400, 1))
        samples = np.hstack([x, 0.8 * x + rng.standard_normal((400, 1))])
        part = cf.Moments(["a", "b"])
        part.add(cf.do("a", first), [first, 0.8 * first])
        part.add_many([cf.OBSERVE] * 400, samples)
        parts.append(part)
        whole.add(cf.do("a", first), [first, 0.8 * first])
        whole.add_many([cf.OBSERVE] * 400, samples)
    parts[0].merge(parts[1])
    answer = gaussian_estimate(parts[0], cf.ModelClass(0.3))
    assert answer.weights[1, 0] == pytest.approx(0.8, abs=0.1)
    merged, added = (m.evidence_rows(intercept=True) for m in (parts[0], whole))
    assert merged.grams == pytest.approx(added.grams, rel=1e-12)
    assert merged.counts.tolist() == added.counts.tolist()
    watched, told = (m.state.watch.sums[1] for m in (parts[0], whole))
    assert watched[0] == pytest.approx(told[0], rel=1e-9)


def test_what_is_lost_beside_earlier_values_gives_no_evidence() -> None:
    """Values of 1e17 and then of 1: what is left of the sums is rounding, or nothing at all."""
    rng = np.random.default_rng(5)
    samples = rng.standard_normal((200, 2))
    samples[:32] *= 1e17
    moments = cf.Moments(["a", "b"])
    moments.add_many([cf.OBSERVE] * 200, samples)
    for intercept in (False, True):
        split = moments.split(intercept=intercept)
        assert split is not None
        assert np.isnan(split.later.grams[0][:2, :2]).all() != intercept  # about the first, all far
        rule = GaussianRule(ACTIONS, cf.ModelClass(0.3, intercept=intercept), 0.15, 0.05)
        answer = gaussian_estimate(moments, rule.space)
        assert not rule.decide(moments, answer).stop
        assert all(alarm.evidence < 0 for alarm in rule.alarms(moments, answer))
