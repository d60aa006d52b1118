"""What a rule says after a round."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from causalfocus.arrays import Floats
from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.verdicts import Verdict
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True, kw_only=True)
class Decision(ABC):
    """Whether to stop, and why.

    Attributes
    ----------
    stop : whether there is nothing more to ask: with a certificate, or refuted
    rounds : samples so far
    threshold : log(1/delta), what the evidence must reach
    alarm : what refutes the assumptions, if anything does
    has_surveyed : whether all rivals were looked at, which is dear, in this round
    """

    stop: bool
    rounds: int
    threshold: float
    alarm: Alarm | None
    has_surveyed: bool = False

    @property
    def can_stop(self) -> bool:
        """Whether there is a rule that may ever say stop."""
        return True

    @property
    def refuted(self) -> bool:
        """Whether the data speak against what is assumed: then nothing is certified."""
        return self.alarm is not None

    @property
    @abstractmethod
    def evidence(self) -> float:
        """Evidence against every system that breaks the claim, in nats; the rule stops at the
        threshold.
        """

    @property
    @abstractmethod
    def reason(self) -> str:
        """The decision in words."""

    @property
    def rival(self) -> LinearSEM | None:
        """The model that keeps the evidence from rising; None if none lags behind the others."""
        return None

    @property
    def laggards(self) -> tuple[tuple[LinearSEM, float], ...]:
        """All models that were found to lag behind, with the evidence against each (zero where the
        rule does not say), the rival first.
        """
        rival = self.rival
        return () if rival is None else ((rival, 0.0),)

    @property
    def edge_lags(self) -> Floats | None:
        """For every pair (effect, cause), how far the evidence on it is behind what a quick look
        takes it to be; None if they were not compared.
        """
        return None

    @property
    def edge_evidence(self) -> Floats | None:
        """Evidence for each edge of the estimate, (effect, cause), infinity elsewhere; None if the
        rule has none for single edges.
        """
        return None

    @property
    def verdicts(self) -> tuple[Verdict, ...] | None:
        """On every pair of variables, of a rule that knows them before it stops; None of others."""
        return None

    def level_from(self, lowest: float) -> float:
        """The highest level at which the claim would stand; any number below `lowest` if it would
        not stand there. One run then serves several deltas.
        """
        del lowest
        return self.evidence


@dataclass(frozen=True, kw_only=True)
class NoRule(Decision):
    """Of a learner that has no rule to stop by.

    Attributes
    ----------
    method : its name
    """

    method: str

    @property
    def can_stop(self) -> bool:
        return False

    @property
    def evidence(self) -> float:
        """None was weighed."""
        return math.nan

    @property
    def reason(self) -> str:
        return (
            f"{self.method} has no rule to stop by: it goes on for as long as it is asked. For a "
            f"certificate on what it was told, use causalfocus.baselines.Certified."
        )


def without_rule(method: str, rounds: int) -> NoRule:
    """The decision, always the same, of a learner without a rule."""
    return NoRule(stop=False, rounds=rounds, threshold=math.nan, alarm=None, method=method)
