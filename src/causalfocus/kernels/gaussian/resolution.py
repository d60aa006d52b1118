"""The resolution certificate: evidence for a report, with no class that anyone must believe in.

The report is an acyclic graph with weights A. It claims of the true system that
  - every reported edge k -> j is there, and its weight is within epsilon of A_jk;
  - every edge of size min_effect or more is reported.
The true system may be any linear-Gaussian one with any acyclic graph: weights of any size, noise of
any variance. Every system that breaks the claim must be rejected. Let lambda be one, b its weights.

Numerators. Each depends on lambda and on nothing else, except that those with a training share may
use what the first samples said before the samples that they count (`training`). Each is a product
of conditional densities along an acyclic graph, so its ratio to lambda's likelihood is a
non-negative martingale with mean at most one if lambda is true; so is the mixture of all, whose
weights sum to at most one, and it ever reaches exp(h) with probability at most exp(-h).
  - EDGE, weight W_EDGE shared by the strong edges of lambda, those of size `cut` or more; and
    WEAK, weight W_WEAK / (p (p - 1) / 2) for each other edge: the row of j around lambda's own
    (`edge_evidence`), coefficient k widely, the others narrowly; more widely if |b_jk| < `top`,
    where an edge is more likely to be none at all.
  - NOISE, weight W_NOISE / p per row times the share of the training: the row on lambda's own
    parents as the training foretells it. It rejects noise variances far from the fitted one.
  - SWAP, weight W_SWAP times the share of the training times pi(Delta, S): rows in Delta get
    parents S_j, as the training foretells them, if the graph stays acyclic;
    pi = (1 - 1/p)^p prod_Delta q_j(S_j) / (p - 1), where q_j, a distribution over sets of parents,
    gives one half to those of the training's own estimate, a quarter to those that differ from it
    in one node and a quarter to all.
A lower bound on one term is a lower bound on the mixture.

Case 1: the union of the two graphs is acyclic. Then lambda's parents of any j are among ND(j), the
nodes that j has no reported path to.
  a. A reported parent k of j is missing. SWAP of the row of j alone to its reported parents stays
     acyclic. Lambda's row is at best the least-squares row on ND(j) without k.
  b. None is missing. Then lambda breaks the claim in a row j on a set P with pa(j) in P in ND(j) at
     some k in P: by epsilon if k is reported, else by having size min_effect. If b_jk is strong,
     EDGE, else (k is reported then) WEAK. All P are tried.
     The share of EDGE: let r be the number of reported edges, and e_u the u-th least evidence,
     before its share, against an unreported edge being strong. If lambda has u unreported strong
     edges it has at most r + u strong ones, and among those u is one with evidence e_u or more; so
     at level h it is rejected unless e_u + log(W_EDGE / (r + u)) < h. With u the largest number
     that this leaves, the share is at least W_EDGE / (r + u).
Case 2: the union has a cycle. Take any topological order of lambda. Call a set of nodes closed if
it contains the reported parents of its members. The order passes from one set to the next, from the
empty set to all nodes, all closed; since it disagrees with the report some set on its way is not.
Swap the row of every node that is added to or leads to a set that is not closed; leave the others
as they are. Between two closed sets on the way, a swapped row has its reported parents inside the
later set, along the report's order, and a row that is left has its own in the earlier one: acyclic.
Lambda's row of a swapped node is at best the least-squares row on the nodes before it, so the least
evidence is that of the cheapest way through the sets: a dynamic program.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import Noise
from causalfocus.kernels.evidence.row_evidence import even_spread, least_squares, regressors_of
from causalfocus.kernels.evidence.training import log_predictive
from causalfocus.kernels.exact.certificate import SAFETY, edge_count, parents_of
from causalfocus.kernels.gaussian.direction_evidence import (
    Fit,
    Mixing,
    Times,
    along,
    direction_evidence,
    past_inverses,
)

W_EDGE, W_WEAK, W_NOISE, W_SWAP = 0.81, 0.06, 0.06, 0.04
"""The rest is for alarms, see `stopping.alarms`."""

Rows = tuple[Floats, Floats, Floats]
"""Gram matrices of all nodes, high and low parts, and the number of samples of each."""

Split = tuple[Rows, Rows, float, Ints]
"""The training and the later samples, the logarithm of the training's share, and the parents of
every node in the training's own estimate."""

SeenRow = tuple[tuple[Floats, Floats, float, float], Floats, Noise, Floats, Mixing, Mixing]
"""G, G^-1, R and n; coefficients; NOISE; G^-1 at earlier marks; mixing of a coefficient of size
`top` or more, and of a smaller one."""

