"""What the moments show of themselves: one matrix of sums per node, now or at earlier times."""

from dataclasses import dataclass

from causalfocus.arrays import Floats


@dataclass(frozen=True)
class RowMoments:
    """What the row fits read, one entry per node j over the samples in which j was not set.

    Arrays are shared and must not be written to.

    Attributes
    ----------
    grams : (p, p, p), G_j, centred if there is an intercept
    lows : (p, p, p), what is left of G_j after rounding it to doubles
    counts : (p,), n_j
    means : (p, p), means of all nodes over the samples of j; zeros without intercept
    """

    grams: Floats
    lows: Floats
    counts: Floats
    means: Floats


@dataclass(frozen=True)
class Split:
    """The samples in two parts, by time: the training, and those that came later.

    Attributes
    ----------
    number : of the training, from 0
    training, later : views for evidence; with intercepts shifted, the constant as last regressor
    estimation : the view of the training that an estimate reads
    """

    number: int
    training: RowMoments
    later: RowMoments
    estimation: RowMoments


@dataclass(frozen=True)
class TimedRows:
    """The view of the evidence at every mark, and at present.

    Attributes
    ----------
    grams, lows : (m, p, q, q), the last is the present
    counts : (m, p)
    """

    grams: Floats
    lows: Floats
    counts: Floats
