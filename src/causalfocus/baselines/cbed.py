"""CBED: the action whose outcome is expected to tell most about graph and parameters.

After Tigas and others, Interventions, Where and How? Experimental Design for Causal Models at Scale
(2022), with the exact posterior in place of a bootstrap.
"""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.baseline import Baseline, best_action
from causalfocus.baselines.checks import require_at_least
from causalfocus.baselines.kernels.information_gain import information_gains
from causalfocus.baselines.kernels.records import Models
from causalfocus.baselines.posterior import DagPosterior, Ensemble
from causalfocus.baselines.prior import Prior
from causalfocus.learner.state import LearnerState
from causalfocus.oracles.for_kernels import plain_parents_of
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import ModelClass


class CBED(Baseline[LearnerState]):
    """Causal Bayesian experimental design, one sample per round.

    Each round draws models from the posterior and scores every action by nested Monte Carlo; the
    same noise serves all actions. The estimate is the most probable DAG.

    Parameters
    ----------
    actions, space, seed : see `Baseline`
    n_models : in the ensemble; information is estimated up to log(n_models)
    n_outcomes : drawn from every model
    prior : of the parameters and the graph
    """

    method = "CBED"
    _posterior: DagPosterior | None

    def __init__(
        self,
        actions: ActionSet,
        space: ModelClass,
        *,
        seed: int | None = None,
        n_models: int = 64,
        n_outcomes: int = 32,
        prior: Prior | None = None,
    ) -> None:
        require_at_least("n_models", n_models, 2)
        require_at_least("n_outcomes", n_outcomes, 1)
        super().__init__(
            actions, space, seed=seed, n_models=n_models, n_outcomes=n_outcomes, prior=prior
        )
        self.n_models, self.n_outcomes, self.prior = n_models, n_outcomes, prior or Prior()

    def _first_state(self) -> LearnerState:
        return self._blank_state()

    @property
    def posterior(self) -> DagPosterior:
        """Of graph and parameters, given all samples so far."""
        self._refresh()
        if self._posterior is None:
            known = None
            if not self.space.known.is_empty:
                known = plain_parents_of(self.space, self.names)
            self._posterior = DagPosterior(
                self.moments, intercept=self.space.intercept, prior=self.prior, known=known
            )
        return self._posterior

    def _forget(self) -> None:
        super()._forget()
        self._posterior = None

    def _parents(self) -> Ints:
        return self.posterior.likeliest

    def _choose(self, spent: Floats, rng: np.random.Generator) -> int:
        """By information per cost; less than none is chance, and counts as none."""
        return best_action(np.maximum(self.scores(rng), 0.0) / self._costs, spent, rng)

    def scores(self, rng: np.random.Generator) -> Floats:
        """Information of every action, in nats. Actions that mirror each other are scored once."""
        ensemble = self.posterior.draw_models(self.n_models, rng)
        noise = rng.standard_normal((self.n_models, self.n_outcomes, len(self.names)))
        scored, same_as = self._distinct()
        return self._gains(ensemble, scored, noise)[same_as]

    def _gains(self, ensemble: Ensemble, scored: Ints, noise: Floats) -> Floats:
        targets, values = self._about(ensemble.origin, scored)
        models = Models(ensemble.weights, ensemble.variances, ensemble.constants)
        return information_gains(models, targets, values, noise)

    def _about(self, origin: Floats, scored: Ints) -> tuple[Ints, Floats]:
        """Targets and values of some actions in the coordinates of an ensemble."""
        targets, values = self._targets[scored], self._values[scored]
        return targets, values - np.where(targets >= 0, origin[targets], 0.0)

    def _distinct(self) -> tuple[Ints, Ints]:
        """Actions to score, and for every action the one of these whose score it has.

        Without constants the sign of all variables can be turned around, and with it that of the
        value that is set: the information is the same.
        """
        keys: dict[tuple[int, float], int] = {}
        scored: list[int] = []
        same_as: list[int] = []
        for i, (target, value) in enumerate(zip(self._targets, self._values, strict=True)):
            key = (int(target), float(value if self.space.intercept else abs(value)))
            if key not in keys:
                keys[key] = len(scored)
                scored.append(i)
            same_as.append(keys[key])
        return np.array(scored), np.array(same_as)
