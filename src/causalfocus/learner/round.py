"""One round, as the data travels.

tell -> moments -> estimate -> decision -> alternative -> gains -> AdaHedge -> tracking -> ask: one
direction, no step reaches back up. Each step is a method of the rule (`guarantees`), or a module of
`moments` and `allocation`; this one puts them in a row.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from causalfocus.allocation import (
    AdaHedge,
    Latitude,
    Stage,
    covering_action,
    forced_action,
    least,
    pursued_action,
    track,
)
from causalfocus.allocation.set_plan import Course, SetPlan, Shares
from causalfocus.arrays import Floats
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.learner.columns import choices_at, choices_with, more_choices
from causalfocus.learner.result import Result, result_of
from causalfocus.learner.schedule import Schedule
from causalfocus.learner.state import LearnerState
from causalfocus.moments.moments import Moments
from causalfocus.system.choices import Choices
from causalfocus.system.columns import Columns
from causalfocus.system.sem import LinearSEM

FORESEEN = 100
"""Rounds over which the shares of the actions are foretold where rivals are pursued."""

Design = Literal["focus", "uniform"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the rule makes of the data after a round.

    Attributes
    ----------
    estimate : the model shown now
    decision : of the rule
    schedule : for the rounds to come
    rule, moments, counts : that it is made of; the rule with the choices after the round
    """

    estimate: LinearSEM
    decision: Decision
    schedule: Schedule
    rule: Guarantee = field(repr=False, compare=False)
    moments: Moments = field(repr=False, compare=False)
    counts: Floats = field(repr=False, compare=False)

    @property
    def choices(self) -> Choices:
        """What can be chosen after the round."""
        return self.rule.choices

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """Whom to pursue, computed when it is first asked for."""
        return self.rule.stages(self.moments, self.estimate, self.schedule.lags, self.counts)


@dataclass(frozen=True, kw_only=True)
class FocusState(LearnerState):
    """What FOCUS keeps beyond every learner.

    Attributes
    ----------
    hedge : the game, after the gains of all rounds
    played : (k,), sums of its allocations so far, in units of the cheapest action's cost
    before : the schedule before the last round
    standing : what the last round gave; it follows from the moments, the counts and `before`
    columns : the sets of variables that are choices, in the order in which they were made; empty
        where all sets are listed
    stop : the first certificate, or the refutation
    continued : rounds at which someone chose to go on after the stop
    chooser : the state of whoever chooses the actions, if it is not FOCUS
    """

    hedge: AdaHedge
    played: Floats
    before: Schedule
    standing: Standing = field(metadata={"follows": True})
    columns: Columns = ()
    stop: Result | None = None
    continued: tuple[int, ...] = ()
    chooser: LearnerState | None = None


