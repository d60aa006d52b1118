"""From replicates to means with their intervals, fits and error rates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import stats

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.experiments.specification import Setting, Specification
from causalfocus.guarantees.paper import PaperRule
from causalfocus.system.action_set import ActionSet
from causalfocus.system.names import default_names
from causalfocus.system.space import PAPER_CLASS

LEVEL: Final = 0.95
Z: Final = float(stats.norm.ppf(0.5 + LEVEL / 2))


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """All replicates of a method in a setting, one row each.

    Attributes
    ----------
    numbers : of the replicates
    shd, weight_error : (n, marks)
    mle, bayes : (n, marks, 2), both errors of other estimates from the same samples
    stops : (n, deltas), nan where the certificate was not reached; no columns without one
    wrong : (n, deltas), whether what was certified was wrong
    refuted : (n,), whether the assumptions, which hold, were refuted
    complexity : (n,), C_epsilon of the systems
    counts : (n, actions)
    """

    setting: Setting
    specification: Specification
    numbers: Ints
    shd: Floats
    weight_error: Floats
    mle: Floats
    bayes: Floats
    stops: Floats
    wrong: Bools
    refuted: Bools
    complexity: Floats
    counts: Floats

    @property
    def n(self) -> int:
        return len(self.numbers)


def collect(
    setting: Setting, specification: Specification, documents: Sequence[dict[str, Any]], most: int
) -> Sampled | None:
    """The first `most` replicates out of the units' contents; None if there are none."""
    lines = [line for document in documents for line in document["replicates"]]
    lines = sorted((line for line in lines if line["number"] < most), key=lambda x: x["number"])
    if not lines:
        return None
    shape = len(lines), len(specification.deltas) if specification.is_certified else 0
    stops = np.array([line["stops"] for line in lines], dtype=np.float64).reshape(shape)
    wrong = np.array([[w is True for w in line["wrong"]] for line in lines], dtype=np.bool_)
    return Sampled(
        setting=setting,
        specification=specification,
        numbers=np.array([line["number"] for line in lines], dtype=np.int64),
        shd=np.array([line["shd"] for line in lines], dtype=np.float64),
        weight_error=np.array([line["weight_error"] for line in lines]),
        mle=np.array([line["mle"] for line in lines]),
        bayes=np.array([line["bayes"] for line in lines]),
        stops=stops,
        wrong=wrong.reshape(shape),
        refuted=np.array([line["refuted"] is not None for line in lines]),
        complexity=np.array([line["complexity"] or math.nan for line in lines], dtype=np.float64),
        counts=np.array([line["counts"] for line in lines], dtype=np.float64),
    )


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 percent interval."""

    value: float
    low: float
    high: float
    n: int


def mean_of(values: Floats) -> Mean:
    """Of what is finite, by the central limit theorem; an infinite interval for a single value."""
    kept = values[np.isfinite(values)]
    n = len(kept)
    if n == 0:
        return Mean(math.nan, math.nan, math.nan, 0)
    half = Z * float(kept.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    centre = float(kept.mean())
    return Mean(centre, centre - half, centre + half, n)


@dataclass(frozen=True)
class ErrorRate:
    """Wrong among all, with the exact upper limit at 95 percent (one-sided) of its probability."""

    wrong: int
    n: int

    @property
    def limit(self) -> float:
        if self.wrong == self.n:
            return 1.0
        return float(stats.beta.ppf(LEVEL, self.wrong + 1, self.n - self.wrong))


@dataclass(frozen=True, kw_only=True)
class StopFit:
    """Stopping times of one method in one setting against log(1/delta).

    Attributes
    ----------
    means : per delta, of replicates that stopped at every delta
    errors : wrong stops per delta, of all replicates
    slope : of the line through a replicate's stopping times; its mean is that of the means
    intercept : of the line through the means
    linearity : squared correlation of the means with log(1/delta)
    rate : mean of 1/C_epsilon, the slope for small delta
    bounds : mean lower bound kl(delta, 1 - delta) / C_epsilon per delta
    n_unstopped, n_refuted : replicates that did not stop for every delta; that were refuted
    paper_forecast : median over the systems of when the paper's own rule could fire at delta = 0.05
    """

    deltas: tuple[float, ...]
    means: tuple[Mean, ...]
    errors: tuple[ErrorRate, ...]
    slope: Mean
    intercept: float
    linearity: float
    rate: Mean
    bounds: tuple[float, ...]
    n_unstopped: int
    n_refuted: int
    paper_forecast: float


def stop_fit(of: Sampled) -> StopFit:
    """How the stopping time grows with log(1/delta)."""
    deltas = np.array(of.specification.deltas)
    levels = np.log(1 / deltas)
    has_stopped = np.isfinite(of.stops).all(axis=1)
    stops = of.stops[has_stopped]
    means = tuple(mean_of(column) for column in stops.T)
    centred = levels - levels.mean()
    slopes = stops @ centred / (centred @ centred)
    values = np.array([mean.value for mean in means])
    slope = mean_of(slopes)
    correlation = np.corrcoef(levels, values)[0, 1] if len(stops) else math.nan
    divergence = (1 - 2 * deltas) * np.log((1 - deltas) / deltas)
    inverse = 1 / of.complexity
    return StopFit(
        deltas=of.specification.deltas,
        means=means,
        errors=tuple(ErrorRate(int(column.sum()), of.n) for column in of.wrong.T),
        slope=slope,
        intercept=float(values.mean() - slope.value * levels.mean()),
        linearity=float(correlation**2),
        rate=mean_of(inverse),
        bounds=tuple((divergence * inverse.mean()).tolist()),
        n_unstopped=int((~has_stopped).sum()),
        n_refuted=int(of.refuted.sum()),
        paper_forecast=_paper_forecast(of),
    )


def _paper_forecast(of: Sampled) -> float:
    reach, names = of.specification.reach, default_names(of.setting.p)
    actions = ActionSet(dict.fromkeys(names, (-reach, reach)))
    rule = PaperRule(actions, PAPER_CLASS, of.specification.epsilon, 0.05)
    return rule.first_firing(float(np.median(of.complexity)))


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Errors of another method less those of FOCUS on the same systems, at one n.

    Attributes
    ----------
    shd, weight_error : of the methods' own estimates
    shd_by_mle, shd_by_bayes : of one estimate from either's samples: of the actions alone
    """

    method: str
    n: int
    shd: Mean
    weight_error: Mean
    shd_by_mle: Mean
    shd_by_bayes: Mean


