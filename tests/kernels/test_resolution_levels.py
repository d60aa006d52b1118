"""Distances, shares and responses of the resolution kernels, each against a search."""

import itertools
import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.evidence.distances import distance
from causalfocus.kernels.exact.certificate import apart_from, apart_from_class
from causalfocus.kernels.gaussian import levels as resolution_levels
from causalfocus.kernels.gaussian import resolution
from causalfocus.kernels.records import Bounds
from worlds import action_set


@pytest.mark.parametrize("at", np.linspace(-1.2, 1.2, 13))
@pytest.mark.parametrize("regime", [(0.0, 0.24), (0.24, 0.4), (0.4, math.inf)])
@pytest.mark.parametrize(("centre", "radius"), [(0.0, 0.3), (0.5, 0.15), (0.3, 0.15), (0.1, 0.15)])
def test_distances_against_a_grid(
    at: float, regime: tuple[float, float], centre: float, radius: float
) -> None:
    low, high = regime
    grid = np.linspace(-3, 3, 60001)
    size = np.abs(grid)
    broken = grid[(size >= low) & (size < high) & (np.abs(grid - centre) >= radius)]
    expected = np.abs(broken - at).min() if len(broken) else math.inf
    found = distance(at, centre, radius, low, high)
    assert found <= expected + 1e-12
    assert found == pytest.approx(expected, abs=2e-4) or expected == math.inf


@pytest.mark.parametrize("b", np.linspace(-1.2, 1.2, 13))
@pytest.mark.parametrize("largest", [0.3, 0.35, 0.4, 1.0, math.inf])
def test_weights_of_a_class_against_a_grid(b: float, largest: float) -> None:
    """How far they are from a fit: all of them, and those that are epsilon away from a weight."""
    bounds, top, epsilon = Bounds(0.3, largest, 0.5, 2.0), 0.4, 0.15
    grid = np.linspace(-3, 3, 60001)
    size = np.abs(grid)
    is_in = (size >= bounds.smallest - 1e-9) & (size <= largest + 1e-9)
    is_near = size < top - 1e-9

    def nearest(chosen: Bools) -> float:
        return float(np.abs(grid[chosen] - b).min()) if chosen.any() else math.inf

    found = apart_from_class(2, b, top, bounds)
    for at, region in ((found.near, is_near), (found.far, ~is_near)):
        expected = nearest(is_in & region)
        if expected < 1.5e-4:
            assert at <= 1e-9
        elif b * b < bounds.smallest**2 or abs(b) > largest:
            assert at == pytest.approx(expected, abs=2e-4)
        else:
            assert at <= expected + 1e-9
    for weight in (0.32, -0.5):
        is_away = np.abs(grid - weight) >= epsilon - 1e-9
        apart = apart_from(2, b, weight, epsilon, top, bounds)
        for at, region in ((apart.near, is_near), (apart.far, ~is_near)):
            expected = nearest(is_in & region & is_away)
            assert at == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("seed", range(30))
def test_shares_against_all_sets_of_strong_edges(seed: int) -> None:
    """Every alternative of case 1b: which unreported edges are strong, and what breaks the claim.

    Each has as many strong edges as it can, and the largest evidence of its strong edges counts.
    """
    rng = np.random.default_rng(seed)
    p = 4
    weights = np.zeros((p, p))
    pairs = [(j, k) for j in range(p) for k in range(j)]
    for j, k in pairs:
        weights[j, k] = rng.random() < 0.4
    tables = np.full((2, p, p), math.inf)
    for j, k in pairs:
        tables[0, j, k] = rng.uniform(0, 14)
        tables[1, j, k] = tables[0, j, k] * rng.uniform(0, 1)
        if weights[j, k]:
            tables[1, j, k] = 40.0
    reported = [pair for pair in pairs if weights[pair]]
    unreported = [pair for pair in pairs if not weights[pair]]
    lowest = math.inf
    of_edge = dict.fromkeys(reported, math.inf)
    for size in range(len(unreported) + 1):
        share = math.log(resolution.W_EDGE / max(len(reported) + size, 1))
        for strong in itertools.combinations(unreported, size):
            told = max((tables[1][pair] for pair in strong), default=-math.inf)
            for pair in [*reported, *strong]:
                against = max(told, tables[0][pair]) + share
                lowest = min(lowest, against)
                if pair in of_edge:
                    of_edge[pair] = min(of_edge[pair], against)
    levels = resolution_levels.edge_levels(tables, weights)
    assert all(levels[pair] <= value for pair, value in of_edge.items())
    found = resolution_levels.row_evidence(tables, weights)
    n_strong = resolution_levels.strong_edges(tables, weights, found)
    assert found <= lowest
    if min((tables[1][pair] for pair in unreported), default=20.0) > 13.0:
        assert found == pytest.approx(lowest, abs=1e-3)
    assert max(len(reported), 1) <= n_strong <= len(pairs)


def test_rows_of_the_response_are_the_closest() -> None:
    """The closed form of the best response against a search over rows, by Nelder-Mead."""
    from scipy.optimize import minimize

    from causalfocus.kernels.arithmetic.sets import nondescendants
    from causalfocus.kernels.gaussian.response import closest_rival
    from causalfocus.kernels.records import Parameters
    from causalfocus.kernels.sums.population import divergences
    from causalfocus.moments.row_units import no_units
    from causalfocus.oracles.for_kernels import model_of, plain_model_of, plain_parents_of
    from causalfocus.system.actions import actions_as_arrays

    truth = cf.random_sem(3, density=1.0, seed=8)
    actions = action_set(truth.names)
    settings = actions_as_arrays(actions, truth.names)
    amounts = np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1])
    assert len(actions) == 7
    reference = model_of(truth)
    units = no_units(3).plain
    rival = closest_rival(
        plain_model_of(truth),
        truth.weights,
        (*settings, amounts),
        0.1,
        0.3,
        False,
        units,
        plain_parents_of(cf.ModelClass(0.3), truth.names),
    )
    value = float(rival.gains @ amounts)
    least = math.inf
    for effect, cause in zip(*np.nonzero(truth.weights), strict=True):
        nd = [m for m in range(3) if nondescendants(truth.weights)[effect] >> m & 1]

        def cost(
            given: Floats, effect: int = effect, cause: int = cause, nd: list[int] = nd
        ) -> float:
            weights, noise = truth.weights.copy(), truth.noise_variances.copy()
            free = [m for m in nd if m != cause]
            weights[effect, free] = given[:-1]
            weights[effect, cause] = truth.weights[effect, cause] + 0.1
            noise[effect] = math.exp(given[-1])
            other = Parameters(weights, noise, truth.intercepts)
            return float(divergences(reference, other, *settings) @ amounts)

        start = [truth.weights[effect, m] for m in nd if m != cause]
        found = minimize(
            cost,
            [*start, math.log(truth.noise_variances[effect])],
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 4000},
        )
        least = min(least, found.fun)
    assert (rival.effect, rival.cause) != (-1, -1)
    assert value == pytest.approx(least, rel=1e-5)
