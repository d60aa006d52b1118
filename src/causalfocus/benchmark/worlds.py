"""Systems as laboratories have them: linear, with everything else that goes wrong.

A world is a kind of trouble; a lab is one system of three variables in such a world, the same for
the same world and seed. A seed draws the same direct effects in every world, so that runs in two
worlds can be compared; where there is feedback one effect more closes a loop, and other effects are
drawn if that would not settle. All noise has a standard deviation of one; outliers, drift and days
come on top.

The target is always the matrix of direct effects on true values: what a variable changes by, per
unit of another. Where recorded values have errors, y = x + m, these are not the coefficients of any
regression on recorded values, but they are still those of the instruments: row j of x = A x + e is

    y_j = sum_k A_jk y_k + (e_j + m_j - sum_k A_jk m_k),

and what is in brackets does not depend on coins, although it is correlated with every y_k. That
includes the recorded value of a variable that was set: it is set to its value and misread.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from scipy.signal import lfilter

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action, action_as_arrays
from causalfocus.system.drawn import random_sem
from causalfocus.system.names import default_names
from causalfocus.system.space import ModelClass

NODES: Final = 3
DENSITY: Final = 0.6
SPACE: Final = ModelClass(0.3, 1.5, (0.8, 1.2))
"""The class of the systems that are drawn; all noise variances are one."""

MOST_ROUNDS: Final = 20_000

BACK: Final = 0.4
"""Size of the effect that closes a loop; its sign is such that the loop damps."""

MOST_GAIN: Final = 0.9
"""Spectral radius of the direct effects among any variables, at most: everything settles."""

DAY: Final = 50
"""Rounds of a day."""

TREND: Final = 1e-3
"""What all variables drift by in a round."""

BITS: Final = 2 ** np.arange(NODES)

WIDE: Final = 1e6
"""How far an achieved value may be off: no round is left out for its value."""

Noise = Callable[[np.random.Generator, int], Floats]
"""Of n rounds, (n, 3). The first rounds are the same however many are drawn."""


def plain_noise(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=(n, NODES))


def heavy_tails(rng: np.random.Generator, n: int) -> Floats:
    """Student's t with three degrees of freedom, of variance one."""
    return np.asarray(rng.standard_t(3, size=(n, NODES)) / math.sqrt(3.0), np.float64)


def outliers(rng: np.random.Generator, n: int) -> Floats:
    """One value in twenty has ten times the standard deviation."""
    which, values = rng.spawn(2)
    scales = np.where(which.random((n, NODES)) < 0.05, 10.0, 1.0)
    return scales * values.normal(size=(n, NODES))


def skewed_noise(rng: np.random.Generator, n: int) -> Floats:
    return rng.exponential(size=(n, NODES)) - 1.0


def lasting_noise(rng: np.random.Generator, n: int) -> Floats:
    """An autoregression: 0.7 of the last round's noise goes on into the next."""
    shocks = rng.normal(size=(n, NODES))
    shocks[1:] *= math.sqrt(1.0 - 0.7**2)
    found: Floats = lfilter([1.0], [1.0, -0.7], shocks, axis=0)
    return found


def drift(rng: np.random.Generator, n: int) -> Floats:
    """All variables drift by one standard deviation in a thousand rounds."""
    return plain_noise(rng, n) + TREND * np.arange(n)[:, None]


