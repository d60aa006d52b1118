"""What a certificate claims, and all that follows from it: the estimate, the closest system that
breaks the claim, and whether the claim holds of a known system.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import Move, Reorder
from causalfocus.kernels.exact import response
from causalfocus.kernels.gaussian import response as resolution_response
from causalfocus.kernels.records import Actions, Bounds, Model
from causalfocus.moments.moments import Moments
from causalfocus.oracles import graph_mle, joint_mle, report, reported_from
from causalfocus.oracles.limits import numerical_errors
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

Stopping = Literal["resolution", "evidence", "paper"]


@dataclass(frozen=True)
class Answer:
    """The closest system that breaks a claim.

    Attributes
    ----------
    gains : its divergence under every action, infinite if nothing breaks the claim
    rival : the system
    changes : how it differs, in words
    """

    gains: Floats
    rival: LinearSEM
    changes: str


class Claim(Protocol):
    """What is claimed of a system."""

    @property
    def space(self) -> ModelClass:
        """What is assumed."""

    @property
    def epsilon(self) -> float | None:
        """Accuracy of the weights; None for the graph alone."""

    @property
    def bounds_noise(self) -> bool:
        """Whether a range of the noise variances is assumed."""

    def estimate(self, moments: Moments) -> LinearSEM:
        """What to report of the system after these data."""

    def gains(self, estimate: LinearSEM, actions: Actions) -> Floats:
        """Divergence, under every action, of the closest system that breaks the claim."""

    def answer(self, model: LinearSEM, actions: Actions) -> Answer:
        """The same for a system that is known, with the rival itself."""

    def require(self, model: LinearSEM) -> None:
        """Raise if the claim says nothing of such a system."""

    def holds(self, report: LinearSEM, truth: LinearSEM) -> bool:
        """Whether a report is right about a system."""


@dataclass(frozen=True)
class ExactClaim:
    """The paper's: the graph is right and every weight is within epsilon, within a class."""

    space: ModelClass
    epsilon: float | None

    @property
    def bounds_noise(self) -> bool:
        return self.space.noise_variance is not None

    def estimate(self, moments: Moments) -> LinearSEM:
        return joint_mle(moments, self.space)

    def gains(self, estimate: LinearSEM, actions: Actions) -> Floats:
        return response.rival_gains(
            _reference(estimate), actions, self._bounds, self.epsilon or 0.0, self.space.intercept
        )

    def answer(self, model: LinearSEM, actions: Actions) -> Answer:
        with numerical_errors("information complexity", model):
            found = response.closest_rival(
                _reference(model), actions, self._bounds, self.epsilon or 0.0, self.space.intercept
            )
        rival = LinearSEM._trusted(
            found.weights.copy(), found.variances.copy(), found.intercepts, model.names
        )
        changes = changes_in_words(model.weights, found.weights, model.names)
        return Answer(found.gains, rival, changes)

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.space.min_effect, self.space.effect_limit, *self.space.variance_limits)

    def require(self, model: LinearSEM) -> None:
        self.space.require(model)

    def holds(self, report: LinearSEM, truth: LinearSEM) -> bool:
        return report.shd(truth) == 0 and _largest_error(report, truth) < (self.epsilon or math.inf)

    def rival(self, moments: Moments, estimate: LinearSEM, parents: Ints) -> LinearSEM:
        """The most likely model with another graph."""
        del estimate
        return graph_mle(moments, parents, self.space)


@dataclass(frozen=True)
class ResolutionClaim:
    """Every reported effect is there and within epsilon of its weight, and every effect of size
    min_effect or more is reported. Of any linear-Gaussian acyclic system.
    """

    space: ModelClass
    epsilon: float | None

    @property
    def bounds_noise(self) -> bool:
        return False

    @cached_property
    def _radii(self) -> tuple[float, float]:
        return math.inf if self.epsilon is None else self.epsilon, self.space.min_effect

    def estimate(self, moments: Moments) -> LinearSEM:
        return report(moments, self.space)

    def gains(self, estimate: LinearSEM, actions: Actions) -> Floats:
        return resolution_response.rival_gains(
            _reference(estimate), estimate.weights, actions, *self._radii, self.space.intercept
        )

    def answer(self, model: LinearSEM, actions: Actions) -> Answer:
        reported = self.reported(model)
        with numerical_errors("information complexity", model):
            found = resolution_response.closest_rival(
                _reference(model), reported, actions, *self._radii, self.space.intercept
            )
        weights = found.weights
        rival = LinearSEM._trusted(
            weights.copy(), found.variances.copy(), found.intercepts, model.names
        )
        shown = weights.copy()
        if found.effect >= 0:
            shown = model.weights.copy()
            shown[found.effect, found.cause] = weights[found.effect, found.cause]
        else:
            slight = np.abs(weights - model.weights) < 0.5 * self.space.min_effect
            shown[slight] = model.weights[slight]
        return Answer(found.gains, rival, changes_in_words(model.weights, shown, model.names))

    def reported(self, model: LinearSEM) -> Floats:
        """The weights that would be reported of a known system."""
        return np.where(np.abs(model.weights) > reported_from(self.space), model.weights, 0.0)

    def require(self, model: LinearSEM) -> None:
        if not self.space.intercept and model.intercepts.any():
            self.space.require(model)

    def holds(self, report: LinearSEM, truth: LinearSEM) -> bool:
        is_reported = report.weights != 0.0
        if (truth.weights[is_reported] == 0.0).any():
            return False
        if (np.abs(truth.weights[~is_reported]) >= self.space.min_effect).any():
            return False
        errors = np.abs(report.weights - truth.weights)[is_reported]
        return bool((errors < (self.epsilon or math.inf)).all())

    def rival(self, moments: Moments, estimate: LinearSEM, found: Move | Reorder) -> LinearSEM:
        """The estimate with one coefficient moved and the others along, as the data let them; or
        with the best rows that another order leaves to some nodes.
        """
        rows = moments.rows(intercept=self.space.intercept)
        weights, variances = estimate.weights.copy(), estimate.noise_variances.copy()
        if isinstance(found, Move):
            weights[found.effect] += resolution_response.move_row(
                rows.grams[found.effect],
                found.effect,
                found.cause,
                found.parents,
                self.space.min_effect,
            )
        else:
            for j in np.flatnonzero(found.is_swapped):
                weights[j], residual = resolution_response.fit_row_on(
                    rows.grams[j], int(j), int(found.before[j])
                )
                if residual > 0.0:
                    variances[j] = residual / rows.counts[j]
        intercepts = estimate.intercepts.copy()
        if self.space.intercept:
            intercepts -= ((weights - estimate.weights) * rows.means).sum(axis=1)
        return LinearSEM._trusted(weights, variances, intercepts, estimate.names)


def claim_of(stopping: Stopping, space: ModelClass, epsilon: float | None) -> Claim:
    """What a rule claims, checked."""
    checked = None if epsilon is None else space.checked_epsilon(epsilon)
    if stopping == "resolution":
        return ResolutionClaim(space, checked)
    if stopping in ("evidence", "paper"):
        return ExactClaim(space, checked)
    raise InvalidInputError(
        f"stopping must be 'resolution', 'evidence' or 'paper', got {stopping!r}."
    )


def _reference(model: LinearSEM) -> Model:
    return Model(model.weights, model.noise_variances, model.intercepts, model.order)


def _largest_error(report: LinearSEM, truth: LinearSEM) -> float:
    return float(np.abs(report.weights - truth.weights).max())
