"""What a learner has to say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.changes import EffectBounds, no_bounds
from causalfocus.guarantees.claims import asked_totals, claimed_effects
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.verdicts import Interval
from causalfocus.learner.advice import advice
from causalfocus.learner.consequences import Consequences, HasConsequences
from causalfocus.learner.tallies import cost_of, tally
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.convert import frame_of
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Result(HasConsequences):
    """What was certified if the learner has stopped, else what it would say now; and what follows.

    Attributes
    ----------
    model : graph, weights (``[effect, cause]``), noise variances and intercepts
    intervals : per edge, the weights that the evidence does not reject at delta, given the graph
    certified : whether the model carries the guarantee
    refuted : what the data say against the assumptions, in words, if they do: then nothing is
        certified
    rounds : samples when the model was fixed
    evidence, threshold : in nats
    delta, epsilon : what was asked for
    counts : how often each action was taken up to then
    cost : of these rounds and the changes between them; their number if no costs were given
    claimed : the reported effects, (cause, effect), that the claim is about: all, unless less was
        asked for
    totals : the total effects that were asked for, with their intervals
    levels : the model with constants from which levels can be told
    bounds : what the evidence left of all effects
    actions : what could be set, which a stored result is given when it is restored
    """

    model: LinearSEM
    intervals: tuple[Interval, ...]
    certified: bool
    refuted: str | None
    rounds: int
    evidence: float
    threshold: float
    delta: float
    epsilon: Accuracy | None
    counts: dict[Action, int]
    cost: float
    claimed: tuple[tuple[str, str], ...]
    totals: tuple[Interval, ...]
    levels: LinearSEM = field(repr=False, compare=False)
    bounds: EffectBounds = field(repr=False, compare=False)
    actions: ActionSet | None = field(
        default=None, repr=False, compare=False, metadata={"follows": True}
    )

    @property
    def consequences(self) -> Consequences:
        if self.actions is None:
            raise InvalidInputError("This result does not know what could be set; give actions.")
        return Consequences(self.levels, self.bounds, self.actions, self.delta)

    def to_frame(self) -> pd.DataFrame:
        """One line per reported effect: cause, effect, weight, the ends of its interval (missing
        where there is none), and whether it is certified.
        """
        ends = {(one.cause, one.effect): (one.low, one.high) for one in self.intervals}
        none = math.nan, math.nan
        edges = self.model.edges
        lows, highs = ([ends.get(edge[:2], none)[i] for edge in edges] for i in (0, 1))
        rows: dict[str, list[Any]] = {
            "cause": [cause for cause, _, _ in edges],
            "effect": [effect for _, effect, _ in edges],
            "weight": [weight for _, _, weight in edges],
            "low": lows,
            "high": highs,
            "certified": [self.certified and edge[:2] in self.claimed for edge in edges],
        }
        types = dict.fromkeys(("weight", "low", "high"), "float64") | {"certified": "bool"}
        return frame_of(rows, types=types)


def consequences_of(
    guarantee: Guarantee, moments: Moments, estimate: LinearSEM, *, is_refuted: bool
) -> Consequences:
    """What follows by a rule from data and an estimate; nothing is certain once its assumptions
    are refuted, for what an interval holds was proved by them.
    """
    bounds = no_bounds(estimate.p) if is_refuted else guarantee.bounds(moments, estimate)
    model = guarantee.with_levels(moments, estimate)
    return Consequences(model, bounds, guarantee.actions, guarantee.delta)


def result_of(
    guarantee: Guarantee,
    moments: Moments,
    estimate: LinearSEM,
    decision: Decision,
    tallies: Mapping[Action, int],
    *,
    other_cost: float,
    has_stopped: bool,
) -> Result:
    """What a rule has to say of an estimate, certified if it has stopped and is not refuted."""
    found = consequences_of(guarantee, moments, estimate, is_refuted=decision.refuted)
    return Result(
        model=estimate,
        intervals=guarantee.intervals(moments, estimate),
        certified=has_stopped and not decision.refuted,
        refuted=refutation_in_words(guarantee, moments, decision) if has_stopped else None,
        rounds=decision.rounds,
        evidence=decision.evidence,
        threshold=decision.threshold,
        delta=guarantee.delta,
        epsilon=guarantee.epsilon,
        claimed=claimed_effects(guarantee, estimate),
        totals=asked_totals(guarantee, moments, estimate),
        counts=tally(guarantee.actions, tallies),
        cost=cost_of(guarantee.actions, tallies) + other_cost,
        levels=found.model,
        bounds=found.bounds,
        actions=guarantee.actions,
    )


def refutation_in_words(guarantee: Guarantee, moments: Moments, decision: Decision) -> str | None:
    """What the data say against the assumptions and what to do, if they are refuted."""
    if decision.alarm is None:
        return None
    return f"{decision.reason} {advice(decision.alarm, moments, guarantee)}"
