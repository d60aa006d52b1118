"""One convex quadratic program over a box, by a general solver that knows nothing of graphs.

The work is done by DAQP, a dual active-set method for strictly convex programs.  Whatever it
declines (Gram matrices that are singular, or nearly) goes to SciPy's bounded least squares.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import daqp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from .problem import Array

DAQP_OPTIMAL = 1

# A few units in the last place of a unit diagonal: too little to move the optimal value by more
# than rounding does, enough to keep least squares from wandering along directions without data.
RIDGE = 1e-15


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The function ``g - 2 b.h + b'Gb`` of Eq. ``alternative_expected_residual``."""

    g: float
    h: Array
    G: Array

    def __call__(self, b: Array) -> float:
        """Evaluate at ``b``.  A sum of squares is never negative, whatever rounding says."""
        return max(float(self.g - 2.0 * (b @ self.h) + b @ self.G @ b), 0.0)

    def restrict(self, free: NDArray[np.bool_], b: Array) -> "Quadratic":
        """The same function of the free coefficients only, the others held at their ``b``."""
        if free.all():
            return self
        held = np.where(free, 0.0, b)
        h = self.h - self.G @ held
        return Quadratic(self(held), h[free], self.G[np.ix_(free, free)])

    def scale(self, unit: float, scale: Array) -> Self:
        """The function of ``y = scale * b / unit``, divided by ``unit ** 2``."""
        h = self.h / (scale * unit)
        return type(self)(self.g / unit**2, h, self.G / np.outer(scale, scale))


Solver = Callable[[Quadratic, Array, Array], Array]


def minimise(quadratic: Quadratic, lower: Array, upper: Array) -> Array | None:
    """Minimise over ``lower <= b <= upper``: DAQP, or bounded least squares where DAQP declines.

    Returns
    -------
    A minimiser inside the box, or None if the box is empty.  A coefficient the data say nothing
    about (a zero column) takes the point of its interval nearest to zero.
    """
    return _minimise_with(_daqp_else_bvls, quadratic, lower, upper)


def minimise_bvls(quadratic: Quadratic, lower: Array, upper: Array) -> Array | None:
    """Do what `minimise` does by bounded least squares alone."""
    return _minimise_with(_bvls, quadratic, lower, upper)


def cross_check(quadratic: Quadratic, lower: Array, upper: Array) -> tuple[float, float] | None:
    """The minimum according to each of the two solvers, or None if the box is empty."""
    first = minimise(quadratic, lower, upper)
    second = minimise_bvls(quadratic, lower, upper)
    if first is None or second is None:
        return None
    return quadratic(first), quadratic(second)


def _minimise_with(
    solver: Solver, quadratic: Quadratic, lower: Array, upper: Array
) -> Array | None:
    """Settle the coefficients that have no choice to make, and solve for the others."""
    if (lower > upper).any():
        return None
    b = _inside(np.zeros(len(lower)), lower, upper)
    free = (quadratic.G.diagonal() > 0.0) & _is_interval(lower, upper)
    if free.any():
        rest = quadratic.restrict(free, b)
        b[free] = _solve_scaled(solver, rest, lower[free], upper[free])
    return b


def _solve_scaled(solver: Solver, quadratic: Quadratic, lower: Array, upper: Array) -> Array:
    """Solve in units in which every column, and the target, has length one."""
    scale = np.sqrt(quadratic.G.diagonal())
    unit = float(np.sqrt(quadratic.g)) or 1.0
    factor = scale / unit
    y = solver(quadratic.scale(unit, scale), lower * factor, upper * factor)
    return _inside(y / factor, lower, upper)


def _is_interval(lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Whether the bounds differ by more than rounding; solvers decline what hardly does."""
    width = upper - lower
    return np.isinf(width) | (width > 1e-12 * np.minimum(np.abs(lower), np.abs(upper)))


def _inside(b: Array, lower: Array, upper: Array) -> Array:
    return np.minimum(np.maximum(b, lower), upper)


def _daqp_else_bvls(quadratic: Quadratic, lower: Array, upper: Array) -> Array:
    # eps_prox = 0: DAQP's own way with singular matrices stops at a residual of 1e-6, which costs
    # digits of the value along nearly flat directions; without it DAQP declines such matrices.
    y, _, flag, _ = daqp.solve(
        quadratic.G,
        -quadratic.h,
        np.zeros((0, len(lower))),
        upper,
        lower,
        np.zeros(len(lower), dtype=np.int32),
        primal_tol=1e-10,
        eps_prox=0.0,
    )
    if flag != DAQP_OPTIMAL:
        return _bvls(quadratic, lower, upper)
    solution: Array = y
    return solution


def _bvls(quadratic: Quadratic, lower: Array, upper: Array) -> Array:
    """Least squares on a square root of the joint Gram matrix of regressors and target."""
    k = len(lower)
    joint = np.block([[quadratic.G, quadratic.h[:, None]], [quadratic.h, quadratic.g]])
    values, vectors = np.linalg.eigh(joint)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    design = np.vstack([root[:, :k], np.sqrt(RIDGE) * np.eye(k)])
    target = np.concatenate([root[:, k], np.zeros(k)])
    found = lsq_linear(
        design, target, bounds=(lower, upper), method="bvls", tol=1e-15, max_iter=1000
    )
    solution: Array = found.x
    return solution