Scale = tuple[float, float, float, float, float, float, float, float]
"""epsilon (infinity for the graph alone), min_effect, cut, top; the standard deviations by which a
row is moved along the direction of a coefficient of size `top` or more, and of a smaller one; that
of every single coefficient as a share of these; and the stiffness a0 of the noise."""


@kernel
def nondescendants(weights: Floats) -> Ints:
    """Per node the set of nodes, without itself, that it has no path to."""
    p = weights.shape[0]
    reach = np.zeros(p, dtype=np.int64)
    for k in range(p):
        for j in range(p):
            if weights[j, k] != 0.0:
                reach[k] |= 1 << j
    for m in range(p):
        for k in range(p):
            if (reach[k] >> m) & 1:
                reach[k] |= reach[m]
    found = np.empty(p, dtype=np.int64)
    for k in range(p):
        found[k] = ((1 << p) - 1) & ~reach[k] & ~(1 << k)
    return found


@kernel
def distance(at: float, centre: float, radius: float, low: float, high: float) -> float:
    """From `at` to the nearest value of size in [low, high) that is `radius` or more away from
    `centre` >= 0; infinity if there is none.
    """
    found = math.inf
    below = min(high, centre - radius)  # [low, below]
    if below >= low:
        found = min(found, max(at - below, low - at, 0.0))
    above = max(low, centre + radius)  # [above, high)
    if above < high:
        found = min(found, max(above - at, at - high, 0.0))
    nearest = max(low, radius - centre)  # (-high, -nearest]
    if nearest < high:
        found = min(found, max(at + nearest, -high - at, 0.0))
    return found


@kernel
def could_reach(rows: Rows, weights: Floats, scale: Scale, level: float) -> bool:
    """Whether case 1b might reach a level: a quick look at the largest sets of parents, as if the
    noise were known and the direction too. It decides when to look closely, nothing else.
    """
    grams, lows, counts = rows
    p, q = len(counts), grams.shape[1]
    needed = level + math.log(edge_count(weights) / W_EDGE)
    nd = nondescendants(weights)
    for j in range(p):
        if nd[j] == 0:
            continue
        regressors = regressors_of(nd[j], p, q)
        _, inverse, residual, b = least_squares((grams[j], lows[j], j), regressors, counts[j])
        if not residual > 0.0:
            return False
        for i in range(len(regressors)):
            k = regressors[i]
            is_reported = k < p and weights[j, k] != 0.0
            if k == p or (scale[0] == math.inf and is_reported):
                continue
            d = scale[0] - abs(b[i] - weights[j, k]) if is_reported else scale[1] - abs(b[i])
            information = counts[j] / (residual * inverse[i, i])
            wide = scale[4] if is_reported else scale[5]
            gained = 0.5 * d * d * information if d > 0.0 else 0.0
            if gained - 0.5 * math.log1p(wide**2 * information) < needed:
                return False
    return True


@kernel
def noise_of(split: Split, j: int, regressors: Ints) -> Noise:
    """The training's view of a row, with its weight; R and n of the later samples."""
    training, later, log_share, _ = split
    p = len(later[2])
    after = (later[0][j], later[1][j], j)
    log_m = log_predictive(
        (training[0][j], training[1][j], j), training[2][j], after, later[2][j], regressors
    )
    residual = least_squares(after, regressors, later[2][j])[2]
    if not residual > 0.0:
        log_m = -math.inf
    return log_m + math.log(W_NOISE / p) + log_share, residual, later[2][j]


@kernel
def seen_row(data: tuple[Times, Split], j: int, regressors: Ints, scale: Scale) -> SeenRow:
    """A row as EDGE and NOISE see it; its residual is not positive where it gives no evidence."""
    times, split = data
    row, n = (times[0][-1, j], times[1][-1, j], j), times[2][-1, j]
    p = times[2].shape[1]
    block, inverse, residual, b = least_squares(row, regressors, n)
    noise = (-math.inf, 1.0, 1.0)
    if residual > 0.0:
        noise = noise_of(split, j, regressors)
    large = (even_spread(regressors, p, scale[6] * scale[4]), scale[4], scale[7])
    small = (even_spread(regressors, p, scale[6] * scale[5]), scale[5], scale[7])
    past = past_inverses(times, j, regressors)
    return (block, inverse, residual, n), b, noise, past, large, small


