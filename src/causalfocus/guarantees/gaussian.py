"""The gaussian rule: no class that anyone must believe in.

It assumes a linear-Gaussian acyclic system and perfect interventions, and claims that every
reported effect is there and within epsilon of its weight, and that every effect of size min_effect
or more is reported. Stop when every system that breaks the claim is rejected at 1/delta, by a
mixture of martingales against it (Ville). Terms and proof: `kernels.gaussian.resolution`; they hold
for any estimate.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.alarms import alarms, loudest, refusal
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.departures import (
    Move,
    Reorder,
    Survey,
    least_move,
    least_removal,
)
from causalfocus.guarantees.doses import sets_between
from causalfocus.guarantees.experience import OF_GAUSSIAN
from causalfocus.guarantees.foresight import foresight
from causalfocus.guarantees.mixture import (
    FINE,
    STIFFNESS,
    SURVEY_FROM,
    TOP,
    WORLD,
    cap_of,
    step_and_stride,
)
from causalfocus.guarantees.numerators import row_regressors
from causalfocus.guarantees.row_by_row import RowByRow
from causalfocus.guarantees.terms import (
    Rival,
    Spread,
    Spreads,
    Step,
    claim_of_effects,
    known_in_words,
    without_knowledge,
)
from causalfocus.guarantees.verdicts import Interval
from causalfocus.kernels.arithmetic.sets import may_act
from causalfocus.kernels.evidence import pairs
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.gaussian import levels, resolution, swaps
from causalfocus.kernels.gaussian.intervals import weight_interval
from causalfocus.kernels.gaussian.response import closest_rival
from causalfocus.kernels.records import Parents, Row
from causalfocus.moments.moments import Moments
from causalfocus.moments.watched_rows import WatchedRows
from causalfocus.oracles.for_kernels import plain_model_of, plain_rows_of
from causalfocus.oracles.gaussian import gaussian_estimate, shown_from
from causalfocus.oracles.limits import numerical_errors
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM

CUT: Final = 0.8
"""Of min_effect: where an edge of a rival begins to be strong."""


@dataclass(frozen=True)
class GaussianRule(RowByRow):
    """The rule for one accuracy, resolution and confidence.

    Of the class min_effect, the resolution, intercept, and what is known of the graph are used.
    """

    name: ClassVar[str] = "gaussian"
    spread: ClassVar[Spread] = Spread(0.9, 1.1, 1.25)
    spreads: ClassVar[Spreads] = OF_GAUSSIAN

    @cached_property
    def scale(self) -> resolution.Scale:
        """What the kernels need to know: claim and mixing, from what the user chose alone, in the
        units of the rows.
        """
        return resolution.Scale(*self._plain_scale)

    @cached_property
    def _plain_scale(self) -> resolution.PlainScale:
        smallest = self.unit_effect
        step, stride = step_and_stride(self.accuracy, smallest)
        return (
            math.inf if self.accuracy is None else self.accuracy,
            smallest,
            CUT * smallest,
            TOP * smallest,
            step,
            stride,
            FINE,
            STIFFNESS,
        )

    @cached_property
    def _radii(self) -> tuple[float, float]:
        return math.inf if self.accuracy is None else self.accuracy, self.unit_effect

    def claim_in_words(self) -> str:
        return claim_of_effects("effect", self.epsilon, self.space)

    def assumptions_in_words(self) -> str:
        return f"{WORLD}{known_in_words(self.space)}"

    def estimate(self, moments: Moments) -> LinearSEM:
        return gaussian_estimate(moments, self.space)

    def gains(self, estimate: LinearSEM, weights: Floats) -> Floats:
        return closest_rival(
            plain_model_of(estimate),
            estimate.weights,
            (*self.settings, weights),
            *self._radii,
            self.space.intercept,
            self.plain_units,
            self.known_of(estimate),
        ).gains

    def rival(self, model: LinearSEM, weights: Floats) -> Rival:
        is_large = np.abs(model.weights) > shown_from(self.space, model.names)
        is_shown = is_large | self.space.known.required_in(model.names)
        shown = np.where(is_shown, model.weights, 0.0)
        with numerical_errors("information complexity", model):
            found = closest_rival(
                plain_model_of(model),
                shown,
                (*self.settings, weights),
                *self._radii,
                self.space.intercept,
                self.plain_units,
                self.known_of(model),
            )
        rival = LinearSEM.from_fit(
            found.weights.copy(), found.variances.copy(), found.intercepts, model.names
        )
        named = found.weights.copy()
        if found.effect >= 0:
            named = model.weights.copy()
            named[found.effect, found.cause] = found.weights[found.effect, found.cause]
        else:
            slight = np.abs(found.weights - model.weights) < 0.5 * self.smallest
            named[slight] = model.weights[slight]
        words = changes_in_words(model.weights, named, model.names, self.smallest)
        return Rival(found.gains, rival, words)

    def require(self, model: LinearSEM) -> None:
        super().require(model)
        self.space.known.require_of(model.weights, model.names)
        if not self.space.intercept and model.intercepts.any():
            self.space.require(model)

    def holds(self, estimate: LinearSEM, truth: LinearSEM) -> bool:
        is_shown = estimate.weights != 0.0
        if (truth.weights[is_shown] == 0.0).any():
            return False
        if (np.abs(truth.weights) >= self.smallest)[~is_shown].any():
            return False
        errors = np.abs(estimate.weights - truth.weights)
        return bool((errors < self.accuracies)[is_shown].all())

    def decide(
        self,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats | None = None,
        *,
        is_due: bool = True,
    ) -> "GaussianDecision":
        """Look closely only where a quick look gives hope, and not at all if it is not due: the
        rule may be applied on any schedule.
        """
        del counts
        require_no_loops(estimate, f"the {self.name} rule")
        survey = None
        if is_due and self._has_hope(moments, estimate):
            survey = self.survey(moments, estimate)
        stop = survey is not None and survey.rejects_all
        alarm = loudest(self.alarms(moments, estimate), self.threshold) if stop else None
        return GaussianDecision(
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

    def _has_hope(self, moments: Moments, estimate: LinearSEM) -> bool:
        rows, known = plain_rows_of(self.evidence_rows(moments)), self.known_of(estimate)
        weights = self.coefficients(estimate.weights)
        needed = min(SURVEY_FROM, self.threshold) + self._share_cost(estimate)
        return pairs.least_evidence(rows, weights, self._pair_scale, known) >= needed

    def _share_cost(self, estimate: LinearSEM) -> float:
        """What it costs that EDGE is shared by all reported edges, and by two signs."""
        return math.log(2.0 * max(estimate.n_edges, 1) / resolution.W_EDGE)

    @cached_property
    def _pair_scale(self) -> pairs.PlainPairScale:
        scale = self.scale
        return scale.epsilon, scale.min_effect, scale.step, scale.stride, scale.fine, True

    def survey(self, moments: Moments, estimate: LinearSEM) -> Survey:
        """All cases at the threshold, from cheap to dear, leaving at the first failure."""
        if estimate.p == 1:
            return Survey(True, None)
        split, top = self.split(moments), self.threshold
        if split is None:
            return Survey(False, None)
        data = resolution.Data(self.times(moments), split)
        weights, parents = self.coefficients(estimate.weights), self.parents_of(estimate)
        tables = resolution.row_tables(data, weights, self.scale, -math.inf, top, True, parents)
        if levels.row_evidence(tables.evidence, weights) < self.threshold:
            return Survey(False, least_move(tables.evidence, tables.families, weights))
        costs = swaps.swap_costs(split, weights)
        missing = swaps.missing_evidence(costs, weights, split.log_share, parents)
        if missing.min() < self.threshold:
            return Survey(False, least_removal(missing, weights, parents))
        order = swaps.contrary_order(costs, weights, parents)
        if order.cost + swaps.log_swap_weight(estimate.p, split.log_share) < self.threshold:
            departs = order.is_swapped.any()
            return Survey(False, Reorder(order.before, order.is_swapped) if departs else None)
        tables = resolution.row_tables(data, weights, self.scale, top, top, False, parents)
        found = levels.row_evidence(tables.evidence, weights)
        if tables.may_reach and found >= self.threshold:
            return Survey(True, None)
        return Survey(False, least_move(tables.evidence, tables.families, weights))

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per reported edge, the weights that are not rejected at delta if the edges are right."""
        split, scale, n_strong = self.split(moments) if estimate.n_edges else None, self.scale, 0
        data = None if split is None else resolution.Data(self.times(moments), split)
        weights, parents = self.coefficients(estimate.weights), self.parents_of(estimate)
        if data is not None:
            tables = resolution.row_tables(
                data, weights, scale, -math.inf, math.inf, False, parents
            )
            n_strong = levels.strong_edges(tables.evidence, weights, self.threshold)
        found = []
        for cause, effect, weight in estimate.edges:
            edge = estimate.names.index(effect), estimate.names.index(cause)
            low, high = -math.inf, math.inf
            if data is not None:
                span = weight_interval(
                    data, weights, edge, scale, self.threshold, n_strong, parents
                )
                unit = 1.0 if self.units is None else float(self.units.effects[edge])
                low, high = span.low * unit, span.high * unit
            found.append(Interval(cause, effect, low, weight, high))
        return tuple(found)

    def parents_of(self, estimate: LinearSEM) -> Parents:
        """The parents that every node must and may have."""
        return Parents(*self.known_of(estimate))

    def split(self, moments: Moments) -> resolution.Split | None:
        """Training and later samples, with the training's share and what it foresees."""
        found = foresight(moments, self.space)
        return None if found is None else found.split

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        best_row = partial(self._best_row, self.parents_of(estimate))
        return alarms(moments, estimate, self.space, best_row=best_row, row_sets=sets_between)

    def _best_row(self, known: Parents, rows: WatchedRows, j: int, weights: Floats) -> float:
        """The least-squares row on all nodes that may act on j (`may_act`)."""
        row, n = rows.later(j)
        parents = may_act(weights, known)[j]
        regressors = row_regressors(parents, rows.p, self.space.intercept)
        residual = least_squares(Row(*row), regressors, n).residual
        if n <= 0.0:
            return 0.0
        if not residual > 0.0:
            return math.inf
        return -0.5 * n * (math.log(2.0 * math.pi * residual / n) + 1.0)

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """The alarm by which no system that is assumed fits, contrary orders included; by a dose,
        which speaks of systems with all reported edges, only if those without are rejected, too.
        """
        found = self.alarms(moments, estimate)
        alarm = loudest(found, self.threshold)
        if alarm is None or estimate.p == 1:
            return alarm
        split = self.split(moments)
        if split is None:
            return None
        weights, parents = estimate.weights, self.parents_of(estimate)
        costs = swaps.swap_costs(split, weights)
        order = swaps.contrary_order(costs, weights, parents)
        if order.cost + swaps.log_swap_weight(estimate.p, split.log_share) < self.threshold:
            return None
        missing = swaps.missing_evidence(costs, weights, split.log_share, parents)
        if missing.min() < self.threshold:
            return loudest([one for one in found if one.kind != "dose"], self.threshold)
        return alarm

    def wider_steps(self, moments: Moments) -> Iterator[Step]:
        del moments
        if not self.space.intercept:
            constant = replace(self.space, intercept=True)
            yield Step("with_space(...) with intercept=True", self.name, constant)
        yield from without_knowledge(self.space, self.name)


