"""What a round is worth and the climb to the best set, against differences and enumeration."""

from dataclasses import replace

import numpy as np
import pytest

from causalfocus.allocation.coin_task import CoinTask
from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.randomized.cut import Room, climb
from causalfocus.kernels.randomized.responses import free_one, response, responses_to, set_one
from causalfocus.kernels.randomized.widths import Worths, means_of, ratios_and_worths, worth_of
from literal.coin_widths import every_set, squares


def drawn_task(p: int, seed: int, *, loops: bool) -> CoinTask:
    rng = np.random.default_rng(seed)
    weights = (rng.random((p, p)) < 0.5) * rng.uniform(-0.8, 0.8, (p, p))
    weights = np.where(np.eye(p), 0.0, weights) if loops else np.tril(weights, -1)
    return CoinTask(
        weights=weights,
        noise=rng.uniform(0.5, 1.5, p),
        half_ranges=rng.uniform(1.0, 3.0, p),
        radii=rng.uniform(0.05, 0.3, (p, p)),
        nats=6.0,
        at_once=p,
    )


def worths_at(task: CoinTask, sets: Bools, rounds: Floats) -> tuple[Floats, Worths]:
    """Prices of all pairs, after they were multiplied, and what rounds are worth at these."""
    p = task.p
    prices, ratio = np.where(np.eye(p), 0.0, 1.0), np.zeros((p, p))
    worths = Worths(np.zeros((p, p)), np.zeros((p, p, p)))
    means = means_of(sets, rounds, responses_to(task.weights, task.half_ranges > 0.0, sets))
    ratios_and_worths(task.stand(np.zeros((p, p))), means, prices, ratio, worths)
    return prices, worths


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_one_variable_more_or_less_is_as_solved_anew(seed: int, loops: bool) -> None:
    task, rng = drawn_task(6, seed, loops=loops), np.random.default_rng(seed)
    members = np.zeros(6, dtype=np.bool_)
    found = response(task.weights, members)
    for b in rng.integers(0, 6, 30):
        if members[b]:
            free_one(task.weights, found, b)
        else:
            set_one(found, b)
        members[b] = not members[b]
        assert found == pytest.approx(response(task.weights, members), abs=1e-9)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_a_round_is_worth_what_it_takes_off(seed: int, share: float, loops: bool) -> None:
    """By differences of the widths as they are defined, if a share of the effects may be there."""
    may_act = np.random.default_rng([seed, 5]).random((4, 4)) < share
    task = replace(drawn_task(4, seed, loops=loops), may_act=may_act)
    sets = every_set([0, 1, 2, 3], 4, 4)
    rounds = np.random.default_rng(seed).uniform(10.0, 50.0, len(sets))
    prices, worths = worths_at(task, sets, rounds)
    responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
    radii = np.where(np.eye(4), 1.0, task.radii)
    for m in range(len(sets)):
        step = 1e-3 * np.eye(len(sets))[m]
        fewer, more = (squares(task, sets, rounds + sign * step) for sign in (-1.0, 1.0))
        slow = (prices * (fewer - more) / radii**2).sum() / 2e-3
        assert worth_of(worths, sets[m], responses, m) == pytest.approx(slow, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("at_once", [2, 7])
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_climb_ends_where_no_flip_is_worth_more(seed: int, loops: bool, at_once: int) -> None:
    task, p = drawn_task(7, seed, loops=loops), 7
    listed = every_set(list(range(p)), p, p)
    rng = np.random.default_rng(seed)
    _, worths = worths_at(task, listed, rng.uniform(1.0, 9.0, len(listed)))
    room = Room(np.arange(p), at_once, 1.0, rng.uniform(0.0, 0.3, p))
    allowed = every_set(list(range(p)), at_once, p)
    responses = responses_to(task.weights, task.half_ranges > 0.0, allowed)
    slow = {
        row.tobytes(): worth_of(worths, row, responses, m) / (1.0 + room.costs[row].sum())
        for m, row in enumerate(allowed)
    }
    best = 0.0
    for start in np.eye(p, dtype=np.bool_):
        found = climb(worths, task.weights, room, start)
        assert found.worth == pytest.approx(slow[found.members.tobytes()], rel=1e-9)
        for flip in np.eye(p, dtype=np.bool_):
            near = slow.get((found.members ^ flip).tobytes(), 0.0)
            assert near <= found.worth * (1 + 1e-8)
        best = max(best, found.worth)
    assert best >= 0.95 * max(slow.values())
