"""Systems, samples and actions in other units, and sizes that really differ by pair."""

from collections.abc import Mapping

import numpy as np

import causalfocus as cf
from causalfocus.arrays import Floats

NAMES = ("heat", "press", "flow", "yield")
WEIGHTS = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0.7, 0, 0], [0.8, -0.6, 0.5, 0]])
NOISE = np.array([0.8, 1.0, 1.1, 0.9])
CONSTANTS = np.array([1.0, -2.0, 0.5, 3.0])

POWERS = np.array([2.0**20, 2.0**-20, 2.0**10, 2.0**-7])
"""Units in which every number changes its exponent alone."""

DECADES = np.array([1e6, 1e-6, 3e3, 7e-5])


def model_in(units: Floats) -> cf.LinearSEM:
    """The system of this module with every variable multiplied by a number."""
    return cf.LinearSEM(
        WEIGHTS * units[:, None] / units, NOISE * units**2, CONSTANTS * units, names=NAMES
    )


def actions_in(units: Floats) -> cf.ActionSet:
    ranges = {n: (-2 * u, 2 * u) for n, u in zip(NAMES[:3], units[:3], strict=True)}
    return cf.ActionSet({**ranges, NAMES[3]: None})


def changes_in(units: Floats, size: float = 1.6) -> dict[str, float]:
    """What matters of every variable: so much, in these units."""
    return dict(zip(NAMES, (size * units).tolist(), strict=True))


def told_in(
    learner: cf.Focus, model: cf.LinearSEM, noise: Floats, most: int
) -> list[tuple[str, ...]]:
    """Ask and tell to the stop, or for so many rounds, with given noise in standard deviations;
    what was set in every round.
    """
    found, deviations = [], np.sqrt(model.noise_variances)
    while learner.rounds < most and not learner.decision.stop:
        action = learner.ask()
        found.append(action.targets)
        learner.tell(action, sample_of(model, action, noise[learner.rounds] * deviations))
    return found


def sample_of(model: cf.LinearSEM, action: cf.Action, noise: Floats) -> Floats:
    """One sample, cause by cause."""
    settings: Mapping[str, float] = dict(action.settings)
    x = np.zeros(model.p)
    for j in model.order:
        name = model.names[j]
        x[j] = settings.get(name, model.intercepts[j] + model.weights[j] @ x + noise[j])
    return x
