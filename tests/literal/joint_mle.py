"""Algorithm ``finite_joint_mle``: the joint maximum-likelihood estimate by full enumeration."""

from itertools import permutations
from math import inf

from .local_fit import LocalFit, LocalFitter, assemble, local_fitter, subsets
from .problem import Bounds, LiteralFit
from .rows import Rows
from .scores import likelihood_score


def finite_joint_mle(rows: Rows, bounds: Bounds, *, memoise: bool = False) -> LiteralFit:
    """Minimise Eq. ``intervention_masked_likelihood`` over all parameters.

    Parameters
    ----------
    rows
        The history, as its second moments.
    bounds
        The parameter class.
    memoise
        Solve equal local fits once instead of once per permutation.
    """
    fit = local_fitter(rows, bounds, likelihood_score(rows, bounds), memoise)
    best_score = inf
    best: list[LocalFit] = []
    for order in permutations(range(rows.nodes)):
        chosen = [best_family(fit, j, order[:m]) for m, j in enumerate(order)]
        score = sum(local.score for local in chosen)
        if score < best_score:
            best_score, best = score, chosen
    return assemble(best_score, best)


def best_family(fit: LocalFitter, j: int, predecessors: tuple[int, ...]) -> LocalFit:
    """The best parent set of ``j`` among its predecessors in one order."""
    best: LocalFit | None = None
    for S in subsets(predecessors):
        local = fit(j, S, ())
        if local is not None and (best is None or local.score < best.score):
            best = local
    if best is None:
        raise ArithmeticError(f"node {j} has no finite score, not even without parents")
    return best
