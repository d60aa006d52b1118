"""Learners that believe in edges: DCDI from time to time, graphs drawn from its belief, a score."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.baselines.baseline import FIT, Baseline, best_action, soft_action
from causalfocus.baselines.checks import require_at_least, require_number
from causalfocus.baselines.dcdi import DcdiFit, Schedule, fit_dcdi, fit_dcdi_gumbel
from causalfocus.baselines.kernels.records import Models
from causalfocus.baselines.kernels.two_phase import drawn_dags
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.learner.state import LearnerState
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import ModelClass

COLLAPSED = 1e-12
"""If no action has a higher score, the belief tells nothing and any intervention will do."""

Objective = Literal["expected", "gumbel"]


class FitOptions(TypedDict):
    """What both objectives of DCDI take."""

    intercept: bool
    schedule: Schedule
    start: DcdiFit | None
    rng: np.random.Generator


@dataclass(frozen=True, kw_only=True)
class BeliefState(LearnerState):
    """What a learner with a belief keeps beyond every learner.

    fit : the last; None during the warm-up
    """

    fit: DcdiFit | None = None


class BeliefLearner(Baseline[BeliefState]):
    """A learner that fits DCDI from time to time and draws graphs from what it believes.

    Parameters
    ----------
    actions, space, seed : see `Baseline`
    warm_up : observations before the first fit; by default 2 p or 20, whichever is more
    refit_every : rounds between two fits
    n_graphs : drawn from the belief in every round
    temperature : of the softmax that draws the order of a graph
    softness : 0 takes the best score per cost. Else actions are drawn in proportion to
        exp(score / softness) / cost, the score in units of the best
    objective : "expected", the mean over masks in closed form, or DCDI's own "gumbel"
    schedule : of the descent
    """

    def __init__(
        self,
        actions: ActionSet,
        space: ModelClass,
        *,
        seed: int | None = None,
        warm_up: int | None = None,
        refit_every: int = 25,
        n_graphs: int = 100,
        temperature: float = 0.1,
        softness: float = 0.5,
        objective: Objective = "expected",
        schedule: Schedule | None = None,
    ) -> None:
        p = len(actions.names)
        self.warm_up = max(2 * p, 20) if warm_up is None else warm_up
        require_at_least("warm_up", self.warm_up, 0)
        require_at_least("refit_every", refit_every, 1)
        require_at_least("n_graphs", n_graphs, 2)
        require_number("temperature", temperature, least=1e-6)
        if objective not in ("expected", "gumbel"):
            raise InvalidInputError(f"objective must be 'expected' or 'gumbel', got {objective!r}.")
        require_number("softness", softness, least=0.0)
        if not space.known.is_empty:
            raise InvalidInputError(
                f"{self.method} cannot be told what is known of the graph (outcomes, forbidden, "
                f"required, tiers). Leave that out, or take CBED, ABCD or RANDOM, which can."
            )
        self.softness = softness
        super().__init__(
            actions,
            space,
            seed=seed,
            warm_up=self.warm_up,
            refit_every=refit_every,
            n_graphs=n_graphs,
            temperature=temperature,
            softness=softness,
            objective=objective,
            schedule=schedule,
        )
        self.refit_every, self.n_graphs, self.temperature = refit_every, n_graphs, temperature
        self.objective, self.schedule = objective, schedule or Schedule()

    def _first_state(self) -> BeliefState:
        return BeliefState(**vars(self._blank_state()))

    @property
    def fit(self) -> DcdiFit | None:
        """The last fit; None during the warm-up."""
        return self._state.fit

    def after(self, told: Told) -> BeliefState:
        state = self._write_down(told)
        since = state.rounds - max(self.warm_up, 1)
        if since < 0 or since % self.refit_every:
            return state
        return state.change(fit=self._refit(state, told))

    def _refit(self, state: BeliefState, told: Told) -> DcdiFit:
        """DCDI on all samples, the last of which is not in the log yet."""
        options: FitOptions = {
            "intercept": self.space.intercept,
            "schedule": self.schedule,
            "start": state.fit,
            "rng": self._generator(FIT, state.rounds),
        }
        moments = Moments.from_state(self.names, state.moments)
        if self.objective == "expected":
            return fit_dcdi(moments, **options)
        log = [one for one in (*self.log, told) if self.is_evidence(one)]
        return fit_dcdi_gumbel(log, moments, **options)

    def _parents(self) -> Ints:
        return np.zeros(len(self.names), dtype=np.int64) if self.fit is None else self.fit.parents

    def drawn_models(self, fit: DcdiFit, rng: np.random.Generator) -> Models:
        """Models from the belief, which share the learner's weights: weights (m, p, p), variances
        and constants (m, p).
        """
        p, m = len(self.names), self.n_graphs
        graphs = drawn_dags(fit.belief, self.temperature, rng.random((m, p + 1, p)))
        weights = np.where(graphs, fit.belief_weights, 0.0)
        variances = np.broadcast_to(fit.belief_variances, (m, p)).copy()
        means = self.moments.rows(intercept=self.space.intercept).means
        constants = means.diagonal() - np.einsum("mtj,tj->mt", weights, means)
        return Models(weights, variances, constants)

    def _choose(self, spent: Floats, rng: np.random.Generator) -> int:
        """Observe during the warm-up; then by score and cost. If all scores vanish, the
        intervention on which least was spent; observe if there is nothing to set.
        """
        if self.fit is None or not (self._targets >= 0).any():
            return 0
        scores = self.scores(self.fit, rng)
        if scores.max() <= COLLAPSED:
            scores = np.where(self._targets >= 0, 0.0, -math.inf)
            return soft_action(scores, self._costs, 1.0, spent, rng)
        if self.softness == 0:
            return best_action(scores / self._costs, spent, rng)
        shares = np.where(self._is_scored, scores / scores.max(), -math.inf)
        return soft_action(shares, self._costs, self.softness, spent, rng)

    @property
    def _is_scored(self) -> Bools:
        """Which actions compete."""
        return np.ones(len(self.actions), dtype=np.bool_)

    @abstractmethod
    def scores(self, fit: DcdiFit, rng: np.random.Generator) -> Floats:
        """Of every action; 0 for those that do not compete."""
