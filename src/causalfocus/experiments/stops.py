"""Stopping times for several deltas from one run."""

import math
from collections.abc import Sequence

from causalfocus.guarantees import Decision
from causalfocus.system.sem import LinearSEM


class Stops:
    """When the evidence first reached each of several thresholds, and with what estimate.

    The design of a run does not depend on delta, and the evidence holds at any time; so one run,
    for the smallest delta, gives the stopping times of all. All rivals are surveyed when the run
    surveys them. Alarms are weighed at the smallest delta only: a learner that was asked for a
    larger one might refuse, falsely, where a stop is counted here.

    Parameters
    ----------
    deltas : the largest first
    """

    def __init__(self, deltas: Sequence[float]) -> None:
        self.deltas = tuple(deltas)
        self.rounds: list[int] = []
        self.models: list[LinearSEM] = []

    @property
    def are_all(self) -> bool:
        return len(self.rounds) == len(self.deltas)

    def see(self, decision: Decision, estimate: LinearSEM) -> None:
        """Take in the decision on an estimate after a round."""
        if not decision.has_surveyed or self.are_all or decision.refuted:
            return
        reached = decision.level_from(self._threshold)
        while not self.are_all and reached >= self._threshold:
            self.rounds.append(decision.rounds)
            self.models.append(estimate)

    @property
    def _threshold(self) -> float:
        return math.log(1 / self.deltas[len(self.rounds)])
