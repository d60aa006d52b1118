"""Second coins: a bet that nobody wins while responses are straight, and that curves lose."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.curvature import (
    SCALE_OF_CURVES,
    curve_bounds,
    curves_at_middle,
)
from causalfocus.guarantees.guardrails import bet_evidence, nats_of
from causalfocus.kernels.randomized.records import Stakes
from causalfocus.learner.parts import are_same, put_together, take_apart
from causalfocus.moments.curve_sums import AT_END, AT_MIDDLE, PRIOR, PROXY
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.guard_sums import N_LARGEST, ROUNDS_TO_CHOOSE, GuardSums
from causalfocus.moments.randomized_sums import Intent, RandomizedSums
from causalfocus.moments.second_coins import probes_of
from causalfocus.system.coins import CHANCE_OF_MIDDLE
from randomized.rigs import CHAIN, LOOP, NOISES, REACH, Noise, Rig, hidden

NAMES = ("X1", "X2", "X3")
NONE = np.zeros((3, 3))
ONE_TEST = np.array([1]), np.array([0])  # of the second variable, by the second coin of the first

Round = tuple[Stakes, Intent, Floats | None]


def plain_stakes(p: int = 3, references: Floats | None = None) -> Stakes:
    first = np.repeat(np.eye(p, dtype=np.float32)[None], p, axis=0)
    none, begun = np.zeros((p, p)), np.ones(p, dtype=np.bool_)
    a = none if references is None else references
    return Stakes(begun, none, a, np.zeros_like(first), first, np.ones((p, p)), none)


def test_the_proxy_is_an_upper_bound_and_the_least() -> None:
    """E exp(l y) <= exp(l^2 / 2) for all l, and for no smaller variance."""
    steps = np.linspace(-60.0, 60.0, 240_001)
    steps = steps[np.abs(steps) > 1e-3]
    c = CHANCE_OF_MIDDLE
    logs = np.logaddexp(math.log(c) + steps * AT_MIDDLE, math.log(1 - c) + steps * AT_END)
    assert (logs <= 0.5 * steps**2).all()
    assert (logs > 0.4999 * steps**2).any()
    assert c * AT_MIDDLE + (1 - c) * AT_END == pytest.approx(0.0)
    assert pytest.approx(1 / (4 * math.log(3))) == PROXY


Response = Callable[[float, float, int], float]
"""What the second variable does more than the first one makes it: from the value of the first, the
one that it had the round before, and the time."""


def mean_bet(respond: Response, weight: float, at: float) -> float:
    """The mean over all first and second coins, listed, of the bet at a row, after a few rounds."""
    asked, stakes, n, total = np.array([True, False, False]), plain_stakes(), 7, 0.0
    b = NONE.copy()
    b[1, 0] = at
    chances = {-1.0: (1 - CHANCE_OF_MIDDLE) / 2, 0.0: CHANCE_OF_MIDDLE}
    chances[1.0] = chances[-1.0]
    for sides in product(chances, repeat=n):
        guards, last = GuardSums.empty(3), 0.0
        for t, side in enumerate(sides):
            signs = np.array([side, 0.0, 0.0])
            probes = np.array([1.0 if side else -1.0, 0.0, 0.0])
            value = 3.0 + 2.0 * side
            row = np.array([value, weight * value + respond(value, last, t), 0.3])
            guards = guards.count(Intent(t + 1, asked, signs, probes), row, stakes)
            last = value
        least, most = curve_bounds(guards.curves, Intervals(b, b, 1), *ONE_TEST)
        assert guards.curves.causes[1, 0] == 0 and guards.curves.rounds[1, 0] == n
        bet = bet_evidence(least, most, SCALE_OF_CURVES * guards.scales[1:2])
        total += math.prod(chances[side] for side in sides) * math.exp(bet[0])
    return total


def any_noise(value: float, last: float, t: int) -> float:
    """With an effect of the round before."""
    del value
    return (2.0, -3.0, 0.4, 4.0, 1.0, -3.0, 5.0)[t] + 0.7 * last


def curves(value: float, last: float, t: int) -> float:
    del last, t
    return 2.0 * ((value - 3.0) ** 2 - 3.0)


def test_the_mean_over_all_coins_is_at_most_one() -> None:
    found = mean_bet(any_noise, weight=0.7, at=0.7)
    assert 0.3 < found <= 1.0 + 1e-12


def test_a_curve_wins() -> None:
    """The same mean is above one where the response curves: the test above can fail."""
    assert mean_bet(curves, weight=0.7, at=0.7) > 1.5


def play_probes(
    weights: Floats, noise: Noise, seed: int, n: int, options: dict[str, float] | None = None
) -> list[Round]:
    """Rounds of a rig of which half have second coins, some of them lost."""
    p = len(weights)
    rig = Rig(weights, noise, np.random.default_rng([seed, 1]), **(options or {}))  # type: ignore[arg-type]
    rng, state = np.random.default_rng([seed, 2]), RandomizedSums.empty(~np.eye(p, dtype=np.bool_))
    rounds: list[Round] = []
    for number in range(1, n + 1):
        asked = np.zeros(p, dtype=np.bool_)
        asked[rng.permutation(p)[: rng.integers(1, p)]] = True
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=p), 0.0)
        probes = None
        if rng.random() < 0.5:
            side = np.where(rng.random(p) < CHANCE_OF_MIDDLE, -1.0, 1.0)
            probes = np.where(asked, side, 0.0)
            signs = np.where(probes < 0.0, 0.0, signs)
        state = state.issue(number, asked, signs, probes)
        stakes, intent = state.stakes[max(state.stakes)], state.pending[-1].intent
        row = rig.respond(asked, REACH * signs)
        is_lost = rng.random() < 0.1
        state = state.withdraw(number) if is_lost else state.answer(number, row)
        rounds.append((stakes, intent, None if is_lost else row))
    return rounds


def count_all(rounds: list[Round]) -> GuardSums:
    guards = GuardSums.empty(len(rounds[0][1].asked))
    for stakes, intent, row in rounds:
        guards = guards.count(intent, row, stakes)
    return guards


def literal_curve(rounds: list[Round], j: int, k: int, b: Floats) -> tuple[float, float]:
    """S and V of one test at a row, round by round."""
    s = v = 0.0
    before: list[Floats] = []
    for stakes, intent, row in rounds:
        if row is None or intent.probes is None or intent.asked[j] or not intent.probes[k]:
            continue
        if stakes.is_begun[j]:
            centre = (PRIOR * stakes.centres[j] + sum(before)) / (PRIOR + len(before))
            x = row - centre
            r = float(x[j] - b @ x)
            s += r * (AT_MIDDLE if intent.probes[k] < 0.0 else AT_END)
            v += r**2
            before.append(row)
    return s, v


@pytest.mark.parametrize("seed", [1, 2])
def test_bounds_hold_at_every_row_of_a_box(seed: int) -> None:
    rounds = play_probes(LOOP, hidden, seed, 150, {"failing": 0.1, "miss": 0.2})
    guards, rng = count_all(rounds), np.random.default_rng(seed)
    half = rng.uniform(0.01, 0.3, size=(3, 3)) * ~np.eye(3, dtype=np.bool_)
    box = Intervals(LOOP - half, LOOP + half, 1)
    highest, lowest = curves_at_middle(guards.curves, box)
    for j, i in product(range(3), range(2)):
        k = int(guards.curves.causes[j, i])
        least, most = curve_bounds(guards.curves, box, np.array([j]), np.array([i]))
        s, v = literal_curve(rounds, j, k, LOOP[j])
        assert guards.curves.rounds[j, i] > 5
        assert highest[j, i] == pytest.approx(abs(s), abs=1e-6)
        assert lowest[j, i] == pytest.approx(v) and highest[j, i] >= abs(s) - 1e-9
        corners = [LOOP[j] + half[j] * step for step in product((-1.0, 1.0), repeat=3)]
        found = [literal_curve(rounds, j, k, corner) for corner in corners]
        assert least[0] <= min(abs(s) for s, _ in found) and max(v for _, v in found) <= most[0]
        point = Intervals(corners[3] * np.ones((3, 1)), corners[3] * np.ones((3, 1)), 1)
        exact = curve_bounds(guards.curves, point, np.array([j]), np.array([i]))
        assert [exact[0][0], exact[1][0]] == pytest.approx([abs(found[3][0]), found[3][1]])


def test_rows_without_bounds_have_no_bet() -> None:
    guards = count_all(play_probes(CHAIN, hidden, 5, 100))
    low = np.full((3, 3), -np.inf)
    least, most = curve_bounds(guards.curves, Intervals(low, -low, 1), *ONE_TEST)
    assert least.tolist() == [0.0] and most.tolist() == [math.inf]


@pytest.mark.parametrize("name", sorted(NOISES))
def test_false_alarms_are_rare_in_dirty_worlds(name: str) -> None:
    """Feedback, failing settings, rounds that are lost: the mean of all bets at the true rows is
    above 1/a at any time with probability at most a.
    """
    n_runs, share, wins = 60, 0.2, 0
    for seed in range(n_runs):
        weights = LOOP if seed % 2 else CHAIN
        rounds = play_probes(weights, NOISES[name], seed, 120, {"failing": 0.1, "miss": 0.2})
        guards, truth, most = GuardSums.empty(3), Intervals(weights, weights, 1), -math.inf
        for stakes, intent, row in rounds:
            guards = guards.count(intent, row, stakes)
            rows, tests = np.nonzero(guards.curves.rounds)
            if len(rows) == 6:
                bounds = curve_bounds(guards.curves, truth, rows, tests)
                bets = np.exp(bet_evidence(*bounds, SCALE_OF_CURVES * guards.scales[rows]))
                most = max(most, math.log(bets.mean()))
        wins += most >= math.log(1 / share)
    assert wins <= stats.binom.ppf(1 - 1e-5, n_runs, share)


def test_a_middle_is_no_instrument_of_its_own_variable() -> None:
    """Its own row does not count the round, the others do, with the coins that go to ends."""
    rounds = play_probes(CHAIN, hidden, 3, 60)
    state = RandomizedSums.empty(~np.eye(3, dtype=np.bool_))
    for number, (_, intent, row) in enumerate(rounds, 1):
        state = state.issue(*intent)
        state = state.withdraw(number) if row is None else state.answer(number, row)
    number, asked = state.issued + 1, np.array([True, True, False])
    both = state.issue(number, asked, [0.0, 1.0, 0.0], [-1.0, 1.0, 0.0]).answer(number, [0, 2, 1])
    grown = both.read().sums.pool.rounds - state.read().sums.pool.rounds
    counts = both.read().sums.pool.counts - state.read().sums.pool.counts
    assert grown.tolist() == [0, 0, 1]
    assert counts.tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    alone = np.array([True, False, False])
    after = state.issue(number, alone, np.zeros(3), -1.0 * alone).answer(number, [0, 2, 1])
    assert after.n == state.n and are_same(after.read(), state.read())


@pytest.mark.parametrize(
    "probes", [[0.5, 0, 0], [0, 1, 0], [0, 0, -1], [-1, 0, 0], [1, 0], [math.nan, 0, 0]]
)
def test_second_coins_go_with_the_first(probes: list[float]) -> None:
    """With the first variable at an end and the second one set by no coin of the round."""
    state = RandomizedSums.empty(~np.eye(3, dtype=np.bool_))
    with pytest.raises(cf.InvalidInputError, match="A second coin is 1 where"):
        state.issue(1, [True, True, False], [1.0, 0.0, 0.0], probes)
    assert state.issue(1, [True, True, False], [1.0, 0.0, 0.0], [1, -1, 0]).issued == 1


def test_many_variables_watch_the_largest_effects() -> None:
    p, rng = 20, np.random.default_rng(7)
    references = np.zeros((p, p))
    references[0, [3, 9, 15, 18]] = 1.0, -0.5, 0.8, 0.3
    stakes, guards = plain_stakes(p, references), GuardSums.empty(p)
    for t in range(ROUNDS_TO_CHOOSE * p * 3):
        asked = rng.random(p) < 0.5
        asked[0] = False
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=p), 0.0)
        intent = Intent(t + 1, asked, signs, np.abs(signs))
        guards = guards.count(intent, rng.normal(size=p), stakes)
    assert guards.curves.causes[0].tolist() == [3, 9, 15, 18]
    assert guards.curves.forms.shape == (p, N_LARGEST, p, p)
    assert (guards.curves.rounds[0] > 20).all() and guards.curves.rounds[0].max() < t / 2
    assert nats_of("middle", p) == pytest.approx(math.log(4 * p * N_LARGEST / 0.05))


def test_parts_are_kept_and_put_together() -> None:
    guards = count_all(play_probes(CHAIN, hidden, 4, 60))
    tree, arrays = take_apart(guards)
    assert are_same(put_together(GuardSums, tree, arrays), guards)


class Curved:
    """A learner, and a chain whose last response curves."""

    def __init__(self, seed: int, **options: object) -> None:
        actions = cf.ActionSet(dict.fromkeys(NAMES, (1, 5)), at_once=3)
        given = {"epsilon": 0.05, "delta": 0.05, "seed": seed} | options
        self.learner = cf.Focus(actions, cf.ModelClass(0.1), rule="randomized", **given)  # type: ignore[arg-type]
        self.rng = np.random.default_rng([seed, 5])

    def respond(self, action: cf.Action, bend: float) -> Floats:
        settings, x = dict(action.settings), self.rng.normal(size=3)
        x[0] = settings.get("X1", x[0] + 3.0)
        x[1] = settings.get("X2", x[1] + 0.8 * x[0])
        x[2] = settings.get("X3", x[2] - 0.6 * x[1] + bend * ((x[0] - 3.0) / 2.0) ** 2)
        return x

    def play(self, bend: float, most: int) -> cf.Focus:
        while not self.learner.has_stopped and self.learner.rounds < most:
            action = self.learner.ask()
            self.learner.tell(action, self.respond(action, bend))
        return self.learner


def test_a_curve_is_refuted() -> None:
    learner = Curved(seed=1).play(bend=2.5, most=4000)
    said = learner.result().refuted or ""
    assert learner.is_refuted
    assert "the response of X3 to X1 curves between the ends of the range of X1" in said
    assert "narrower range" in said
    (loudest, *_) = learner.alarms()
    assert (loudest.kind, loudest.node, loudest.cause) == ("middle", "X3", "X1")


def test_a_straight_response_is_not() -> None:
    learner = Curved(seed=1).play(bend=0.0, most=1500)
    assert not learner.is_refuted
    assert not any(alarm.kind == "middle" for alarm in learner.alarms())


def test_values_of_any_size_are_taken() -> None:
    guards, rng = GuardSums.empty(3), np.random.default_rng(4)
    for t in range(30):
        signs = np.array([*rng.choice([-1.0, 1.0], size=2), 0.0])
        intent = Intent(t + 1, signs != 0.0, signs, np.abs(signs))
        guards = guards.count(intent, 1e100 * rng.normal(size=3), plain_stakes())
    wide = Intervals(np.full((3, 3), -1e90), np.full((3, 3), 1e90), 1)
    rows, tests = np.nonzero(guards.curves.rounds)
    scales = guards.scales[rows]
    assert (bet_evidence(*curve_bounds(guards.curves, wide, rows, tests), scales) <= 0.0).all()
    hoped = bet_evidence(*curves_at_middle(guards.curves, wide), guards.scales[:, None])
    assert np.isfinite(hoped).all()


def test_replay_gives_the_same_to_the_bit() -> None:
    """In batches told in another order, with values that are missing and asks that are withdrawn;
    and a twin that is put the same asks.
    """
    one = Curved(seed=6)
    learner, other = one.learner, Curved(seed=6).learner
    for batch in range(80):
        actions = learner.ask_batch(4)
        for ask in learner.pending:
            other.put_ask(ask.number, ask.action, ask.coins, ask.with_second)
        numbers = [ask.number for ask in learner.pending]
        for i in one.rng.permutation(4):
            if (batch + i) % 9 == 0:
                learner.withdraw(numbers[i])
                other.withdraw(numbers[i])
                continue
            row = one.respond(actions[i], bend=1.0)
            row[2] = np.nan if (batch + i) % 7 == 0 else row[2]
            learner.tell(actions[i], row, ask=numbers[i])
            other.tell(actions[i], row, ask=numbers[i])
    coins = learner.state.coins
    assert coins is not None and coins.guards.curves.rounds.sum() > 15
    assert are_same(learner.replay().state.coins, coins)
    assert are_same(other.state.coins, coins)


def test_the_second_coins_of_an_ask_are_those_of_its_number() -> None:
    one = Curved(seed=2)
    learner, n_middles = one.learner, 0
    for _ in range(400):
        action = learner.ask()
        ask = learner.pending[-1]
        probes = probes_of(learner.seed, ask.number, ask.with_second, NAMES)
        for name, value in action.settings:
            side = probes[NAMES.index(name)]
            assert (value == 3.0) == (side < 0.0) and (side != 0.0) == (name in ask.with_second)
            n_middles += value == 3.0
        learner.tell(action, one.respond(action, 0.0))
    assert n_middles > 3
    assert sum(learner.counts.values()) == 400 == learner.state.counts.sum()
    assert learner.cost == 400.0
