"""Refuting the assumptions: the same evidence, turned on ourselves.

A certificate says that every system outside its claim is rejected. If every system inside it is
rejected too, no system of the kind assumed fits the data: the assumptions are refuted and nothing
is certified. Both come from one mixture per system and one bound, so that a wrong certificate and a
false alarm together have probability at most delta.

An alarm is a numerator for the row of one node j, with something that no system inside the claim
has. Most are foretold by the training:
  - curve: the square of a node k from which the estimate has a path to j;
  - product: the product of two such nodes, and these themselves;
  - lag: the residual that j had in the sample before, by a row that was fitted still earlier. All
    of it is known before the sample is drawn, so it is a regressor like time;
  - shape: heavy tails of the noise, about rows that were fitted at the marks since the training on
    the parents that the samples pointed to by then. Parents, coefficients and scales are known
    before the samples that they foretell. The alarm is read only if all those parents have a
    reported path to j;
  - action: a noise variance of its own in all rounds in which one node was set to one value, or
    nothing was set;
  - drift: time;
  - constant: an intercept, where the class has none;
  - noise: nothing more, but with noise (and weights) of any size, where the class bounds them;
  - weak: one more parent, where the class knows no effects below min_effect.
One needs no training:
  - dose: the value that any other node k was set to, `kernels.evidence.dose_evidence`.
The class has one more, which needs no weight of its own: `effect`, the numerator of the certificate
for one edge, when no weight of the class is where the data put it.
Weight: W_ALARM, a part of it for doses, shared equally by the pairs of nodes; the rest shared
equally by the other kinds, the nodes, and the (p - 1) causes, (p - 1)(p - 2)/2 pairs of causes or
2p actions of a node, times the share of the training, times q_j of the reported parents
(`kernels.gaussian.swaps`).

Inside the claim the parents of j include the reported ones, and a node with a reported path to j is
an ancestor of j, so the graph of the numerator is acyclic; under the paper's claim the graph is the
reported one, and any node without a path from j may be the extra parent. A foretold alarm is set
against the best row that any system inside the claim could have: for the gaussian rule the
least-squares row on all nodes that j has no reported path to, for the class the best row in the
class on the reported parents. If it exceeds the threshold, all systems inside the claim are
rejected by that row alone; and so are those outside it that have such a row and in which the
numerator is acyclic too. For the gaussian rule these are all whose union with the estimate is
acyclic: a node with a reported path to j is no descendant of j there. For the class they are all
with the reported graph. So nothing but contrary orders, or other graphs, need be rejected besides,
and a refutation does not wait for the certainty of the weights.

A dose is set against all rows on every set of parents that j may have inside the claim. For the
gaussian rule these hold the reported ones, so a refutation by a dose before the stop needs also
that systems without a reported edge are rejected.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from causalfocus.arrays import Floats
from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.guarantees.doses import RowSets, least_dose_evidence
from causalfocus.guarantees.foresight import Foresight, foresight
from causalfocus.guarantees.numerators import Numerator, numerators
from causalfocus.kernels.arithmetic.sets import parents_of
from causalfocus.kernels.exact import certificate
from causalfocus.kernels.gaussian import swaps
from causalfocus.moments.moments import Moments
from causalfocus.moments.watched_rows import WatchedRows
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

N_KINDS: Final = 9
"""Of those with a weight of their own that are foretold."""

W_ALARM: Final = 0.03
"""The same in both certificates, taken off the weight of their edges."""

DOSE_PART: Final = 0.3
"""Of W_ALARM, for doses."""

CLEARLY: Final = 5.0
"""By how many nats an alarm must be louder than one that says less, to be named."""

BestRow = Callable[[WatchedRows, int, Floats], float]
"""The largest log-likelihood, or more, that a system inside the claim can give the later samples of
the row of a node, with the weights of the estimate; infinity if it is unknown."""


def alarms(
    moments: Moments,
    estimate: LinearSEM,
    space: ModelClass,
    *,
    best_row: BestRow,
    row_sets: RowSets,
    more_kinds: Sequence[Kind] = (),
) -> tuple[Alarm, ...]:
    """Every alarm with its evidence, the loudest first; none while there are too few samples.

    Parameters
    ----------
    moments, estimate, space : the data, what is claimed, and what is assumed
    best_row : the best row of a system inside the claim
    row_sets : the sets of parents that a node may have there
    more_kinds : those that no system inside the claim has, besides those of all rules
    """
    rows = moments.assumption_rows(intercept=space.intercept)
    seen = foresight(moments, space)
    if rows is None or seen is None:
        return ()
    weights, found = estimate.weights, list[Alarm]()
    for j in range(rows.p):
        best = best_row(rows, j, weights)
        share = log_share(seen, j, parents_of(weights, j))
        for one in numerators(rows, j, weights, more_kinds):
            evidence = one.log_density - best + share + one.log_part
            known = evidence if best < math.inf else -math.inf
            found.append(_alarm(one, estimate.names[j], moments, known))
        found.extend(_dose_alarms(rows, j, estimate, row_sets))
    return tuple(sorted(found, key=lambda alarm: -alarm.evidence))


def log_share(seen: Foresight, j: int, parents: int) -> float:
    """Logarithm of the weight of a foretold row of j, before its kind is shared out."""
    p = len(seen.parents)
    return (
        math.log((1.0 - DOSE_PART) * W_ALARM / (N_KINDS * p))
        + seen.log_share
        + swaps.log_family_share(parents, int(seen.parents[j]), p)
        - certificate.SAFETY
    )


def log_dose_share(p: int) -> float:
    """Logarithm of the weight of the dose of one node in the row of another."""
    return math.log(DOSE_PART * W_ALARM / (p * (p - 1))) - certificate.SAFETY


def loudest(found: Sequence[Alarm], threshold: float) -> Alarm | None:
    """The alarm that refutes; None if none does. Of those that do, the one that tells most.

    Every foretold row has noise and weights of any size, so where the class bounds them too tightly
    all alarms of that row are loud: unless one is louder by CLEARLY, it is the bounds. An effect
    out of range also shows in the noise, so the more telling of these two goes first.
    """
    refuting = [alarm for alarm in found if alarm.evidence >= threshold]
    if not refuting:
        return None
    first = refuting[0]
    for alarm in refuting:
        is_plain = alarm.kind == "noise" and alarm.node == first.node
        if is_plain and first.evidence < alarm.evidence + CLEARLY:
            first = alarm
    effects = [alarm for alarm in refuting if alarm.kind == "effect"]
    return effects[0] if effects and first.kind == "noise" else first


def refusal(alarm: Alarm, threshold: float) -> str:
    """Why nothing is certified."""
    return (
        f"Refuted: no system of the kind that is assumed fits the data, for {alarm.words} "
        f"(evidence {alarm.evidence:.1f} of {threshold:.2f} nats). Nothing is certified."
    )


def _dose_alarms(
    rows: WatchedRows, j: int, estimate: LinearSEM, row_sets: RowSets
) -> Iterator[Alarm]:
    """Those of the row of a node, one for every other."""
    for k in range(rows.p):
        if k != j:
            sets, share = row_sets(estimate.weights, j), log_dose_share(rows.p)
            evidence = least_dose_evidence(rows, j, k, sets, share)
            yield Alarm("dose", estimate.names[j], estimate.names[k], None, evidence)


def _alarm(one: Numerator, node: str, moments: Moments, evidence: float) -> Alarm:
    if one.kind == "action":
        return Alarm(one.kind, node, None, _action(moments, one.others[0]), evidence)
    cause = " and ".join(moments.names[k] for k in one.others) or None
    return Alarm(one.kind, node, cause, None, evidence)


def _action(moments: Moments, group: int) -> str:
    p = len(moments.names)
    if group == 2 * p:
        return "observe"
    name, first = moments.names[group // 2], moments.state.watch.firsts[group // 2]
    if group % 2 == 0:
        return f"do({name} = {first:g})"
    return f"do({name}) at other values than {first:g}"
