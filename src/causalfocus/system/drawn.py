"""Random systems, drawn as in the paper's simulation settings."""

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS, ModelClass


def random_sem(
    p: int,
    *,
    density: float,
    seed: int | np.random.SeedSequence | None = None,
    space: ModelClass = PAPER_CLASS,
    intercept_range: tuple[float, float] = (0.0, 0.0),
) -> LinearSEM:
    """A random system: uniform order, independent edges, weights and noise uniform on their ranges.

    Parameters
    ----------
    p : number of nodes
    density : probability of every edge that the order admits
    seed : for the same system again
    space : ranges of the weights and noise variances; they must be bounded
    intercept_range : the constants are uniform on it

    Examples
    --------
    >>> random_sem(6, density=1.0, seed=1).n_edges
    15
    """
    if not (isinstance(p, int | np.integer) and p >= 1):
        raise InvalidInputError(f"The number of nodes must be 1 or more, got {p!r}.")
    if not (isinstance(density, int | float) and 0 <= density <= 1):
        raise InvalidInputError(f"density is a probability between 0 and 1, got {density!r}.")
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
    sizes = rng.uniform(space.min_effect, space.max_effect, (p, p))
    signs = rng.choice([-1.0, 1.0], (p, p))
    weights = np.where(has_edge, sizes * signs, 0.0)
    variances = rng.uniform(*space.noise_variance, p)
    intercepts = rng.uniform(lowest, highest, p)
    return LinearSEM(weights, variances, intercepts)
