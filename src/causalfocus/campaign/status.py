"""What is known in a campaign, and what is still missing: for a screen, a page or a program."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from causalfocus.campaign.campaign import Campaign
from causalfocus.campaign.plain_actions import action_facts
from causalfocus.campaign.playback import Asked
from causalfocus.errors import CausalFocusError
from causalfocus.guarantees import Alarm
from causalfocus.learner.effects import Effects
from causalfocus.planning.remaining import Remaining, rounds_to_go

LEAST_BELIEVED: Final = 0.01
MOST_BELIEFS: Final = 20
"""Effects that are shown as probable: from this probability on, and so many at most."""


@dataclass(frozen=True, kw_only=True)
class EdgeStatus:
    """An effect of the estimate.

    Attributes
    ----------
    low, high : weights that are not rejected, if the graph is right; None without bound
    evidence : that it is there and within epsilon, in nats
    is_certain : whether its sign is certain
    """

    cause: str
    effect: str
    weight: float
    low: float | None
    high: float | None
    evidence: float | None
    is_certain: bool = False


@dataclass(frozen=True, kw_only=True)
class Belief:
    """How probable an effect is by the data so far, under a prior: it certifies nothing."""

    cause: str
    effect: str
    probability: float

    @property
    def in_percent(self) -> str:
        """Rounded, but never up to certainty."""
        return "over 99%" if self.probability > 0.99 else f"{self.probability:.0%}"


@dataclass(frozen=True, kw_only=True)
class Status:
    """One look at a campaign.

    Attributes
    ----------
    title : of the campaign
    rounds, cost : so far
    state : "running", "certified" or "refuted"
    statement : what can be said now, in words
    evidence, threshold : in nats; None while there is none. With many variables the evidence is
        that of the last point of the curve
    reason : what the decision rests on
    effects : of every pair of variables, with verdicts
    settles_pairs : whether these verdicts come one by one, before the certificate
    edges : of the estimate, or of what was certified
    equations : of the same
    beliefs : effects that are more probable than LEAST_BELIEVED, the most probable first, beside
        the evidence and never a part of it; none once there is a certificate, or a refutation
    remaining : rounds to go, None if unknown or done
    alarm : the loudest doubt about the assumptions, in words, and its evidence
    n_left_out : rounds that count for no evidence: withdrawn, with a missing value, or with a
        setting that missed by more than is tolerated
    losses : what missing values depend on, in words, if they do
    pending : actions that are out
    counts : rounds of each action
    share : where the rounds should go from now on
    last_event : number of the last event
    """

    title: str
    rounds: int
    cost: float
    state: str
    statement: str
    evidence: float | None
    threshold: float
    reason: str
    effects: Effects
    settles_pairs: bool
    edges: tuple[EdgeStatus, ...]
    equations: str
    beliefs: tuple[Belief, ...]
    remaining: Remaining | None
    alarm: tuple[str, float] | None
    n_left_out: int
    losses: str | None
    pending: tuple[Asked, ...]
    counts: dict[str, int]
    share: dict[str, float]
    last_event: int

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON."""
        pairs = self.effects.to_dict()
        found = asdict(replace(self, effects=Effects((), self.rounds)))  # it would copy them all
        del found["effects"]
        found["settled"], found["pairs"] = pairs["settled"], pairs["pairs"]
        found["pending"] = [
            {
                "id": asked.id,
                **action_facts(asked.action),
                "at": asked.at,
                "who": asked.who,
                "note": asked.note,
            }
            for asked in self.pending
        ]
        return found


def status(campaign: Campaign, *, foretell: bool = True) -> Status:
    """Look at a campaign.

    foretell : also estimate the rounds to go, which can take a second
    """
    with campaign.hold():
        learner = campaign.learner
        decision = learner.decision
        state = "running"
        if learner.has_stopped:
            state = "refuted" if learner.is_refuted else "certified"
        alarms = learner.alarms() if learner.rounds else ()
        effects = learner.effects()
        return Status(
            title=campaign.specification.title,
            rounds=learner.rounds,
            cost=learner.cost,
            state=state,
            statement=statement(campaign, effects),
            evidence=_evidence(campaign),
            threshold=decision.threshold,
            reason=decision.reason,
            effects=effects,
            settles_pairs=learner.guarantee.settles_pairs,
            edges=edges(campaign, effects),
            equations=campaign.model.equations(),
            beliefs=beliefs(campaign) if state == "running" and learner.rounds else (),
            remaining=rounds_to_go(learner) if foretell and state == "running" else None,
            alarm=_alarm([one for one in alarms if one.can_refute]),
            n_left_out=learner.rounds - round(learner.moments.n),
            losses=_losses(alarms, decision.threshold),
            pending=campaign.pending,
            counts={str(action): n for action, n in learner.counts.items()},
            share={str(action): part for action, part in learner.allocation.items()},
            last_event=campaign.last_event,
        )


