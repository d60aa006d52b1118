"""Guardrails: nobody wins these bets while the assumptions hold; each is heard when they do not."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.guardrails import (
    bet_evidence,
    coin_evidence,
    guard_alarms,
    nats_of,
    product_bounds,
)
from causalfocus.guarantees.portions import (
    SHARE_OF_ALL_COINS,
    SHARE_OF_DESCENTS,
    SHARE_OF_GUARDS,
    own_nats,
    scope_of_all,
    total_nats,
)
from causalfocus.kernels.randomized.records import Stakes
from causalfocus.learner.parts import are_same
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.guard_sums import GuardSums
from causalfocus.moments.randomized_sums import Intent
from randomized.rigs import CHAIN, LOOP, NOISES, bench

NAMES = ("X1", "X2", "X3")
NONE = np.zeros((3, 3))


def plain_stakes() -> Stakes:
    first = np.repeat(np.eye(3, dtype=np.float32)[None], 3, axis=0)
    begun = np.ones(3, dtype=np.bool_)
    return Stakes(begun, NONE, NONE, np.zeros_like(first), first, np.ones((3, 3)), NONE)


def test_coins_of_lost_rounds_are_a_martingale() -> None:
    """The mean over all coins is one, after any number of them."""
    for n in (0, 1, 5, 12):
        high = np.arange(n + 1.0)
        chances = stats.binom.pmf(high, n, 0.5)
        assert chances @ np.exp(coin_evidence(high, n - high)) == pytest.approx(1.0)
    assert coin_evidence(np.array([30.0]), np.array([2.0]))[0] > 8.0


Response = Callable[[Floats, Floats, int], float]
"""What the third variable does, from the coins of its round, those of the next, and the time."""


def mean_bets(respond: Response) -> tuple[float, float]:
    """The means over all coins, listed, of the bets on the next coin and on products, for the third
    variable when the first two are set.
    """
    asked, stakes, totals = np.array([True, True, False]), plain_stakes(), np.zeros(2)
    n, kept = 5, Intervals(NONE, NONE, 1)
    for flat in product((-1.0, 1.0), repeat=2 * n):
        signs = np.zeros((n + 1, 3))
        signs[:n, :2] = np.reshape(flat, (n, 2))
        guards = GuardSums.empty(3)
        for t in range(n):
            row = 2.0 * signs[t]
            row[2] = respond(signs[t], signs[t + 1], t)
            guards = guards.count(Intent(t + 1, asked, signs[t]), row, stakes)
        least, most = product_bounds(guards, kept, np.array([2]), np.array([0]))
        bets = bet_evidence(guards.moved[2, :1], guards.squares[2, :1], guards.scales[2:])
        totals += np.exp([bets[0], bet_evidence(least, most, guards.scales[2:])[0]])
    following, products = totals / 4**n
    return float(following), float(products)


def any_noise(coins: Floats, following: Floats, t: int) -> float:
    del coins, following
    return (5.0, -9.0, 0.4, 12.0, 7.0)[t]


def knows_the_next(coins: Floats, following: Floats, t: int) -> float:
    del coins, t
    return 9.0 * float(following[0])


def multiplies(coins: Floats, following: Floats, t: int) -> float:
    del following, t
    return 9.0 * float(coins[0] * coins[1])


def test_means_over_all_coins_are_at_most_one() -> None:
    means = mean_bets(any_noise)
    assert min(means) > 0.3 and max(means) <= 1.0 + 1e-12


def test_the_next_coin_and_products_would_win() -> None:
    """The same means are above one where the assumption fails: the test above can fail."""
    following, products = mean_bets(knows_the_next)
    assert following > 1.2 and products <= 1.0 + 1e-12
    following, products = mean_bets(multiplies)
    assert products > 1.2 and following <= 1.0 + 1e-12


@pytest.mark.parametrize("name", sorted(NOISES))
def test_false_alarms_are_rare_in_dirty_worlds(name: str) -> None:
    """Adaptive targets, feedback, failing settings, rounds that are lost at random: the mean of all
    bets of a kind, at the true rows, is above 1/a at any time with probability at most a.
    """
    n_runs, share, wins = 50, 0.2, np.zeros(3, dtype=np.int64)
    for seed in range(n_runs):
        weights = LOOP if seed % 2 else CHAIN
        one = bench(weights, NOISES[name], seed=seed, failing=0.1, miss=0.2)
        one.play(160, batch=1 + 3 * (seed % 2))
        truth, rng = Intervals(weights, weights, 1), np.random.default_rng([seed, 3])
        guards, most = GuardSums.empty(3), np.full(3, -math.inf)
        for t, (stakes, asked, signs, row) in enumerate(one.literal.rounds):
            is_lost = rng.random() < 0.2
            guards = guards.count(Intent(t + 1, asked, signs), None if is_lost else row, stakes)
            if t >= 40:
                most = np.maximum(most, mean_evidence(guards, truth))
        wins += most >= math.log(1 / share)
    assert wins.max() <= stats.binom.ppf(1 - 1e-5, n_runs, share)


def mean_evidence(guards: GuardSums, truth: Intervals) -> list[float]:
    """Log of the mean bet of every kind."""
    lost = coin_evidence(guards.lost[1], guards.lost[0])
    scales = guards.scales[:, None]
    following = bet_evidence(guards.moved, guards.squares, scales)
    n_products = guards.products.squares.shape[1]
    rows = np.repeat(np.arange(3), n_products)
    bounds = product_bounds(guards, truth, rows, np.tile(np.arange(n_products), 3))
    products = bet_evidence(*bounds, guards.scales[rows])
    return [
        math.log(np.exp(one).mean()) if one.size else 0.0 for one in (lost, following, products)
    ]


def test_all_shares_together_are_delta() -> None:
    """Of three tests of all coins a row, aims, directions, total effects and guardrails; and of
    tests of descent where loops are ruled out.
    """
    for p in (2, 3, 14, 15, 40):
        unknown = ~np.eye(p, dtype=np.bool_)
        own = own_nats(unknown)
        shares = 3 * p * math.exp(-own.all_coins) + 2 * p * math.exp(-own.aim)
        shares += p * (p - 1) * math.exp(-own.direction)
        n_pairs = p * (p - 1) // 2 if p <= 14 else 6
        shares += p * math.exp(-nats_of("selection", p))
        shares += p * p * math.exp(-nats_of("interference", p))
        shares += p * n_pairs * math.exp(-nats_of("product", p))
        shares += p * (p - 1) * math.exp(-float(total_nats(scope_of_all(unknown)).max()))
        shares += p * min(p - 1, 13 if p <= 14 else 4) * math.exp(-nats_of("middle", p))
        assert shares == pytest.approx(1.0)
        closed = own_nats(unknown, acyclic=True)
        shares += p * (p - 1) * (math.exp(-closed.direction) - math.exp(-own.direction))
        assert closed[:2] == own[:2] and shares + SHARE_OF_DESCENTS == pytest.approx(1.0)
    assert SHARE_OF_GUARDS + SHARE_OF_ALL_COINS < 0.2


def test_nothing_is_heard_before_the_first_round() -> None:
    unbounded = Intervals(np.full((3, 3), -np.inf), np.full((3, 3), np.inf), 0)
    assert guard_alarms(GuardSums.empty(3), unbounded, NAMES) == ()


def test_values_of_any_size_are_taken() -> None:
    """Where a square is beyond all numbers there is no evidence, and no warning."""
    guards, stakes = GuardSums.empty(3), plain_stakes()
    rng = np.random.default_rng(4)
    for t in range(30):
        signs = np.array([*rng.choice([-1.0, 1.0], size=2), 0.0])
        row = 1e100 * rng.normal(size=3)
        guards = guards.count(Intent(t + 1, signs != 0.0, signs), row, stakes)
    wide = Intervals(np.full((3, 3), -1e90), np.full((3, 3), 1e90), 1)
    assert guard_alarms(guards, wide, NAMES) == ()


class Setup:
    """A learner and a rig that breaks one assumption."""

    def __init__(self, seed: int, at_once: int = 3, delta: float = 0.05) -> None:
        actions = cf.ActionSet(dict.fromkeys(NAMES, (-2, 2)), at_once=at_once)
        space = cf.ModelClass(min_effect=0.3)
        self.learner = cf.Focus(
            actions, space, epsilon=0.15, delta=delta, rule="randomized", seed=seed
        )
        self.rng = np.random.default_rng([seed, 5])

    def respond(
        self, action: cf.Action, times: float = 0.0, disturbed_by: cf.Action = cf.OBSERVE
    ) -> Floats:
        """A chain; the last variable gets a product of the others, and a part of what the first is
        set to in another round.
        """
        settings, x = dict(action.settings), self.rng.normal(size=3)
        x[0] = settings.get("X1", x[0])
        x[1] = settings.get("X2", x[1] + 0.8 * x[0])
        more = times * x[0] * x[1] + 0.8 * dict(disturbed_by.settings).get("X1", 0.0)
        x[2] = settings.get("X3", x[2] - 0.6 * x[1] + more)
        return x

    def play(self, most: int = 1500, times: float = 0.0) -> None:
        while not self.learner.has_stopped and self.learner.rounds < most:
            action = self.learner.ask()
            self.learner.tell(action, self.respond(action, times))


def refutation(learner: cf.Focus) -> str:
    result = learner.result()
    assert learner.is_refuted and not result.certified
    return result.refuted or ""


def test_a_product_is_refuted() -> None:
    setup = Setup(seed=1)
    setup.play(times=0.4)
    said = refutation(setup.learner)
    assert "the response of X3 to X1 and X2 is not a sum" in said
    assert "keep one of the two causes fixed" in said
    (loudest, *_) = setup.learner.alarms()
    assert (loudest.kind, loudest.node, loudest.cause) == ("product", "X3", "X1 and X2")


@pytest.mark.parametrize("way", ["lost", "rejected"])
def test_rounds_that_are_lost_by_the_coin_are_refuted(way: str) -> None:
    setup = Setup(seed=2, at_once=1)
    learner = setup.learner
    while not learner.has_stopped and learner.state.asks.issued < 1500:
        action = learner.ask()
        row = setup.respond(action)
        if dict(action.settings).get("X2", 0.0) > 0.0 and setup.rng.random() < 0.4:
            if way == "rejected":
                learner.withdraw(learner.pending[0].number)
                continue
            row[0] = np.nan
        learner.tell(action, row)
    said = refutation(learner)
    assert "more rounds were lost at the high end of X2 than at the other one" in said
    assert "narrow the range" in said


@pytest.mark.parametrize("way", ["side by side", "in another order"])
def test_rounds_that_disturb_each_other_are_refuted(way: str) -> None:
    """In a batch of four each is disturbed by the next; or they are performed backwards, one by
    one, and each has an effect on what is performed after it.
    """
    setup = Setup(seed=3)
    learner = setup.learner
    while not learner.has_stopped and learner.rounds < 1600:
        actions = learner.ask_batch(4)
        following = [*actions[1:], cf.OBSERVE]
        pairs = list(zip(actions, following, strict=True))
        rows = [setup.respond(action, disturbed_by=other) for action, other in pairs]
        numbers = range(4) if way == "side by side" else reversed(range(4))
        for i in numbers:
            learner.tell(actions[i], rows[i])
    said = refutation(learner)
    assert "X3 depends on the coin of X1 in the round that was asked for next" in said
    assert "one by one in the order of asking" in said


def test_effects_on_later_rounds_are_allowed() -> None:
    setup, last = Setup(seed=4), cf.OBSERVE
    learner = setup.learner
    while not learner.has_stopped and learner.rounds < 3000:
        action = learner.ask()
        learner.tell(action, setup.respond(action, disturbed_by=last))
        last = action
    assert learner.result().certified
    assert all(alarm.evidence < 1.0 for alarm in learner.alarms())


def test_losses_at_both_ends_alike_refute_nothing() -> None:
    setup = Setup(seed=5)
    learner = setup.learner
    while not learner.has_stopped and learner.rounds < 3000:
        action = learner.ask()
        row = setup.respond(action)
        if "X2" in action.targets and setup.rng.random() < 0.3:
            row[0] = np.nan
        learner.tell(action, row)
    assert learner.result().certified


def test_replay_gives_the_same_to_the_bit() -> None:
    setup = Setup(seed=6)
    learner = setup.learner
    for batch in range(30):
        actions = learner.ask_batch(4)
        for i in setup.rng.permutation(4):
            row = setup.respond(actions[i], times=0.2)
            row[2] = np.nan if (batch + i) % 7 == 0 else row[2]
            learner.tell(actions[i], row)
    coins = learner.state.coins
    assert coins is not None and coins.guards.lost.sum() > 5
    assert are_same(learner.replay().state.coins, coins)
