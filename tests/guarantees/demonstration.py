"""A rule of one's own, made of the protocol alone.

It assumes that causes come before effects in the order of the names, and an upper bound v on all
noise variances. For the row of j on the nodes before it, with Gram matrix G, true coefficients b
and least-squares coefficients b^, the mixture over coefficients around b with covariance v I is a
supermartingale, and its logarithm (b^ - b)' G (G + I)^-1 G (b^ - b) / 2v - 1/2 log det(I + G). Each
row has a share of 1/p; Ville does the rest.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.terms import Rival
from causalfocus.system.graph import changes_in_words


@dataclass(frozen=True, kw_only=True)
class OrderedDecision(Decision):
    least: float
    reason = "The order is known; the weights are weighed."

    @property
    def evidence(self) -> float:
        return self.least


@dataclass(frozen=True)
class OrderedRule(Guarantee):
    name: ClassVar[str] = "ordered"

    def claim_in_words(self) -> str:
        return f"every weight is within {self.epsilon:g}"

    def assumptions_in_words(self) -> str:
        return "causes come before their effects in the order of the names"

    def holds(self, estimate: cf.LinearSEM, truth: cf.LinearSEM) -> bool:
        errors = np.abs(estimate.weights - truth.weights)
        return bool((errors < self.radii(estimate)).all())

    def radii(self, estimate: cf.LinearSEM) -> Floats:
        return np.where(estimate.weights, self.accuracies, self.space.least_effect)

    def estimate(self, moments: cf.Moments) -> cf.LinearSEM:
        weights = np.zeros((len(moments.names), len(moments.names)))
        for j, gram in enumerate(moments.rows(intercept=False).grams):
            weights[j, :j] = np.linalg.lstsq(gram[:j, :j], gram[:j, j], rcond=None)[0]
        weights[np.abs(weights) < self.space.least_effect / 2] = 0.0
        return cf.LinearSEM(weights, 1.0, names=moments.names)

    def rival(self, model: cf.LinearSEM, weights: Floats) -> Rival:
        found = []
        for j, k in zip(*np.tril_indices(model.p, -1), strict=True):
            moved = model.weights.copy()
            moved[j, k] += self.accuracies[j, k] if moved[j, k] else self.space.least_effect
            other = cf.LinearSEM(moved, model.noise_variances, model.intercepts, model.names)
            gains = np.array(
                [
                    np.mean([model.kl(other, action) for action in self.choices.actions_of(i)])
                    for i in range(len(self.choices))
                ]
            )
            words = changes_in_words(model.weights, moved, model.names)
            found.append(Rival(gains, other, words))
        return min(found, key=lambda rival: float(rival.gains @ weights))

    def gains(self, estimate: cf.LinearSEM, weights: Floats) -> Floats:
        return self.rival(estimate, weights).gains

    def decide(
        self,
        moments: cf.Moments,
        estimate: cf.LinearSEM,
        counts: Floats | None = None,  # noqa: ARG002
        *,
        is_due: bool = True,
    ) -> OrderedDecision:
        least = -math.inf if np.triu(estimate.weights).any() else math.inf
        radii = self.radii(estimate)
        for j, gram in enumerate(moments.rows(intercept=False).grams):
            G, gained = gram[:j, :j], np.zeros(j)
            if j and np.linalg.matrix_rank(G) == j:
                b = np.linalg.solve(G, gram[:j, j])
                away = np.maximum(radii[j, :j] - np.abs(b - estimate.weights[j, :j]), 0.0)
                curve = np.linalg.inv(G @ np.linalg.inv(G + np.eye(j)) @ G).diagonal()
                gained = away**2 / (2 * self.space.variance_limits[1] * curve)
            paid = 0.5 * np.linalg.slogdet(np.eye(j) + G)[1] + math.log(estimate.p)
            least = min([least, *(gained - paid).tolist()])
        stop = is_due and least >= self.threshold
        return OrderedDecision(
            stop=stop, rounds=int(moments.n), threshold=self.threshold, alarm=None, least=least
        )
