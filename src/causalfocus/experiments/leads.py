"""Where FOCUS is ahead of another method, or behind it, at many marks and settings at once.

A 95 percent interval at each of a hundred places is wrong at five of them. Here all places of one
comparison, the marks from n = 100 on, both errors and all settings, hold together: every mean
difference gets the same number of standard errors, so many that with probability 0.95 no true one
is left out. That number comes from the multiplier bootstrap: the standardised differences of every
system get a common random weight, which keeps their correlation between marks and errors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.experiments.analysis import LEVEL, Mean, Sampled

FIRST: Final = 100
"""The first mark that is compared."""

ERRORS: Final = ("shd", "weight_error")
DRAWS: Final = 20_000
SEED: Final = 0


@dataclass(frozen=True)
class Lead:
    """Errors of another method less those of FOCUS on the same systems, at one place.

    Attributes
    ----------
    setting : its name, or "all", where every setting counts the same
    method : with the estimate that its samples were given to, where that is not its own
    error : "shd" or "weight_error"
    n : the mark
    difference : positive where FOCUS is better; its interval holds together with all others of this
        comparison
    """

    setting: str
    method: str
    error: str
    n: int
    difference: Mean

    @property
    def verdict(self) -> str:
        """Who is ahead beyond chance."""
        if self.difference.low > 0.0:
            return "FOCUS"
        return self.method if self.difference.high < 0.0 else "nobody"


def leads(runs: Sequence[Sampled]) -> list[Lead]:
    """All comparisons of FOCUS with the others, over the settings in which both were run."""
    found = []
    focus = {run.setting: run for run in runs if run.specification.method == "focus"}
    for method in dict.fromkeys(run.specification.method for run in runs):
        others = [run for run in runs if run.specification.method == method]
        pairs = [(focus[run.setting], run) for run in others if run.setting in focus]
        if method == "focus" or not pairs:
            continue
        found += _comparison(pairs, method)
        if method == "random":
            found += _comparison(pairs, "random, joint MLE")
    return found


def _comparison(pairs: Sequence[tuple[Sampled, Sampled]], method: str) -> list[Lead]:
    """One comparison: per setting, and all settings together, with one family each."""
    marks = [n for n in pairs[0][0].specification.marks if n >= FIRST]
    places = [(error, n) for error in ERRORS for n in marks]
    blocks = [_differences(mine, other, marks, method) for mine, other in pairs]
    names = [mine.setting.name for mine, _ in pairs]
    found = []
    for name, means in zip(names, simultaneous_means(blocks), strict=True):
        found += [
            Lead(name, method, error, n, mean)
            for (error, n), mean in zip(places, means, strict=True)
        ]
    if len(blocks) > 1:
        together = np.mean([block[: min(map(len, blocks))] for block in blocks], axis=0)
        (means,) = simultaneous_means([together])
        found += [
            Lead("all", method, error, n, mean)
            for (error, n), mean in zip(places, means, strict=True)
        ]
    return found


def _differences(focus: Sampled, other: Sampled, marks: Sequence[int], method: str) -> Floats:
    """(systems, places): errors of the other less those of FOCUS."""
    _, mine, theirs = np.intersect1d(focus.numbers, other.numbers, return_indices=True)
    at = [focus.specification.marks.index(n) for n in marks]
    shd, weight_error = other.shd, other.weight_error
    if method == "random, joint MLE":
        shd, weight_error = other.mle[:, :, 0], other.mle[:, :, 1]
    found: Floats = np.hstack(
        [
            shd[theirs][:, at] - focus.shd[mine][:, at],
            weight_error[theirs][:, at] - focus.weight_error[mine][:, at],
        ]
    )
    return found


def simultaneous_means(blocks: Sequence[Floats]) -> list[list[Mean]]:
    """Means of all columns of independent blocks, with intervals that hold together."""
    factor = simultaneous_factor(blocks)
    found = []
    for block in blocks:
        n = len(block)
        centres = block.mean(axis=0)
        errors = (
            block.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.full(len(centres), np.inf)
        )
        found.append(
            [
                Mean(float(c), float(c - factor * e), float(c + factor * e), n)
                for c, e in zip(centres, errors, strict=True)
            ]
        )
    return found


def simultaneous_factor(blocks: Sequence[Floats]) -> float:
    """How many standard errors all means are within, together, with the usual probability."""
    rng = np.random.default_rng(SEED)
    largest = np.zeros(DRAWS)
    for block in blocks:
        n, centred = len(block), block - block.mean(axis=0)
        deviations = np.sqrt((centred**2).mean(axis=0))
        scores = centred[:, deviations > 0.0] / deviations[deviations > 0.0]
        if scores.size:
            drawn = np.abs(rng.standard_normal((DRAWS, n)) @ scores).max(axis=1)
            largest = np.maximum(largest, drawn / math.sqrt(n))
    return float(np.quantile(largest, LEVEL))
