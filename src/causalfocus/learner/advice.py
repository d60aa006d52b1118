"""What next, when the assumptions are refuted: the narrowest step that the data do not refute."""

import math
from typing import Final

from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.rules import guarantee_of
from causalfocus.guarantees.terms import Step
from causalfocus.moments.moments import Moments

SURVIVES: Final = (
    'with_rule("randomized") goes on with the same log: the certificate by coins survives '
)

BEYOND_ALL: Final[dict[Kind, str]] = {
    "curve": "Set the node over a narrower range, where the response is straight, or learn the "
    "effect of a transformed variable.",
    "product": "Learn the effect of a transformed variable (logarithms turn products into sums), "
    "keep one of the two causes fixed, or measure their product as one more variable. No rule "
    "here learns responses that are not sums, the randomized one neither.",
    "dose": "Look for what drives both, and measure it as one more variable; check also that "
    "setting the one does nothing else. " + SURVIVES + "hidden common causes.",
    "lag": "Wait longer between rounds, or bring the system back to the same state before each. "
    + SURVIVES
    + "noise that is alike in successive rounds.",
    "shape": "Look at the rounds with the largest residuals, and repair what produces them; leave "
    "no round out because of its outcome. " + SURVIVES + "outliers and heavy tails.",
    "action": "Look for what else that action does to the system; leave the action out if it is "
    "not clean.",
    "drift": "Look for a cause that changes with time, and measure it as one more variable, or "
    "start again once the system is stable. " + SURVIVES + "drift.",
    "loop": "Leave acyclic=True out: with_space(ModelClass(...)) without it goes on with the same "
    "log, and the certificate by coins survives feedback.",
    "selection": "Find out why rounds are lost at that end, narrow the range to where none are, "
    "and start again.",
    "interference": "Perform the rounds apart from each other, or one by one in the order of "
    "asking, with time to settle in between, and start again.",
    "middle": "Set the cause over a narrower range, where the response is straight, or learn the "
    "effect of a transformed variable, and start again. No rule here learns responses that curve, "
    "the randomized one neither.",
}

OF_NO_BOUND: Final[frozenset[Kind]] = frozenset({"product", "dose", "lag", "shape"})
"""What no wider bound explains: a step to one would only be too early to be refuted."""


def advice(alarm: Alarm, moments: Moments, guarantee: Guarantee) -> str:
    """What to do, for the person who reads that the assumptions are refuted."""
    steps = () if alarm.kind in OF_NO_BOUND else guarantee.wider_steps(moments)
    for step in steps:
        if _loudest_evidence(step, moments, guarantee) < guarantee.threshold:
            return f"The narrowest step that is not refuted: {step.words}."
    if alarm.kind in BEYOND_ALL:
        return BEYOND_ALL[alarm.kind]
    return "No rule here allows for that."


def _loudest_evidence(step: Step, moments: Moments, guarantee: Guarantee) -> float:
    """Against what would be assumed after a step."""
    wider = guarantee_of(
        step.rule,
        guarantee.actions,
        step.space,
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
    )
    found = wider.alarms(moments, wider.estimate(moments))
    return found[0].evidence if found else -math.inf
