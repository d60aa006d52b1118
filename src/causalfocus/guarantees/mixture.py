"""What the rules that mix martingales have in common."""

import math
from typing import Final

WORLD: Final = (
    "the system is linear, acyclic, with Gaussian noise and without hidden common causes, if it "
    "does not change over time, and if setting a variable changes nothing else directly"
)
"""What all of them assume."""

LEVEL_FLOOR: Final = -64.0
LEVEL_CAP: Final = 60.0
"""The evidence is sought in this range, or up to twice the threshold if higher."""

FINE: Final = 0.2
"""Mixing of every single coefficient, as a share of the step along a direction."""

TOP: Final = 4 / 3
"""Of min_effect: where a row of a rival begins to be moved by epsilon instead of the stride."""

STRIDE: Final = 0.6
"""By which a row is moved along a coefficient below `TOP`, as a share of min_effect."""

MOST_STRIDE: Final = 1.3
"""The longest stride, as a share of epsilon: a longer one would pass by the weights that a reported
effect of that size must be told from."""

STIFFNESS: Final = 3000.0
"""How closely the numerator's noise follows the rival's; about the samples at a stop."""

PURSUED_TO: Final = math.log(20.0)
"""Log odds, and evidence, up to which rivals are pursued one stage at a time. It does not depend on
delta, so that the actions do not either: one run serves all."""

PURSUIT_EXPLORATION: Final = 0.1
"""Share of sqrt(t) rounds that every action gets where rivals are pursued: the data themselves say
what is least known, so little is left to chance."""

SURVEY_FROM: Final = 2.0
"""Evidence from which on, in nats, it is worth while to look at all rivals."""


def step_and_stride(epsilon: float | None, min_effect: float) -> tuple[float, float]:
    """By how much rows are moved along coefficients from `TOP` on, and along smaller ones. For the
    graph alone the step is half of min_effect.
    """
    step = epsilon if epsilon is not None else 0.5 * min_effect
    return step, min(STRIDE * min_effect, MOST_STRIDE * step)


def cap_of(threshold: float) -> float:
    """The highest level at which evidence is told apart."""
    return max(LEVEL_CAP, 2.0 * threshold)
