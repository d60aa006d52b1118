"""Wider assumptions for someone whose class is refuted: bounds moved beyond what was fitted."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.terms import Step
from causalfocus.moments.moments import Moments
from causalfocus.oracles.gaussian import gaussian_estimate
from causalfocus.system.numbers_by_name import is_by_name
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import PairSizes
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
    sizes = np.abs(fitted.weights)
    if not space.intercept:
        changes["intercept"] = True
    most, limits = space.max_effect, space.largest(fitted.names)
    if most is not None and (sizes * 1.02 > limits).any():
        if isinstance(most, float):
            changes["max_effect"] = _to_two_digits(ROOM * float(sizes.max()))
        else:
            for at in np.argwhere(sizes * 1.02 > limits):
                limits[*at] = _to_two_digits(ROOM * float(sizes[*at]))
            changes["max_effect"] = PairSizes.of("max_effect", limits)
    ranges = space.noise_variance
    if ranges is not None and not is_by_name(ranges):
        found = _wider_range(cast("tuple[float, float]", ranges), fitted.noise_variances)
        changes |= {} if found == ranges else {"noise_variance": found}
    elif ranges is not None:
        noise = dict(zip(fitted.names, fitted.noise_variances, strict=True))
        by_name = tuple((name, _wider_range(s, noise[name][None])) for name, s in ranges)
        changes |= {} if by_name == ranges else {"noise_variance": by_name}
    return changes


def _wider_range(span: tuple[float, float], noise: Floats) -> tuple[float, float]:
    """A range that holds some variances with room; the same if they are in it."""
    low, high = span
    if noise.min() >= low and noise.max() <= high:
        return span
    ends = min(low, noise.min() / ROOM), max(high, noise.max() * ROOM)
    return _to_two_digits(float(ends[0])), _to_two_digits(float(ends[1]))


def _to_two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _as_text(value: Any) -> str:
    if isinstance(value, PairSizes):
        return str([list(row) for row in value.rows or ()])
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{name!r}: {_as_text(span)}" for name, span in value) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{end:g}" for end in value) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
