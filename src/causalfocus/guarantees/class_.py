"""The class rule: the paper's claim, for systems of a class.

Stop when a mixture of likelihood-ratio martingales has reached 1/delta against every alternative to
the estimate. If the claim is wrong the truth is such an alternative, and against the truth the
mixture reaches 1/delta with probability at most delta (Ville), at any time and under any rule that
chooses actions without seeing their outcomes. Terms and proof: `kernels.exact.certificate`; they
hold for any estimate.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from causalfocus.allocation.pursuit import Stage
from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.alarms import alarms, loudest, refusal
from causalfocus.guarantees.bounded import BoundedClaim
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.doses import reported_set
from causalfocus.guarantees.experience import OF_CLASS
from causalfocus.guarantees.lags import Lags
from causalfocus.guarantees.mixture import (
    FINE,
    LEVEL_FLOOR,
    PURSUED_TO,
    PURSUIT_EXPLORATION,
    STIFFNESS,
    SURVEY_FROM,
    TOP,
    cap_of,
    step_and_stride,
)
from causalfocus.guarantees.numerators import row_regressors
from causalfocus.guarantees.prior import prior_of
from causalfocus.guarantees.pursued import every_pair, other_graph, with_graphs
from causalfocus.guarantees.terms import Spread, Spreads, Step, without_knowledge
from causalfocus.guarantees.verdicts import Interval
from causalfocus.guarantees.wider import wider_classes
from causalfocus.kernels.arithmetic.sets import parents_of
from causalfocus.kernels.evidence import pairs
from causalfocus.kernels.evidence.directions import Times
from causalfocus.kernels.evidence.row_evidence import Prior
from causalfocus.kernels.exact import other_graphs, same_graph
from causalfocus.kernels.exact.certificate import W_EDGE, Setting
from causalfocus.kernels.records import Limits, Parents, Row, Span, bounds_at
from causalfocus.kernels.search.tableau import workspace
from causalfocus.moments.moments import Moments
from causalfocus.moments.watched_rows import WatchedRows
from causalfocus.oracles.estimate import graph_mle, probable_model
from causalfocus.oracles.for_kernels import plain_rows_of
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True)
class Survey:
    """What a look at all rivals gave.

    Attributes
    ----------
    rejects_all : whether every one of them is rejected at the threshold
    edges : (p, p), evidence on the weight of every edge; infinity where there is none
    graphs : (r, p), other graphs that lag behind, the furthest first, as the sets of parents of
        their nodes (bit k for node k)
    evidence : (r,), against each of them
    """

    rejects_all: bool
    edges: Floats
    graphs: Ints
    evidence: Floats


@dataclass(frozen=True)
class ClassRule(BoundedClaim):
    """The rule for one class, accuracy and confidence."""

    name: ClassVar[str] = "class"
    spread: ClassVar[Spread] = Spread(0.65, 1.0, 1.15)
    spreads: ClassVar[Spreads] = OF_CLASS
    exploration: ClassVar[float] = PURSUIT_EXPLORATION
    plays_game: ClassVar[bool] = False

    @cached_property
    def _prior(self) -> Prior:
        """The fixed prior, from the class alone, in the units of the rows."""
        return prior_of(self._limits, self.unit_effect)

    @cached_property
    def _setting(self) -> Setting:
        smallest = self.unit_effect
        step, stride = step_and_stride(self.accuracy, smallest)
        return Setting(step, stride, TOP * smallest, FINE, STIFFNESS)

    def estimate(self, moments: Moments) -> LinearSEM:
        return probable_model(moments, self.space)

    def decide(
        self,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats | None = None,
        *,
        is_due: bool = True,
    ) -> "ClassDecision":
        """Look at the other graphs only once the weights have some evidence, and not at all if it
        is not due: the rule may be applied on any schedule, and this is its dear part.
        """
        del counts
        require_no_loops(estimate, f"the {self.name} rule")
        survey = None
        if is_due and self._has_hope(moments, estimate):
            survey = self.survey(self.times(moments), estimate)
        stop = survey is not None and survey.rejects_all
        alarm = loudest(self.alarms(moments, estimate), self.threshold) if stop else None
        return ClassDecision(
            stop=stop,
            rounds=int(moments.n),
            threshold=self.threshold,
            alarm=alarm,
            has_surveyed=survey is not None,
            rule=self,
            moments=moments.copy(),
            estimate=estimate,
            survey=survey,
        )

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """The alarm by which no model of the class fits, those with other graphs included."""
        alarm = loudest(self.alarms(moments, estimate), self.threshold)
        if alarm is None or estimate.p == 1:
            return alarm
        levels = self.threshold, self.threshold
        tables = self._family_tables(self.times(moments), estimate, levels)
        level, _ = other_graphs.least_rejected_graph(*tables, estimate.weights, self.threshold)
        return alarm if level >= self.threshold else None

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first."""
        out = self.out_of_class(self.times(moments), estimate)
        effects = tuple(
            Alarm("effect", estimate.names[j], estimate.names[k], None, float(out[j, k]))
            for j, k in zip(*np.nonzero(out > -math.inf), strict=True)
        )
        found = alarms(
            moments,
            estimate,
            self.space,
            best_row=self._best_row,
            row_sets=reported_set,
            more_kinds=("noise", "weak"),
        )
        return tuple(sorted(found + effects, key=lambda alarm: -alarm.evidence))

    def _best_row(self, rows: WatchedRows, j: int, weights: Floats) -> float:
        """The best row in the class on the reported parents."""
        row, n = rows.later(j)
        regressors = row_regressors(parents_of(weights, j), rows.p, self.space.intercept)
        room, bounds, log_unit = workspace(rows.p + 1), bounds_at(self._limits, j), 0.0
        if self.units is not None:
            row, log_unit = self.units.row(row), math.log(self.units.own[j])
        cost = other_graphs.class_row_cost(Row(*row), regressors, n, rows.p, bounds, room)
        return -cost - n * log_unit

    def _has_hope(self, moments: Moments, estimate: LinearSEM) -> bool:
        rows, weights = self.evidence_rows(moments), self.coefficients(estimate.weights)
        needed = min(SURVEY_FROM, self.threshold) + self._share_cost(estimate)
        known = self.known_of(estimate)
        found = pairs.least_evidence(plain_rows_of(rows), weights, self._pair_scale, known)
        return found >= needed

    def _share_cost(self, estimate: LinearSEM) -> float:
        """What it costs that EDGE is shared by all edges, and by two signs."""
        return math.log(2.0 * max(estimate.n_edges, 1) / W_EDGE)

    @cached_property
    def _pair_scale(self) -> pairs.PlainPairScale:
        epsilon = math.inf if self.accuracy is None else self.accuracy
        setting = self._setting
        return epsilon, self.unit_effect, setting.step, setting.stride, setting.fine, False

    def stages(
        self, moments: Moments, estimate: LinearSEM, lags: Lags | None, counts: Floats
    ) -> tuple[Stage, ...]:
        """First the most probable other graph, until the odds are against it; then all pairs of
        variables, until the certificate is about to have its evidence on each, and the graphs that
        lag behind.
        """
        intercept, units = self.space.intercept, self.plain_units
        rows, actions = self.rows(moments), self.settings
        means, known = moments.rows(intercept=intercept).means, self.known_of(estimate)
        beliefs = self._limits, units, known
        first = other_graph(
            rows, means, estimate, actions, *beliefs, PURSUED_TO, intercept=intercept
        )
        level, scale = PURSUED_TO + self._share_cost(estimate), self._pair_scale
        then = every_pair(rows, means, estimate, actions, units, scale, known, level, lags)
        return first, then if lags is None else with_graphs(then, lags, PURSUED_TO, counts)

    def edge_lags(self, moments: Moments, estimate: LinearSEM, reached: Floats) -> Floats:
        """How far the certificate's evidence on the edges is behind what a quick look takes it to
        be, (effect, cause); zero elsewhere.

        reached : the certificate's, infinity where there is no edge
        """
        rows, weights = self.rows(moments), self.coefficients(estimate.weights)
        known = self.known_of(estimate)
        quick = pairs.pair_evidence(plain_rows_of(rows), weights, self._pair_scale, known)
        at, found = (quick.effects, quick.causes), np.zeros((estimate.p, estimate.p))
        found[at] = reached[at] + self._share_cost(estimate) - quick.evidence
        found[~np.isfinite(found)] = 0.0
        return found

    def survey(self, times: Times, estimate: LinearSEM) -> Survey:
        """Both branches at the threshold, and the graphs that keep the evidence from rising.

        These are sought at the level that the weights have reached, or are to reach, which does not
        depend on delta; for the graph alone at the threshold.
        """
        edges = self.edge_evidence(times, estimate)
        weights = max(float(edges.min()), float(self.out_of_class(times, estimate).max()))
        if estimate.p == 1:
            nothing = np.empty((0, 1), dtype=np.int64)
            return Survey(weights >= self.threshold, edges, nothing, np.empty(0))
        level = self.threshold
        if self.accuracy is not None:
            level = max(min(weights, cap_of(self.threshold)), PURSUED_TO)
        low, high = min(level, self.threshold), max(level, self.threshold)
        tables = self._family_tables(times, estimate, (low, high))
        found, _ = other_graphs.least_rejected_graph(*tables, estimate.weights, self.threshold)
        evidence, graphs = other_graphs.lagging_graphs(*tables, estimate.weights, level)
        is_finite = np.isfinite(evidence)
        return Survey(
            weights >= self.threshold and found >= self.threshold,
            edges,
            graphs[is_finite],
            evidence[is_finite],
        )

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per edge, the weights that are not rejected at delta if the graph is right."""
        times, found = self.times(moments), []
        weights = self.coefficients(estimate.weights)
        for cause, effect, weight in estimate.edges:
            j, k = estimate.names.index(effect), estimate.names.index(cause)
            reach = same_graph.interval_reach(
                times, weights, (j, k), *self._assumptions, self.threshold
            )
            unit = 1.0 if self.units is None else float(self.units.effects[j, k])
            centre, half = (part * unit for part in reach)
            found.append(Interval(cause, effect, centre - half, weight, centre + half))
        return tuple(found)

    def edge_evidence(self, times: Times, estimate: LinearSEM, enough: float = -math.inf) -> Floats:
        """Branch A per edge, (effect, cause); infinity where there is no edge.

        With `enough` only whether all edges reach it: minus infinity at the first that does not.
        """
        if self.accuracy is None:
            return np.full((estimate.p, estimate.p), math.inf)
        return same_graph.same_graph_evidence(
            times, self.coefficients(estimate.weights), self.accuracy, *self._assumptions, enough
        )

    def weights_evidence(self, times: Times, estimate: LinearSEM) -> float:
        """Branch A: against every other model with the same graph."""
        found = float(self.edge_evidence(times, estimate).min())
        return max(found, float(self.out_of_class(times, estimate).max()))

    def out_of_class(self, times: Times, estimate: LinearSEM) -> Floats:
        """Evidence that a weight is outside the class, (effect, cause): it rejects every model of
        the class with the estimate's graph.
        """
        weights = self.coefficients(estimate.weights)
        return same_graph.out_of_class_evidence(times, weights, *self._assumptions)

    def graph_evidence(
        self, times: Times, estimate: LinearSEM, levels: tuple[float, float]
    ) -> float:
        """Branch B: evidence against every other graph, in a range; minus infinity if below it."""
        if estimate.p == 1:
            return levels[1]
        tables = self._family_tables(times, estimate, levels)
        return other_graphs.different_graph_evidence(*tables, estimate.weights, Span(*levels))

    def _family_tables(
        self, times: Times, estimate: LinearSEM, levels: tuple[float, float]
    ) -> tuple[Floats, Floats]:
        weights, parents = self.coefficients(estimate.weights), Parents(*self.known_of(estimate))
        return other_graphs.family_tables(
            times, weights, *self._assumptions, Span(*levels), parents
        )

    @cached_property
    def _assumptions(self) -> tuple[Limits, Prior, Setting]:
        """What the kernels of the certificate know, in the units of the rows."""
        return self._limits, self._prior, self._setting

    def wider_steps(self, moments: Moments) -> Iterator[Step]:
        yield from wider_classes(self.space, moments, self.name)
        yield from without_knowledge(self.space, self.name)


@dataclass(frozen=True, kw_only=True)
class ClassDecision(Decision):
    """A decision of the class rule. What is dear to compute is computed when asked for.

    survey : None if the other graphs were not looked at in this round
    """

    rule: ClassRule = field(repr=False)
    moments: Moments = field(repr=False)
    estimate: LinearSEM = field(repr=False)
    survey: Survey | None

    @cached_property
    def times(self) -> Times:
        """The rows at every mark."""
        return self.rule.times(self.moments)

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; it counts at the stop."""
        return self.rule.alarms(self.moments, self.estimate)

    @cached_property
    def edge_evidence(self) -> Floats:
        """Evidence that each weight is within epsilon, (effect, cause); infinity if no edge."""
        return self.rule.edge_evidence(self.times, self.estimate)

    @cached_property
    def graph_evidence(self) -> float:
        """Evidence against every graph but the estimate's, capped."""
        return self.rule.graph_evidence(
            self.times, self.estimate, (LEVEL_FLOOR, cap_of(self.threshold))
        )

    @property
    def _is_certified(self) -> bool:
        """Whether the threshold was reached; the search for the level comes from below."""
        return self.stop and not self.refuted

    @cached_property
    def evidence(self) -> float:
        weights = self.rule.weights_evidence(self.times, self.estimate)
        found = min(weights, self.graph_evidence)
        return max(found, self.threshold) if self._is_certified else found

    def level_from(self, lowest: float) -> float:
        reached = min(self.rule.weights_evidence(self.times, self.estimate), cap_of(self.threshold))
        if reached >= lowest:
            reached = self.rule.graph_evidence(self.times, self.estimate, (lowest, reached))
        return max(reached, self.threshold) if self._is_certified else reached

    @cached_property
    def laggards(self) -> tuple[tuple[LinearSEM, float], ...]:
        """The most likely model with each graph that lags behind."""
        if self.survey is None:
            return ()
        return tuple(
            (graph_mle(self.moments, parents, self.rule.space), float(evidence))
            for parents, evidence in zip(self.survey.graphs, self.survey.evidence, strict=True)
        )

    @property
    def rival(self) -> LinearSEM | None:
        return self.laggards[0][0] if self.laggards else None

    @property
    def edge_lags(self) -> Floats | None:
        if self.survey is None:
            return None
        return self.rule.edge_lags(self.moments, self.estimate, self.survey.edges)

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
        if self.survey is None or not len(self.survey.graphs):
            return "Another graph is not yet rejected."
        parents = self.survey.graphs[0]
        has_edge = (parents[:, None] >> np.arange(self.estimate.p)) & 1
        changes = changes_in_words(self.estimate.weights, has_edge.astype(np.float64), names)
        return f"Another graph is not yet rejected: {changes}."
