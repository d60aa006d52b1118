"""Wider assumptions for someone whose class is refuted: bounds moved beyond what was fitted."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from causalfocus.guarantees.terms import Step
from causalfocus.moments.moments import Moments
from causalfocus.oracles.gaussian import gaussian_estimate
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

ROOM: Final = 1.2
"""Bounds that were too tight are moved beyond the fitted values by this factor."""


def wider_classes(space: ModelClass, moments: Moments, rule: str) -> Iterator[Step]:
    """One bound at a time, then all of them, then the rule that has none."""
    fitted = gaussian_estimate(moments, replace(space, intercept=True))
    changes = _wider_bounds(space, fitted)
    for name, value in changes.items():
        words = f"with_space(...) with {name}={_as_text(value)}"
        yield Step(words, rule, replace(space, **{name: value}))
    if len(changes) > 1:
        listed = ", ".join(f"{name}={_as_text(value)}" for name, value in changes.items())
        yield Step(f"with_space(...) with {listed}", rule, replace(space, **changes))
    words = 'with_rule("gaussian"), which knows no such bounds'
    yield Step(words, "gaussian", space)
    if not space.intercept:
        constant = replace(space, intercept=True)
        words = 'with_space(...) with intercept=True and with_rule("gaussian")'
        yield Step(words, "gaussian", constant)


def _wider_bounds(space: ModelClass, fitted: LinearSEM) -> dict[str, Any]:
    """Bounds of the class that the fitted system touches or exceeds, each with some room."""
    changes = dict[str, Any]()
    sizes = np.abs(fitted.weights[fitted.weights != 0.0])
    noise = fitted.noise_variances
    if not space.intercept:
        changes["intercept"] = True
    if len(sizes) and space.max_effect is not None and sizes.max() * 1.02 > space.max_effect:
        changes["max_effect"] = _to_two_digits(ROOM * float(sizes.max()))
    if space.noise_variance is not None:
        low, high = space.noise_variance
        if noise.min() < low or noise.max() > high:
            wide = min(low, noise.min() / ROOM), max(high, noise.max() * ROOM)
            changes["noise_variance"] = tuple(_to_two_digits(float(end)) for end in wide)
    return changes


def _to_two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _as_text(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{end:g}" for end in value) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
