"""Rigs with everything that the randomized rule allows, and its tests as they are written down.

A rig is a linear system in which anything but the coins may go wrong. `Literal` keeps all rounds
and computes every test from its definition.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.guarantees.portions import own_nats
from causalfocus.kernels.randomized.records import N_AIMS, Bets, Bids, Pool, Stakes, form_of
from causalfocus.kernels.randomized.rounds import no_sums
from causalfocus.kernels.randomized.row_tests import BID, NEAR, SCALE, scale_of_coins
from causalfocus.moments.randomized_sums import RandomizedSums

REACH = 2.0

Noise = Callable[[np.random.Generator, int], Floats]
"""Of round t, for three variables: anything that does not look at the coins."""


def gaussian(rng: np.random.Generator, t: int) -> Floats:
    return rng.normal(size=3)


def heavy(rng: np.random.Generator, t: int) -> Floats:
    return rng.standard_t(2, size=3)


def cauchy(rng: np.random.Generator, t: int) -> Floats:
    return 0.05 * rng.standard_cauchy(size=3)


def two_point(rng: np.random.Generator, t: int) -> Floats:
    return rng.choice([-1.0, 1.0], size=3)


def skewed(rng: np.random.Generator, t: int) -> Floats:
    return 0.3 * np.exp(1.2 * rng.normal(size=3))


def hidden(rng: np.random.Generator, t: int) -> Floats:
    """One common cause of all."""
    return 0.6 * rng.normal(size=3) + np.array([1.0, 0.8, -0.9]) * rng.normal()


def drifting(rng: np.random.Generator, t: int) -> Floats:
    """By the clock: a trend, a day and night, and a noise that grows."""
    clock = 0.01 * t + math.sin(t / 12)
    return (1.0 + t / 200) * rng.normal(size=3) + clock


NOISES: dict[str, Noise] = {
    one.__name__: one for one in (gaussian, heavy, cauchy, two_point, skewed, hidden, drifting)
}

CHAIN = np.array([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, -0.6, 0.0]])
LOOP = np.array([[0.0, 0.0, 0.4], [0.8, 0.0, 0.0], [0.3, -0.6, 0.0]])


@dataclass
class Rig:
    """A linear system of three variables, with feedback if its weights have it.

    Attributes
    ----------
    weights : (p, p), of direct effects
    noise : of each round
    failing : how often a setting has no effect at all
    miss : how far settings are off, at random
    lies : whether a setting that failed is recorded at its set point, which is not allowed
    """

    weights: Floats
    noise: Noise
    rng: np.random.Generator
    failing: float = 0.0
    miss: float = 0.0
    lies: bool = False
    t: int = 0

    def respond(self, asked: Bools, values: Floats) -> Floats:
        """What is recorded of a round."""
        self.t += 1
        p = len(self.weights)
        works = asked & (self.rng.random(p) >= self.failing)
        achieved = values + self.miss * self.rng.normal(size=p)
        system = np.eye(p) - np.where(works[:, None], 0.0, self.weights)
        noise = np.resize(self.noise(self.rng, self.t), p)
        row = np.asarray(np.linalg.solve(system, np.where(works, achieved, noise)), np.float64)
        return np.where(asked & ~works, values, row) if self.lies else row


def least_scale(stakes: Stakes, j: int, causes: Ints) -> float:
    """The least variance of a residual of row j in the rounds before its tests, over all rows."""
    first = form_of(stakes, j)
    inside = first[np.ix_(causes, causes)]
    return float(first[j, j] - first[j, causes] @ np.linalg.solve(inside, first[causes, j]))


def scales_of(stakes: Stakes, j: int, b: Floats, causes: Ints) -> tuple[float, float, float]:
    """rho of both tests of all coins of row j at b, and of its directions."""
    q = -b.copy()
    q[j] = 1.0
    rounds, least = scale_of_coins(len(causes)), least_scale(stakes, j, causes)
    return rounds * float(q @ form_of(stakes, j) @ q), NEAR * rounds * least, SCALE * least


def evidence_of_bids(s: Floats, v: Floats, rho: float, bids: Floats) -> Floats:
    """Of directions: of the mean of their bid and their mixture, with rho that of 64 rounds."""
    numbers = bids * SCALE / rho
    sizes = np.abs(numbers * s)
    by_bid = sizes + np.log1p(np.exp(-2 * sizes)) - math.log(2) - 0.5 * numbers**2 * v
    mixture = evidence(s, v, rho)
    both = np.logaddexp(math.log(BID) + by_bid, math.log(1 - BID) + mixture)
    return np.where(bids > 0.0, both, mixture)


def evidence(s: Floats, v: Floats, rho: float) -> Floats:
    """Of tests with the same rho, each by itself."""
    found: Floats = s**2 / (2 * (v + rho)) - 0.5 * np.log1p(v / rho)
    return found


@dataclass
class Literal:
    """All rounds as they came, and the tests of a row by their definition."""

    rounds: list[tuple[Stakes, Bools, Floats, Floats]] = field(default_factory=list)

    def residuals(self, j: int, b: Floats) -> list[tuple[Stakes, Floats, float]]:
        """Of all rounds that count in row j: stakes, coins and residual."""
        found = []
        for stakes, asked, signs, x in self.rounds:
            if stakes.is_begun[j] and not asked[j] and signs.any():
                centred = x - stakes.centres[j]
                found.append((stakes, signs, float(centred[j] - b @ centred)))
        return found

    def sums(self, j: int, b: Floats, k: int | None) -> tuple[Floats, Floats]:
        """S and V of every coin, or of direction k; after the causes of a row come its aims."""
        s, v = np.zeros(len(b)), np.zeros(len(b))
        aimed = [0.0, 0.0]
        for stakes, signs, r in self.residuals(j, b):
            if k is None:
                s += signs * r
                v += signs**2 * r**2
            else:
                w = stakes.directions[j, k].astype(np.float64)
                aimed[0] += float((w * signs).sum()) * r
                aimed[1] += float((w**2 * signs**2).sum()) * r**2
        return (s, v) if k is None else (np.array(aimed[:1]), np.array(aimed[1:]))

    def log_evidence(self, j: int, b: Floats, k: int | None) -> float:
        """Against b as row j, the larger one of all coins or that of direction k."""
        used = self.residuals(j, b)
        if not used:
            return 0.0
        stakes, _, _ = used[0]
        causes = np.flatnonzero(np.arange(len(b)) != j)
        s, v = self.sums(j, b, k)
        scales = scales_of(stakes, j, b, causes)
        return max(
            float(evidence(s, v, rho).sum()) for rho in (scales[:2] if k is None else scales[2:])
        )


@dataclass
class Bench:
    """A rig at work: asks, coins and answers."""

    rig: Rig
    rng: np.random.Generator
    state: RandomizedSums
    literal: Literal = field(default_factory=Literal)
    most: int = 3

    def choose(self) -> Bools:
        """Which variables to set: from one to all but one, more often those that were large."""
        p = self.state.p
        asked = np.zeros(p, dtype=np.bool_)
        last = np.ones(p) if not self.literal.rounds else np.abs(self.literal.rounds[-1][3])
        order = np.argsort(-(last + 1.0) * self.rng.random(p))
        asked[order[: self.rng.integers(1, self.most)]] = True
        return asked

    def play(self, n: int, batch: int = 1) -> None:
        """Batches of asks, told in an order that depends on the outcomes."""
        for _ in range(n // batch):
            told = []
            for _ in range(batch):
                asked = self.choose()
                signs = np.where(asked, self.rng.choice([-1.0, 1.0], size=len(asked)), 0.0)
                self.state = self.state.issue(self.state.issued + 1, asked, signs)
                stakes = self.state.stakes[max(self.state.stakes)]
                row = self.rig.respond(asked, REACH * signs)
                told.append((self.state.issued, row))
                self.literal.rounds.append((stakes, asked, signs, row))
            for number, row in sorted(told, key=lambda one: float(one[1][0])):
                self.state = self.state.answer(number, row)


def bids_for(p: int, wanted: float) -> Bids:
    found = np.full((p, p), wanted * REACH)
    return Bids(found, 0.5 * found)


def bench(
    weights: Floats = CHAIN,
    noise: Noise = gaussian,
    seed: int = 0,
    unknown: Bools | None = None,
    large: float = math.inf,
    has_grams: bool = True,
    wanted: float | None = None,
    **options: float,
) -> Bench:
    """A new rig and nothing asked.

    has_grams : whether each test keeps its own, as with few variables; else V is bounded by those
        of the rows, as with many
    wanted : half width for which directions have bids, for coefficients that are large half of it
    """
    p = len(weights)
    rig = Rig(weights, noise, np.random.default_rng([seed, 1]), **options)  # type: ignore[arg-type]
    mask = ~np.eye(p, dtype=np.bool_) if unknown is None else unknown
    bids = None if wanted is None else bids_for(p, wanted)
    state = replace(RandomizedSums.empty(mask, large, bids=bids), sums=no_sums(p, has_grams))
    return Bench(rig, np.random.default_rng([seed, 2]), state, most=max(p, 2))


def play_only(one: Bench, n: int, may_be_set: Bools) -> None:
    """Rounds in which a part of these is set."""
    for _ in range(n):
        asked = may_be_set & (one.rng.random(one.state.p) < 0.5)
        signs = np.where(asked, one.rng.choice([-1.0, 1.0], size=len(asked)), 0.0)
        one.state = one.state.issue(one.state.issued + 1, asked, signs)
        one.state = one.state.answer(one.state.issued, one.rig.respond(asked, 2.0 * signs))


class Against(NamedTuple):
    """Log evidence against a row: the larger one of all coins, of directions (p,), of aims, and of
    the heading.
    """

    coins: float
    directions: Floats
    aims: Floats
    heading: float

    def excess(self, state: RandomizedSums, j: int, b: Floats, level: float) -> float:
        """How far the tests of row j are from rejecting b at a level: negative if one does."""
        own = own_nats(state.unknown)
        unknown = state.unknown[j]
        shares = np.where(np.abs(b) >= state.large[j], 1.0, 1.0 / unknown.sum())[unknown]
        needed = level + own.direction + np.log(shares.sum() / (shares * unknown.sum()))
        return min(
            level + own.all_coins - max(self.coins, self.heading),
            float((level + own.aim - self.aims).min()),
            float((needed - self.directions[unknown]).min()),
        )


def bounded_evidence(state: RandomizedSums, j: int, b: Floats) -> Against:
    """Log evidence against b as row j with V as it is bounded."""
    reading = state.read()
    stakes, sums = reading.stakes, reading.sums
    if not stakes.is_begun[j]:
        return Against(0.0, np.zeros(len(b)), np.zeros(N_AIMS), 0.0)
    q = -b.copy()
    q[j] = 1.0
    far, near, aimed = scales_of(stakes, j, b, np.flatnonzero(state.unknown[j]))
    d = b - stakes.references[j]
    v, tossed = squares_at(sums.coins, sums.pool, j, d), sums.pool.counts[j] > 0
    coins = max(math.fsum(evidence(sums.coins.moved[j] @ q, v, rho)[tossed]) for rho in (far, near))
    s, v = sums.directions.moved[j] @ q, squares_at(sums.directions, sums.pool, j, d)
    small, large = state.bids
    bids = np.append(np.where(np.abs(b) >= state.large[j], large[j], small[j]), np.zeros(N_AIMS))
    aimed_at = evidence_of_bids(s, v, aimed, bids)
    heading = evidence_of_heading(state, j, b, far)
    return Against(coins, aimed_at[: len(b)], aimed_at[len(b) :], heading)


def squares_at(tests: Bets, pool: Pool, j: int, d: Floats) -> Floats:
    """V of all tests of row j as it is bounded, at a distance from the reference."""
    grams = tests.grams[j] if tests.has_grams else pool.grams[j][None]
    found: Floats = tests.squares[j] - 2 * tests.crossed[j] @ d
    found += np.einsum("r,krs,s->k", d, grams, d)
    return found


def evidence_of_heading(state: RandomizedSums, j: int, b: Floats, far: float) -> float:
    """Log evidence against b as row j by the coins weighed by the way from the anchor to b.

    far : rho of the first test of all coins at b
    """
    reading = state.read()
    stakes, sums, unknown = reading.stakes, reading.sums, state.unknown[j]
    q, d = -b.copy(), b - stakes.references[j]
    q[j] = 1.0
    w = np.where(unknown, stakes.spreads[j] * (b - stakes.anchors[j]), 0.0)
    if not w.any():
        return 0.0
    w /= math.sqrt(float(w @ w))
    v = squares_at(sums.coins, sums.pool, j, d)
    rho = far * SCALE / scale_of_coins(int(unknown.sum()))
    s = np.array([w @ (sums.coins.moved[j] @ q)])
    return float(evidence(s, np.array([w**2 @ v]), rho)[0])
