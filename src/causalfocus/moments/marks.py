"""Times at which the sums are kept as they stand: numerators may use what was known by then."""

import math
from collections.abc import Iterable
from typing import Final

FIRST_MARK: Final = 8
"""The sums are kept as they stood after 8, 16, 32, ... samples."""

TRAINING_SHARE: Final = 0.25
"""The training is the latest of every other mark that holds no more than this share of them."""


def is_training(mark: int) -> bool:
    """Every other mark may serve as training."""
    return mark % 2 == 0


def mark_at(mark: int) -> int:
    return FIRST_MARK << mark


def marks_before(n: float) -> int:
    """How many marks come before sample n: also the number of the first that does not."""
    return max(-(-math.ceil(n) // FIRST_MARK) - 1, 0).bit_length()


def training_mark(marks: Iterable[int], n: float) -> int | None:
    """The mark that serves as training for n samples; None if there is none yet."""
    most = TRAINING_SHARE * n
    return max((m for m in marks if is_training(m) and mark_at(m) <= most), default=None)
