"""The search for sets of variables against plain enumeration."""

import itertools

import numpy as np
import pytest

from causalfocus.allocation.search import Room, Worth, best_sets, climb
from causalfocus.arrays import Bools, Floats


def bumpy(p: int, seed: int) -> Worth:
    """Worth of single variables, of pairs and of the size of a set."""
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=p), rng.normal(size=(p, p))

    def worth(rows: Bools) -> Floats:
        x = rows.astype(float)
        found: Floats = x @ one + np.einsum("ni,ij,nj->n", x, two, x)
        return found

    return worth


def every_set(room: Room) -> list[tuple[int, ...]]:
    nodes = np.flatnonzero(room.may_set).tolist()
    sizes = range(room.at_once + 1)
    return [chosen for n in sizes for chosen in itertools.combinations(nodes, n)]


def as_row(chosen: tuple[int, ...], p: int) -> Bools:
    row = np.zeros(p, dtype=np.bool_)
    row[list(chosen)] = True
    return row


ROOM = Room(np.array([True, True, False, True, True, True]), 3)


@pytest.mark.parametrize("chosen", every_set(ROOM))
def test_neighbours_differ_in_one_variable_or_by_an_exchange(chosen: tuple[int, ...]) -> None:
    def is_near(other: tuple[int, ...]) -> bool:
        out, into = set(chosen) - set(other), set(other) - set(chosen)
        return len(out) + len(into) == 1 or (len(out) == 1 and len(into) == 1)

    slow = sorted(tuple(other) for other in every_set(ROOM) if is_near(other))
    found = [tuple(np.flatnonzero(row).tolist()) for row in ROOM.neighbours(as_row(chosen, 6))]
    assert sorted(found) == slow


@pytest.mark.parametrize("seed", range(8))
def test_a_climb_ends_where_no_neighbour_is_worth_more(seed: int) -> None:
    worth, p = bumpy(9, seed), 9
    room = Room(np.arange(p) != 4, 5)
    starts = np.array([as_row(chosen, p) for chosen in every_set(room)[:: 7 + seed]])
    rows, values = climb(worth, starts, room)
    assert len({row.tobytes() for row in rows}) == len(rows) <= len(starts)
    for row, value in zip(rows, values, strict=True):
        assert value == pytest.approx(worth(row[None])[0], rel=1e-12)
        assert worth(room.neighbours(row)).max() <= value + 1e-9 * abs(value)
        assert row.sum() <= 5 and not row[4]


def test_from_several_starts_it_mostly_finds_the_best_of_all() -> None:
    n_best = 0
    for seed in range(20):
        worth, room = bumpy(10, seed), Room(np.ones(10, dtype=np.bool_), 9)
        everything = np.array([as_row(chosen, 10) for chosen in every_set(room)])
        rows, values = best_sets(worth, everything[:11], room)
        again, _ = best_sets(worth, everything[:11], room)
        assert np.array_equal(rows, again) and (np.diff(values) <= 0).all()
        highest = worth(everything).max()
        assert values[0] <= highest + 1e-12
        n_best += values[0] >= highest - 1e-12
    assert n_best >= 16


def test_what_adds_up_is_found_by_greed_alone() -> None:
    weights = np.array([3.0, -1.0, 2.0, 0.5, 4.0])
    room = Room(np.ones(5, dtype=np.bool_), 3)
    path = room.greedy(lambda rows: rows @ weights)
    assert [np.flatnonzero(row).tolist() for row in path] == [[], [4], [0, 4], [0, 2, 4]]
    unset = Room(np.zeros(5, dtype=np.bool_), 3)
    assert not unset.greedy(lambda rows: rows @ weights).any()
