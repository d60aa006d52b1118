"""The evidence certificate, for systems of a class.

Stop when a mixture of likelihood-ratio martingales has reached 1/delta against every alternative to
the estimate. If the answer is wrong the truth is such an alternative, and against the truth the
mixture reaches 1/delta with probability at most delta (Ville), at any time and under any rule that
chooses actions without seeing their outcomes. Terms and proof: `kernels.certificate`.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees.alarms import Alarm, alarms, loudest, refusal
from causalfocus.guarantees.decision import LEVEL_FLOOR, Decision, MixtureRule
from causalfocus.kernels.evidence.row_evidence import Prior
from causalfocus.kernels.exact import other_graphs, same_graph
from causalfocus.kernels.exact.certificate import Setting
from causalfocus.kernels.records import Bounds, Rows, Span
from causalfocus.moments.moments import Moments
from causalfocus.moments.views import RowMoments
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM

NARROW = 0.4
"""Mixing of the other coefficients of a row, as a share of that of the coefficient in question."""

STIFFNESS = 3000.0
"""How closely the numerator's noise follows the alternative's; about the samples at a stop."""

JUDGE_FROM = 2.0
"""Evidence of the weights from which on the other graphs are judged, in nats."""


@dataclass(frozen=True)
class Interval:
    """Weights of one edge that the evidence does not reject at delta, given the graph."""

    cause: str
    effect: str
    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class EvidenceRule(MixtureRule):
    """The rule for one class, accuracy and confidence."""

    @cached_property
    def _prior(self) -> Prior:
        """The fixed prior, from the class alone."""
        low, high = self.space.variance_limits
        known = self.space.noise_variance is not None
        middle = math.sqrt(low * high) if known else 1.0
        a0 = 1.0 / max(0.5 * math.log(high / low), 0.05) ** 2 if known else 0.01
        largest = self.space.max_effect or 10.0 * self.space.min_effect
        return Prior(largest**2 / (3.0 * middle), a0, a0 * middle)

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.space.min_effect, self.space.effect_limit, *self.space.variance_limits)

    @cached_property
    def _setting(self) -> Setting:
        wide = self.epsilon if self.epsilon is not None else 0.5 * self.space.min_effect
        return Setting(wide, NARROW * wide, STIFFNESS)

    def decide(
        self, moments: Moments, estimate: LinearSEM, *, judge_graph: bool = True
    ) -> "EvidenceDecision":
        """Apply the rule to the data so far; the estimate may be any model.

        The other graphs are judged only once the weights have some evidence, and not at all
        without `judge_graph`: the rule may be applied on any schedule, and this is its dear part.
        """
        rows = moments.evidence_rows(intercept=self.space.intercept)
        verdict = None
        if judge_graph and self._have_weights_evidence(rows, estimate):
            verdict = self.judge(rows, estimate)
        stop = verdict is not None and verdict.rejects_all
        alarm = loudest(self.alarms(moments, estimate), self.threshold) if stop else None
        return EvidenceDecision(
            stop,
            int(moments.n),
            self.threshold,
            alarm,
            self,
            moments.copy(),
            rows,
            estimate,
            verdict,
        )

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """The alarm by which no model of the class fits, those with other graphs included."""
        alarm = loudest(self.alarms(moments, estimate), self.threshold)
        if alarm is None or estimate.p == 1:
            return alarm
        rows = moments.evidence_rows(intercept=self.space.intercept)
        tables = self._family_tables(rows, estimate, (self.threshold, self.threshold))
        level, _ = other_graphs.least_rejected_graph(*tables, estimate.weights, self.threshold)
        return alarm if level >= self.threshold else None

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first."""
        rows = moments.evidence_rows(intercept=self.space.intercept)
        out = self.out_of_class(rows, estimate)
        effects = tuple(
            Alarm("effect", estimate.names[j], estimate.names[k], None, float(out[j, k]))
            for j, k in zip(*np.nonzero(out > -math.inf), strict=True)
        )
        found = alarms(moments, estimate, self.space, is_exact=True) + effects
        return tuple(sorted(found, key=lambda alarm: -alarm.evidence))

    def _have_weights_evidence(self, rows: RowMoments, estimate: LinearSEM) -> bool:
        least = min(JUDGE_FROM, self.threshold)
        if self.epsilon is None:
            return True
        return same_graph.reaches_level(
            Rows(rows.grams, rows.lows, rows.counts),
            estimate.weights,
            self.epsilon,
            self._bounds,
            self._prior,
            self._setting,
            least,
        )

    def judge(self, rows: RowMoments, estimate: LinearSEM) -> "Verdict":
        """Both branches at the threshold, and the graph that keeps the evidence from rising.

        The rival is sought at the level that the weights have reached, which does not depend on
        delta; for the graph alone at the threshold.
        """
        weights = self.weights_evidence(rows, estimate)
        if estimate.p == 1:
            return Verdict(weights >= self.threshold, None)
        level = min(weights, self.cap) if self.epsilon is not None else self.threshold
        low, high = min(level, self.threshold), max(level, self.threshold)
        tables = self._family_tables(rows, estimate, (low, high))
        found, parents = other_graphs.least_rejected_graph(*tables, estimate.weights, level)
        at_threshold = found
        if level != self.threshold:
            at_threshold, _ = other_graphs.least_rejected_graph(
                *tables, estimate.weights, self.threshold
            )
        return Verdict(
            weights >= self.threshold and at_threshold >= self.threshold,
            parents if math.isfinite(found) and found < level else None,
        )

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per edge, the weights that are not rejected at delta if the graph is right."""
        rows = moments.evidence_rows(intercept=self.space.intercept)
        found = []
        for cause, effect, weight in estimate.edges:
            j, k = estimate.names.index(effect), estimate.names.index(cause)
            reach = same_graph.interval_reach(
                Rows(rows.grams, rows.lows, rows.counts),
                estimate.weights,
                (j, k),
                self._bounds,
                self._prior,
                self._setting,
                self.threshold,
            )
            centre, half = reach
            found.append(Interval(cause, effect, centre - half, weight, centre + half))
        return tuple(found)

    def edge_evidence(
        self, rows: RowMoments, estimate: LinearSEM, enough: float = -math.inf
    ) -> Floats:
        """Branch A per edge, (effect, cause); infinity where there is no edge.

        With `enough` only whether all edges reach it: minus infinity at the first that does not.
        """
        if self.epsilon is None:
            return np.full((estimate.p, estimate.p), math.inf)
        return same_graph.same_graph_evidence(
            Rows(rows.grams, rows.lows, rows.counts),
            estimate.weights,
            self.epsilon,
            self._bounds,
            self._prior,
            self._setting,
            enough,
        )

    def weights_evidence(self, rows: RowMoments, estimate: LinearSEM) -> float:
        """Branch A: against every other model with the same graph."""
        found = float(self.edge_evidence(rows, estimate).min())
        return max(found, float(self.out_of_class(rows, estimate).max()))

    def out_of_class(self, rows: RowMoments, estimate: LinearSEM) -> Floats:
        """Evidence that a weight is outside the class, (effect, cause): it rejects every model of
        the class with the estimate's graph.
        """
        return same_graph.out_of_class_evidence(
            Rows(rows.grams, rows.lows, rows.counts),
            estimate.weights,
            self._bounds,
            self._prior,
            self._setting,
        )

    def graph_evidence(
        self, rows: RowMoments, estimate: LinearSEM, levels: tuple[float, float]
    ) -> float:
        """Branch B: evidence against every other graph, in a range; minus infinity if below it."""
        if estimate.p == 1:
            return levels[1]
        tables = self._family_tables(rows, estimate, levels)
        return other_graphs.different_graph_evidence(*tables, estimate.weights, Span(*levels))

    def _family_tables(
        self, rows: RowMoments, estimate: LinearSEM, levels: tuple[float, float]
    ) -> tuple[Floats, Floats]:
        return other_graphs.family_tables(
            Rows(rows.grams, rows.lows, rows.counts),
            estimate.weights,
            self._bounds,
            self._prior,
            self._setting,
            Span(*levels),
        )


@dataclass(frozen=True)
class Verdict:
    """What judging all alternatives gave.

    Attributes
    ----------
    rejects_all : whether every alternative is rejected at the threshold
    rival : the other graph that lags behind the evidence of the weights, as the set of parents of
        each node (bit k for node k); None if none does
    """

    rejects_all: bool
    rival: Ints | None


@dataclass(frozen=True)
class EvidenceDecision(Decision):
    """A decision of the evidence rule. What is dear to compute is computed when asked for.

    verdict : None if the other graphs were not judged in this round
    """

    rule: EvidenceRule = field(repr=False)
    moments: Moments = field(repr=False)
    rows: RowMoments = field(repr=False)
    estimate: LinearSEM = field(repr=False)
    verdict: Verdict | None

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; it counts at the stop."""
        return self.rule.alarms(self.moments, self.estimate)

    @cached_property
    def edge_evidence(self) -> Floats:
        """Evidence that each weight is within epsilon, (effect, cause); infinity if no edge."""
        return self.rule.edge_evidence(self.rows, self.estimate)

    @cached_property
    def graph_evidence(self) -> float:
        """Evidence against every graph but the estimate's, capped."""
        return self.rule.graph_evidence(self.rows, self.estimate, (LEVEL_FLOOR, self.rule.cap))

    @cached_property
    def evidence(self) -> float:
        weights = self.rule.weights_evidence(self.rows, self.estimate)
        found = min(weights, self.graph_evidence)
        return max(found, self.threshold) if self.stop else found  # the search is from below

    @property
    def reason(self) -> str:
        if self.alarm is not None:
            return refusal(self.alarm, self.threshold)
        if self.stop:
            return (
                f"Every alternative is rejected: the evidence has reached "
                f"log(1/delta) = {self.threshold:.2f} nats."
            )
        names, edges = self.estimate.names, self.edge_evidence
        if edges.min() < self.threshold:
            j, k = np.unravel_index(int(np.argmin(edges)), edges.shape)
            return f"The weight of {names[k]} -> {names[j]} is not yet certain enough."
        if self.verdict is None or self.verdict.rival is None:
            return "Another graph is not yet rejected."
        rival = (self.verdict.rival[:, None] >> np.arange(self.estimate.p)) & 1
        changes = changes_in_words(self.estimate.weights, rival.astype(np.float64), names)
        return f"Another graph is not yet rejected: {changes}."
