"""Fair coins, one for every node and ask: functions of seed, number of the ask and node alone.

They are the bits of a cryptographic hash. So they cannot depend on anything else, are the same on
every machine and for ever, and whoever sees any number of them can foretell no other without the
seed. A node that is added later changes none of the others.
"""

from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np

from causalfocus.arrays import Bools

PURPOSE: Final = b"causalfocus coin"
BITS: Final = 512
"""Of one hash; further nodes get another."""


class Coins:
    """The coins of one ask.

    Parameters
    ----------
    seed : of the learner
    number : of the ask
    """

    def __init__(self, seed: int, number: int) -> None:
        self._toss = f"{seed}/{number}"

    @cached_property
    def _first(self) -> bytes:
        return self._hash(0)

    def _hash(self, block: int) -> bytes:
        text = f"{self._toss}/{block}".encode()
        return blake2b(text, digest_size=BITS // 8, person=PURPOSE).digest()

    def is_head(self, node: int) -> bool:
        """How the coin of a node fell; up is the upper end."""
        block, bit = divmod(node, BITS)
        found = self._hash(block) if block else self._first
        return bool(found[bit >> 3] >> (bit & 7) & 1)


def coins_of(seed: int, number: int, p: int) -> Bools:
    """(p,), the coins of the first p nodes in one ask."""
    coins = Coins(seed, number)
    return np.array([coins.is_head(node) for node in range(p)], dtype=np.bool_)
