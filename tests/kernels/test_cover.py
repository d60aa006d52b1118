"""The small linear program of a plan against an independent solver."""

import numpy as np
import pytest
from scipy.optimize import linprog

from causalfocus.kernels.arithmetic.cover import least_cover


@pytest.mark.parametrize("seed", range(60))
def test_the_least_cost_is_that_of_highs_and_nobody_is_left_short(seed: int) -> None:
    """Half of the gains are zero; in half of the cases actions come in pairs that tell alike, which
    makes every vertex degenerate.
    """
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 40)), int(rng.integers(2, 30))
    gains = rng.exponential(size=(m, k)) * rng.integers(0, 2, size=(m, k))
    gains *= 10 ** rng.uniform(-3, 1, size=(m, 1))
    if seed % 2:
        gains[:, 1::2] = gains[:, 0 : k // 2 * 2 : 2]
    deficits = rng.normal(size=m) * 10 ** rng.uniform(-2, 2, size=m)
    costs = rng.uniform(1, 5, size=k) if seed % 3 else np.ones(k)
    found = least_cover(deficits, gains, costs)
    lacks = (deficits > 0) & (gains.max(axis=1) > 0)
    assert (found >= 0).all()
    if not lacks.any():
        assert not found.any()
        return
    scale = gains[lacks].max(axis=1)
    solved = linprog(costs, A_ub=-gains[lacks] / scale[:, None], b_ub=-deficits[lacks] / scale)
    assert costs @ found == pytest.approx(solved.fun, rel=1e-7)
    assert (gains[lacks] @ found >= deficits[lacks] * (1 - 1e-7)).all()


def test_one_action_that_serves_two_is_better_than_the_best_for_each() -> None:
    """Greedily 10 + 10 rounds; the third action does both in 100 / 7."""
    gains = np.array([[1.0, 0.0, 0.7], [0.0, 1.0, 0.7]])
    found = least_cover(np.array([10.0, 10.0]), gains, np.ones(3))
    assert found == pytest.approx([0.0, 0.0, 100 / 7])


def test_there_may_be_nothing_to_do() -> None:
    assert not least_cover(np.empty(0), np.empty((0, 3)), np.ones(3)).any()
    assert not least_cover(
        np.array([-1.0, 5.0]), np.array([[1.0, 2.0], [0.0, 0.0]]), np.ones(2)
    ).any()