def edges(campaign: Campaign, effects: Effects) -> tuple[EdgeStatus, ...]:
    """Effects of the result with what is known of each."""
    learner, model, is_present = campaign.learner, campaign.model, True
    if learner.has_stopped:
        result = campaign.result()
        intervals, is_present = result.intervals, learner.decision.rounds == result.rounds
    else:
        intervals = learner.guarantee.intervals(learner.moments, model)
    limits = {(i.cause, i.effect): (i.low, i.high) for i in intervals}
    weighed = learner.decision.edge_evidence
    names = model.names
    found = []
    for cause, effect, weight in model.edges:
        low, high = limits.get((cause, effect), (-math.inf, math.inf))
        evidence = None
        if weighed is not None and is_present:
            evidence = _finite(float(weighed[names.index(effect), names.index(cause)]))
        found.append(
            EdgeStatus(
                cause=cause,
                effect=effect,
                weight=weight,
                low=_finite(low),
                high=_finite(high),
                evidence=evidence,
                is_certain=effects[cause, effect].is_present,
            )
        )
    return tuple(found)


def beliefs(campaign: Campaign) -> tuple[Belief, ...]:
    """Probable effects by the data so far; none where the sums over graphs cannot be made."""
    try:
        found = campaign.learner.edge_probabilities()
    except (CausalFocusError, ArithmeticError):  # too many variables, or numbers that overflow
        return ()
    probable = sorted(found.items(), key=lambda item: -item[1])
    return tuple(
        Belief(cause=cause, effect=effect, probability=probability)
        for (cause, effect), probability in probable[:MOST_BELIEFS]
        if probability > LEAST_BELIEVED
    )


def _evidence(campaign: Campaign) -> float | None:
    """At the stop, or now; where it is dear, when it was last weighed."""
    learner = campaign.learner
    if learner.has_stopped:
        return _finite(campaign.result().evidence)
    if not learner.guarantee.evidence_is_dear:
        return _finite(learner.decision.evidence)
    points = campaign.curve()
    return _finite(points[-1][1]) if points else None


def statement(campaign: Campaign, effects: Effects) -> str:
    """The result in words: exactly what is claimed, and on what assumptions."""
    guarantee = campaign.learner.guarantee
    doubt = "" if campaign.contradiction is None else f" But: {campaign.contradiction}"
    if not campaign.learner.has_stopped:
        if guarantee.settles_pairs:
            return _so_far(campaign, effects) + doubt
        return (
            f"Nothing is certified yet, after {campaign.rounds:,} rounds. The graph shown is the "
            f"best guess so far.{doubt}"
        )
    result = campaign.result()
    if result.refuted is not None:
        return f"Nothing is certified. {result.refuted}"
    return (
        f"Certified after {result.rounds:,} rounds: {guarantee.claim_in_words()}. A procedure that "
        f"says this is wrong at most {result.delta:g} of the times it is used, whatever the "
        f"system, if {guarantee.assumptions_in_words()}.{doubt}"
    )


def _so_far(campaign: Campaign, effects: Effects) -> str:
    """What holds on the way to the certificate, in words."""
    first = f"Nothing is certified yet as a whole, after {campaign.rounds:,} rounds."
    if not any(one.is_bounded and not one.is_given for one in effects):
        return f"{first} No pair has an interval yet."
    return (
        f"{first} But every interval, and every verdict that is not open, holds already, on "
        f"the assumptions of the rule: all of them at the same time, except with probability "
        f"{campaign.learner.delta:g}."
    )


def _alarm(alarms: Sequence[Alarm]) -> tuple[str, float] | None:
    """The loudest; none if nothing could be weighed."""
    if not alarms or not math.isfinite(alarms[0].evidence):
        return None
    return alarms[0].words, alarms[0].evidence


def _losses(alarms: Sequence[Alarm], threshold: float) -> str | None:
    """The loudest alarm on missing values, once it is certain enough."""
    found = [one for one in alarms if not one.can_refute and one.evidence >= threshold]
    if not found:
        return None
    return (
        f"{found[0].words[0].upper()}{found[0].words[1:]}. If it depends on the values too, what "
        f"is left is a selection, and nothing can be certified from it: look for the cause."
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
