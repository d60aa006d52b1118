"""What a stopping rule says after a round."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from causalfocus.guarantees.alarms import Alarm
from causalfocus.system.space import ModelClass

LEVEL_FLOOR, LEVEL_CAP = -64.0, 60.0
"""The evidence is sought in this range, or up to twice the threshold if higher."""


@dataclass(frozen=True)
class MixtureRule:
    """What the rules that mix martingales have in common.

    Attributes
    ----------
    space : what is assumed, or what matters
    epsilon : accuracy of the weights; None asks for the graph alone
    delta : how often an answer may be wrong
    """

    space: ModelClass
    epsilon: float | None
    delta: float

    @property
    def threshold(self) -> float:
        """What the evidence must reach, in nats."""
        return math.log(1.0 / self.delta)

    @property
    def cap(self) -> float:
        return max(LEVEL_CAP, 2.0 * self.threshold)


@dataclass(frozen=True)
class Decision(ABC):
    """Whether to stop, and why.

    Attributes
    ----------
    stop : whether there is nothing more to ask: with a certificate, or refuted
    rounds : samples so far
    threshold : log(1/delta), what the evidence must reach
    alarm : what refutes the assumptions, if anything does
    """

    stop: bool
    rounds: int
    threshold: float
    alarm: Alarm | None

    @property
    def refuted(self) -> bool:
        """Whether the data speak against what is assumed: then nothing is certified."""
        return self.alarm is not None

    @property
    @abstractmethod
    def evidence(self) -> float:
        """Evidence against every other answer, in nats; the rule stops at the threshold."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """The decision in words."""


@dataclass(frozen=True)
class NoRule(Decision):
    """Of a learner that has no rule to stop by.

    Attributes
    ----------
    method : its name
    """

    method: str

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
