"""What is remembered of the rounds to watch what the randomized rule assumes and cannot prove.

Rounds come in the order of asking, each once it and all before it are answered or given up, with
the stakes under which it was asked for. Four things are added up; that they are fair bets is proved
in `guarantees.guardrails`.

- *Lost rounds*, by variable and by what its coin said.
- *The next coins.* With r_tj the residual of row j about the reference that was fixed when round t
  was asked for, the sums over rounds with j free of r_tj z_k and of its square, z_k the coin of
  variable k in the next ask, whether that was lost or not. Rounds in which j was set tell nothing
  of what disturbs j.
- *Products of two coins* of the same round, z_i z_k, over rounds with both set by a coin of the
  round and j free. For any row b

      S(b) = sum_t z_i z_k r_t(b)  =  moved_j - b . moved,
      V(b) = |r(b)|^2  =  |r(a)|^2 - 2 <r(a), (b - a) . x> + |(b - a) . x|^2,

  norms and products over the rounds, a the references, which differ from round to round, and x the
  values less a centre that all rows share; x_j of the row itself less what makes r(a) the residual
  as above. As a . x = x_j - r(a), the first two parts are 2 leans_j - squares - 2 b . leans, with
  leans_r = <r(a), x_r>. The last is bounded in two ways:

  - by (sum_r |(b_r - a_r) x_r|)^2. The squares of these norms are sizes_r b_r^2 - 2 crossed_r b_r +
    referred_r, with sums of x_r^2, a_r x_r^2 and a_r^2 x_r^2;
  - by the same norm over the rounds of all products of all rows, b' G b - 2 b . h_j + k_j, with G
    the sum of x x', h_j of x x' a_j and k_j of a_j' x x' a_j. The references are the same in all
    rounds of an epoch, so p^2 numbers are enough for all rows (`Spans`).

  So V is bounded over any box of rows by O(p) numbers for each pair of coins.

- *Second coins*, which set a variable to the middle of its range or to an end: `curve_sums`.

With up to fourteen variables all pairs of coins are watched for every row, 5/2 p^4 numbers; with
more the six pairs of the four largest effects on it, chosen once from what was known before, 30
p^2.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.randomized.records import Stakes, form_of
from causalfocus.moments.curve_sums import CurveSums, no_curves
from causalfocus.moments.randomized_sums import Intent

MOST_FOR_ALL_PAIRS: Final = 14
"""Variables up to which all pairs of coins are watched."""

N_LARGEST: Final = 4
"""Effects on a row of which the pairs are watched where there are more variables."""

ROUNDS_TO_CHOOSE: Final = 4
"""Rounds for each variable in which a row was watched before its pairs are chosen."""

SCALE: Final = 32.0
"""rho of a row is its variance in so many rounds, those before it was tested."""


class Products(NamedTuple):
    """Sums over the rounds in which both coins of a pair were tossed and the row was free.

    pairs : (p, m, 2), of every row the variables whose coins are multiplied; -1 where none is
        chosen yet. m is 0 before the first round with two coins
    moved : (p, m, p), of the product times the values
    squares : (p, m), of the squared residual about the reference
    leans : (p, m, p), of this residual times the values
    sizes, crossed, referred : (p, m, p), of squared values, times the reference, times its square
    """

    pairs: Ints
    moved: Floats
    squares: Floats
    leans: Floats
    sizes: Floats
    crossed: Floats
    referred: Floats


class Spans(NamedTuple):
    """Sums over the rounds of all products, see above: G of earlier epochs, and of the present one;
    the references of the present one; h and k of earlier ones, row by row. All (p, p) but k, (p,).
    """

    earlier: Floats
    present: Floats
    references: Floats
    crossed: Floats
    referred: Floats

    def add(self, x: Floats, references: Floats) -> "Spans":
        """With a round of values x (p,) that was asked for with some references."""
        if np.array_equal(references, self.references):
            return self._replace(present=self.present + np.outer(x, x))
        grams, crossed, referred = self.read()
        return Spans(grams, np.outer(x, x), references, crossed, referred)

    def read(self) -> tuple[Floats, Floats, Floats]:
        """G, h and k of all rounds."""
        bent = self.references @ self.present
        referred = self.referred + (bent * self.references).sum(axis=1)
        return self.earlier + self.present, self.crossed + bent, referred


@dataclass(frozen=True, kw_only=True)
class GuardSums:
    """The sums after some rounds. Never written to.

    Attributes
    ----------
    lost : (2, p), rounds that were asked for and lost or given up, by the coin: low end, high end
    rounds : (p,), in which a row was watched
    scales : (p,), rho of every row, fixed in its first round; 0 before
    last : (p,), the residuals of the last round; nan where there is none
    moved, squares : (p, p), of the residual times the next coin, and of its square, row and coin
    products : of two coins
    spans : of all rounds of these
    curves : of second coins
    """

    lost: Floats
    rounds: Floats
    scales: Floats
    last: Floats
    moved: Floats
    squares: Floats
    products: Products
    spans: Spans
    curves: CurveSums

    @classmethod
    def empty(cls, p: int) -> "GuardSums":
        """Before the first round, of p variables."""
        none = np.zeros((p, p))
        return cls(
            lost=np.zeros((2, p)),
            rounds=np.zeros(p),
            scales=np.zeros(p),
            last=np.full(p, np.nan),
            moved=none,
            squares=none,
            products=no_products(np.zeros((p, 0, 2), dtype=np.int64)),
            spans=Spans(none, none, none, none, np.zeros(p)),
            curves=no_curves(np.zeros((p, 0), dtype=np.int64)),
        )

    @property
    def p(self) -> int:
        return len(self.scales)

    def count(self, intent: Intent, row: Floats | None, stakes: Stakes) -> "GuardSums":
        """With one more round, the next in the order of asking.

        intent : what was asked for
        row : (p,), what came of it; None if it was lost or given up
        stakes : those under which it was asked for
        """
        state = self._with_next_coins(intent.signs)
        if row is None:
            lost = state.lost + np.array([intent.signs < 0.0, intent.signs > 0.0])
            return replace(state, lost=lost, last=np.full(self.p, np.nan))
        scales = _begin(state.scales, stakes)
        watched = ~intent.asked & stakes.is_begun & (scales > 0.0)
        values = row - stakes.centres
        residuals = values.diagonal() - (stakes.references * values).sum(axis=1)
        state = replace(
            state,
            rounds=state.rounds + watched,
            scales=np.where(watched, scales, state.scales),
            last=np.where(watched, residuals, np.nan),
        )
        state = state._with_products(intent.signs, np.flatnonzero(watched), row, stakes)  # noqa: SLF001
        if intent.probes is None or not watched.any():
            return state
        curves = self._curves_for(watched, stakes).add(intent.probes, watched, row, stakes)
        return replace(state, curves=curves)

    def _curves_for(self, watched: Bools, stakes: Stakes) -> CurveSums:
        """The sums of second coins, with those of the variables that it is time to choose."""
        found = self.curves
        if self.p <= MOST_FOR_ALL_PAIRS:
            return found if found.causes.shape[1] else no_curves(all_causes(self.p))
        if not found.causes.shape[1]:
            found = no_curves(np.full((self.p, N_LARGEST), -1, dtype=np.int64))
        is_due = watched & (found.causes[:, 0] < 0) & (self.rounds >= ROUNDS_TO_CHOOSE * self.p)
        if not is_due.any():
            return found
        causes = found.causes.copy()
        for j in np.flatnonzero(is_due):
            causes[j] = self._largest_on(int(j), stakes)
        return found._replace(causes=causes)

    def _largest_on(self, j: int, stakes: Stakes) -> Ints:
        """The variables with coins whose effects on a row move it most, in their order."""
        spread = np.sqrt(np.maximum(form_of(stakes, j).diagonal(), 0.0))
        sizes = np.abs(stakes.references[j]) * spread
        sizes[~self.squares.any(axis=0)], sizes[j] = -1.0, -2.0
        found: Ints = np.sort(np.argsort(-sizes, kind="stable")[:N_LARGEST])
        return found

    def _with_next_coins(self, signs: Floats) -> "GuardSums":
        """With the coins of an ask set against the round before it."""
        has_last = ~np.isnan(self.last)
        if not has_last.any() or not signs.any():
            return self
        residuals = np.where(has_last, self.last, 0.0)
        return replace(
            self,
            moved=self.moved + np.outer(residuals, signs),
            squares=self.squares + np.outer(residuals**2, signs**2),
        )

    def _with_products(self, signs: Floats, rows: Ints, row: Floats, stakes: Stakes) -> "GuardSums":
        """With the products of the coins of a round, of which the residuals are the last ones.

        rows : that count it
        row : (p,), what came of it
        """
        if np.count_nonzero(signs) < 2 or not len(rows):
            return self
        pairs = self._pairs_for(rows, stakes)
        one, other = np.moveaxis(pairs[rows], 2, 0)
        coins = np.where(one >= 0, signs[one] * signs[other], 0.0)
        at, pair = np.nonzero(coins)
        found = self.products if pairs is self.products.pairs else self._grow(pairs)
        if not len(at):
            return replace(self, products=found)
        centre = stakes.centres.mean(axis=0)
        sums = Products(pairs, *(array.copy() for array in found[1:]))
        j, coin, shared = rows[at], coins[at, pair], row - centre
        a, r = stakes.references[j], self.last[j]
        x = np.repeat(shared[None], len(j), axis=0)
        x[np.arange(len(j)), j] = r + a @ shared
        sums.moved[j, pair] += coin[:, None] * x
        sums.squares[j, pair] += r**2
        sums.leans[j, pair] += r[:, None] * x
        sums.sizes[j, pair] += x**2
        sums.crossed[j, pair] += a * x**2
        sums.referred[j, pair] += (a * x) ** 2
        return replace(self, products=sums, spans=self.spans.add(shared, stakes.references))

    def _pairs_for(self, rows: Ints, stakes: Stakes) -> Ints:
        """The pairs of coins, with those that it is time to choose for some rows."""
        pairs = self.products.pairs
        if self.p <= MOST_FOR_ALL_PAIRS:
            return pairs if pairs.shape[1] else all_pairs(self.p)
        m = N_LARGEST * (N_LARGEST - 1) // 2
        if not pairs.shape[1]:
            pairs = np.full((self.p, m, 2), -1, dtype=np.int64)
        is_due = (pairs[rows, 0, 0] < 0) & (self.rounds[rows] >= ROUNDS_TO_CHOOSE * self.p)
        if is_due.any():
            pairs = pairs.copy()
            for j in rows[is_due]:
                pairs[j] = list(combinations(self._largest_on(int(j), stakes).tolist(), 2))
        return pairs

    def _grow(self, pairs: Ints) -> Products:
        """The products with pairs that were chosen now; nothing was added to these before."""
        old = self.products
        if old.pairs.shape == pairs.shape:
            return old._replace(pairs=pairs)
        return no_products(pairs)


def all_pairs(p: int) -> Ints:
    """(p, m, 2), for every row all pairs of variables."""
    pairs = np.array(list(combinations(range(p), 2)), dtype=np.int64).reshape(-1, 2)
    return np.repeat(pairs[None], p, axis=0)


def all_causes(p: int) -> Ints:
    """(p, p - 1), for every row all other variables."""
    return np.array([[k for k in range(p) if k != j] for j in range(p)], dtype=np.int64)


def no_products(pairs: Ints) -> Products:
    """Return sums of no rounds for some pairs of coins."""
    p, m, _ = pairs.shape
    none = np.zeros((5, p, m, p))
    return Products(pairs, none[0], np.zeros((p, m)), *none[1:])


def _begin(scales: Floats, stakes: Stakes) -> Floats:
    """(p,), rho of every row, with those of the rows whose tests have begun since: of their
    residuals before that.
    """
    new = np.flatnonzero(stakes.is_begun & (scales == 0.0))
    if not len(new):
        return scales
    scales = scales.copy()
    for j in new:
        row = -stakes.references[j]
        row[j] = 1.0
        scales[j] = SCALE * max(float(row @ form_of(stakes, int(j)) @ row), 0.0)
    return scales
