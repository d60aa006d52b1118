"""Timing a call: enough repetitions to be sure, the median of them, compile time kept out."""

import statistics
import time
from collections.abc import Callable

SHORTEST = 2e-3
"""Calls are timed in blocks of at least this many seconds, so that the clock's grain is lost."""


def seconds_per_call(call: Callable[[], object], *, blocks: int = 9, warm: bool = True) -> float:
    """Median time of one call over several blocks; the first call, which may compile, is free."""
    if warm:
        call()
    n, elapsed = 1, _block(call, 1)
    while elapsed < SHORTEST:
        n *= 2
        elapsed = _block(call, n)
    return statistics.median([elapsed, *(_block(call, n) for _ in range(blocks - 1))]) / n


def seconds_once(call: Callable[[], object]) -> float:
    """Time of a single call, for what takes seconds anyway."""
    return _block(call, 1)


def _block(call: Callable[[], object], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        call()
    return time.perf_counter() - start
