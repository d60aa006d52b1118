"""Fair coins, one for every node and ask: functions of seed, number of the ask and node alone.

They are the bits of a cryptographic hash. So they cannot depend on anything else, are the same on
every machine and for ever, and whoever sees any number of them can foretell no other without the
seed. A node that is added later changes none of the others.

**Second coins.** One ask in `ONE_IN` is a probe; a hash of seed and number says which, so that they
keep no step with any plan. In a probe every node has a second coin, independent of the first: with
probability `CHANCE_OF_MIDDLE` it is to go to the middle of its range, else to the end that its
first coin says. Two fair bits decide, of a hash with a purpose of its own. So given which asks are
probes, the law of a second coin is known and does not depend on anything else.
"""

from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np

from causalfocus.arrays import Bools

PURPOSE: Final = b"causalfocus coin"
OF_SECOND_COINS: Final = b"causalfocus mids"
OF_PROBES: Final = b"causalfocus turn"
BITS: Final = 512
"""Of one hash; further nodes get another."""

ONE_IN: Final = 12
"""Asks, of which one is a probe."""

CHANCE_OF_MIDDLE: Final = 0.25
"""Of what is set in a probe, so one toss in forty-eight. It tells nothing of slopes, and that is
what probes cost: about two percent of the rounds. For as many middles a fair coin would give four
fifths of the evidence, or less (`guarantees.curvature`)."""


class Coins:
    """The coins of one ask.

    Parameters
    ----------
    seed : of the learner
    number : of the ask
    purpose : which coins
    """

    def __init__(self, seed: int, number: int, purpose: bytes = PURPOSE) -> None:
        self._toss, self._purpose = f"{seed}/{number}", purpose

    @cached_property
    def _first(self) -> bytes:
        return self._hash(0)

    def _hash(self, block: int) -> bytes:
        text = f"{self._toss}/{block}".encode()
        return blake2b(text, digest_size=BITS // 8, person=self._purpose).digest()

    def is_head(self, node: int) -> bool:
        """How the coin of a node fell; up is the upper end."""
        block, bit = divmod(node, BITS)
        found = self._hash(block) if block else self._first
        return bool(found[bit >> 3] >> (bit & 7) & 1)


def coins_of(seed: int, number: int, p: int) -> Bools:
    """(p,), the coins of the first p nodes in one ask."""
    coins = Coins(seed, number)
    return np.array([coins.is_head(node) for node in range(p)], dtype=np.bool_)


def is_middle(seed: int, number: int, node: int) -> bool:
    """Whether the second coin of a node in a probe says the middle of its range."""
    second = Coins(seed, number, OF_SECOND_COINS)
    return second.is_head(2 * node) and second.is_head(2 * node + 1)


def is_probe(seed: int, number: int) -> bool:
    """Whether an ask is one of those with second coins."""
    found = blake2b(f"{seed}/{number}".encode(), digest_size=8, person=OF_PROBES).digest()
    return int.from_bytes(found, "little") % ONE_IN == 0
