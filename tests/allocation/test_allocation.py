"""AdaHedge and tracking: their lemmas hold on every path, adversarial ones included."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfocus.allocation import AdaHedge, Latitude, covering_action, forced_action, track
from causalfocus.arrays import Floats, Ints

K = 7


def tracked_action(counts: Floats, cumulative: Floats, t: int, share: float = 1.0) -> int:
    """What exploration asks for, else what lags behind (Eq. intervention_tracking)."""
    forced = forced_action(counts, t, share)
    return track(counts, cumulative, np.ones(len(counts))) if forced is None else forced


def one_hot(actions: Ints) -> Floats:
    """All weight on one action a round."""
    found: Floats = np.eye(K)[actions]
    return found


def allocations(kind: str, rounds: int, rng: np.random.Generator) -> Floats:
    """Sequences of allocations that try to make tracking fail."""
    if kind == "one action":
        return np.tile(np.eye(K)[3], (rounds, 1))
    if kind == "in turn":
        return one_hot(np.arange(rounds) % K)
    if kind == "long blocks":
        return one_hot(np.log2(np.arange(rounds) + 1).astype(np.int64) % K)
    if kind == "last minute":
        return one_hot(np.where(np.arange(rounds) < rounds // 2, 0, 6))
    if kind == "uniform":
        return np.full((rounds, K), 1 / K)
    return rng.dirichlet(np.full(K, 0.1), size=rounds)


KINDS = ["one action", "in turn", "long blocks", "last minute", "uniform", "random"]


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_tracking_keeps_its_bounds_on_the_whole_path(kind: str, share: float) -> None:
    """Lemma cumulative_tracking, for every t >= K and every action; the share scales its roots."""
    rounds = 20_000
    weights = allocations(kind, rounds, np.random.default_rng(0))
    counts, cumulative = np.zeros(K), np.zeros(K)
    for t in range(rounds):
        counts[tracked_action(counts, cumulative, t, share)] += 1
        cumulative += weights[t]
        now = t + 1
        if now >= K:
            root = share * math.sqrt(now)
            assert np.all(counts >= cumulative - (K - 1) * (root + 2) - 1e-9)
            assert np.all(counts <= np.maximum(1 + cumulative, root + 1) + 1e-9)
        if now >= K * K:
            assert counts.min() >= 0.5 * share * math.sqrt(now)
    assert counts.sum() == rounds


def test_every_action_is_played_once_at_the_start_in_order() -> None:
    counts = np.zeros(K)
    played = []
    for t in range(K):
        action = tracked_action(counts, np.eye(K)[2] * t, t)
        counts[action] += 1
        played.append(action)
    assert played == list(range(K))


def test_where_several_are_set_at_once_every_pair_keeps_occurring() -> None:
    """Far fewer rounds are forced than there are sets, and each pair still has its share."""
    p = 5
    sets = [s for n in range(p + 1) for s in itertools.combinations(range(p), n)]
    is_set = np.array([[j in s for j in range(p)] for s in sets])
    covers = (is_set[:, :, None] & ~is_set[:, None, :]).reshape(len(sets), -1).T
    covers = covers[covers.any(axis=1)]
    assert covers.shape == (p * (p - 1), len(sets))
    spent, costs, n_forced = np.zeros(len(sets)), np.ones(len(sets)), 0
    for t in range(400):
        forced = covering_action(covers, spent, costs, t, 0.5)
        n_forced += forced is not None
        spent[0 if forced is None else forced] += 1
        if t >= 100:
            assert (covers @ spent >= 0.5 * math.sqrt(t) - 1).all()
    assert (covers @ spent).min() >= 0.5 * math.sqrt(400) - 1
    assert n_forced < len(sets) * 2
    dear = np.where(is_set[:, 0], 50.0, 1.0)
    first = covering_action(covers, np.zeros(len(sets)), dear, 0.0, 0.5)
    assert first is not None and not is_set[first, 0]


def test_ties_in_tracking_go_to_the_first_action() -> None:
    assert tracked_action(np.full(4, 100.0), np.full(4, 50.0), 400) == 0
    assert tracked_action(np.array([101.0, 100.0, 100.0, 101.0]), np.ones(4) * 50, 402) == 1


def gains_of(kind: str, rounds: int, rng: np.random.Generator) -> Floats:
    if kind == "random":
        return rng.random((rounds, K))
    if kind == "sparse":
        return (rng.random((rounds, K)) < 0.02).astype(float)
    if kind == "alternating":
        return one_hot(np.arange(rounds) % 2)
    if kind == "late star":
        return one_hot(np.where(np.arange(rounds) < rounds // 2, 0, 6))
    if kind == "constant":
        return np.tile(np.linspace(0, 1, K), (rounds, 1))
    return np.zeros((rounds, K))


@pytest.mark.parametrize(
    "kind", ["random", "sparse", "alternating", "late star", "constant", "zero"]
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_regret_stays_below_its_bound(kind: str, scale: float) -> None:
    """Lemma adahedge_regret at every T, whatever the scale of the gains."""
    gains = gains_of(kind, 3000, np.random.default_rng(1)) * scale
    hedge = AdaHedge.start(K)
    earned, totals = 0.0, np.zeros(K)
    for t, row in enumerate(gains):
        assert hedge.weights.sum() == pytest.approx(1.0) and hedge.weights.min() >= 0
        earned += float(hedge.weights @ row)
        totals += row
        hedge = hedge.after(row)
        bound = math.sqrt((t + 1) * math.log(K)) + 4 / 3 * math.log(K) + 2
        assert totals.max() - earned <= scale * bound * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_regret_against_an_adversary_that_sees_the_weights(seed: int) -> None:
    """Each round the gain goes to the action that has least weight."""
    rng = np.random.default_rng(seed)
    hedge = AdaHedge.start(K)
    earned, totals = 0.0, np.zeros(K)
    for t in range(3000):
        row = np.zeros(K)
        row[int(np.argmin(hedge.weights + 1e-9 * rng.random(K)))] = 1.0
        earned += float(hedge.weights @ row)
        totals += row
        hedge = hedge.after(row)
        bound = math.sqrt((t + 1) * math.log(K)) + 4 / 3 * math.log(K) + 2
        assert totals.max() - earned <= bound


def test_an_early_leader_is_not_for_ever() -> None:
    """The literal update would never again give weight to an action that lost the first round."""
    hedge = AdaHedge.start(3)
    hedge = hedge.after(np.array([1.0, 0.9, 0.0]))
    assert hedge.weights[0] > hedge.weights[2]
    for _ in range(200):
        hedge = hedge.after(np.array([0.0, 0.0, 1.0]))
    assert hedge.weights[2] > 0.99


def test_infinite_rate_is_uniform_over_the_leaders() -> None:
    hedge = AdaHedge.start(4)
    hedge = hedge.after(np.zeros(4))
    assert hedge.learning_rate == math.inf
    assert hedge.weights.tolist() == [0.25] * 4


@given(seed=st.integers(0, 10**6), shift=st.floats(-5, 5), factor=st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_weights_do_not_depend_on_shift_and_scale_of_the_gains(
    seed: int, shift: float, factor: float
) -> None:
    gains = np.random.default_rng(seed).random((30, 5))
    plain, moved = AdaHedge.start(5), AdaHedge.start(5)
    for row in gains:
        plain = plain.after(row)
        moved = moved.after(factor * (row + shift))
    assert np.allclose(plain.weights, moved.weights, atol=1e-7)


def test_a_lost_action_that_gains_beyond_all_scales_spoils_nothing() -> None:
    """Weight zero times infinity is nothing, not nan."""
    hedge = AdaHedge.start(3)
    for _ in range(1000):
        hedge = hedge.after(np.array([1.0, 0.0, 1.0]))
    assert hedge.weights[1] == 0.0
    for _ in range(5):
        hedge = hedge.after(np.array([0.0, 1e12, 0.0]))
        assert hedge.gap > 0.0
        assert hedge.weights.sum() == pytest.approx(1.0)
    assert hedge.weights.argmax() == 1


def test_tracking_and_exploration_keep_to_what_is_allowed() -> None:
    """Compared with the same on the allowed actions alone."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        spent, played, costs = rng.random((3, 6)) + 0.1
        allowed = rng.random(6) < 0.5
        allowed[rng.integers(6)] = True
        latitude, kept = Latitude(allowed, allowed), np.flatnonzero(allowed)
        covers = rng.random((4, 6)) < 0.4
        assert (
            track(spent, played, costs, latitude)
            == kept[track(spent[kept], played[kept], costs[kept])]
        )
        forced, alone = forced_action(spent, 0.3, 1.0, latitude), forced_action(spent[kept], 0.3)
        assert forced == (None if alone is None else kept[alone])
        found = covering_action(covers, spent, costs, 3.0, 1.0, latitude)
        lacks = np.maximum(np.maximum(np.sqrt(3.0), 1.0) - covers @ spent, 0.0)
        worth = [float(lacks @ covers[:, i]) / costs[i] for i in kept]
        assert found == (kept[int(np.argmax(worth))] if max(worth) > 0.0 else None)
