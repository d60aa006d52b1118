"""The rows as the tests of the assumptions read them: training and later samples, more columns."""

from dataclasses import dataclass

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.evidence.dose_evidence import PlainTimes, dose_times
from causalfocus.kernels.records import PlainRow
from causalfocus.kernels.sums import assumption_sums as watch_sums
from causalfocus.kernels.sums import extra_columns

Rows = tuple[PlainRow, float]
"""The sums of a row, and the number of its samples."""


@dataclass(frozen=True)
class Part:
    """The sums of some samples, see `kernels.assumption_sums` and `kernels.extra_columns`."""

    sums: Floats
    groups: Floats
    triples: Floats


@dataclass(frozen=True)
class Timeline:
    """The sums of the samples up to each mark and, last, up to the present, row by row:
    (p, m, 2, ...).
    """

    sums: Floats
    groups: Floats


@dataclass(frozen=True, kw_only=True)
class WatchedRows:
    """Two parts of the samples, by time.

    Columns: x, the constant, squares, time; of groups x and the constant alone. Where a column is
    added, x, the constant, and that one, which is `extra`.

    Attributes
    ----------
    before, after : the sums of the training, and of the later samples
    timeline : the sums at all marks
    has_constant : whether the sums are about origins, and equations have constants
    lags : see `kernels.residual_sums`, at the end of the training and at present
    shapes : (p, m), log densities of the later samples under the laws of `kernels.residual_sums`
    fitted : (p,), the nodes that rows were fitted on meanwhile, see `Residuals.parents_since`
    """

    p: int
    before: Part
    after: Part
    timeline: Timeline
    has_constant: bool
    lags: tuple[Floats, Floats]
    shapes: Floats
    fitted: Ints

    @property
    def time(self) -> int:
        """Column of the time."""
        return 2 * self.p + 1

    @property
    def extra(self) -> int:
        """Column that was added."""
        return self.p + 1

    def square(self, k: int) -> int:
        """Column of the square of node k."""
        return self.p + 1 + k

    def groups_of(self, j: int) -> list[int]:
        """Groups that samples in which node j was free may be in."""
        return [g for g in range(2 * self.p + 1) if g // 2 != j]

    def training(self, j: int) -> Rows:
        return self._row(self.before.sums[:, j], j)

    def later(self, j: int) -> Rows:
        return self._row(self.after.sums[:, j], j)

    def group(self, j: int, g: int) -> Rows:
        """The later samples of the row of j that are in a group."""
        return self._row(self.after.groups[:, j, g], j)

    def without_group(self, j: int, g: int) -> Rows:
        """The later samples of the row of j that are not in a group."""
        rest = watch_sums.without_group(self.after.sums[:, j], self.after.groups[:, j, g])
        return self._row(rest, j)

    def with_dose(self, j: int, k: int) -> PlainTimes:
        """The row of j at the marks and at present, with the value that k was set to."""
        return dose_times(self.timeline.sums[j], self.timeline.groups[j], k, self.has_constant)

    def with_product(self, j: int, k: int, m: int) -> tuple[Rows, Rows]:
        """Training and later samples with the product of two other nodes."""
        training, later = self.training(j), self.later(j)
        first = extra_columns.product_column(training[0], self.before.triples[:, j], k, m)
        rest = extra_columns.product_column(later[0], self.after.triples[:, j], k, m)
        return self._append(training, first), self._append(later, rest)

    def with_lag(self, j: int) -> tuple[Rows, Rows]:
        """Training and later samples with the residual of the row of j in the sample before."""
        first, now = (lags[:, j].copy() for lags in self.lags)
        rest = extra_columns.column_since(now, first)
        return self._append(self.training(j), first), self._append(self.later(j), rest)

    def _append(self, rows: Rows, column: Floats) -> Rows:
        row, n = rows
        return extra_columns.append_column(row, column), n

    def _row(self, lower: Floats, j: int) -> Rows:
        high, low, n = watch_sums.full_row(lower, self.p)
        return (high, low, j), n
