"""What an alarm says: which assumption the data speak against, and how loudly."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "curve",
    "action",
    "drift",
    "constant",
    "noise",
    "weak",
    "effect",
    "loss",
    "line",
    "selection",
    "interference",
    "product",
]

BY_COINS: Final[dict[str, str]] = {
    "line": "no linear equation of {node} explains what the coins did: its response to some cause "
    "curves, or depends on another",
    "selection": "more rounds were lost at the {end} end of {node} than at the other one: what was "
    "left is a selection",
    "interference": "{node} depends on the coin of {cause} in the round that was asked for next: "
    "rounds disturb each other, or were performed in another order than they were asked for, or "
    "somebody knew the coin",
    "product": "the effects of {cause} on {node} do not add up: each depends on the other variable",
}
"""What the alarms of the randomized rule point to."""


@dataclass(frozen=True)
class Alarm:
    """Evidence against an assumption, in nats.

    Attributes
    ----------
    kind : see `alarms` and `guardrails`; of "loss", which refutes nothing, see `losses`
    node : the node whose equation it speaks of
    cause : the other node, or the two others, where there are any
    action : which action, for noise of its own; which end of the range, for a selection
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
        if self.kind in BY_COINS:
            return BY_COINS[self.kind].format(node=self.node, cause=self.cause, end=self.action)
        match self.kind:
            case "curve":
                return f"the response of {self.node} to {self.cause} curves"
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
        return (
            f"{self.cause} acts on {self.node}, more weakly than the class allows any effect to be"
        )
