"""The seed of all that a learner draws."""

import numpy as np

from causalfocus.errors import InvalidInputError


def checked_seed(seed: int | None) -> int:
    """The seed as a whole number; drawn if there is none."""
    if seed is None:
        return int(np.random.default_rng().integers(2**63))
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InvalidInputError(f"A seed is a whole number, 0 or more, got {seed!r}.")
    return int(seed)
