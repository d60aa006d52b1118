"""What a stopping rule says after a round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True)
class Decision(ABC):
    """Whether to stop, and why.

    Attributes
    ----------
    stop : whether the rule is satisfied
    rounds : samples so far
    threshold : log(1/delta), what the evidence must reach
    """

    stop: bool
    rounds: int
    threshold: float

    @property
    @abstractmethod
    def evidence(self) -> float:
        """Evidence against every other answer, in nats; the rule stops at the threshold."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """The decision in words."""