def gaps(focus: Sampled, other: Sampled, marks: Sequence[int]) -> list[Gap]:
    """Paired by system; positive where FOCUS is better."""
    _, mine, theirs = np.intersect1d(focus.numbers, other.numbers, return_indices=True)
    found = []
    for mark in marks:
        at = focus.specification.marks.index(mark)
        pairs = (
            (focus.shd, other.shd),
            (focus.weight_error, other.weight_error),
            (focus.mle[:, :, 0], other.mle[:, :, 0]),
            (focus.bayes[:, :, 0], other.bayes[:, :, 0]),
        )
        shd, weight_error, by_mle, by_bayes = (
            mean_of(b[theirs, at] - a[mine, at]) for a, b in pairs
        )
        gap = Gap(
            method=other.specification.method,
            n=mark,
            shd=shd,
            weight_error=weight_error,
            shd_by_mle=by_mle,
            shd_by_bayes=by_bayes,
        )
        found.append(gap)
    return found


@dataclass(frozen=True)
class StopGap:
    """Rounds to the certificate of another method less those of FOCUS, on the same systems.

    Attributes
    ----------
    rounds : mean difference over the systems on which both stopped
    ratio : of the mean rounds, FOCUS's to the other's
    sooner : share of these systems on which FOCUS stopped first
    """

    method: str
    delta: float
    rounds: Mean
    ratio: float
    sooner: float


def stop_gaps(focus: Sampled, other: Sampled) -> list[StopGap]:
    """Paired by system; positive where FOCUS is better."""
    _, mine, theirs = np.intersect1d(focus.numbers, other.numbers, return_indices=True)
    found = []
    for at, delta in enumerate(focus.specification.deltas):
        own, others = focus.stops[mine, at], other.stops[theirs, at]
        both = np.isfinite(own) & np.isfinite(others)
        own, others = own[both], others[both]
        if len(own):
            ratio, sooner = own.mean() / others.mean(), (own < others).mean()
            rounds = mean_of(others - own)
            found.append(
                StopGap(other.specification.method, delta, rounds, float(ratio), float(sooner))
            )
    return found
