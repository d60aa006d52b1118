"""Second coins of an ask as a rule by coins takes them: the middle of a range, or an end.

Which asks have some, and their law: `system.coins`. What they do to the first coins:
`moments.randomized_sums`. What bets on them: `moments.curve_sums`.
"""

from collections.abc import Iterable

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.coins import is_middle


def probes_of(seed: int, number: int, with_second: Iterable[str], names: tuple[str, ...]) -> Floats:
    """(p,), the second coins of an ask: 1 for an end, -1 for the middle, 0 where there is none.

    Parameters
    ----------
    seed : of the learner
    number : of the ask
    with_second : names of the variables that have one, as in `Ask.with_second`
    names : of all variables, in order
    """
    own, found = set(with_second), np.zeros(len(names))
    for j, name in enumerate(names):
        if name in own:
            found[j] = -1.0 if is_middle(seed, number, j) else 1.0
    return found


def require_second_coins(*, asked: Bools, signs: Floats, probes: Floats) -> None:
    """Raise if second coins do not go with the first ones.

    asked, signs, probes : (p,) each
    """
    is_coin = probes.shape == signs.shape and bool(np.isin(probes, (-1.0, 0.0, 1.0)).all())
    if is_coin:
        at_end, at_middle = probes > 0.0, probes < 0.0
        goes_with = not (at_end & (signs == 0.0)).any()
        if goes_with and not (at_middle & (~asked | (signs != 0.0))).any():
            return
    raise InvalidInputError(
        f"A second coin is 1 where the first one picks an end; -1 for the middle of a variable "
        f"that is asked to be set, whose first coin is then 0; and 0 where there is none. Got "
        f"{probes.tolist()} with first coins {signs.tolist()} and asked {asked.tolist()}."
    )
