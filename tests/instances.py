"""Random problems for the tests, each given to the engine and to the literal referee alike."""

import math
from dataclasses import dataclass

import numpy as np

import causalfocus as cf
from causalfocus.arrays import Floats
from literal import Bounds, Reference, Rows
from worlds import action_set, draw_samples, move, targets_of

CLASSES = {
    "paper": (0.15, 1.5, (0.8, 1.2)),
    "no upper effect": (0.15, None, (0.8, 1.2)),
    "no noise range": (0.15, 1.5, None),
    "nothing but min_effect": (0.1, None, None),
    "wide gap": (0.6, 0.9, (0.5, 2.0)),
    "one size": (0.5, 0.5, (0.8, 1.2)),
}


def model_class(label: str, *, intercept: bool) -> cf.ModelClass:
    smallest, largest, noise = CLASSES[label]
    return cf.ModelClass(smallest, largest, noise, intercept=intercept)


def bounds_of(space: cf.ModelClass) -> Bounds:
    return Bounds(space.least_effect, space.effect_limit, *space.variance_limits)


def draw_member(
    p: int, space: cf.ModelClass, rng: np.random.Generator, density: float | None = None
) -> cf.LinearSEM:
    """A member of the class, weights now and then exactly on a bound."""
    low, high = space.variance_limits if space.noise_variance else (0.3, 3.0)
    bounded = cf.ModelClass(
        space.least_effect, space.max_effect or 2.0, (low, high), intercept=space.intercept
    )
    model = cf.random_sem(
        p,
        density=rng.random() if density is None else density,
        seed=int(rng.integers(2**32)),
        space=bounded,
        intercept_range=(-1.0, 1.0) if space.intercept else (0.0, 0.0),
    )
    at_edge = (rng.random((p, p)) < 0.15) & (model.weights != 0)
    weights = np.where(at_edge, np.sign(model.weights) * space.least_effect, model.weights)
    return cf.LinearSEM(weights, model.noise_variances, model.intercepts)


@dataclass(frozen=True)
class Data:
    """The same samples as engine moments and as literal rows."""

    moments: cf.Moments
    rows: Rows


def draw_data(
    model: cf.LinearSEM, n: int, rng: np.random.Generator, *, intercept: bool, scale: float = 1.0
) -> Data:
    taken, samples = draw_samples(model, n, rng)
    return data_of(model.names, taken, samples, intercept=intercept, scale=scale)


def data_of(
    names: tuple[str, ...],
    taken: list[cf.Action],
    samples: Floats,
    *,
    intercept: bool,
    scale: float = 1.0,
) -> Data:
    moments = cf.Moments(names)
    moments.add_many([move(a, lambda value: value * scale) for a in taken], samples * scale)
    targets = np.array(targets_of(names, taken), dtype=np.int64)
    return Data(moments, Rows.from_data(targets, samples * scale, intercept))


def reference_of(model: cf.LinearSEM) -> Reference:
    return Reference(model.weights, model.noise_variances, model.intercepts)


def expected_rows(model: cf.LinearSEM, weights: dict[cf.Action, float], *, intercept: bool) -> Rows:
    values = [action.value or 0.0 for action in weights]
    actions = list(zip(targets_of(model.names, weights), values, strict=True))
    return Rows.expected(
        model.weights,
        model.noise_variances,
        model.intercepts,
        actions,
        list(weights.values()),
        intercept,
    )


def parents_of(model: cf.LinearSEM) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in model.weights)


def close(a: float, b: float, scale: float = 1.0) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale)


def draw_moments(
    p: int, n: int, seed: int, *, intercept: bool = False, density: float = 0.6
) -> tuple[cf.LinearSEM, cf.Moments]:
    """A system and the moments of n samples of it, each of an action drawn anew."""
    rng = np.random.default_rng([p, seed])
    truth = cf.random_sem(
        p, density=density, seed=seed, intercept_range=(-1.0, 1.0) if intercept else (0.0, 0.0)
    )
    moments = cf.Moments(truth.names)
    moments.add_many(*draw_samples(truth, n, rng))
    return truth, moments


def draw_each(
    p: int, n: int, seed: int, *, intercept: bool = False
) -> tuple[cf.LinearSEM, cf.ModelClass, cf.Moments]:
    """A system, its class and the moments of n samples of every action."""
    space = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=intercept)
    truth = cf.random_sem(
        p, density=0.6, seed=seed, intercept_range=(-3, 3) if intercept else (0, 0)
    )
    rng = np.random.default_rng(seed)
    moments = cf.Moments(truth.names)
    for action in action_set(truth.names):
        moments.add_many([action] * n, truth.sample(action, n, rng))
    return truth, space, moments
