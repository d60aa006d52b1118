"""The paper's claim, within a class of bounded systems: what two of the rules have in common."""

from abc import ABC
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.mixture import WORLD
from causalfocus.guarantees.row_by_row import RowByRow
from causalfocus.guarantees.terms import (
    Rival,
    accuracy_in_words,
    bounds_in_words,
    known_in_words,
)
from causalfocus.kernels.exact import response
from causalfocus.kernels.records import Limits
from causalfocus.moments.moments import Moments
from causalfocus.oracles.estimate import joint_mle
from causalfocus.oracles.for_kernels import is_exact, limits_of, plain_model_of
from causalfocus.oracles.limits import numerical_errors
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True)
class BoundedClaim(RowByRow, ABC):
    """The graph is right and every weight is within epsilon, if the system belongs to the class."""

    @property
    def has_lower_bound(self) -> bool:
        """Whether Theorem lower_bound speaks of the claim, and rivals are sought for this claim and
        class: a finer accuracy or a wider class has rivals that are closer, whose divergence bounds
        nothing.
        """
        return is_exact(self.space, self.epsilon, self.actions.names)

    @property
    def bounds_noise(self) -> bool:
        return self.space.noise_variance is not None

    def assumptions_in_words(self) -> str:
        parts = bounds_in_words(self.space)
        if not self.space.intercept:
            parts.append("the equations have no constants")
        return f"{WORLD}{known_in_words(self.space)}. Assumed besides: {', '.join(parts)}"

    def claim_in_words(self) -> str:
        graph = "the graph is exactly the true one"
        if self.accuracy is None:
            return graph
        if isinstance(self.epsilon, float):
            return f"{graph}, and every weight is within {self.epsilon:g}"
        return f"{graph}, and every weight is {accuracy_in_words(self.epsilon)}"

    def estimate(self, moments: Moments) -> LinearSEM:
        return joint_mle(moments, self.space)

    def expected_estimate(self, model: LinearSEM, moments: Moments) -> LinearSEM:
        del moments
        return model

    def gains(self, estimate: LinearSEM, weights: Floats) -> Floats:
        return response.closest_rival(
            plain_model_of(estimate),
            (*self.settings, weights),
            self._limits,
            self.accuracy or 0.0,
            self.space.intercept,
            self.plain_units,
            self.known_of(estimate),
        ).gains

    def rival(self, model: LinearSEM, weights: Floats) -> Rival:
        with numerical_errors("information complexity", model):
            found = response.closest_rival(
                plain_model_of(model),
                (*self.settings, weights),
                self._limits,
                self.accuracy or 0.0,
                self.space.intercept,
                self.plain_units,
                self.known_of(model),
            )
        rival = LinearSEM.from_fit(
            found.weights.copy(), found.variances.copy(), found.intercepts, model.names
        )
        words = changes_in_words(model.weights, found.weights, model.names, self.smallest)
        return Rival(found.gains, rival, words)

    @cached_property
    def _limits(self) -> Limits:
        return limits_of(self.space, self.actions.names)

    def require(self, model: LinearSEM) -> None:
        super().require(model)
        self.space.require(model)

    def holds(self, estimate: LinearSEM, truth: LinearSEM) -> bool:
        errors = np.abs(estimate.weights - truth.weights)
        return estimate.shd(truth) == 0 and bool((errors < self.accuracies).all())