@dataclass(frozen=True, kw_only=True)
class GaussianDecision(Decision):
    """A decision of the gaussian rule. What is dear to compute is computed when asked for.

    survey : None if the rivals were not looked at in this round
    """

    rule: GaussianRule = field(repr=False)
    moments: Moments = field(repr=False)
    estimate: LinearSEM = field(repr=False)
    survey: Survey | None

    @cached_property
    def _evidence(self) -> tuple[Floats, float, float]:
        """Per reported edge; of all rows; and against contrary orders."""
        p, weights = self.estimate.p, self.rule.coefficients(self.estimate.weights)
        split = self.rule.split(self.moments) if p > 1 else None
        if split is None:
            value = math.inf if p == 1 else -math.inf
            return np.where(weights != 0.0, value, math.inf), value, value
        parents = self.rule.parents_of(self.estimate)
        data = resolution.Data(self.rule.times(self.moments), split)
        tables = resolution.row_tables(
            data, weights, self.rule.scale, -math.inf, math.inf, False, parents
        ).evidence
        found = levels.row_evidence(tables, weights)
        costs = swaps.swap_costs(split, weights)
        order = swaps.contrary_order(costs, weights, parents).cost
        missing = swaps.missing_evidence(costs, weights, split.log_share, parents)
        edges = np.minimum(levels.edge_levels(tables, weights), missing)
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
        return min(self._evidence[1], self._evidence[2], cap_of(self.threshold))

    @cached_property
    def evidence(self) -> float:
        return min(float(self.edge_evidence.min()), self.graph_evidence)

    @property
    def rival(self) -> LinearSEM | None:
        """The estimate with one coefficient moved and the others along, as the data let them; or
        with the best rows that another order leaves to some nodes.
        """
        departure = None if self.survey is None else self.survey.departure
        if departure is None:
            return None
        return departure.rival(self.estimate, self.moments, self.rule.space)

    @property
    def reason(self) -> str:
        if self.alarm is not None:
            return refusal(self.alarm, self.threshold)
        if self.stop:
            return (
                f"Every system that breaks the claim is rejected: the evidence has reached "
                f"log(1/delta) = {self.threshold:.2f} nats."
            )
        smallest = self.rule.smallest
        departure = None if self.survey is None else self.survey.departure
        if isinstance(departure, Move):
            return departure.wait_in_words(self.estimate, smallest)
        edges, others, order = self._evidence
        if edges.min() < min(others, order, self.threshold):
            j, k = np.unravel_index(int(np.argmin(edges)), edges.shape)
            return Move(int(j), int(k), 0).wait_in_words(self.estimate, smallest)
        if order < min(others, self.threshold):
            return "The directions of the effects are not yet certain enough."
        return "An effect that is not reported is not yet ruled out."
