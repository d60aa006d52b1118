"""The paper's claim, within a class of bounded systems: what two of the rules have in common."""

import math
from abc import ABC
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.mixture import WORLD
from causalfocus.guarantees.terms import Rival, known_in_words
from causalfocus.kernels.exact import response
from causalfocus.kernels.records import Bounds, PlainBounds
from causalfocus.moments.moments import Moments
from causalfocus.oracles.estimate import joint_mle
from causalfocus.oracles.for_kernels import (
    bounds_of,
    plain_bounds_of,
    plain_model_of,
)
from causalfocus.oracles.limits import numerical_errors
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True)
class BoundedClaim(Guarantee, ABC):
    """The graph is right and every weight is within epsilon, if the system belongs to the class."""

    has_lower_bound: ClassVar[bool] = True

    @property
    def bounds_noise(self) -> bool:
        return self.space.noise_variance is not None

    def assumptions_in_words(self) -> str:
        parts = [f"no effect is smaller than {self.space.least_effect:g}"]
        if self.space.max_effect is not None:
            parts.append(f"none larger than {self.space.max_effect:g}")
        if self.space.noise_variance is not None:
            low, high = self.space.noise_variance
            parts.append(f"noise variances are between {low:g} and {high:g}")
        if not self.space.intercept:
            parts.append("the equations have no constants")
        return f"{WORLD}{known_in_words(self.space)}. Assumed besides: {', '.join(parts)}"

    def claim_in_words(self) -> str:
        weights = f", and every weight is within {self.accuracy:g}" if self.accuracy else ""
        return f"the graph is exactly the true one{weights}"

    def estimate(self, moments: Moments) -> LinearSEM:
        return joint_mle(moments, self.space)

    def expected_estimate(self, model: LinearSEM, moments: Moments) -> LinearSEM:
        del moments
        return model

    def gains(self, estimate: LinearSEM, weights: Floats) -> Floats:
        return response.closest_rival(
            plain_model_of(estimate),
            (*self.settings, weights),
            self._plain_bounds,
            self.accuracy or 0.0,
            self.space.intercept,
            self.known_of(estimate),
        ).gains

    def rival(self, model: LinearSEM, weights: Floats) -> Rival:
        with numerical_errors("information complexity", model):
            found = response.closest_rival(
                plain_model_of(model),
                (*self.settings, weights),
                self._plain_bounds,
                self.accuracy or 0.0,
                self.space.intercept,
                self.known_of(model),
            )
        rival = LinearSEM.from_fit(
            found.weights.copy(), found.variances.copy(), found.intercepts, model.names
        )
        return Rival(
            found.gains, rival, changes_in_words(model.weights, found.weights, model.names)
        )

    @cached_property
    def _bounds(self) -> Bounds:
        return bounds_of(self.space)

    @cached_property
    def _plain_bounds(self) -> PlainBounds:
        return plain_bounds_of(self.space)

    def require(self, model: LinearSEM) -> None:
        super().require(model)
        self.space.require(model)

    def holds(self, estimate: LinearSEM, truth: LinearSEM) -> bool:
        largest_error = float(np.abs(estimate.weights - truth.weights).max())
        return estimate.shd(truth) == 0 and largest_error < (self.accuracy or math.inf)
