"""What cannot be set may leave a direction open for ever; it is said at the start."""

import warnings

from causalfocus.errors import UnidentifiableWarning
from causalfocus.system.action_set import ActionSet


def warn_of_unsettable(actions: ActionSet) -> None:
    """Between two nodes that nobody can set, the direction may show under no action at all."""
    unsettable = actions.unsettable
    if len(unsettable) < 2:
        return
    pairs = [f"{a} and {b}" for i, a in enumerate(unsettable) for b in unsettable[i + 1 :]]
    shown = "; ".join(pairs[:6]) + ("; ..." if len(pairs) > 6 else "")
    warnings.warn(
        f"No action sets {', '.join(unsettable)}. An edge between two of them ({shown}) looks the "
        f"same in both directions unless another variable that can be set, or a second cause, "
        f"tells them apart: such an edge may never be certified. Make one of each pair settable, "
        f"or check with cf.complexity on a model you think likely.",
        UnidentifiableWarning,
        stacklevel=3,
    )
