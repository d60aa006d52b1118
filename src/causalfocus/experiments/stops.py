"""Stopping times for several deltas from one run."""

import math
from collections.abc import Sequence

from causalfocus.guarantees import Decision, EvidenceDecision
from causalfocus.system.sem import LinearSEM


class Stops:
    """When the evidence first reached each of several thresholds, and with what answer.

    The design of a run does not depend on delta, and the evidence holds at any time; so one run,
    for the smallest delta, gives the stopping times of all. The other graphs are judged when the
    run judges them. Alarms are weighed at the smallest delta only: a learner that was asked for a
    larger one might refuse, falsely, where a stop is counted here.

    Parameters
    ----------
    deltas : the largest first
    """

    def __init__(self, deltas: Sequence[float]) -> None:
        self.deltas = tuple(deltas)
        self.rounds: list[int] = []
        self.answers: list[LinearSEM] = []

    @property
    def are_all(self) -> bool:
        return len(self.rounds) == len(self.deltas)

    def see(self, decision: Decision) -> None:
        """Take in the decision after a round."""
        if not isinstance(decision, EvidenceDecision) or decision.verdict is None:
            return
        if self.are_all or decision.refuted:
            return
        rule, model = decision.rule, decision.estimate
        reached = min(rule.weights_evidence(decision.rows, model), rule.cap)
        lowest = self._threshold
        if reached >= lowest:
            reached = rule.graph_evidence(decision.rows, model, (lowest, reached))
        if decision.stop:
            reached = max(reached, rule.threshold)  # the search is from below
        while not self.are_all and reached >= self._threshold:
            self.rounds.append(decision.rounds)
            self.answers.append(model)

    @property
    def _threshold(self) -> float:
        return math.log(1 / self.deltas[len(self.rounds)])
