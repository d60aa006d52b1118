"""What next, when the assumptions are refuted: the narrowest step that the data do not refute."""

import math

from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.rules import guarantee_of
from causalfocus.guarantees.terms import Step
from causalfocus.moments.moments import Moments

BEYOND_ALL = {
    "curve": "Set the node over a narrower range, where the response is straight, or learn the "
    "effect of a transformed variable.",
    "action": "Look for what else that action does to the system; leave the action out if it is "
    "not clean.",
    "drift": "Look for a cause that changes with time, and measure it as one more variable, or "
    "start again once the system is stable.",
    "selection": "Find out why rounds are lost at that end, narrow the range to where none are, "
    "and start again.",
    "interference": "Perform the rounds apart from each other, or one by one in the order of "
    "asking, with time to settle in between, and start again.",
    "product": "Set one variable at a time, which teaches the effects with the others as they "
    "are, or set them over narrower ranges, or learn the effect of a transformed variable.",
}


def advice(alarm: Alarm, moments: Moments, guarantee: Guarantee) -> str:
    """One or two sentences for the person who reads that the assumptions are refuted."""
    for step in guarantee.wider_steps(moments):
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
