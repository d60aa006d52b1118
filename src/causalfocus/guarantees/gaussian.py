"""The resolution certificate, the default stopping rule: no class that anyone must believe in.

It assumes a linear-Gaussian acyclic system and perfect interventions, and claims that every
reported effect is there and within epsilon of its weight, and that every effect of size min_effect
or more is reported. Stop when every system that breaks the claim is rejected at 1/delta, by a
mixture of martingales against it (Ville). Terms and proof: `kernels.resolution`.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.guarantees.alarms import Alarm, alarms, loudest, refusal
from causalfocus.guarantees.class_ import JUDGE_FROM, STIFFNESS, Interval
from causalfocus.guarantees.decision import Decision, MixtureRule
from causalfocus.guarantees.foresight import as_rows, foresight
from causalfocus.kernels.arithmetic.sets import nondescendants
from causalfocus.kernels.gaussian import direction_evidence, resolution, swaps
from causalfocus.kernels.gaussian import intervals as resolution_intervals
from causalfocus.kernels.gaussian import levels as resolution_levels
from causalfocus.moments.moments import Moments
from causalfocus.system.sem import LinearSEM

CUT, TOP = 0.8, 4 / 3
"""Of min_effect: where an edge of an alternative begins to be strong, and where it begins to be
mixed by epsilon instead of min_effect."""

WIDER = 0.6
"""Mixing of a coefficient below `TOP`, as a share of min_effect."""

FINE = 0.2
"""Mixing of every single coefficient, as a share of that along the direction."""


@dataclass(frozen=True)
class ResolutionRule(MixtureRule):
    """The rule for one accuracy, resolution and confidence.

    Of the class only min_effect, the resolution, and intercept are used.
    """

    @cached_property
    def scale(self) -> resolution.Scale:
        """What the kernels need to know: claim and mixing, from what the user chose alone."""
        smallest = self.space.min_effect
        wide = self.epsilon if self.epsilon is not None else 0.5 * smallest
        return resolution.Scale(
            math.inf if self.epsilon is None else self.epsilon,
            smallest,
            CUT * smallest,
            TOP * smallest,
            wide,
            WIDER * smallest,
            FINE,
            STIFFNESS,
        )

    def decide(
        self, moments: Moments, estimate: LinearSEM, *, judge_graph: bool = True
    ) -> "ResolutionDecision":
        """Apply the rule to the data so far; the estimate may be any model.

        Looks closely only where a quick look gives hope, and not at all without `judge_graph`: the
        rule may be applied on any schedule.
        """
        verdict = None
        if judge_graph and self._has_hope(moments, estimate):
            verdict = self.judge(moments, estimate)
        stop = verdict is not None and verdict.rejects_all
        alarm = loudest(self.alarms(moments, estimate), self.threshold) if stop else None
        return ResolutionDecision(
            stop, int(moments.n), self.threshold, alarm, self, moments.copy(), estimate, verdict
        )

    def _has_hope(self, moments: Moments, estimate: LinearSEM) -> bool:
        rows = as_rows(moments.evidence_rows(intercept=self.space.intercept))
        least = min(JUDGE_FROM, self.threshold)
        return resolution.could_reach(rows, estimate.weights, self.scale, least)

    def judge(self, moments: Moments, estimate: LinearSEM) -> "ResolutionVerdict":
        """All cases at the threshold, from cheap to dear, leaving at the first failure."""
        if estimate.p == 1:
            return ResolutionVerdict(True, None)
        split = self.split(moments)
        if split is None:
            return ResolutionVerdict(False, None)
        data, weights = resolution.Data(self.times(moments), split), estimate.weights
        tables = resolution.row_tables(data, weights, self.scale, -math.inf, self.threshold, True)
        if resolution_levels.row_evidence(tables.evidence, weights) < self.threshold:
            return ResolutionVerdict(False, _least(tables.evidence, tables.families, weights))
        costs = swaps.swap_costs(split, weights)
        missing = swaps.missing_evidence(costs, weights, split.log_share)
        if missing.min() < self.threshold:
            return ResolutionVerdict(False, _without(missing, weights))
        order = swaps.contrary_order(costs, weights)
        if order.cost + swaps.log_swap_weight(estimate.p, split.log_share) < self.threshold:
            rival = Reorder(order.before, order.is_swapped) if order.is_swapped.any() else None
            return ResolutionVerdict(False, rival)
        tables = resolution.row_tables(
            data, weights, self.scale, self.threshold, self.threshold, False
        )
        if (
            tables.may_reach
            and resolution_levels.row_evidence(tables.evidence, weights) >= self.threshold
        ):
            return ResolutionVerdict(True, None)
        return ResolutionVerdict(False, _least(tables.evidence, tables.families, weights))

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per reported edge, the weights that are not rejected at delta if the edges are right."""
        split = self.split(moments) if estimate.n_edges else None
        data = None if split is None else resolution.Data(self.times(moments), split)
        n_strong = 0
        if data is not None:
            tables = resolution.row_tables(
                data, estimate.weights, self.scale, -math.inf, math.inf, False
            )
            n_strong = resolution_levels.strong_edges(
                tables.evidence, estimate.weights, self.threshold
            )
        found = []
        for cause, effect, weight in estimate.edges:
            edge = estimate.names.index(effect), estimate.names.index(cause)
            low, high = -math.inf, math.inf
            if data is not None:
                low, high = resolution_intervals.weight_interval(
                    data, estimate.weights, edge, self.scale, self.threshold, n_strong
                )
            found.append(Interval(cause, effect, low, weight, high))
        return tuple(found)

    def times(self, moments: Moments) -> direction_evidence.Times:
        """The rows at every mark."""
        rows = moments.timed_rows(intercept=self.space.intercept)
        return direction_evidence.Times(rows.grams, rows.lows, rows.counts)

    def split(self, moments: Moments) -> resolution.Split | None:
        """Training and later samples, with the training's share and what it foresees."""
        found = foresight(moments, self.space)
        return None if found is None else found.split

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """The alarm by which no system that is assumed fits, contrary orders included."""
        alarm = loudest(self.alarms(moments, estimate), self.threshold)
        if alarm is None or estimate.p == 1:
            return alarm
        split = self.split(moments)
        if split is None:
            return None
        costs = swaps.swap_costs(split, estimate.weights)
        order = swaps.contrary_order(costs, estimate.weights)
        level = order.cost + swaps.log_swap_weight(estimate.p, split.log_share)
        return alarm if level >= self.threshold else None

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first."""
        return alarms(moments, estimate, self.space, is_exact=False)


def _least(tables: Floats, families: Ints, weights: Floats) -> "Move | None":
    """The edge with the least evidence, each with its share."""
    p, n_reported = len(weights), max(int(np.count_nonzero(weights)), 1)
    more = math.log(resolution.W_WEAK / (0.5 * p * (p - 1)) * n_reported / resolution.W_EDGE)
    weak = np.where(weights != 0.0, tables[1] + more, math.inf)
    least = np.minimum(tables[0], weak)
    j, k = np.unravel_index(int(least.argmin()), least.shape)
    return Move(int(j), int(k), int(families[j, k])) if families[j, k] else None


def _without(missing: Floats, weights: Floats) -> "Reorder":
    """The alternative without the reported edge that has the least evidence."""
    j, k = np.unravel_index(int(missing.argmin()), missing.shape)
    before = nondescendants(weights)
    before[j] &= ~(1 << int(k))
    return Reorder(before, np.arange(len(weights)) == j)


@dataclass(frozen=True)
class Reorder:
    """An alternative that has other rows for some nodes: each on the nodes before it, as sets."""

    before: Ints
    is_swapped: Bools


@dataclass(frozen=True)
class Move:
    """An alternative that moves one coefficient: its effect, its cause, and the set of the effect's
    parents (bit k for node k).
    """

    effect: int
    cause: int
    parents: int


@dataclass(frozen=True)
class ResolutionVerdict:
    """What judging all alternatives gave.

    Attributes
    ----------
    rejects_all : whether every alternative is rejected at the threshold
    rival : the alternative that has the least evidence against it, of the kind that was judged
        last; None if none lags
    """

    rejects_all: bool
    rival: Move | Reorder | None


@dataclass(frozen=True)
class ResolutionDecision(Decision):
    """A decision of the resolution rule. What is dear to compute is computed when asked for."""

    rule: ResolutionRule = field(repr=False)
    moments: Moments = field(repr=False)
    estimate: LinearSEM = field(repr=False)
    verdict: ResolutionVerdict | None

    @cached_property
    def _evidence(self) -> tuple[Floats, float, float]:
        """Per reported edge; of all rows; and against contrary orders."""
        p, weights = self.estimate.p, self.estimate.weights
        split = self.rule.split(self.moments) if p > 1 else None
        if split is None:
            value = math.inf if p == 1 else -math.inf
            return np.where(weights != 0.0, value, math.inf), value, value
        data = resolution.Data(self.rule.times(self.moments), split)
        tables = resolution.row_tables(
            data, weights, self.rule.scale, -math.inf, math.inf, False
        ).evidence
        found = resolution_levels.row_evidence(tables, weights)
        costs = swaps.swap_costs(split, weights)
        order = swaps.contrary_order(costs, weights).cost
        missing = swaps.missing_evidence(costs, weights, split.log_share)
        edges = np.minimum(resolution_levels.edge_levels(tables, weights), missing)
        return edges, found, order + swaps.log_swap_weight(p, split.log_share)

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; it counts at the stop."""
        return self.rule.alarms(self.moments, self.estimate)

    @property
    def edge_evidence(self) -> Floats:
        """Evidence for each reported edge, (effect, cause); infinity where none is reported."""
        return self._evidence[0]

    @property
    def graph_evidence(self) -> float:
        """Evidence that nothing is left out, and that all directions are right, capped."""
        return min(self._evidence[1], self._evidence[2], self.rule.cap)

    @cached_property
    def evidence(self) -> float:
        return min(float(self.edge_evidence.min()), self.graph_evidence)

    @property
    def reason(self) -> str:
        if self.alarm is not None:
            return refusal(self.alarm, self.threshold)
        if self.stop:
            return (
                f"Every system that breaks the claim is rejected: the evidence has reached "
                f"log(1/delta) = {self.threshold:.2f} nats."
            )
        if self.verdict is not None and isinstance(self.verdict.rival, Move):
            return self._about(self.verdict.rival)
        edges, others, order = self._evidence
        if edges.min() < min(others, order, self.threshold):
            j, k = np.unravel_index(int(np.argmin(edges)), edges.shape)
            return self._about(Move(int(j), int(k), 0))
        if order < min(others, self.threshold):
            return "The directions of the effects are not yet certain enough."
        return "An effect that is not reported is not yet ruled out."

    def _about(self, move: Move) -> str:
        names, weights = self.estimate.names, self.estimate.weights
        edge = f"{names[move.cause]} -> {names[move.effect]}"
        if weights[move.effect, move.cause] != 0.0:
            return f"The weight of {edge} is not yet certain enough."
        smallest = self.rule.space.min_effect
        return f"An effect {edge} of size {smallest:g} or more is not yet ruled out."
