"""Whether a node goes with another otherwise when that one is set: the sign of a hidden cause.

The proof that this is evidence is in `kernels.evidence.dose_evidence`. It speaks of rows on given
parents, so all sets of parents are tried that a system inside the claim may have.
"""

import math
from collections.abc import Callable, Iterator

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import nondescendants, parents_of
from causalfocus.kernels.evidence.dose_evidence import dose_evidence
from causalfocus.moments.watched_rows import WatchedRows

RowSets = Callable[[Floats, int], Iterator[int]]
"""All sets of parents that a node may have in a system inside the claim, given the reported
weights; the one with the least evidence, as a rule, first."""


def sets_between(weights: Floats, j: int) -> Iterator[int]:
    """The sets between the reported parents of a node and all nodes that it has no reported path
    to, the largest first.
    """
    own = parents_of(weights, j)
    free = int(nondescendants(weights)[j]) & ~own
    rest = free
    while True:
        yield rest | own
        if not rest:
            return
        rest = (rest - 1) & free


def reported_set(weights: Floats, j: int) -> Iterator[int]:
    """The reported parents of a node alone."""
    yield parents_of(weights, j)


def least_dose_evidence(
    rows: WatchedRows, j: int, k: int, sets: Iterator[int], log_share: float
) -> float:
    """The least evidence over sets of parents of j that it depends on what k was set to.

    Where it is negative for one of them the others are not tried, and what it is at most may stand
    for it: that is no evidence anyway.

    log_share : logarithm of the weight of this dose
    """
    times = rows.with_dose(j, k)
    least = math.inf
    for parents in sets:
        found = dose_evidence(times, j, parents, rows.has_constant, -log_share)
        least = min(least, found + log_share)
        if least < 0.0:
            break
    return least
