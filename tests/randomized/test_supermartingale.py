"""Nobody wins by betting on fair coins: exactly, over all coins, and in whole runs.

For given residuals of any law the mean over the coins is computed by listing them all, so nothing
is left to chance. The learner may look at all that came before.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from causalfocus.arrays import Floats
from causalfocus.kernels.randomized.records import N_AIMS
from randomized.rigs import CHAIN, LOOP, NOISES, bench, bounded_evidence

N_ROUNDS = 5
N_COINS = 2


def drawn_residuals(law: str, rng: np.random.Generator) -> Floats:
    if law == "autocorrelated":
        return np.cumsum(rng.normal(size=N_ROUNDS))
    return np.array([NOISES[law](rng, t)[1] for t in range(N_ROUNDS)])


def adaptive_weights(past: Floats, residuals: Floats, kind: str) -> Floats:
    """Weights of the coins of the next round: anything that is known by then. A batch knows only
    what was complete when it was asked for.
    """
    t = len(past)
    known = t - t % 2 if kind == "batch" else t
    seen = float((past[:known].sum(axis=1) * residuals[:known]).sum()) if known else 0.5
    if kind == "one coin":
        return np.array([1.0, 0.0]) if seen > 0 else np.array([0.0, 1.0])
    return np.array([math.cos(seen), math.sin(seen)])


@pytest.mark.parametrize("kind", ["one coin", "several coins", "batch"])
@pytest.mark.parametrize("law", [*NOISES, "autocorrelated"])
def test_the_mean_over_all_coins_is_at_most_one(law: str, kind: str) -> None:
    """exp(l S - l^2 V / 2) for single l, its mixture, and that of all coins."""
    rng = np.random.default_rng(len(law) * 7 + len(kind))
    for _ in range(4):
        residuals = drawn_residuals(law, rng)
        scale = float(np.abs(residuals).mean())
        totals = np.zeros(5)
        for flat in product((-1.0, 1.0), repeat=N_ROUNDS * N_COINS):
            coins = np.array(flat).reshape(N_ROUNDS, N_COINS)
            s = v = 0.0
            each, squares = np.zeros(2), np.zeros(2)
            for t in range(N_ROUNDS):
                w = adaptive_weights(coins[:t], residuals, kind)
                s += float(w @ coins[t]) * residuals[t]
                v += float(w @ w) * residuals[t] ** 2
                used = w != 0.0
                each += used * coins[t] * residuals[t]
                squares += used * residuals[t] ** 2
            rho = scale**2
            logs = [x * s / scale - 0.5 * (x / scale) ** 2 * v for x in (0.3, -1.0, 2.5)]
            logs.append(s**2 / (2 * (v + rho)) - 0.5 * math.log1p(v / rho))
            mixed = each**2 / (2 * (squares + rho)) - 0.5 * np.log1p(squares / rho)
            totals += np.exp([*logs, mixed.sum()])
        means = totals / 2.0 ** (N_ROUNDS * N_COINS)
        assert (means <= 1.0 + 1e-12).all()
        assert means[0] > 0.5


def test_weights_that_see_their_own_coin_would_win() -> None:
    """The same mean is far above one if the weight may follow the coin: the test can fail."""
    total = 0.0
    for coins in product((-1.0, 1.0), repeat=6):
        s = sum(max(z, 0.0) for z in coins)
        v = sum(max(z, 0.0) ** 2 for z in coins)
        total += math.exp(s - 0.5 * v)
    assert total / 2**6 > 2.0


@pytest.mark.parametrize("name", sorted(NOISES))
def test_the_true_row_is_rarely_rejected_in_whole_runs(name: str) -> None:
    """Adaptive targets, directions and aims, batches told in an order that depends on the outcomes,
    the largest evidence of all times: above log(1/a) with probability at most a, for every test.
    """
    n_runs, share = 120, 0.2
    wins = np.zeros(4 + N_AIMS, dtype=np.int64)
    for seed in range(n_runs):
        weights = LOOP if seed % 2 else CHAIN
        one = bench(weights, NOISES[name], seed=seed)
        most = np.full(len(wins), -math.inf)
        for _ in range(22):
            one.play(8, batch=1 + 3 * (seed % 2))
            against = bounded_evidence(one.state, 1, weights[1])
            most = np.maximum(most, [against.coins, *against.directions, *against.aims])
        wins += most >= math.log(1 / share)
    assert wins.max() <= stats.binom.ppf(1 - 1e-5, n_runs, share)
