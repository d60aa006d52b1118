"""How probable every edge is, by the beliefs of `kernels.exact.marginals`."""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import families_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.marginals import family_costs
from causalfocus.kernels.exact.oracles import all_others
from causalfocus.kernels.posterior import layers, order_sums
from causalfocus.kernels.records import (
    Limits,
    PlainParents,
    PlainRows,
    as_parents,
    as_rows,
    bounds_at,
    row_of,
)


@kernel
def family_scores(plain: PlainRows, limits: Limits, known: PlainParents) -> Floats:
    """Return the log weight of every family, (p, 2^(p - 1)), by mask over the other nodes; minus
    infinity of those that a node is known not to have.
    """
    rows, parents = as_rows(plain), as_parents(known)
    p = len(rows.counts)
    candidates, starts = all_others(p)
    scores = np.empty((p, 1 << (p - 1)))
    for j in range(p):
        mine = candidates[starts[j] : starts[j + 1]]
        bounds, families = bounds_at(limits, j), families_of(j, parents, -1, p)
        family_costs(row_of(rows, j), mine, rows.counts[j], bounds, families, scores[j])
        for mask in range(scores.shape[1]):
            scores[j, mask] = -scores[j, mask]
    return scores


@kernel
def edge_probabilities(
    plain: PlainRows, limits: Limits, known: PlainParents, is_exact: bool
) -> Floats:
    """Return (p, p), [effect, cause]: over all DAGs, or over all orders."""
    scores = family_scores(plain, limits, known)
    if not is_exact:
        return order_sums.edge_probabilities(scores)
    p = scores.shape[0]
    sums = layers.family_sums(scores)
    _, ways = layers.ways_on(sums, scores[:, 0].copy())
    families = layers.family_marginals(scores, sums, ways)
    found = np.zeros((p, p))
    for j in range(p):
        for mask in range(scores.shape[1]):
            for i in range(p - 1):
                if (mask >> i) & 1:
                    found[j, i if i < j else i + 1] += families[j, mask]
    return found