def day_effects(rng: np.random.Generator, n: int) -> Floats:
    """Every day has an offset of one standard deviation, common to all variables."""
    days, values = rng.spawn(2)
    offsets = days.normal(size=-(-n // DAY))
    return plain_noise(values, n) + np.repeat(offsets, DAY)[:n, None]


def hidden_cause(correlation: float) -> Noise:
    """Return the noise with one hidden common cause of two variables."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        which, causes, values = rng.spawn(3)
        pair = which.choice(NODES, 2, replace=False)
        signs = which.choice([-1.0, 1.0], 2)
        noise = plain_noise(values, n)
        cause = causes.normal(size=(n, 1)) * signs
        noise[:, pair] *= math.sqrt(1.0 - correlation)
        noise[:, pair] += math.sqrt(correlation) * cause
        return noise

    return draw


@dataclass(frozen=True, kw_only=True)
class World:
    """A kind of trouble.

    Attributes
    ----------
    noise : what is added to every equation
    reach : to which settings are asked to go, on both sides of zero
    has_loop : whether one effect goes back to its cause
    misreading : standard deviation of the error of every recorded value
    share : of what is asked that a setting reaches
    failing : how often a setting has no effect at all, and says so
    is_assumed : whether the linear-Gaussian rules assume such worlds; all that is here is assumed
        by the randomized rule
    """

    noise: Noise = plain_noise
    reach: float = 2.0
    has_loop: bool = False
    misreading: float = 0.0
    share: float = 1.0
    failing: float = 0.0
    is_assumed: bool = False

    @property
    def actions(self) -> ActionSet:
        """To observe, and to set one variable."""
        names = default_names(NODES)
        return ActionSet(
            dict.fromkeys(names, (-self.reach, self.reach)), tolerances=dict.fromkeys(names, WIDE)
        )


WORLDS: Final[dict[str, World]] = {
    "clean": World(is_assumed=True),
    "clean, reach 1": World(reach=1.0, is_assumed=True),
    "hidden cause 0.3": World(noise=hidden_cause(0.3)),
    "hidden cause 0.5": World(noise=hidden_cause(0.5)),
    "hidden cause 0.8": World(noise=hidden_cause(0.8)),
    "hidden cause 0.3, reach 1": World(noise=hidden_cause(0.3), reach=1.0),
    "hidden cause 0.5, reach 1": World(noise=hidden_cause(0.5), reach=1.0),
    "hidden cause 0.8, reach 1": World(noise=hidden_cause(0.8), reach=1.0),
    "feedback": World(has_loop=True),
    "t(3) noise": World(noise=heavy_tails),
    "outliers": World(noise=outliers),
    "skewed noise": World(noise=skewed_noise),
    "AR(0.7) noise": World(noise=lasting_noise),
    "drift": World(noise=drift),
    "day effects": World(noise=day_effects),
    "measurement noise": World(misreading=1.0),
    "settings reach 0.7": World(share=0.7, is_assumed=True),
    "settings fail": World(failing=0.2, is_assumed=True),
}


def world_of(name: str) -> World:
    """Return the world of a name."""
    if name not in WORLDS:
        raise InvalidInputError(f"There is no world {name!r}; there are {', '.join(WORLDS)}.")
    return WORLDS[name]


def clean_twin(name: str) -> str:
    """Return the name of the clean world with the same range of settings."""
    return "clean" if world_of(name).reach == world_of("clean").reach else "clean, reach 1"


class Outcome(NamedTuple):
    """What is recorded of a round, (3,), and which variables were to be set and were not."""

    sample: Floats
    failed: tuple[str, ...]


class Lab:
    """One system in a world: performs actions, one after the other.

    Parameters
    ----------
    name : of the world
    seed : of the system and its noise
    most : rounds that can be performed

    Attributes
    ----------
    weights : (3, 3), the true direct effects, row the effect and column the cause
    """

    def __init__(self, name: str, seed: int, most: int = MOST_ROUNDS) -> None:
        self.world, self.names = world_of(name), default_names(NODES)
        self.weights = draw_weights(seed, has_loop=self.world.has_loop)
        noise, errors, failures = (
            np.random.default_rng(one) for one in np.random.SeedSequence([seed, 43]).spawn(3)
        )
        self._noise = self.world.noise(noise, most)
        self._errors = self.world.misreading * errors.normal(size=(most, NODES))
        self._works = failures.random((most, NODES)) >= self.world.failing
        self._totals = total_effects(self.weights)
        self._round = 0

    def __call__(self, action: Action) -> Outcome:
        """Perform an action in the next round."""
        asked, values, _ = action_as_arrays(action, self.names)
        rows, has_failed = self.respond(asked, values)
        failed = tuple(self.names[j] for j in np.flatnonzero(has_failed))
        return Outcome(rows.reshape(NODES), failed)

    def respond(self, asked: Bools, values: Floats) -> tuple[Floats, Bools]:
        """Perform some rounds; returns what is recorded of them, and which settings failed.

        asked : (n, 3), which variables are to be set
        values : (n, 3), to what; 0 for the others
        """
        here = slice(self._round, self._round + len(asked))
        if here.stop > len(self._noise):
            raise InvalidInputError(
                f"This lab performs {len(self._noise):,} rounds; {here.stop:,} were asked for. "
                f"Make it with a larger `most`."
            )
        self._round = here.stop
        is_set = asked & self._works[here]
        given = np.where(is_set, self.world.share * values, self._noise[here])
        rows = (self._totals[is_set @ BITS] @ given[:, :, None])[:, :, 0]
        return rows + self._errors[here], asked & ~is_set


def draw_weights(seed: int, *, has_loop: bool = False) -> Floats:
    """Return direct effects (3, 3), at least one; in a loop if asked for, that damps and settles
    whatever is set.
    """
    rng = np.random.default_rng([seed, 41])
    while True:
        drawn = random_sem(NODES, density=DENSITY, seed=int(rng.integers(2**31)), space=SPACE)
        weights = drawn.weights.copy()
        if not weights.any():
            continue
        if not has_loop:
            return weights
        edges = np.argwhere(weights)
        j, k = edges[rng.integers(len(edges))]
        weights[k, j] = -BACK * np.sign(weights[j, k])
        if largest_gain(weights) < MOST_GAIN:
            return weights


def total_effects(weights: Floats) -> Floats:
    """Return what everything adds up to, (2^p, p, p), for every set of variables that are set: the
    values of all per unit of what is given to each, its noise or its setting. Bit j of the first
    index says whether j is set.
    """
    p = len(weights)
    is_set = np.arange(2**p)[:, None] >> np.arange(p) & 1 == 1
    return np.asarray(np.linalg.inv(np.eye(p) - np.where(is_set[:, :, None], 0.0, weights)))


def largest_gain(weights: Floats) -> float:
    """Return the largest spectral radius of the direct effects among any variables."""
    sets = [c for n in range(1, len(weights) + 1) for c in combinations(range(len(weights)), n)]
    return max(float(np.abs(np.linalg.eigvals(weights[np.ix_(c, c)])).max()) for c in sets)
