"""The evidence certificate, the default stopping rule.

Stop when a mixture of likelihood-ratio martingales has reached 1/delta against every alternative to
the estimate. If the answer is wrong the truth is such an alternative, and against the truth the
mixture reaches 1/delta with probability at most delta (Ville), at any time and under any rule that
chooses actions without seeing their outcomes. Terms and proof: `kernels.certificate`.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels import certificate
from causalfocus.moments import Moments, RowMoments
from causalfocus.sem import LinearSEM
from causalfocus.space import ModelClass
from causalfocus.stopping.decision import Decision

Floats = NDArray[np.float64]

NARROW = 0.25
"""Mixing of the other coefficients of a row, as a share of that of the coefficient in question."""

STIFFNESS = 3000.0
"""How closely the numerator's noise follows the alternative's; about the samples at a stop."""

LEVEL_CAP = 60.0
"""Evidence is sought up to this level, or twice the threshold if that is higher."""


@dataclass(frozen=True)
class Interval:
    """Weights of one edge that the evidence does not reject at delta, given the graph."""

    cause: str
    effect: str
    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class EvidenceRule:
    """The rule for one class, accuracy and confidence.

    epsilon None asks for the graph alone.
    """

    space: ModelClass
    epsilon: float | None
    delta: float

    @property
    def threshold(self) -> float:
        return math.log(1.0 / self.delta)

    @property
    def cap(self) -> float:
        return max(LEVEL_CAP, 2.0 * self.threshold)

    @cached_property
    def _prior(self) -> tuple[float, float, float]:
        """tau2, a0, b0 of the fixed prior, from the class alone."""
        low, high = self.space.variance_limits
        known = self.space.noise_variance is not None
        middle = math.sqrt(low * high) if known else 1.0
        a0 = 1.0 / max(0.5 * math.log(high / low), 0.05) ** 2 if known else 0.01
        largest = self.space.max_effect or 10.0 * self.space.min_effect
        return largest**2 / (3.0 * middle), a0, a0 * middle

    @cached_property
    def _setting(self) -> tuple[float, float, float, float, float]:
        low, high = self.space.variance_limits
        wide = self.epsilon if self.epsilon is not None else 0.5 * self.space.min_effect
        return low, high, wide, NARROW * wide, STIFFNESS

    def decide(
        self, moments: Moments, estimate: LinearSEM, *, judge_graph: bool = True
    ) -> "EvidenceDecision":
        """Apply the rule to the data so far; the estimate may be any model.

        The other graphs are judged only once the weights are certain enough, and not at all
        without `judge_graph`: the rule may be applied on any schedule, and this is its dear part.
        """
        rows = moments.evidence_rows(intercept=self.space.intercept)
        per_edge = self.edge_evidence(rows, estimate, self.threshold)
        are_weights_certain = bool(per_edge.min() >= self.threshold)
        stop = (
            are_weights_certain
            and judge_graph
            and self.graph_evidence(rows, estimate, self.threshold) >= self.threshold
        )
        return EvidenceDecision(
            stop, int(moments.n), self.threshold, self, rows, estimate, are_weights_certain
        )

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per edge, the weights that are not rejected at delta if the graph is right."""
        rows = moments.evidence_rows(intercept=self.space.intercept)
        found = []
        for cause, effect, weight in estimate.edges:
            j, k = estimate.names.index(effect), estimate.names.index(cause)
            reach = certificate.interval_reach(
                (rows.grams, rows.lows, rows.counts),
                estimate.weights,
                (j, k),
                self._prior,
                self._setting,
                self.threshold,
            )
            centre, half = reach
            found.append(Interval(cause, effect, centre - half, weight, centre + half))
        return tuple(found)

    def edge_evidence(self, rows: RowMoments, estimate: LinearSEM, enough: float) -> Floats:
        """Branch A per edge, (effect, cause); infinity where there is no edge."""
        if self.epsilon is None:
            return np.full((estimate.p, estimate.p), math.inf)
        return certificate.same_graph_evidence(
            (rows.grams, rows.lows, rows.counts),
            estimate.weights,
            self.epsilon,
            self._prior,
            self._setting,
            enough,
        )

    def graph_evidence(self, rows: RowMoments, estimate: LinearSEM, highest: float) -> float:
        """Branch B: evidence against every other graph, up to `highest`."""
        if estimate.p == 1:
            return highest
        costs, rejected = certificate.family_tables(
            (rows.grams, rows.lows, rows.counts),
            estimate.weights,
            (self.space.min_effect, self.space.effect_limit),
            self._prior,
            self._setting,
            min(highest, self.threshold),
        )
        return certificate.different_graph_evidence(costs, rejected, estimate.weights, highest)


@dataclass(frozen=True)
class EvidenceDecision(Decision):
    """A decision of the evidence rule. What is dear to compute is computed when asked for."""

    rule: EvidenceRule = field(repr=False)
    rows: RowMoments = field(repr=False)
    estimate: LinearSEM = field(repr=False)
    are_weights_certain: bool

    @cached_property
    def edge_evidence(self) -> Floats:
        """Evidence that each weight is within epsilon, (effect, cause); infinity if no edge."""
        return self.rule.edge_evidence(self.rows, self.estimate, -math.inf)

    @cached_property
    def graph_evidence(self) -> float:
        """Evidence against every graph but the estimate's, capped."""
        return self.rule.graph_evidence(self.rows, self.estimate, self.rule.cap)

    @cached_property
    def evidence(self) -> float:
        return min(float(self.edge_evidence.min()), self.graph_evidence)

    @property
    def reason(self) -> str:
        if self.stop:
            return (
                f"Every alternative is rejected: the evidence has reached "
                f"log(1/delta) = {self.threshold:.2f} nats."
            )
        if not self.are_weights_certain:
            j, k = np.unravel_index(int(np.argmin(self.edge_evidence)), self.edge_evidence.shape)
            names = self.estimate.names
            return f"The weight of {names[k]} -> {names[j]} is not yet certain enough."
        return "Another graph is not yet rejected."


def evidence(
    moments: Moments, estimate: LinearSEM, space: ModelClass, *, epsilon: float | None
) -> float:
    """e_t: how strongly the data reject every alternative to an estimate, in nats.

    Parameters
    ----------
    moments : of the data
    estimate : the answer that is judged
    space : the model class
    epsilon : accuracy of the weights; None for the graph alone
    """
    if epsilon is not None:
        epsilon = space.checked_epsilon(epsilon)
    rule = EvidenceRule(space, epsilon, delta=0.05)
    return rule.decide(moments, estimate).evidence
