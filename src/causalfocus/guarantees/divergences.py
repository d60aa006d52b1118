"""What a round tells against rivals, for any sets of variables, which need not be choices."""

from collections.abc import Sequence

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.kernels.records import Parameters
from causalfocus.kernels.sums import population
from causalfocus.oracles.for_kernels import model_of, parameters_of
from causalfocus.system.sem import LinearSEM


def divergences_of(rule: Guarantee, estimate: LinearSEM, rival: LinearSEM, is_set: Bools) -> Floats:
    """What one round that sets each set tells against a rival, if the estimate is right.

    is_set : (n, p), which variables each of them sets
    """
    settings = rule.choices.settings_of(is_set)
    return population.divergences(model_of(estimate), parameters_of(rival), *settings)


def mixed_divergences_of(
    rule: Guarantee,
    estimate: LinearSEM,
    rivals: Sequence[LinearSEM],
    shares: Floats,
    is_set: Bools,
) -> Floats:
    """The mean of the same over a mixture of rivals, of which each has a share."""
    each = [parameters_of(rival) for rival in rivals]
    mixture = Parameters(*(np.array(parts) for parts in zip(*each, strict=True)))
    settings = rule.choices.settings_of(is_set)
    return population.mixed_divergences(model_of(estimate), mixture, shares, *settings)
