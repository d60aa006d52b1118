"""The paper's tail function against arbitrary-precision arithmetic, and its forecast."""

import math
from typing import Any

import mpmath as mp
import pytest

import causalfocus as cf
from causalfocus.guarantees.paper import PaperConstants, PaperRule
from causalfocus.system.names import default_names
from worlds import action_set

mp.mp.dps = 60


def exact_log_tail(
    p: int, samples: float, level: float, a: float, low: float, high: float, action: float
) -> tuple[float, int, float]:
    """Eqs. explicit_mean_constants to fully_explicit_concentration_function, as they stand."""
    p_, a_max, v_low, v_high, c = (mp.mpf(v) for v in (p, a, low, high, action))
    t, x = mp.mpf(samples), mp.mpf(level)
    big_g = mp.fsum((p_ * a_max) ** k for k in range(p))
    b_mu = big_g * mp.sqrt(p_) * a_max * c
    v_minus = v_low / (1 + p_ * a_max) ** 2
    v_plus = big_g**2 * v_high
    kappa_v = v_plus / v_minus

    def ratio(r: Any) -> Any:
        return (mp.log((1 + r) / (2 * mp.sqrt(r))) / 2) / ((r - 1 - mp.log(r)) / 2)

    # the minimum over the interval, searched on a grid that includes both ends
    grid = [kappa_v ** (mp.mpf(i) / 60) for i in range(-60, 61) if i != 0]
    kappa_sigma = min([ratio(r) for r in grid] + [mp.mpf(1) / 4])
    kappa = min(v_minus / (4 * v_plus), kappa_sigma)
    d = [p] + [p - 1] * (2 * p)
    s = [k * (k + 1) // 2 for k in d]
    q = sum(d) + sum(s)
    z = kappa * x + 2 * mp.log(t + 1)
    radius = b_mu + mp.sqrt(v_plus) * (mp.sqrt(p_) + mp.sqrt(2 * z))
    reach = radius + b_mu
    l_ell = reach / v_minus + (mp.sqrt(p_) / v_minus + reach**2 / v_minus**2) / 2
    l_kl = (2 * b_mu + mp.sqrt(p_)) / v_minus
    zeta = min(mp.mpf(1), q / (t * (l_ell / 2 + kappa * l_kl)))
    cover = mp.mpf(1)
    for d_a, s_a in zip(d, s, strict=True):
        cover *= (1 + 8 * b_mu / zeta) ** d_a * (1 + 8 * mp.sqrt(d_a) * v_plus / zeta) ** s_a
    return float(mp.log((mp.e**q * cover + 1) * mp.e ** (-kappa * x))), q, float(kappa)


@pytest.mark.parametrize("p", range(2, 9))
@pytest.mark.parametrize("t", [1, 10, 1e3, 1e8, 1e14, 1e20])
@pytest.mark.parametrize("rate", [0.0, 0.005, 2.0])
def test_log_tail_equals_arbitrary_precision(p: int, t: float, rate: float) -> None:
    ours = cf.paper_log_tail(t, rate * t, p=p, space=cf.PAPER_CLASS, max_intervention=2.0)
    exact, q, kappa = exact_log_tail(p, t, rate * t, 1.5, 0.8, 1.2, 2.0)
    assert ours == pytest.approx(exact, rel=1e-11)
    constants = PaperConstants(p, cf.PAPER_CLASS, 2.0)
    assert constants.covering_dimension == q
    assert constants.rate == pytest.approx(kappa, rel=1e-11)


@pytest.mark.parametrize(
    ("a_max", "low", "high", "c"), [(0.3, 0.5, 0.5, 1.0), (3.0, 1e-3, 1e3, 10.0), (0.1, 1, 1, 0.0)]
)
def test_log_tail_for_other_classes(a_max: float, low: float, high: float, c: float) -> None:
    space = cf.ModelClass(a_max / 2, a_max, (low, high), intercept=False)
    ours = cf.paper_log_tail(1e6, 1e5, p=4, space=space, max_intervention=c)
    exact, _, _ = exact_log_tail(4, 1e6, 1e5, a_max, low, high, c)
    assert ours == pytest.approx(exact, rel=1e-10)


def test_constants_of_the_paper_by_hand_at_two_nodes() -> None:
    """p = 2, A = 1.5: G = 1 + 3 = 4; q = 2 + 3 + 4 (1 + 1) = 13; v- = 0.8/16; v+ = 16 * 1.2."""
    constants = PaperConstants(2, cf.PAPER_CLASS, 2.0)
    assert constants.norm_bound == 4.0
    assert constants.covering_dimension == 13
    assert constants.covariance_bounds == pytest.approx((0.05, 19.2))
    assert constants.mean_bound == pytest.approx(4 * math.sqrt(2) * 3)


def test_it_needs_about_1e19_samples_at_six_nodes() -> None:
    """The order of magnitude that makes another rule necessary, at a typical information rate."""
    rule = paper_rule(6)
    forecast = rule.first_firing(0.005)
    assert 1e18 < forecast < 1e20
    t = forecast
    just_after = rule.decide_on(0.005 * t * 1.01, _model(), int(t * 1.01))
    just_before = rule.decide_on(0.005 * t * 0.99, _model(), int(t * 0.99))
    assert just_after.stop and not just_before.stop


def test_decisions_carry_their_numbers() -> None:
    rule = paper_rule(3)
    start = rule.decide_on(0.0, _model(), 0)
    assert not start.stop and start.evidence == -math.inf and start.forecast == math.inf
    later = rule.decide_on(12.0, _model(), 1000)
    assert not later.stop
    assert later.log_tail == pytest.approx(
        cf.paper_log_tail(1000, 12.0, p=3, space=cf.PAPER_CLASS, max_intervention=2.0)
    )
    assert later.evidence < later.threshold == pytest.approx(math.log(20))
    assert f"{later.forecast:.1e}" in later.reason
    assert later.forecast > 1e6


def test_an_unbounded_class_is_refused() -> None:
    with pytest.raises(cf.InvalidInputError, match="needs max_effect and a noise_variance range"):
        cf.paper_log_tail(10, 1.0, p=3, space=cf.ModelClass(0.1), max_intervention=2.0)


def paper_rule(p: int) -> PaperRule:
    return PaperRule(action_set(default_names(p)), cf.PAPER_CLASS, 0.07, 0.05)


def _model() -> cf.LinearSEM:
    return cf.random_sem(3, density=0.5, seed=0)
