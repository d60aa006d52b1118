"""Random systems, drawn as in the paper's simulation settings; with feedback if it is asked for.

A loop is closed by an effect back from a node to one of its own causes, near or far. Let B hold the
sizes of the weights so far, with a spectral radius below 1, and g = [(I - B)^-1][d, a], what a unit
of a becomes in d if nothing cancels. Then det(I - B - w e_a e_d') = det(I - B) (1 - w g), which has
no zero for w from 0 on while w g < 1: the largest eigenvalue of the sizes, which is real and grows
with w, has not come to 1. So a weight back of size at most MOST_GAIN / g keeps the radius of the
sizes below 1. Sizes bound what loops do whatever their signs, and a part of them has no larger
radius than all; so such a system settles whatever is set.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.graph import reach_of
from causalfocus.system.names import checked_names, default_names
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS, ModelClass

MOST_GAIN: Final = 0.8
"""What is left after a turn round a loop that is closed, if no effect cancels another."""


def random_sem(
    p: int,
    *,
    density: float,
    seed: int | np.random.SeedSequence | None = None,
    space: ModelClass = PAPER_CLASS,
    intercept_range: tuple[float, float] = (0.0, 0.0),
    n_loops: int = 0,
    names: Sequence[str] | None = None,
) -> LinearSEM:
    """A random system: uniform order, independent edges, weights and noise uniform on their ranges.

    Parameters
    ----------
    p : number of nodes
    density : probability of every edge that the order admits
    seed : for the same system again
    space : ranges of the weights and noise variances; they must be bounded
    intercept_range : the constants are uniform on it
    n_loops : effects back to a cause, near or far, on top of the same system without; their weights
        are in the class too, and so small that the system settles under every action
    names : of the nodes, for a class that has sizes by name; X1, X2, ... if left out

    Examples
    --------
    >>> random_sem(6, density=1.0, seed=1).n_edges
    15
    >>> random_sem(6, density=0.3, seed=1, n_loops=1).is_stable()
    True
    """
    if not (isinstance(p, int | np.integer) and p >= 1):
        raise InvalidInputError(f"The number of nodes must be 1 or more, got {p!r}.")
    if not (isinstance(density, int | float) and 0 <= density <= 1):
        raise InvalidInputError(f"density is a probability between 0 and 1, got {density!r}.")
    if not (isinstance(n_loops, int | np.integer) and n_loops >= 0):
        raise InvalidInputError(f"The number of loops must be 0 or more, got {n_loops!r}.")
    lowest, highest = intercept_range
    if not lowest <= highest:
        raise InvalidInputError(f"intercept_range = {intercept_range} is empty: low above high.")
    if space.max_effect is None or space.noise_variance is None:
        raise InvalidInputError(
            "A system can only be drawn from bounded ranges: give the class a max_effect and a "
            "noise_variance range."
        )
    rng = np.random.default_rng(seed)
    rank = np.argsort(rng.permutation(p))
    admissible = rank[:, None] > rank[None, :]
    has_edge = admissible & (rng.random((p, p)) < density)
    known = default_names(int(p)) if names is None else checked_names(names)
    if len(known) != p:
        raise InvalidInputError(f"There are {len(known)} names for {p} nodes: {', '.join(known)}.")
    smallest, largest, spans = _ranges(space, known)
    sizes = rng.uniform(smallest, largest, (p, p))
    signs = rng.choice([-1.0, 1.0], (p, p))
    weights = np.where(has_edge, sizes * signs, 0.0)
    variances = rng.uniform(spans[:, 0], spans[:, 1], p)
    intercepts = rng.uniform(lowest, highest, p)
    for _ in range(n_loops):
        weights = _close_a_loop(weights, smallest, largest, rng)
    return LinearSEM(weights, variances, intercepts, names=names and known, loops=n_loops > 0)


def _ranges(space: ModelClass, names: tuple[str, ...]) -> tuple[Floats, Floats, Floats]:
    """Smallest and largest sizes of effects, (p, p), and of noise variances, (p, 2). A class of
    single numbers has them for any names.
    """
    p = len(names)
    if not space.is_uniform:
        return space.smallest(names), space.largest(names), space.variances(names)
    smallest, largest = (np.full((p, p), s) for s in (space.least_effect, space.effect_limit))
    return smallest, largest, np.tile(space.variance_limits, (p, 1))


def _close_a_loop(
    weights: Floats, smallest: Floats, largest: Floats, rng: np.random.Generator
) -> Floats:
    """One more effect, from a node back to one that acts on it, at any of the places for it."""
    gains = np.linalg.inv(np.eye(len(weights)) - np.abs(weights))  # [effect, cause]
    most = np.minimum(MOST_GAIN / np.maximum(gains.T, 1e-9), largest)
    acts_on = reach_of(weights != 0).T & ~np.eye(len(weights), dtype=np.bool_)
    places = np.argwhere(acts_on & (weights == 0) & (most >= smallest))
    if len(places) == 0:
        raise InvalidInputError(
            f"No further loop can be closed by an effect of size {smallest.min():g} or more "
            f"such that the system settles under every action. Ask for fewer loops, for more edges "
            f"to close one with, or for weaker effects."
        )
    effect, cause = places[rng.integers(len(places))]
    size = rng.uniform(smallest[effect, cause], most[effect, cause])
    closed = weights.copy()
    closed[effect, cause] = size * rng.choice([-1.0, 1.0])
    return closed
