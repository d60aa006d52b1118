"""The second moments each structural equation is fitted to, from data or in expectation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .problem import OBSERVE, Array
from .quadratic import Quadratic


@dataclass(frozen=True, eq=False)
class Rows:
    """One Gram matrix and one weight per node, over the samples in which it was not intervened on.

    Parameters
    ----------
    gram
        Shape ``(p, q, q)``; ``gram[j]`` sums ``x x^T`` over the samples (or weighted expectations)
        whose target is not ``j``.  ``q`` is ``p``, or ``p + 1`` when a constant 1 ends each ``x``.
    counts
        Shape ``(p,)``: the number of samples ``n_j``, or the weight ``W_j`` of
        Eq. ``alternative_local_weight``.
    """

    gram: Array
    counts: Array

    @property
    def nodes(self) -> int:
        """The number of nodes ``p``."""
        return len(self.counts)

    @property
    def intercept(self) -> bool:
        """Whether the constant regressor is present."""
        return bool(self.gram.shape[1] > self.nodes)

    def regressors(self, parents: Iterable[int]) -> list[int]:
        """Columns of the Gram matrix to regress on: the parents in order, then the constant."""
        return sorted(parents) + ([self.nodes] if self.intercept else [])

    def residual(self, j: int, parents: Iterable[int]) -> Quadratic:
        """The residual sum of squares of ``j`` as a function of its coefficients.

        It is Eq. ``local_residual_sum_squares`` for data and Eq. ``alternative_expected_residual``
        in expectation.
        """
        columns = self.regressors(parents)
        gram = self.gram[j]
        return Quadratic(float(gram[j, j]), gram[columns, j], gram[np.ix_(columns, columns)])

    def own_moment(self, j: int) -> float:
        """Sum of squares of node ``j`` in its own rows, about the mean if there is an intercept."""
        total = float(self.gram[j, j, j])
        if self.intercept and self.counts[j] > 0:
            total -= float(self.gram[j, j, -1]) ** 2 / float(self.counts[j])
        return max(total, 0.0)

    @classmethod
    def from_data(cls, targets: NDArray[np.int_], X: Array, intercept: bool) -> Self:
        """Moments of full sample vectors, each with the target of its action (-1: observed)."""
        n, p = X.shape
        full = np.column_stack([X, np.ones(n)]) if intercept else X
        kept = [full[targets != j] for j in range(p)]
        gram = np.stack([x.T @ x for x in kept])
        return cls(gram, np.array([len(x) for x in kept], dtype=np.float64))

    @classmethod
    def expected(
        cls,
        weights: Array,
        variances: Array,
        intercepts: Array,
        actions: Sequence[tuple[int, float]],
        action_weights: Sequence[float] | Array,
        intercept: bool,
    ) -> Self:
        """Moments expected under a parameter: Eqs. ``alternative_local_weight`` and following."""
        p = len(variances)
        q = p + 1 if intercept else p
        gram, counts = np.zeros((p, q, q)), np.zeros(p)
        for (target, value), weight in zip(actions, action_weights, strict=True):
            mean, covariance = action_moments(weights, variances, intercepts, target, value)
            second = np.ones((p + 1, p + 1))
            second[:p, :p] = covariance + np.outer(mean, mean)
            second[:p, p] = second[p, :p] = mean
            for j in range(p):
                if j != target:
                    gram[j] += weight * second[:q, :q]
                    counts[j] += weight
        return cls(gram, counts)


def action_moments(
    weights: Array, variances: Array, intercepts: Array, target: int, value: float
) -> tuple[Array, Array]:
    """Mean and covariance of the full vector under one action.

    This is Eq. ``interventional_distribution`` with intercepts, ``X_R = c_R + A_RR X_R + A_Rj u +
    e_R``.  The fixed coordinate is reinserted with its value and no variance, as in
    Eq. ``reference_action_moments``.
    """
    p = len(variances)
    mean, covariance = np.zeros(p), np.zeros((p, p))
    rest = [k for k in range(p) if k != target]
    drive = intercepts[rest]
    if target != OBSERVE:
        mean[target] = value
        drive = drive + weights[rest, target] * value
    response = np.linalg.inv(np.eye(len(rest)) - weights[np.ix_(rest, rest)])
    mean[rest] = response @ drive
    covariance[np.ix_(rest, rest)] = response @ np.diag(variances[rest]) @ response.T
    return mean, covariance
