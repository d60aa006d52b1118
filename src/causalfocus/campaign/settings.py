"""What a campaign asks before it takes a round: was it allowed, and achieved it what was meant?"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.names import position


@dataclass(frozen=True, kw_only=True)
class Details:
    """What is said of a round beside its values.

    Attributes
    ----------
    failed : variables that were to be set and, as the rig or a person knows without looking at the
        values, were not
    as_read : whether values that are further from what was asked than is tolerated are as they were
        read; without it they are taken for a slip of the pen, and refused
    force : the word for an action that is not allowed otherwise; none if it is empty
    performed : when it was performed, as ISO 8601 has it
    key : of the request: one that comes again with the same key is not recorded again
    """

    failed: tuple[str, ...] = ()
    as_read: bool = False
    force: str = ""
    performed: str | None = None
    key: str | None = None


def require_round(
    actions: ActionSet, action: Action, row: tuple[float, ...], details: Details
) -> None:
    """Raise unless a round can be taken as it is.

    row : (p,), the sample
    """
    for name in details.failed:
        if name not in action.targets:
            raise InvalidInputError(
                f"{name!r} cannot have failed: {action} does not set it. It may be any of "
                f"{', '.join(action.targets) or 'nothing'}."
            )
    if not details.force.strip():
        require_allowed(actions, action)
    if not details.as_read:
        require_near(actions, action, row, details.failed)


def require_allowed(actions: ActionSet, action: Action) -> None:
    """Raise if an action sets what cannot be set, or beyond its range, or too much at once."""
    for name, value in action.settings:
        span = actions.ranges[position(name, actions.names)]
        if span is None:
            raise InvalidInputError(
                f"{action} sets {name}, and {name} was said not to be settable. If it was set all "
                f"the same, say why with force=..., or --force on the command line."
            )
        if not span[0] <= value <= span[1]:
            raise InvalidInputError(
                f"{action} is outside of the range of {name}, {span[0]:g} to {span[1]:g}. Widen "
                f"the range if it may be set so far from now on; if it was this once, say why with "
                f"force=..., or --force on the command line."
            )
    if len(action.settings) > actions.at_once:
        raise InvalidInputError(
            f"{action} sets {len(action.settings)} variables, and {actions.at_once} may be set at "
            f"once. If it was done all the same, say why with force=..., or --force."
        )


def require_near(
    actions: ActionSet, action: Action, row: tuple[float, ...], failed: Iterable[str] = ()
) -> None:
    """Raise if a variable that was set achieved something else than was asked for, beyond what is
    tolerated, and nobody says that the setting failed.

    row : (p,), the sample
    """
    values = np.array(row)
    told = Told(action, values, failed=tuple(failed))
    for name in actions.misses(told.effective_action, values):
        at = position(name, actions.names)
        if np.isnan(values[at]):
            continue
        value = dict(action.settings)[name]
        raise InvalidInputError(
            f"{name} was set to {value:g} by {action} but the sample says {values[at]:g}, more "
            f"than {actions.tolerances[at]:g} away. If that is a slip of the pen, correct it. If "
            f"the setting failed, and you know it without looking at this value, say so with "
            f"failed=[{name!r}], or --failed {name}. If it is what was read, say as_read=True, or "
            f"--as-read: it is kept, and the round counts for no evidence."
        )


def far_facts(
    actions: ActionSet, action: Action, row: tuple[float, ...], failed: tuple[str, ...]
) -> dict[str, list[str]] | None:
    """What the event of a round says of settings that are further off than is tolerated by now;
    None if there are none. The round stays out of the evidence, whatever is tolerated later.
    """
    values = np.array(row)
    told = Told(action, values, failed=failed)
    far = actions.misses(told.effective_action, values)
    return {"far": list(far)} if far else None


def checked_time(text: str | None) -> str | None:
    """A time in UTC, to the millisecond; without an offset it is taken for local time."""
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    try:
        found = datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError, AttributeError):
        raise InvalidInputError(
            f"{text!r} is no time. Write it as 2026-05-04T13:30 or 2026-05-04 13:30:05+02:00."
        ) from None
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")
