"""The resolution certificate: evidence for a claim, with no class that anyone must believe in.

The claim is an acyclic graph with weights A, those of the estimate. It says of the true system that
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
    WEAK, weight W_WEAK / (p (p - 1) / 2) for each other edge: the row of j moved from lambda's own
    along the direction of coefficient k (`direction_evidence`); further if |b_jk| < `top`, where an
    edge is more likely to be none at all.
  - NOISE, weight W_NOISE / p per row times the share of the training: the row on lambda's own
    parents as the training foretells it. It rejects noise variances far from the fitted one.
  - SWAP, weight W_SWAP times the share of the training times pi(Delta, S): rows in Delta get
    parents S_j, as the training foretells them, if the graph stays acyclic;
    pi = (1 - 1/p)^p prod_Delta q_j(S_j) / (p - 1), where q_j, a distribution over sets of parents,
    gives one half to those of the training's own estimate, a quarter to those that differ from it
    in one node and a quarter to all.
A lower bound on one term is a lower bound on the mixture.

Case 1: the union of the two graphs is acyclic. Then lambda's parents of any j are among ND(j), the
nodes that j has no reported path to (`nondescendants`).
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
empty set to all nodes, all closed; since it disagrees with the claim some set on its way is not.
Swap the row of every node that is added to or leads to a set that is not closed; leave the others
as they are. Between two closed sets on the way, a swapped row has its reported parents inside the
later set, along the claim's order, and a row that is left has its own in the earlier one: acyclic.
Lambda's row of a swapped node is at best the least-squares row on the nodes before it, so the least
evidence is that of the cheapest way through the sets: a dynamic program.

What is known beforehand (`Parents`): lambda's parents of j hold those that are needed, N(j), and
lie in those that are possible, O(j). Systems for which that is not so are no truths, and need not
be rejected: the certificate errs only if the truth breaks the claim and is rejected, and the truth
is one of the others. No term of the mixture and no weight changes; only which lambda are looked at:
  - 1a. A missing parent is not in N(j), and lambda's row is a row on ND(j) and O(j) without it. Its
    residual is at least that of least squares on these, however the nodes outside O(j) would fit:
    lambda's coefficients there are zero.
  - 1b. Only the sets P count that hold the reported parents and N(j), and lie in ND(j) and O(j):
    one of them is pa(j) itself, which is all that is asked of them. The e_u are those of pairs in
    O; an unreported strong edge of lambda is one of these.
  - 2. In lambda's order every node j comes after N(j), and its row is at best the least-squares row
    on those nodes before it that are in O(j). Ways on which some j does not are left out.
So `nondescendants` become those among them that may act (`may_act`). Reported parents always stay
in, whatever is known: more regressors, and rivals that are no truths, only lower the evidence.

Symbols: epsilon, min_effect, `cut` and `top` are the first fields of the `Scale`; the share of the
training is `Split.log_share`, its own estimate `Split.foreseen`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import (
    edge_count,
    may_act,
    parents_of,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.direction_evidence import (
    Departure,
    Mixing,
    Noise,
    direction_evidence,
)
from causalfocus.kernels.evidence.directions import (
    Direction,
    Times,
    direction_sums,
    past_inverses,
    present_row,
)
from causalfocus.kernels.evidence.distances import distance
from causalfocus.kernels.evidence.row_evidence import Fit, even_spread, least_squares
from causalfocus.kernels.evidence.training import log_predictive
from causalfocus.kernels.exact.certificate import SAFETY
from causalfocus.kernels.records import Parents, Rows, Span, row_of

W_EDGE, W_WEAK, W_NOISE, W_SWAP = 0.81, 0.06, 0.06, 0.04
"""The rest is for alarms, see `guarantees.alarms`."""

ANY = Span(0.0, math.inf)
"""Noise variances."""


class Split(NamedTuple):
    """The training and the later samples, the logarithm of the training's share, and the parents of
    every node in the training's own estimate.
    """

    training: Rows
    later: Rows
    log_share: float
    foreseen: Ints


class Data(NamedTuple):
    """All that EDGE and NOISE read: the moments at the marks, and the split of the samples."""

    times: Times
    split: Split


class Scale(NamedTuple):
    """What is claimed, and how rows are mixed.

    Attributes
    ----------
    epsilon : infinity for the graph alone
    min_effect : every edge of this size is reported
    cut, top : from which size on an edge is strong, and moved by `step`
    step, stride : by which a row is moved along the direction of a coefficient of size `top` or
        more, and of a smaller one
    fine : the standard deviation of every single coefficient, as a share of these
    stiffness : a0 of the noise
    """

    epsilon: float
    min_effect: float
    cut: float
    top: float
    step: float
    stride: float
    fine: float
    stiffness: float


PlainScale = tuple[float, float, float, float, float, float, float, float]
"""The same as a plain tuple, see `records`."""


class SeenRow(NamedTuple):
    """A row as EDGE and NOISE see it.

    Attributes
    ----------
    fit : its residual is not positive where the row gives no evidence
    noise : NOISE
    past : G^-1 at earlier marks
    large, small : mixing of a coefficient of size `top` or more, and of a smaller one
    """

    fit: Fit
    noise: Noise
    past: Floats
    large: Mixing
    small: Mixing


class RowTables(NamedTuple):
    """Case 1b, before the shares.

    Attributes
    ----------
    may_reach : whether the level may be reached
    evidence : (2, p, p) for (effect, cause). Table 0 is the least evidence against an edge that
        breaks the claim and is strong. Table 1 is that against a reported edge that breaks it and
        is weak, or against an unreported edge that is strong. Infinity where there is nothing to
        reject
    families : the set of parents with the least evidence for each
    """

    may_reach: bool
    evidence: Floats
    families: Ints


@kernel
def noise_of(split: Split, j: int, regressors: Ints) -> Noise:
    """Return the training's view of a row, with its weight; R and n of the later samples."""
    training, later = split.training, split.later
    p, n = len(later.counts), later.counts[j]
    after = row_of(later, j)
    log_m = log_predictive(row_of(training, j), training.counts[j], after, n, regressors)
    residual = least_squares(after, regressors, n).residual
    if not residual > 0.0:
        log_m = -math.inf
    return Noise(log_m + math.log(W_NOISE / p) + split.log_share, residual, n)


