"""What an ask means to a rule by coins: what was to be set, and by which coins."""

import numpy as np

from causalfocus.learner.asking import Ask
from causalfocus.moments.randomized_sums import Intent, signs_of
from causalfocus.moments.second_coins import probes_of


def intent_of(ask: Ask, seed: int, names: tuple[str, ...]) -> Intent:
    """The ask of a learner with a seed, over variables by their names."""
    targets = set(ask.action.targets)
    asked = np.array([name in targets for name in names])
    signs = signs_of(seed, ask.number, ask.coins, names)
    if not ask.with_second:
        return Intent(ask.number, asked, signs)
    probes = probes_of(seed, ask.number, ask.with_second, names)
    return Intent(ask.number, asked, np.where(probes < 0.0, 0.0, signs), probes)
