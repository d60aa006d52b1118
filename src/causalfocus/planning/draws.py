"""Plausible systems to plan for, in the units of the variables.

A class of single numbers with bounds is drawn from as in the paper (`system.drawn`). Otherwise the
order of the variables is any that agrees with what is required, every effect that may be is there
with the same probability, and its size is uniform from what matters to the largest: to that of the
class, or to `MOST_TIMES` what matters. In raw units what matters of a pair is the change worth
knowing over the width of the cause, so a cause that moves across all of its width changes its
effects by one to ten changes worth knowing. There is no feedback, and no constant: neither sets
rounds apart by what is planned here.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.system.drawn import random_sem
from causalfocus.system.graph import reach_of
from causalfocus.system.names import position
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import positive
from causalfocus.system.space import ModelClass

MOST_TIMES: Final = 10.0
"""The largest effect that is drawn, in units of the smallest that matters, where the class has no
bound: the proportion of the paper's class."""

Noise = float | Mapping[str, float]
"""Standard deviations of what is not caused by the others: one for all, or by name."""


def plausible_systems(
    names: tuple[str, ...],
    space: ModelClass,
    *,
    noise: Noise | None = None,
    density: float = 0.3,
    n: int = 20,
    seed: int = 0,
) -> list[LinearSEM]:
    """Systems of the class, drawn at random; the same again for the same seed.

    Parameters
    ----------
    names : of the variables in order
    space : what matters and what is known, with the widths of its variables (`ModelClass.on`)
    noise : standard deviations; None for the noise variances of the class, drawn from their ranges
    density : probability of every effect that the order admits
    n : how many
    seed : of the draws
    """
    if not 0.0 <= density <= 1.0:
        raise InvalidInputError(f"density is a probability between 0 and 1, got {density!r}.")
    low, high = _variances(names, space, noise)
    possible, needed = space.unknown_effects(names), space.known.required_in(names)
    is_paper = noise is None and space.is_uniform and space.max_effect is not None
    found = []
    for i in range(n):
        source = np.random.SeedSequence([len(names), seed, i])
        if is_paper and not needed.any():
            drawn = random_sem(len(names), density=density, seed=source, space=space)
            weights = np.where(possible, drawn.weights, 0.0)
            found.append(LinearSEM(weights, drawn.noise_variances, drawn.intercepts, names))
        else:
            found.append(_draw(names, space, (low, high), density, source))
    return found


def lacks_noise(names: tuple[str, ...], space: ModelClass, noise: Noise | None) -> list[str]:
    """The variables of which nobody said how much noise they have."""
    if noise is not None:
        return [name for name in names if name not in noise] if isinstance(noise, Mapping) else []
    spans = zip(names, space.variances(names), strict=True)
    return [name for name, (low, high) in spans if not (low > 0.0 and math.isfinite(high))]


def _variances(
    names: tuple[str, ...], space: ModelClass, noise: Noise | None
) -> tuple[Floats, Floats]:
    """The lowest and highest noise variances (p,) each."""
    lacking = lacks_noise(names, space, noise)
    if lacking:
        example = ", ".join(f"{name!r}: 1.0" for name in lacking[:3])
        raise InvalidInputError(
            f"To plan without a model, say how much {', '.join(lacking)} vary by what the others "
            f"do not cause: noise={{{example}}}, standard deviations in the units of the variables "
            f"(--noise {lacking[0]}=1.0 on the command line), or noise_variance in the ModelClass."
        )
    if noise is None:
        spans = space.variances(names)
        return spans[:, 0], spans[:, 1]
    if isinstance(noise, Mapping):
        for name in noise:
            position(name, names)
        each = np.array([positive(f"The noise of {name!r}", noise[name]) for name in names])
    else:
        each = np.full(len(names), positive("noise", noise))
    return each**2, each**2


def _draw(
    names: tuple[str, ...],
    space: ModelClass,
    variances: tuple[Floats, Floats],
    density: float,
    source: np.random.SeedSequence,
) -> LinearSEM:
    p, rng = len(names), np.random.default_rng(source)
    space.known.require_no_loop("systems to plan for are drawn without feedback: give a model")
    needed = space.known.required_in(names)
    rank = np.argsort(_order(rng.permutation(p), needed))
    admissible = (rank[:, None] > rank[None, :]) & space.unknown_effects(names)
    has_edge = (admissible & (rng.random((p, p)) < density)) | needed
    smallest = space.smallest(names)
    most = np.minimum(space.largest(names), MOST_TIMES * smallest)
    sizes = rng.uniform(smallest, np.maximum(most, smallest))
    signs = rng.choice([-1.0, 1.0], (p, p))
    return LinearSEM(np.where(has_edge, sizes * signs, 0.0), rng.uniform(*variances), names=names)


def _order(drawn: Ints, needed: Bools) -> Ints:
    """The variables in the order that was drawn, but causes of required effects first."""
    before = reach_of(needed)
    left, found = list(drawn), list[int]()
    while left:
        first = next(j for j in left if not any(before[j, k] for k in left if k != j))
        left.remove(first)
        found.append(int(first))
    return np.array(found)