@dataclass(frozen=True)
class Rounds:
    """Plays rounds under one rule.

    Attributes
    ----------
    guarantee : the rule
    design : "focus", or "uniform", which takes the actions in turn
    budget : how many rounds there will be, for a design that settles most of what is asked in them;
        None for as many as it takes
    """

    guarantee: Guarantee
    design: Design
    budget: int | None = None

    def start(self, blank: LearnerState) -> FocusState:
        """Before the first sample."""
        k = len(blank.counts)
        standing = self.stand(self.moments_of(blank), blank.counts, Schedule(), self.guarantee)
        state = FocusState(
            **vars(blank),
            hedge=AdaHedge.start(k),
            played=np.zeros(k),
            before=Schedule(),
            standing=standing,
            columns=self.guarantee.choices.columns,
        )
        if standing.rule is not self.guarantee:
            state = _widen(state, standing)
        return self.conclude(state)

    def learn(self, state: FocusState, cost: float) -> FocusState:
        """The state after a sample was written down: the whole way of a round.

        cost : of the action that was taken
        """
        before, moments, rule = state.standing.schedule, self.moments_of(state), state.standing.rule
        standing = self.stand(moments, state.counts, before, rule, may_grow=True)
        if standing.rule is not rule:
            state = _widen(state, standing)
        gains = None
        if self.design == "focus" and self.guarantee.plays_game:
            gains = self.gains(moments, standing, state.hedge.weights)
        hedge, played = state.hedge, state.played
        if gains is not None:
            hedge, played = hedge.after(gains), played + hedge.weights * cost
        return self.conclude(
            state.change(before=before, standing=standing, hedge=hedge, played=played)
        )

    def moments_of(self, state: LearnerState) -> Moments:
        return Moments.from_state(self.guarantee.actions.names, state.moments, state.coins)

    def stand(
        self,
        moments: Moments,
        counts: Floats,
        schedule: Schedule,
        rule: Guarantee,
        *,
        may_grow: bool = False,
    ) -> Standing:
        """Estimate and decision; and what to aim at, if some rival lags behind the others.

        rule : with its choices
        may_grow : whether columns are made if it is time; else the rule has those that were made
        """
        estimate, rounds = rule.estimate(moments), round(moments.n)
        is_due = rounds >= schedule.next_survey
        decision = rule.decide(moments, estimate, counts, is_due=is_due)
        if is_due and self.design == "focus":
            can_grow = not rule.choices.is_whole and not rule.plans_sets
            if can_grow and rounds >= schedule.next_columns:
                schedule = schedule.after_columns(rounds)
                if may_grow and not decision.stop and self.is_told_enough(moments):
                    rule = self._grow(rule, estimate, decision)
                    counts = _pad(counts, len(rule.choices))
            if rule.plans_sets:
                rule, counts, schedule = self._plan(rule, moments, estimate, counts, schedule)
            else:
                schedule = schedule.with_lags(rule.lags(decision, estimate, counts))
        if decision.has_surveyed:
            schedule = schedule.after_survey(rounds)
        if not decision.stop and rounds >= schedule.next_check:
            schedule = schedule.after_check(rounds)
            alarm = rule.refutation(moments, estimate)
            if alarm is not None:
                decision = replace(decision, stop=True, alarm=alarm)
        return Standing(
            estimate=estimate,
            decision=decision,
            schedule=schedule,
            rule=rule,
            moments=moments,
            counts=counts,
        )

    def _plan(
        self,
        rule: Guarantee,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats,
        schedule: Schedule,
    ) -> tuple[Guarantee, Floats, Schedule]:
        """What to set until the next plan, if it is time for one; sets that are no choices yet
        become some.
        """
        rounds = round(moments.n)
        if rounds < schedule.next_plan:
            return rule, counts, schedule
        left = None if self.budget is None else max(self.budget - rounds, 1.0)
        course = _course(schedule, rule.choices, counts)._replace(left=left)
        plan = rule.plan(moments, estimate, course)
        if plan is None:
            return rule, counts, schedule
        choices = choices_with(rule.choices, plan.sets)
        if choices is not rule.choices:
            rule = rule.on(choices)
            counts = _pad(counts, len(choices))
        at = choices_at(choices, plan.sets)
        shares = Shares(at, plan.shares, counts[at])
        return rule, counts, schedule.after_plan(shares, rounds, len(rule.actions.names))

    def _grow(self, rule: Guarantee, estimate: LinearSEM, decision: Decision) -> Guarantee:
        """The rule with more columns; the same if there is none to add."""
        choices = more_choices(rule, estimate, decision)
        return rule if choices is rule.choices else rule.on(choices)

    def is_told_enough(self, moments: Moments) -> bool:
        """Whether the game may be played against the estimate: without a lower bound on the noise,
        when every row has twice as many samples as it could have coefficients.
        """
        if self.guarantee.bounds_noise:
            return True
        samples = moments.rows(intercept=self.guarantee.space.intercept).counts
        return bool(samples.min() >= 2 * (len(samples) + 1))

    def gains(self, moments: Moments, standing: Standing, allocation: Floats) -> Floats:
        """Divergences of the best response per unit of cost; none where a sample fits perfectly, or
        for a single node.

        Without a lower bound on the noise, the divergences from a nearly perfect fit know no limit,
        and AdaHedge never forgets them. So it waits until every row has twice as many samples as it
        could have coefficients.
        """
        costs = standing.choices.relative_costs
        if not self.is_told_enough(moments):
            return np.zeros(len(costs))
        gains = standing.rule.gains(standing.estimate, allocation / costs)
        return gains / costs if np.isfinite(gains).all() else np.zeros(len(gains))

    def conclude(self, state: FocusState) -> FocusState:
        """Keep the first stop. What was refuted once is never certified."""
        if not state.standing.decision.stop or state.stop is not None:
            return state
        return state.change(stop=self.result(state, has_stopped=True))

    def result(self, state: FocusState, *, has_stopped: bool) -> Result:
        """What there is to say after a round."""
        standing = state.standing
        return result_of(
            self.guarantee,
            self.moments_of(state),
            standing.estimate,
            standing.decision,
            state.tallies,
            other_cost=state.other_cost,
            has_stopped=has_stopped,
        )

    def rounds_to_go(self, state: FocusState) -> float | None:
        """Rounds to the stop if the system is as it is estimated; None if that is foretold from the
        start alone.
        """
        standing = state.standing
        course = _course(standing.schedule, standing.choices, state.counts)
        return standing.rule.rounds_to_go(self.moments_of(state), standing.estimate, course)

    def next_index(
        self, state: FocusState, counts: Floats, t: int, latitude: Latitude | None = None
    ) -> int:
        """Pursuit of the rivals that are furthest from being rejected; when they are done, tracking
        of the game's allocation if the rule plays it.

        counts : of the choices, with the rounds that are under way
        t : their sum, and that of actions which are not in the set
        latitude : which choices may be taken; None for all
        """
        choices, shares = state.standing.choices, state.standing.schedule.shares
        if self.design == "uniform":
            return least(counts / choices.sizes, latitude)
        if shares is not None:
            return shares.next_index(counts, latitude)
        costs = choices.relative_costs
        spent = counts * costs
        total = t + float((spent - counts).sum())
        forced = self._explore(choices, counts, spent, total, latitude)
        if forced is not None:
            return forced
        pursued = self._pursue(state, counts - state.counts, spent, latitude)
        return track(spent, state.played, costs, latitude) if pursued is None else pursued

    def _explore(
        self,
        choices: Choices,
        counts: Floats,
        spent: Floats,
        total: float,
        latitude: Latitude | None,
    ) -> int | None:
        """The choice that exploration asks for: one by one where a single variable is set, and so
        that every pair of a variable that is set and one that is free keeps occurring where it may
        be several. The first columns hold all these pairs.
        """
        share = self.guarantee.exploration
        if choices.actions.at_once < 2:
            return forced_action(spent, total, share, latitude)
        if counts[0] == 0.0 and (latitude is None or latitude.allowed[0]):
            return 0
        costs = choices.relative_costs
        return covering_action(choices.covers, spent, costs, total, share, latitude)

    def _pursue(
        self, state: FocusState, pending: Floats, spent: Floats, latitude: Latitude | None = None
    ) -> int | None:
        """The action against whoever is furthest from being rejected; None leaves it to the game.
        Where none is played and no action tells anything, the one on which least was spent.
        """
        stages, endless = state.standing.stages, not self.guarantee.plays_game
        costs = state.standing.choices.relative_costs
        found = pursued_action(stages, pending, costs, spent, is_endless=endless, latitude=latitude)
        return least(spent, latitude) if found is None and endless else found

    def allocation(self, state: FocusState) -> Floats:
        """How the next rounds will be shared out, in cost: the game's present weights; where rivals
        are pursued, what would be done if nothing were learned meanwhile.
        """
        if self.design == "uniform" or self.guarantee.plays_game:
            return state.hedge.weights
        costs = state.standing.choices.relative_costs
        shares = state.standing.schedule.shares
        if shares is not None:
            found: Floats = np.zeros(len(costs))
            found[shares.at] = shares.shares * costs[shares.at]
            found /= found.sum()
            return found
        pending = np.zeros(len(costs))
        for _ in range(FORESEEN):
            pending[self._pursue(state, pending, (state.counts + pending) * costs)] += 1.0
        return pending * costs / (pending @ costs)


def _course(schedule: Schedule, choices: Choices, counts: Floats) -> Course:
    """What is planned, and what was done.

    counts : (k,), how often every choice was taken
    """
    sets, shares = choices.arrays[0], schedule.shares
    last = None if shares is None else SetPlan(sets[shares.at], shares.shares)
    return Course(last, SetPlan(sets[counts > 0.0], counts[counts > 0.0]))


def _widen(state: FocusState, standing: Standing) -> FocusState:
    """A state with the columns that a round has made."""
    k = len(standing.counts)
    return state.change(
        columns=standing.choices.columns,
        counts=standing.counts,
        hedge=state.hedge.with_actions(k),
        played=_pad(state.played, k),
    )


def _pad(values: Floats, k: int) -> Floats:
    """With a zero for every choice that is new."""
    more = k - len(values)
    return np.concatenate([values, np.zeros(more)]) if more else values
