"""Whether intervals by coins can come at all, with the coins that there are."""

import warnings

import numpy as np

from causalfocus.arrays import Bools
from causalfocus.errors import InvalidInputError, UnidentifiableError, UnidentifiableWarning
from causalfocus.guarantees.portions import Scope, pairs_on_a_way
from causalfocus.moments.randomized_sums import FEW_AT_ONCE, MOST_WITH_GRAMS
from causalfocus.system.question import Question


def require_identified(names: tuple[str, ...], has_coin: Bools, unknown: Bools) -> None:
    """Raise if effects on some variable can never be told apart, whatever is done."""
    for j, effect in enumerate(names):
        coins = has_coin.copy()
        coins[j] = False
        stuck = [names[k] for k in np.flatnonzero(unknown[j] & ~has_coin)]
        if stuck and int(unknown[j].sum()) > int(coins.sum()):
            raise UnidentifiableError(_unidentified_in_words(stuck, effect), stuck)


def require_question(about: Question, scope: Scope) -> None:
    """Raise if all that is asked for is known beforehand not to be there."""
    totals = scope.totals & pairs_on_a_way(scope.unknown)
    if not (about.is_everything or scope.rows.any() or totals.any()):
        raise InvalidInputError(
            f"about asks for {about.words}, and by outcomes, forbidden effects or tiers there is "
            f"none: nothing is left to find out. Ask for something else, or leave about out."
        )


def warn_of_few_at_once(has_coin: Bools, at_once: int) -> None:
    """With many variables no test keeps grams of its own, and a round with few coins of many adds
    to the bound of what every test pays for.
    """
    n = int(has_coin.sum())
    if len(has_coin) > MOST_WITH_GRAMS and at_once <= min(FEW_AT_ONCE, n // 2):
        warnings.warn(
            f"With {at_once} of {n} variables set in a round, intervals by coins may not come in "
            f"any feasible number of rounds. Allow more at once, for example at_once=None for any "
            f"number; or take rule='gaussian', which assumes more.",
            UnidentifiableWarning,
            stacklevel=5,
        )


def _unidentified_in_words(stuck: list[str], effect: str) -> str:
    """What to do about variables of which no coin picks a value, here and on the command line."""
    first, is_one = stuck[0], len(stuck) == 1
    through, drives = ("it", "It drives nothing") if is_one else ("them", "They drive nothing")
    flags = " ".join(f"--outcome {name}" for name in stuck)
    return (
        f"No coin picks a value of {' or of '.join(stuck)}, so what acts on {effect} through "
        f"{through} can never be told from what acts directly. Say what holds. {drives}: "
        f"outcomes={stuck!r} in the ModelClass or the specification, {flags} on the command line. "
        f"Or {first} is known not to act on {effect}: forbidden=[({first!r}, {effect!r})], "
        f"--forbid {first}={effect}. Or it can be set after all: give it a range of two values. "
        f"Else take rule='gaussian', --rule gaussian, which needs no coin there and assumes more: "
        f"Gaussian noise, no hidden common causes and no feedback."
    )
