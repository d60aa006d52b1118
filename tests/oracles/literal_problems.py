"""Random problems for the tests of the referee itself."""

from math import inf

import numpy as np
import pytest

from causalfocus.arrays import Ints
from literal import (
    Bounds,
    LiteralFit,
    Reference,
    Rows,
    action_moments,
    enumerate_dags,
)
from literal.problem import Array

BOUNDED = Bounds(min_effect=0.3, max_effect=2.0, variance_low=0.25, variance_high=4.0)
UNBOUNDED = Bounds(min_effect=0.3, max_effect=inf, variance_low=0.0, variance_high=inf)
TIGHT = Bounds(min_effect=0.6, max_effect=0.9, variance_low=0.8, variance_high=1.2)
each_class = pytest.mark.parametrize(
    "bounds", [BOUNDED, UNBOUNDED, TIGHT], ids=["bounded", "unbounded", "tight"]
)


def random_reference(rng: np.random.Generator, p: int, bounds: Bounds, shift: float) -> Reference:
    """A parameter of the class, with intercepts of the given size."""
    order = rng.permutation(p)
    weights = np.zeros((p, p))
    high = min(bounds.max_effect, 2.0)
    for m, j in enumerate(order):
        for k in order[:m]:
            if rng.random() < 0.6:
                weights[j, k] = rng.choice([-1.0, 1.0]) * rng.uniform(bounds.min_effect, high)
    low = max(bounds.variance_low, 0.3)
    variances = rng.uniform(low, min(bounds.variance_high, 2.0), p)
    return Reference(weights, variances, shift * rng.normal(size=p))


def random_actions(
    rng: np.random.Generator, p: int, size: int
) -> tuple[list[tuple[int, float]], Array]:
    """Actions with random targets and values, some of weight zero."""
    targets, values = rng.integers(-1, p, size), rng.normal(0, 2, size)
    weights = rng.uniform(0.0, 3.0, size) * (rng.random(size) < 0.8)
    return [(int(t), float(v)) for t, v in zip(targets, values, strict=True)], weights


def draw(
    rng: np.random.Generator,
    theta: Reference,
    actions: list[tuple[int, float]],
    repeats: int = 1,
) -> tuple[Ints, Array]:
    """Full sample vectors, the same number for each action."""
    samples = [
        rng.multivariate_normal(*action_moments(*fields_of(theta), target, value), size=repeats)
        for target, value in actions
    ]
    return np.repeat([target for target, _ in actions], repeats), np.concatenate(samples)


def random_data_rows(
    rng: np.random.Generator, p: int, n: int, bounds: Bounds, intercept: bool
) -> Rows:
    theta = random_reference(rng, p, bounds, shift=float(intercept))
    actions, _ = random_actions(rng, p, n)
    return Rows.from_data(*draw(rng, theta, actions), intercept)


def random_alternative(
    rng: np.random.Generator, p: int, bounds: Bounds, intercept: bool
) -> tuple[Rows, Reference]:
    theta = random_reference(rng, p, bounds, shift=float(intercept))
    rows = Rows.expected(*fields_of(theta), *random_actions(rng, p, 2 * p + 1), intercept)
    return rows, theta


def fields_of(theta: Reference | LiteralFit) -> tuple[Array, Array, Array]:
    return theta.weights, theta.variances, theta.intercepts


def in_class(fit: LiteralFit, bounds: Bounds) -> bool:
    """Whether a fit satisfies Assumption ``parameter_class``, its graph being its support."""
    support = Reference(fit.weights, fit.variances, fit.intercepts).parents
    sizes = np.abs(fit.weights[fit.weights != 0.0])
    return bool(
        fit.parents == support
        and fit.parents in enumerate_dags(len(fit.parents))
        and (sizes >= bounds.min_effect).all()
        and (sizes <= bounds.max_effect).all()
        and (fit.variances >= bounds.variance_low).all()
        and (fit.variances <= bounds.variance_high).all()
    )


def gaussian_divergence(mean: Array, V: Array, other_mean: Array, other_V: Array) -> float:
    """The Kullback-Leibler divergence between two multivariate Gaussians, by the book."""
    inverse = np.linalg.inv(other_V)
    gap = other_mean - mean
    determinants = np.linalg.slogdet(other_V)[1] - np.linalg.slogdet(V)[1]
    return float(np.trace(inverse @ V) + gap @ inverse @ gap - len(mean) + determinants) / 2.0


def weighted_divergence_by_the_book(
    theta: Reference,
    other: Reference | LiteralFit,
    actions: list[tuple[int, float]],
    action_weights: Array,
) -> float:
    """The left-hand side of Eq. ``alternative_objective_decomposition``."""
    total = 0.0
    for (target, value), weight in zip(actions, action_weights, strict=True):
        rest = [k for k in range(len(theta.variances)) if k != target]
        block = np.ix_(rest, rest)
        mean, V = action_moments(*fields_of(theta), target, value)
        other_mean, other_V = action_moments(*fields_of(other), target, value)
        total += weight * gaussian_divergence(
            mean[rest], V[block], other_mean[rest], other_V[block]
        )
    return total
