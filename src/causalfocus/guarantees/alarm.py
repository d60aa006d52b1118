"""What an alarm says: which assumption the data speak against, and how loudly."""

from dataclasses import dataclass
from typing import Final, Literal

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
    "line",
    "total",
    "loop",
    "selection",
    "interference",
    "middle",
]

WORDS: Final[dict[Kind, str]] = {
    "curve": "the response of {node} to {cause} curves",
    "product": "the response of {node} to {cause} is not a sum",
    "dose": "{node} goes with {cause} otherwise when {cause} is set than when it is free, as if "
    "something that is not measured drives both",
    "lag": "one round of {node} carries over to the next",
    "shape": "the noise of {node} has outliers or heavy tails",
    "action": "the noise of {node} is different under {action}",
    "drift": "{node} drifts with time",
    "constant": "the equation of {node} has a constant",
    "noise": "the noise of {node} is out of the range of the class",
    "effect": "no effect of {cause} on {node} of the sizes in the class fits",
    "weak": "{cause} acts on {node}, more weakly than the class allows any effect to be",
    "loss": "how often a value is missing depends on {action}",
    "line": "no linear equation of {node} explains what the coins did: its response to some cause "
    "curves, or depends on another",
    "total": "no one number is the effect of {cause} on {node} with {cause} alone set: it changes "
    "with time, or with other variables",
    "loop": "{node} depends on something that it acts on itself: there is feedback",
    "selection": "more rounds were lost at the {action} end of {node} than at the other one: what "
    "was left is a selection",
    "interference": "{node} depends on the coin of {cause} in the round that was asked for next: "
    "rounds disturb each other, or were performed in another order than they were asked for, or "
    "somebody knew the coin",
    "middle": "the response of {node} to {cause} curves between the ends of the range of {cause}: "
    "at the middle it is not on the straight line between them",
}


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
        return WORDS[self.kind].format(node=self.node, cause=self.cause, action=self.action)
