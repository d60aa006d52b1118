"""What a stopping rule says after a round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from causalfocus.stopping.alarms import Alarm


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
