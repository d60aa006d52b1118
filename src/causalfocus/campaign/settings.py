"""What a setting achieved, as a campaign takes it."""

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.names import position


def require_near(actions: ActionSet, action: Action, row: Floats) -> None:
    """Raise if a node that was set achieved something else than was asked for, beyond what is
    tolerated: a slip of the pen, or a setting that failed.

    row : (p,), the sample
    """
    for name in actions.misses(action, row):
        at = position(name, actions.names)
        value = dict(action.settings)[name]
        raise InvalidInputError(
            f"{name} was set to {value:g} by {action} but the sample says {row[at]:g}, more "
            f"than {actions.tolerances[at]:g} away. Correct the value; if the setting failed, the "
            f"sample belongs to another action."
        )
