"""What is kept of the residuals of rows that were fitted at earlier marks: order and shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.gaussian.mark_fits import fit_rows
from causalfocus.kernels.sums import extra_columns, residual_sums
from causalfocus.moments.anchors import Origins

MOST_FITTED: Final = 14
"""Rows of more nodes are not fitted: the search over their graphs would be dear."""

UNFITTED: Final = -1
"""Stands for the parents of a row that has no fit."""


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """Sums over residuals for p nodes. It is never written to: who adds samples gets another.

    Every array has two views first, without a constant and with one; see `kernels.residual_sums`.

    Attributes
    ----------
    lags : (2, 2, p, p + 2)
    shapes : (2, p, number of shapes)
    last : (2, p), the residuals of the last sample, zero where there is none
    coefficients, scales : (2, p, p + 1) and (2, p), the fits that are in force
    parents : by mark the parents of the rows that were fitted there, (2, p)
    """

    lags: Floats
    shapes: Floats
    last: Floats
    coefficients: Floats
    scales: Floats
    parents: Mapping[int, Ints]

    @classmethod
    def empty(cls, p: int) -> "Residuals":
        return cls(
            lags=np.zeros((2, 2, p, p + 2)),
            shapes=np.zeros((2, p, residual_sums.N_SHAPES)),
            last=np.zeros((2, p)),
            coefficients=np.zeros((2, p, p + 1)),
            scales=np.zeros((2, p)),
            parents={},
        )

    def after(self, is_set: Bools, samples: Floats, views: Sequence[Origins]) -> "Residuals":
        """With checked samples taken in; see `Watch.after`."""
        if not self.scales.any():
            return self
        lags, shapes, last = self.lags.copy(), self.shapes.copy(), self.last.copy()
        for view, origins in enumerate(views):
            fits = self.coefficients[view], self.scales[view]
            residual_sums.watch_residuals(
                lags[view], shapes[view], last[view], fits, origins, is_set, samples
            )
        return Residuals(
            lags=lags,
            shapes=shapes,
            last=last,
            coefficients=self.coefficients,
            scales=self.scales,
            parents=self.parents,
        )

    def with_fits(self, mark: int, sums: Floats) -> "Residuals":
        """With rows that are fitted anew, on what is known at a mark.

        sums : (2, 2, p, p + 1, p + 1), about zero and about the origins
        """
        if sums.shape[2] > MOST_FITTED:
            return self
        found = [fit_rows(part.copy(), bool(view)) for view, part in enumerate(sums)]
        scales = np.array([fit[2] for fit in found])
        parents = np.array([fit[0] for fit in found])
        return replace(
            self,
            coefficients=np.array([fit[1] for fit in found]),
            scales=scales,
            parents={**self.parents, mark: np.where(scales > 0.0, parents, UNFITTED)},
        )

    def merge(self, other: "Residuals", steps: Floats) -> "Residuals":
        """With what another saw later. Its residuals are those of its own fits, known before its
        samples; but what shapes say of a time that it is part of is not known, nor are the rows
        that were fitted before.

        steps : (p, 2, p), from the other's origins to those here, high and low parts
        """
        lags = self.lags.copy()
        for view in range(2):
            part = other.lags[view]
            if view == 1:
                part = residual_sums.move_lags(part, steps)
            extra_columns.add_columns(lags[view], part)
        return replace(self, lags=lags, last=other.last, parents={})

    def parents_since(self, mark: int, *, about_origins: bool) -> Ints:
        """(p,), all nodes that were a parent in some fit since a mark, as sets; UNFITTED where
        some fit is missing.
        """
        view = int(about_origins)
        if mark not in self.parents:
            return np.full(self.last.shape[1], UNFITTED)
        found: Ints = np.bitwise_or.reduce(
            [fitted[view] for at, fitted in self.parents.items() if at >= mark]
        )
        return found
