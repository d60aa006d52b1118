"""What an alarm says: which assumption the data speak against, and how loudly."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "curve",
    "dose",
    "product",
    "lag",
    "shape",
    "action",
    "drift",
    "constant",
    "noise",
    "weak",
    "effect",
    "loss",
]


@dataclass(frozen=True)
class Alarm:
    """Evidence against an assumption, in nats.

    Attributes
    ----------
    kind : see `alarms`; of "loss", which refutes nothing, see `losses`
    node : the node whose equation it speaks of
    cause : the other node, or the two others, where there are any
    action : which action, for noise of its own
    evidence : against every system inside the claim
    """

    kind: Kind
    node: str
    cause: str | None
    action: str | None
    evidence: float

    @property
    def can_refute(self) -> bool:
        """Whether it speaks against what is assumed of the system, and not of the rounds."""
        return self.kind != "loss"

    @property
    def words(self) -> str:
        """What the data point to."""
        match self.kind:
            case "curve":
                return f"the response of {self.node} to {self.cause} curves"
            case "dose":
                return (
                    f"{self.node} goes with {self.cause} otherwise when {self.cause} is set than "
                    f"when it is free, as if something that is not measured drives both"
                )
            case "product":
                return f"the response of {self.node} to {self.cause} is not a sum"
            case "lag":
                return f"one round of {self.node} carries over to the next"
            case "shape":
                return f"the noise of {self.node} has outliers or heavy tails"
            case "action":
                return f"the noise of {self.node} is different under {self.action}"
            case "drift":
                return f"{self.node} drifts with time"
            case "constant":
                return f"the equation of {self.node} has a constant"
            case "noise":
                return f"the noise of {self.node} is out of the range of the class"
            case "effect":
                return f"no effect of {self.cause} on {self.node} of the sizes in the class fits"
            case "loss":
                return f"how often a value is missing depends on {self.action}"
            case "weak":
                return (
                    f"{self.cause} acts on {self.node}, more weakly than the class allows any "
                    f"effect to be"
                )
