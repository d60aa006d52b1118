"""What the kernels of the randomized rule pass to each other.

Row j is tested in the rounds in which j was not asked to be set and some variable had a coin of
its own. With z_ti = +-1 the coin of variable i in round t, 0 where it has none, m a centre and b a
row, the residual is

    r_t(b) = (x_tj - m_j) - b . (x_t - m).

A test of row j is a weight w_i for every coin. It has, at any row b = a + d near a reference a,

    S(d) = sum_t sum_i w_i z_ti r_t(b)  =  moved_j - a . moved - d . moved,
    V(d) = sum_t sum_i w_i^2 z_ti^2 r_t(b)^2  <=  squares - 2 d . crossed + d' grams d,

where moved_r = sum_t sum_i w_i z_ti (x_tr - m_r), squares = V(0) and crossed_r = sum_t sum_i
w_i^2 z_ti^2 r_t(a) (x_tr - m_r) are of the test. The first two parts of V are exact. For the third
there are two ways.

- *Grams of each test*, sum_t sum_i w_i^2 z_ti^2 (x_t - m)(x_t - m)'. Then V is exact; but that
  needs p^4 numbers.
- *Grams of the row*, sum_t (x_t - m)(x_t - m)', whatever the test: p^3 numbers. The bound holds
  because sum_i w_i^2 z_ti^2 <= 1 in every round: tests of single coins have one weight of 1, and
  directions have |w| <= 1. What is lost is of second order in d, the distance from the reference.
  Where every coin is tossed in about half of the rounds it is little. Where a round has one coin of
  many, it is most of V, and nothing has a bound for long.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.compile import kernel

Singles = NDArray[np.float32]
"""Numbers with seven digits."""


SLOPE, SPREAD, N_AIMS = 0, 1, 2
"""The aims of a row: tests like directions, not of one coefficient but of the two combinations that
V hangs on most, the one along which it grows to first order, and the one along which it grows to
second order (`stakes`)."""


class Bids(NamedTuple):
    """What directions bet beside their mixture (`row_tests`), for row and cause, in rows whose
    coefficient of the cause is small, and where it is large: the number l is the bid over the
    variance of the row that its scale stands for. 0 for none. Given before the first round.
    """

    where_small: Floats
    where_large: Floats


class Bets(NamedTuple):
    """Sums of tests of every row: moved (p, q, p), squares (p, q), crossed (p, q, p), for row j and
    test k of it. A test of a single coin has the number of its variable, a direction that of the
    cause that it is meant for; the two aims of a row come after the causes, `SLOPE` and `SPREAD`
    steps after the last. The grams of each test are (p, q, p, p), or (p, 0, p, p) where those of
    the row stand for them.
    """

    moved: Floats
    squares: Floats
    crossed: Floats
    grams: Floats

    @property
    def has_grams(self) -> bool:
        return self.grams.shape[1] > 0


class Pool(NamedTuple):
    """Sums of the rows: grams (p, p, p); how often each coin was tossed while the row was free,
    counts (p, p), the row first; and for the centres, from the first round on, totals (p, p) of the
    values less the centres and the number of rounds (p,).
    """

    grams: Floats
    counts: Floats
    totals: Floats
    rounds: Floats


class Epoch(NamedTuple):
    """All sums of the rounds of an epoch: those that were asked for with the same stakes."""

    coins: Bets
    pool: Pool


class Sums(NamedTuple):
    """The sums of all earlier epochs, about the references of the present stakes."""

    coins: Bets
    directions: Bets
    pool: Pool


class Stakes(NamedTuple):
    """What is fixed when a round is asked for, from rounds that were complete by then.

    is_begun : (p,), whether the row is tested yet; before that its grams are collected for `first`
    centres : (p, p), m of every row
    references : (p, p), a of every row
    directions : (p, p + N_AIMS, p), for row j and cause k, or an aim, the weights of the coins,
        |w| at most 1
    first, spreads, anchors : (p, p, p) and (p, p) each, from the rounds before the row was tested,
        the scale of its tests: see `form_of`

    Directions and first are whatever was laid, so they have as many digits as are kept: seven.
    """

    is_begun: Bools
    centres: Floats
    references: Floats
    directions: Singles
    first: Singles
    spreads: Floats
    anchors: Floats


@kernel
def form_of(stakes: Stakes, j: int) -> Floats:
    """Return the form (p, p) of the scale of row j: q' form q for row b, q = (1, -b).

    It is kept with the residual about a row, the anchor, in the place of x_j: in seven digits of
    x_j itself the noise of a precise instrument would be lost.
    """
    p = len(stakes.spreads)
    found = np.empty((p, p))
    for r in range(p):
        for s in range(p):
            both = stakes.spreads[j, r] * stakes.spreads[j, s]
            found[r, s] = both * np.float64(stakes.first[j, r, s])
    return turned_form(found, stakes.anchors[j], j)


@kernel
def turned_form(form: Floats, row: Floats, j: int) -> Floats:
    """Return a form (p, p) of x_j and all others from that of x_j - row . x and all others; with
    -row the other way round. row_j is zero.
    """
    found = form.copy()
    bent = np.zeros(len(form))
    for r in range(len(form)):
        for s in range(len(form)):
            bent[r] += form[r, s] * row[s]
    value = form[j, j] + 2.0 * bent[j]
    for r in range(len(form)):
        value += row[r] * bent[r]
        found[j, r] += bent[r]
        found[r, j] += bent[r]
    found[j, j] = value
    return found


@kernel
def kept_form(form: Floats, spreads: Floats) -> Floats:
    """Return a form in units of its spreads, as it is kept: symmetric to the bit."""
    found = np.zeros(form.shape)
    for r in range(len(form)):
        for s in range(r + 1):
            both = spreads[r] * spreads[s]
            if both > 0.0:
                found[r, s] = found[s, r] = form[r, s] / both
    return found
