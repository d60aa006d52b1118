"""Refuting the assumptions: the same evidence, turned on ourselves.

A certificate says that every system outside its claim is rejected. If every system inside it is
rejected too, no system of the kind assumed fits the data: the assumptions are refuted and nothing
is certified. Both come from one mixture per system and one bound, so that a wrong certificate and a
false alarm together have probability at most delta.

An alarm is a numerator for the row of one node j, foretold by the training, with something that no
system inside the claim has:
  - curve: the square of a node k from which the estimate has a path to j;
  - product: the product of two such nodes, and these themselves;
  - dose: for any other node k the value that it was set to, zero where it was free;
  - lag: the residual that j had in the sample before;
  - shape: nothing more, but heavy tails of the noise;
  - action: a noise variance of its own in all rounds in which one node was set to one value, or
    nothing was set;
  - drift: time;
  - constant: an intercept, where the class has none;
  - noise: nothing more, but with noise (and weights) of any size, where the class bounds them;
  - weak: one more parent, where the class knows no effects below min_effect.
The class has one more, which needs no weight of its own: `effect`, the numerator of the certificate
for one edge, when no weight of the class is where the data put it.
Weight: W_ALARM, shared equally by the kinds, the nodes, and the (p - 1) causes or 2p actions of a
node, times the share of the training, times q_j of the reported parents (`kernels.gaussian.swaps`).

Inside the claim the parents of j include the reported ones, and a node with a reported path to j is
an ancestor of j, so the graph of the numerator is acyclic; under the paper's claim the graph is the
reported one, and any node without a path from j may be the extra parent. The alarm is set against
the best row that any system inside the claim could have: for the gaussian rule the least-squares
row on all nodes that j has no reported path to, for the class the best row in the class on the
reported parents. If it exceeds the threshold, all systems inside the claim are rejected by that
row alone; and so are those outside it that have such a row and in which the numerator is acyclic
too. For the gaussian rule these are all whose union with the estimate is acyclic: a node with a
reported path to j is no descendant of j there. For the class they are all with the reported graph.
So nothing but contrary orders, or other graphs, need be rejected besides, and a refutation does not
wait for the certainty of the weights.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.guarantees.foresight import foresight
from causalfocus.kernels.arithmetic.sets import nondescendants, parents_of, regressors_of
from causalfocus.kernels.evidence.training import log_density
from causalfocus.kernels.exact import certificate
from causalfocus.kernels.gaussian import swaps
from causalfocus.moments.moments import Moments
from causalfocus.moments.watched_rows import Rows, WatchedRows
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

N_KINDS: Final = 10
"""Of those with a weight of their own."""

W_ALARM: Final = 0.03
"""The same in both certificates, taken off the weight of their edges."""

LOOSE: Final = 3.0
"""Degrees of freedom with which the noise under one action is foretold by that under all."""


BestRow = Callable[[WatchedRows, int, Floats], float]
"""The largest log-likelihood, or more, that a system inside the claim can give the later samples of
the row of a node, with the weights of the estimate; infinity if it is unknown."""


def alarms(
    moments: Moments,
    estimate: LinearSEM,
    space: ModelClass,
    *,
    best_row: BestRow,
    more_kinds: Sequence[Kind] = (),
) -> tuple[Alarm, ...]:
    """Every alarm with its evidence, the loudest first; none while there are too few samples.

    Parameters
    ----------
    moments, estimate, space : the data, what is claimed, and what is assumed
    best_row : the best row of a system inside the claim
    more_kinds : those that no system inside the claim has, besides those of all rules
    """
    rows = moments.assumption_rows(intercept=space.intercept)
    seen = foresight(moments, space)
    if rows is None or seen is None:
        return ()
    found = []
    for j in range(rows.p):
        own = parents_of(estimate.weights, j)
        share = (
            math.log(W_ALARM / (N_KINDS * rows.p))
            + seen.log_share
            + swaps.log_family_share(own, int(seen.parents[j]), rows.p)
            - certificate.SAFETY
        )
        best = best_row(rows, j, estimate.weights)
        for kind, others, log_m, log_part in _numerators(rows, j, estimate, space, more_kinds):
            evidence = log_m - best + share + log_part if best < math.inf else -math.inf
            is_action = kind == "action"
            cause = None if is_action else " and ".join(estimate.names[k] for k in others) or None
            action = _action(moments, others[0]) if is_action else None
            found.append(Alarm(kind, estimate.names[j], cause, action, evidence))
    return tuple(sorted(found, key=lambda alarm: -alarm.evidence))


def loudest(found: tuple[Alarm, ...], threshold: float) -> Alarm | None:
    """The alarm that refutes; None if none does. An effect out of range also shows in the noise, so
    the more telling of the two goes first.
    """
    refuting = [alarm for alarm in found if alarm.evidence >= threshold]
    effects = [alarm for alarm in refuting if alarm.kind == "effect"]
    if effects and refuting[0].kind == "noise":
        return effects[0]
    return refuting[0] if refuting else None


def refusal(alarm: Alarm, threshold: float) -> str:
    """Why nothing is certified."""
    return (
        f"Refuted: no system of the kind that is assumed fits the data, for {alarm.words} "
        f"(evidence {alarm.evidence:.1f} of {threshold:.2f} nats). Nothing is certified."
    )


def _numerators(
    rows: WatchedRows,
    j: int,
    estimate: LinearSEM,
    space: ModelClass,
    more_kinds: Sequence[Kind],
) -> Iterator[tuple[Kind, tuple[int, ...], float, float]]:
    """Kind, the other nodes or the group, log density of the later samples, and log of its share."""
    p = rows.p
    own = parents_of(estimate.weights, j)
    regressors = row_regressors(own, p, space.intercept)
    training, n_training = rows.training(j)
    later, n_later = rows.later(j)
    to_causes, to_actions = -math.log(max(p - 1, 1)), -math.log(2 * p)

    def foretold(more: list[int]) -> float:
        columns = np.array([*regressors, *more], dtype=np.int64)
        return log_density(training, n_training, later, n_later, columns, math.inf)

    ancestors = _ancestors(estimate.weights, j)
    for k in ancestors:
        yield "curve", (k,), foretold([rows.square(k)]), to_causes
    yield from _product_numerators(rows, j, own, ancestors, space)
    for k in range(p):
        if k != j:
            yield "dose", (k,), foretold_with(*rows.with_dose(j, k), regressors), to_causes
    yield "lag", (), foretold_with(*rows.with_lag(j), regressors), 0.0
    if rows.fitted[j] >= 0 and not rows.fitted[j] & ~sum(1 << k for k in ancestors):
        yield "shape", (), _log_mean(rows.shapes[j]), 0.0
    for g in rows.groups_of(j):
        alone, n_alone = rows.group(j, g)
        if n_alone > 0.0:
            others, n_others = rows.without_group(j, g)
            log_m = log_density(training, n_training, alone, n_alone, regressors, LOOSE)
            log_m += log_density(training, n_training, others, n_others, regressors, math.inf)
            yield "action", (g,), log_m, to_actions
    yield "drift", (), foretold([rows.time]), 0.0
    if not space.intercept:
        yield "constant", (), foretold([p]), 0.0
    if "noise" in more_kinds:
        yield "noise", (), foretold([]), 0.0
    if "weak" in more_kinds:
        free = int(nondescendants(estimate.weights)[j]) & ~own
        for k in range(p):
            if free >> k & 1:
                yield "weak", (k,), foretold([k]), to_causes


def _product_numerators(
    rows: WatchedRows, j: int, own: int, ancestors: Sequence[int], space: ModelClass
) -> Iterator[tuple[Kind, tuple[int, ...], float, float]]:
    """Those of the products of two nodes. Both are regressors themselves: else it would matter
    where zero is.
    """
    p = rows.p
    for k, m in combinations(ancestors, 2):
        regressors = row_regressors(own | 1 << k | 1 << m, p, space.intercept)
        log_m = foretold_with(*rows.with_product(j, k, m), regressors)
        yield "product", (k, m), log_m, -math.log(0.5 * (p - 1) * (p - 2))


def foretold_with(training: Rows, later: Rows, regressors: Ints) -> float:
    """Log density of the later samples of a row on its regressors and the column that was added, as
    the training foretells them.
    """
    columns = np.append(regressors, len(training[0][0]) - 1)
    return log_density(*training, *later, columns, math.inf)


def _log_mean(logs: Floats) -> float:
    """Log of the mean of numbers that are given by their logs."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))


def row_regressors(parents: int, p: int, intercept: bool) -> Ints:
    """Columns of the parents of a row, and of the constant if the equations have one."""
    return regressors_of(parents, p, p + 1 if intercept else p)


def _ancestors(weights: Floats, j: int) -> list[int]:
    """Nodes with a path to j."""
    nd = nondescendants(weights)
    return [k for k in range(len(weights)) if k != j and not nd[k] >> j & 1]


def _action(moments: Moments, group: int) -> str:
    p = len(moments.names)
    if group == 2 * p:
        return "observe"
    name, first = moments.names[group // 2], moments.state.watch.firsts[group // 2]
    if group % 2 == 0:
        return f"do({name} = {first:g})"
    return f"do({name}) at other values than {first:g}"
