"""What an oracle is given and what it returns, as plain frozen records."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

OBSERVE = -1
"""The target of the action that intervenes on nothing."""


@dataclass(frozen=True)
class Bounds:
    """The constants of Assumption ``parameter_class``.

    ``min_effect`` and ``max_effect`` bound the size of a nonzero coefficient, ``variance_low`` and
    ``variance_high`` the noise variances (not their roots).  The upper bounds may be infinite and
    ``variance_low`` may be zero.
    """

    min_effect: float
    max_effect: float
    variance_low: float
    variance_high: float


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference parameter of the alternative problem (Eq. ``generic_alternative_problem``)."""

    weights: Array
    variances: Array
    intercepts: Array

    @property
    def parents(self) -> tuple[frozenset[int], ...]:
        """The parent sets of the reference graph: the support of each row of the weights."""
        return tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in self.weights)


@dataclass(frozen=True, eq=False)
class LiteralFit:
    """A parameter (graph, coefficients, variances, intercepts) with its objective value.

    ``branch`` says which branch of the alternative oracle produced it, ``"same_graph"`` or
    ``"different_graph"``; it is None for the joint MLE.
    """

    value: float
    parents: tuple[frozenset[int], ...]
    weights: Array
    variances: Array
    intercepts: Array
    branch: str | None = None
