"""What all baselines are: learners that choose and estimate in their own way and never stop."""

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from causalfocus.allocation.latitude import Latitude
from causalfocus.arrays import Floats, Ints
from causalfocus.errors import InvalidInputError, NumericalError
from causalfocus.guarantees.decision import NoRule, without_rule
from causalfocus.learner.protocol import Told
from causalfocus.learner.recording import Recording
from causalfocus.learner.state import LearnerState
from causalfocus.moments.state import State as MomentState
from causalfocus.oracles.estimate import graph_mle
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import single_targets
from causalfocus.system.choices import Choices
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

TIE = 1e-9
"""Scores that differ by less, relatively, are equal."""

S = TypeVar("S", bound=LearnerState)

CHOICE, FIT = 0, 1
"""What random numbers are for."""


class Baseline(Recording[S]):
    """A learner with the same ask, tell and estimate as FOCUS, on the same moments and actions.

    A pure function of specification, seed and log: random numbers belong to a purpose and a round.

    Parameters
    ----------
    actions : what can be done, and what it costs; scores are taken per cost
    space : the class in which weights are fitted, whether equations have constants, and what is
        known of the graph
    seed : for the same choices again; drawn if there is none
    options : of the method, kept for a replay
    """

    method: ClassVar[str]
    _chosen: dict[tuple[int, bytes], int]
    _model: LinearSEM | None
    _computed_from: MomentState | None = None

    def __init__(
        self, actions: ActionSet, space: ModelClass, *, seed: int | None = None, **options: Any
    ) -> None:
        if actions.at_once > 1:
            raise InvalidInputError(
                f"{self.method} sets one variable at a time; these actions set up to "
                f"{actions.at_once} at once. Give it actions with at_once=1."
            )
        if actions.change_costs:
            slow = ", ".join(name for name, _ in actions.change_costs)
            raise InvalidInputError(
                f"{self.method} knows no change costs; these actions have some for {slow}. Give it "
                f"actions without change_costs."
            )
        space.known.require_names(actions.names)
        space.known.require_no_loop(f"{self.method} knows systems without feedback alone")
        super().__init__(Choices(actions, "game"), seed)
        self._targets, self._values = single_targets(actions, actions.names)
        self._options = options
        self.space = space
        self._costs = np.array(actions.costs) / min(actions.costs)
        self._forget()
        self._state = self._first_state()

    @abstractmethod
    def _first_state(self) -> S:
        """What it keeps before the first sample."""

    @property
    def estimate(self) -> LinearSEM:
        """The method's graph with the most likely weights of the class, fitted to all samples."""
        self._refresh()
        if self._model is None:
            self._model = self._make_estimate()
        return self._model

    def _make_estimate(self) -> LinearSEM:
        return graph_mle(self.moments, self._parents(), self.space)

    @abstractmethod
    def _parents(self) -> Ints:
        """The method's graph: the parents of every node, as sets of nodes."""

    @property
    def decision(self) -> NoRule:
        """Never to stop; see `Certified` for a rule."""
        return without_rule(self.method, self.rounds)

    def next_index(self, counts: Floats, t: int, latitude: Latitude | None = None) -> int:  # noqa: ARG002
        """Index of the next choice; all of them are allowed, for nothing here is slow."""
        self._refresh()
        key = t, counts.tobytes()
        if key not in self._chosen:
            self._chosen[key] = self._choose(counts * self._costs, self._generator(CHOICE, t))
        return self._chosen[key]

    @abstractmethod
    def _choose(self, spent: Floats, rng: np.random.Generator) -> int:
        """Index of the next action; spent : on every action so far, in units of the cheapest."""

    def _generator(self, purpose: int, t: int) -> np.random.Generator:
        key = np.random.SeedSequence(self.seed, spawn_key=(purpose, t))
        return np.random.default_rng(key)

    def after(self, told: Told) -> S:
        return self._write_down(told)

    def _refresh(self) -> None:
        """Drop what was computed from other samples than those of the present state."""
        if self._computed_from is not self._state.moments:
            self._forget()
            self._computed_from = self._state.moments

    def _forget(self) -> None:
        self._chosen, self._model = {}, None

    def twin(self, space: ModelClass | None = None) -> Self:
        """One of the same specification, or in another class, that was told nothing yet."""
        return type(self)(self.actions, space or self.space, seed=self.seed, **self._options)

    def replay(self, log: Iterable[Told] | None = None) -> Self:
        """A learner of the same specification that was told the same, or another log."""
        twin = self.twin()
        for told in self.log if log is None else log:
            twin.take(told)
        if log is None:
            twin.adopt(twin.state.change(asks=self._state.asks))
        return twin


def best_action(scores: Floats, spent: Floats, rng: np.random.Generator) -> int:
    """The action of the highest score; of tied ones that on which least was spent; of these, any.

    Without constants the two ends of a symmetric range have the same score. Neither the order of
    the actions nor chance in the scores should settle on one of them for ever.
    """
    _require_finite(scores)
    return _least_spent(_find_ties(scores, float(scores.max())), spent, rng)


def soft_action(
    scores: Floats, costs: Floats, softness: float, spent: Floats, rng: np.random.Generator
) -> int:
    """An action drawn in proportion to exp(score / softness) / cost; minus infinity never comes.

    Between actions of the same score and cost that on which least was spent, as above.
    """
    _require_finite(scores[scores > -math.inf])
    shares = np.exp((scores - scores.max()) / softness) / costs
    drawn = int(rng.choice(len(scores), p=shares / shares.sum()))
    tied = _find_ties(scores, float(scores[drawn]))
    return _least_spent(tied[costs[tied] == costs[drawn]], spent, rng)


def _find_ties(scores: Floats, value: float) -> Ints:
    return np.flatnonzero(np.abs(scores - value) <= TIE * abs(value))


def _least_spent(actions: Ints, spent: Floats, rng: np.random.Generator) -> int:
    least = actions[spent[actions] == spent[actions].min()]
    return int(least[rng.integers(len(least))])


def _require_finite(scores: Floats) -> None:
    if not np.isfinite(scores).all():
        raise NumericalError(
            f"The actions cannot be scored: {scores.tolist()}. The values or their scale are "
            f"beyond what the method can take; rescale the variables to sizes near 1."
        )