@kernel
def fit_along(seen: SeenRow, times: Times, j: int, regressors: Ints, i: int) -> Fit:
    """The row with the direction of coefficient i."""
    block, inverse, residual, n = seen[0]
    ell, q_u, eta = along(times, j, regressors, seen[3], seen[1], i)
    return block, inverse, residual, n, ell, q_u, eta


@kernel
def against(
    fit: Fit,
    mixing: Mixing,
    i: int,
    d: float,
    noise: Noise,
    own: float,
    of_use: tuple[float, float],
) -> float:
    """Evidence before its share; `own` is at least the logarithm of the share that it will get."""
    if d == math.inf:
        return math.inf
    return direction_evidence(fit, mixing, i, d, (noise[0] - own, noise[1], noise[2]), of_use)


@kernel
def _row_against(
    data: tuple[Times, Split],
    j: int,
    parents: int,
    weights: Floats,
    scale: Scale,
    levels: tuple[float, float],
    tables: Floats,
    families: Ints,
) -> bool:
    """Take the row of j on one set of parents into the tables; False if that settles it: some
    member cannot reach the levels.

    levels : what an evidence before its share must reach at least, and what is surely enough
    """
    times = data[0]
    p, q = times[2].shape[1], times[0].shape[2]
    regressors = regressors_of(parents, p, q)
    seen = seen_row(data, j, regressors, scale)
    (_, _, residual, _), b, noise, _, large, small = seen
    own = math.log(W_EDGE / edge_count(weights))
    own_weak = math.log(W_WEAK / (0.5 * p * (p - 1)))
    more = own - own_weak
    weak_levels = (levels[0] + more, levels[1] + more)
    cut, top = scale[2], scale[3]
    for i in range(len(regressors)):
        k = regressors[i]
        if k == p:
            continue
        strong, other = -math.inf, -math.inf
        is_reported = weights[j, k] != 0.0
        if residual > 0.0:
            centre = abs(weights[j, k])
            at = b[i] if weights[j, k] > 0.0 else (-b[i] if is_reported else abs(b[i]))
            radius = scale[0] if is_reported else scale[1]
            fit = fit_along(seen, times, j, regressors, i)
            d = distance(at, centre, radius, top, math.inf)
            beyond = against(fit, large, i, d, noise, own, levels)
            d = distance(at, centre, radius, cut, top)
            strong = min(beyond, against(fit, small, i, d, noise, own, levels))
            if is_reported:
                d = distance(at, centre, radius, 0.0, cut)
                other = against(fit, small, i, d, noise, own_weak, weak_levels)
            elif strong > levels[0]:
                d = distance(at, 0.0, cut, cut, top)
                other = min(beyond, against(fit, small, i, d, noise, own, levels))
        if strong < tables[0, j, k]:
            tables[0, j, k] = strong
            families[j, k] = parents
        tables[1, j, k] = min(tables[1, j, k], other)
        if strong < levels[0] or (is_reported and other < weak_levels[0]):
            return False
    return True


@kernel
def row_tables(
    data: tuple[Times, Split],
    weights: Floats,
    scale: Scale,
    level: float,
    enough: float,
    only_widest: bool,
) -> tuple[bool, Floats, Ints]:
    """Case 1b, before the shares, over all sets of parents, or over the largest of each node only.

    Returns whether the level may be reached; tables (2, p, p) for (effect, cause); and the set of
    parents with the least evidence for each. Table 0 is the least evidence against an edge that
    breaks the claim and is strong. Table 1 is that against a reported edge that breaks it and is
    weak, or against an unreported edge that is strong. Infinity where there is nothing to reject.

    level : with minus infinity all entries are there; else the tables serve to tell whether the
        claim has that evidence, and end as soon as it has not
    enough : evidence that is surely above this level, whatever its share, may be given as any
        other that is; infinity for all values
    """
    p = weights.shape[0]
    tables = np.full((2, p, p), math.inf)
    families = np.zeros((p, p), dtype=np.int64)
    nd = nondescendants(weights)
    most = max(0.5 * p * (p - 1), 1.0)
    levels = (
        level + SAFETY + math.log(edge_count(weights) / W_EDGE),
        enough + SAFETY + math.log(most / W_EDGE),
    )
    for j in range(p):
        if nd[j] and not _row_against(data, j, nd[j], weights, scale, levels, tables, families):
            return False, tables, families
    if only_widest:
        return True, tables, families
    for j in range(p):
        own = parents_of(weights, j)
        rest = nd[j] & ~own
        while rest:
            rest = (rest - 1) & nd[j] & ~own
            if (rest | own) and not _row_against(
                data, j, rest | own, weights, scale, levels, tables, families
            ):
                return False, tables, families
    return True, tables, families
