"""What every learner is: ask, tell, estimate, decision; and a log that is the whole truth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.decision import Decision
from causalfocus.learner.asking import Ask
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM

Mark = Literal["", "withdrawn", "lost", "far"]
"""Why a line of a log counts for no evidence, as it was decided when it was written down."""

Sample = Mapping[str, float | None] | ArrayLike


@dataclass(frozen=True)
class Told:
    """One line of a learner's log: what was done and what came of it.

    Attributes
    ----------
    action : what was done
    sample : one number per node, in their order; of a node that was set what it achieved; nan for
        what could not be measured
    ask : number of the ask that it answers; None if nobody had asked for it
    failed : nodes that were to be set and, as the rig or a person says, were not
    mark : "withdrawn" if a person has taken it back: it keeps its place in the log and counts for
        nothing; "lost" if a value could not be measured; "far" if a setting missed by more than was
        tolerated when it was written down, which is not decided anew if more is tolerated later
    asked : the ask that it answers, with its coins, as far as it is known
    """

    action: Action
    sample: Floats
    ask: int | None = None
    failed: tuple[str, ...] = ()
    mark: Mark = ""
    _: KW_ONLY
    asked: Ask | None = None

    @property
    def withdrawn(self) -> bool:
        """Whether a person has taken it back."""
        return self.mark == "withdrawn"

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not math.isnan(self.sample.sum())

    @property
    def effective_action(self) -> Action:
        """What was done in the end: the settings that did not fail."""
        if not self.failed:
            return self.action
        return Action(tuple(one for one in self.action.settings if one[0] not in self.failed))


def checked_failures(action: Action, failed: Iterable[str]) -> tuple[str, ...]:
    """Nodes of an action whose setting failed, as a tuple."""
    if failed == ():
        return ()
    given = tuple(dict.fromkeys([failed] if isinstance(failed, str) else failed))
    for name in given:
        if name not in action.targets:
            raise InvalidInputError(
                f"{name!r} cannot have failed: {action} does not set it. It may be any of "
                f"{', '.join(action.targets) or 'nothing'}."
            )
    return given


class Learner(Protocol):
    """FOCUS and every baseline."""

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes in order."""

    @property
    def log(self) -> Sequence[Told]:
        """All that was told, in order."""

    @property
    def estimate(self) -> LinearSEM:
        """The model that the data so far suggest."""

    @property
    def decision(self) -> Decision:
        """Whether to stop, and why."""

    def ask(self) -> Action:
        """What to do next; the same until something is told."""

    def tell(self, action: Action, sample: Sample) -> None:
        """Take in one sample, asked for or not."""


@runtime_checkable
class KnowsItsLimits(Protocol):
    """A learner that can say what no action will ever tell it."""

    def indistinguishable(self) -> str | None:
        """What looks the same as the present estimate under every action; None if nothing does."""
