"""The literal referee: the paper's finite oracles, transcribed slowly and plainly.

This package exists to check (and to be out-run by) a fast engine, so it shares no code with one.
It follows the appendix "Finite Implementations of the Optimization Oracles" line by line: every
permutation, every predecessor subset, every sign vector, one convex quadratic program each.

Conventions
-----------
* Nodes are ``0 .. p-1``; ``A[j, k]`` is the effect of cause ``k`` on ``j`` (Eq. ``sem``).
* An action is a target and a value; the target of passive observation is ``OBSERVE`` (-1).
* A model with intercepts, ``X = c + A X + e``, treats the constant 1 as one more regressor, with
  an unbounded coefficient and the last index of every Gram matrix.
* The oracles take ``memoise``: off, every local fit is solved afresh wherever the paper calls it;
  on, equal local fits are solved once.  The answer is the same.
"""

from .all_dags import brute_force_alternative, brute_force_mle, enumerate_dags
from .alternative import (
    different_graph_alternative,
    finite_alternative_oracle,
    same_graph_alternative,
)
from .joint_mle import finite_joint_mle
from .local_fit import LocalFit, Separation, local_fit, local_fitter
from .problem import OBSERVE, Bounds, LiteralFit, Reference
from .quadratic import Quadratic, cross_check, minimise, minimise_bvls
from .rows import Rows, action_moments
from .scores import (
    divergence_score,
    likelihood_score,
    negative_log_likelihood,
    optimal_variance,
    weighted_divergence,
)

__all__ = [
    "OBSERVE",
    "Bounds",
    "LiteralFit",
    "LocalFit",
    "Quadratic",
    "Reference",
    "Rows",
    "Separation",
    "action_moments",
    "brute_force_alternative",
    "brute_force_mle",
    "cross_check",
    "different_graph_alternative",
    "divergence_score",
    "enumerate_dags",
    "finite_alternative_oracle",
    "finite_joint_mle",
    "likelihood_score",
    "local_fit",
    "local_fitter",
    "minimise",
    "minimise_bvls",
    "negative_log_likelihood",
    "optimal_variance",
    "same_graph_alternative",
    "weighted_divergence",
]
