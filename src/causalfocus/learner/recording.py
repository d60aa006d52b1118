"""What every learner keeps, and how it takes in a sample: whole or not at all."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Sample, Told
from causalfocus.moments.moments import Moments
from causalfocus.system.actions import Action, ActionSet, actions_as_arrays


class Recording(ABC):
    """The log of a learner with its sums and counts.

    Parameters
    ----------
    actions : what can be done
    """

    def __init__(self, actions: ActionSet) -> None:
        self.actions = actions
        self._moments = Moments(actions.names)
        self._targets, self._values = actions_as_arrays(actions, actions.names)
        self._index = {action: i for i, action in enumerate(actions)}
        self._counts: Floats = np.zeros(len(actions))
        self._log: list[Told] = []

    @property
    def names(self) -> tuple[str, ...]:
        return self.actions.names

    @property
    def log(self) -> Sequence[Told]:
        """All that was told, in order."""
        return tuple(self._log)

    @property
    def rounds(self) -> int:
        return len(self._log)

    @property
    def counts(self) -> dict[Action, int]:
        """How often each action of the set was taken."""
        return {action: int(n) for action, n in zip(self.actions, self._counts, strict=True)}

    @property
    def cost(self) -> float:
        """What the rounds so far have cost; actions that are not in the set are not counted."""
        return float(self._counts @ np.array(self.actions.costs))

    def ask(self) -> Action:
        """The action to perform next; the same until something is told."""
        return self.ask_batch(1)[0]

    def ask_batch(self, n: int) -> list[Action]:
        """The next n actions, if nothing were learned in between."""
        if n < 1:
            raise InvalidInputError(f"A batch has at least one action, got n = {n}.")
        self._require_asking()
        counts, taken = self._counts.copy(), []
        for i in range(n):
            chosen = self._next(counts, self.rounds + i)
            counts[chosen] += 1
            taken.append(self.actions[chosen])
        return taken

    def _require_asking(self) -> None:  # noqa: B027
        """Raise if there is nothing more to ask."""

    @abstractmethod
    def _next(self, counts: Floats, t: int) -> int:
        """Index of the next action, after t rounds with these counts."""

    def tell(self, action: Action, sample: Sample) -> None:
        """Take in one sample, asked for or not: a mapping from name to value, or p numbers."""
        before = self._saved()
        try:
            row = self._moments._take(action, sample)
            row.setflags(write=False)
            at = self._index.get(action)
            if at is not None:
                self._counts[at] += 1
            told = Told(action, row)
            self._log.append(told)
            self._learn(told)
        except BaseException:  # a sample is taken in whole or not at all
            self._restore(before)
            raise

    @abstractmethod
    def _learn(self, told: Told) -> None:
        """Learn from the sample that was just written down."""

    def _saved(self) -> tuple[Any, ...]:
        """All that telling changes."""
        return self.rounds, self._counts.copy(), self._moments._state

    def _restore(self, saved: tuple[Any, ...]) -> None:
        rounds, counts, self._moments._state = saved
        self._counts[:] = counts
        del self._log[rounds:]
