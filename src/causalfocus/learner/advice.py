"""What next, when the assumptions are refuted: the narrowest step that the data do not refute."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from causalfocus.guarantees import Alarm, EvidenceRule, ResolutionRule
from causalfocus.guarantees.claims import Stopping, claim_of
from causalfocus.moments.moments import Moments
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

ROOM = 1.2
"""Bounds that were too tight are moved beyond the fitted values by this factor."""

BEYOND_ALL = {
    "curve": "Set the node over a narrower range, where the response is straight, or learn the "
    "effect of a transformed variable.",
    "action": "Look for what else that action does to the system; leave the action out if it is "
    "not clean.",
    "drift": "Look for a cause that changes with time, and measure it as one more variable, or "
    "start again once the system is stable.",
}


def advice(
    alarm: Alarm,
    moments: Moments,
    space: ModelClass,
    epsilon: float | None,
    delta: float,
    stopping: Stopping,
) -> str:
    """One or two sentences for the person who reads that the assumptions are refuted."""
    threshold = math.log(1.0 / delta)
    for words, wider, rule in _steps(moments, space, epsilon, stopping):
        if _loudest(moments, wider, epsilon, delta, rule) < threshold:
            return f"The narrowest step that is not refuted: {words}."
    if alarm.kind in BEYOND_ALL:
        return BEYOND_ALL[alarm.kind]
    return "No rule here allows for that."


def _steps(
    moments: Moments, space: ModelClass, epsilon: float | None, stopping: Stopping
) -> Iterator[tuple[str, ModelClass, Stopping]]:
    """Wider assumptions, one bound at a time, then all of them, then the rule that has none."""
    if stopping == "resolution":
        if not space.intercept:
            constant = replace(space, intercept=True)
            yield "with_space(...) with intercept=True", constant, stopping
        return
    claim = claim_of("resolution", replace(space, intercept=True), epsilon)
    fitted = claim.estimate(moments)
    changes = _bounds(space, fitted)
    for name, value in changes.items():
        yield (
            f"with_space(...) with {name}={_shown(value)}",
            replace(space, **{name: value}),
            stopping,
        )
    if len(changes) > 1:
        listed = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
        yield f"with_space(...) with {listed}", replace(space, **changes), stopping
    yield 'with_stopping("resolution"), which knows no such bounds', space, "resolution"
    if not space.intercept:
        constant = replace(space, intercept=True)
        yield (
            'with_space(...) with intercept=True and with_stopping("resolution")',
            constant,
            "resolution",
        )


def _bounds(space: ModelClass, fitted: LinearSEM) -> dict[str, Any]:
    """Bounds of the class that the fitted system touches or exceeds, each with some room."""
    changes: dict[str, Any] = {}
    sizes = np.abs(fitted.weights[fitted.weights != 0.0])
    noise = fitted.noise_variances
    if not space.intercept:
        changes["intercept"] = True
    if len(sizes) and space.max_effect is not None and sizes.max() * 1.02 > space.max_effect:
        changes["max_effect"] = _rounded(ROOM * float(sizes.max()))
    if space.noise_variance is not None:
        low, high = space.noise_variance
        if noise.min() < low or noise.max() > high:
            wide = min(low, noise.min() / ROOM), max(high, noise.max() * ROOM)
            changes["noise_variance"] = tuple(_rounded(float(end)) for end in wide)
    return changes


def _loudest(
    moments: Moments, space: ModelClass, epsilon: float | None, delta: float, stopping: Stopping
) -> float:
    answer = claim_of(stopping, space, epsilon).estimate(moments)
    kind = ResolutionRule if stopping == "resolution" else EvidenceRule
    found = kind(space, epsilon, delta).alarms(moments, answer)
    return found[0].evidence if found else -math.inf


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{end:g}" for end in value) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