@kernel
def seen_row(data: Data, j: int, regressors: Ints, scale: Scale) -> SeenRow:
    """Return a row as EDGE and NOISE see it."""
    times = data.times
    row, n = present_row(times, j), times.counts[-1, j]
    p = times.counts.shape[1]
    fit = least_squares(row, regressors, n)
    noise = Noise(-math.inf, 1.0, 1.0)
    if fit.residual > 0.0:
        noise = noise_of(data.split, j, regressors)
    step, stride, fine, a0 = scale.step, scale.stride, scale.fine, scale.stiffness
    large = Mixing(even_spread(regressors, p, fine * step), step, a0)
    small = Mixing(even_spread(regressors, p, fine * stride), stride, a0)
    return SeenRow(fit, noise, past_inverses(times, j, regressors), large, small)


@kernel
def coefficient_evidence(
    fit: Fit,
    direction: Direction,
    mixing: Mixing,
    departure: Departure,
    noise: Noise,
    own: float,
    useful: Span,
) -> float:
    """Return the evidence before its share against a departure of one coefficient.

    own : at least the logarithm of the share that it will get
    """
    if departure.distance == math.inf:
        return math.inf
    noise = Noise(noise.log_marginal - own, noise.residual, noise.n)
    return direction_evidence(fit, direction, mixing, departure, ANY, noise, useful)


@kernel
def _enter_row(
    data: Data,
    j: int,
    parents: int,
    weights: Floats,
    scale: Scale,
    useful: Span,
    tables: Floats,
    families: Ints,
) -> bool:
    """Take the row of j on one set of parents into the tables; return False if that settles it:
    some member cannot reach the levels.

    useful : what an evidence before its share must reach at least, and what is surely enough
    """
    times = data.times
    p, q = times.counts.shape[1], times.grams.shape[2]
    regressors = regressors_of(parents, p, q)
    seen = seen_row(data, j, regressors, scale)
    fit, noise, small = seen.fit, seen.noise, seen.small
    b = fit.coefficients
    own = math.log(W_EDGE / edge_count(weights))
    own_weak = math.log(W_WEAK / (0.5 * p * (p - 1)))
    more = own - own_weak
    useful_weak = Span(useful.low + more, useful.high + more)
    cut, top = scale.cut, scale.top
    for i in range(len(regressors)):
        k = regressors[i]
        if k == p:
            continue
        strong, other = -math.inf, -math.inf
        is_reported = weights[j, k] != 0.0
        if fit.residual > 0.0:
            centre = abs(weights[j, k])
            at = b[i] if weights[j, k] > 0.0 else (-b[i] if is_reported else abs(b[i]))
            radius = scale.epsilon if is_reported else scale.min_effect
            u = direction_sums(times, j, regressors, seen.past, b, i)
            away = Departure(i, distance(at, centre, radius, top, math.inf))
            large = coefficient_evidence(fit, u, seen.large, away, noise, own, useful)
            away = Departure(i, distance(at, centre, radius, cut, top))
            strong = min(large, coefficient_evidence(fit, u, small, away, noise, own, useful))
            if is_reported:
                away = Departure(i, distance(at, centre, radius, 0.0, cut))
                other = coefficient_evidence(fit, u, small, away, noise, own_weak, useful_weak)
            elif strong > useful.low:
                away = Departure(i, distance(at, 0.0, cut, cut, top))
                other = min(large, coefficient_evidence(fit, u, small, away, noise, own, useful))
        if strong < tables[0, j, k]:
            tables[0, j, k] = strong
            families[j, k] = parents
        tables[1, j, k] = min(tables[1, j, k], other)
        if strong < useful.low or (is_reported and other < useful_weak.low):
            return False
    return True


@kernel
def row_tables(
    data: Data,
    weights: Floats,
    scale: Scale,
    level: float,
    enough: float,
    only_widest: bool,
    parents: Parents,
) -> RowTables:
    """Return the tables of case 1b over all sets of parents, or over the largest of each node only.

    level : with minus infinity all entries are there; else the tables serve to tell whether the
        claim has that evidence, and end as soon as it has not
    enough : evidence that is surely above this level, whatever its share, may be given as any
        other that is; infinity for all values
    parents : what is known of the graph
    """
    p = weights.shape[0]
    tables = np.full((2, p, p), math.inf)
    families = np.zeros((p, p), dtype=np.int64)
    nd = may_act(weights, parents)
    most = max(0.5 * p * (p - 1), 1.0)
    useful = Span(
        level + SAFETY + math.log(edge_count(weights) / W_EDGE),
        enough + SAFETY + math.log(most / W_EDGE),
    )
    for j in range(p):
        if nd[j] and not _enter_row(data, j, nd[j], weights, scale, useful, tables, families):
            return RowTables(False, tables, families)
    if only_widest:
        return RowTables(True, tables, families)
    for j in range(p):
        own = parents_of(weights, j) | (parents.needed[j] & nd[j])
        rest = nd[j] & ~own
        while rest:
            rest = (rest - 1) & nd[j] & ~own
            if (rest | own) and not _enter_row(
                data, j, rest | own, weights, scale, useful, tables, families
            ):
                return RowTables(False, tables, families)
    return RowTables(True, tables, families)
