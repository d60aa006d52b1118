"""The cheapest path, beside all orders."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from causalfocus.allocation.path import MOST_EXACT, cheapest_path
from causalfocus.arrays import Floats


def length(start: Floats, between: Floats, path: tuple[int, ...] | list[int]) -> float:
    return float(start[path[0]] + sum(between[a, b] for a, b in pairwise(path)))


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("seed", range(5))
def test_no_order_is_cheaper(m: int, seed: int) -> None:
    rng = np.random.default_rng([m, seed])
    start, between = rng.integers(0, 9, m).astype(float), rng.integers(0, 9, (m, m)).astype(float)
    orders = list(permutations(range(m)))
    found = cheapest_path(start, between)
    assert sorted(found) == list(range(m))
    assert length(start, between, found) == min(length(start, between, one) for one in orders)
    for last in range(m):
        ending = cheapest_path(start, between, last)
        assert sorted(ending) == list(range(m)) and ending[-1] == last
        assert length(start, between, ending) == min(
            length(start, between, one) for one in orders if one[-1] == last
        )


def test_many_places_are_taken_from_one_to_the_nearest() -> None:
    m = MOST_EXACT + 4
    places = np.array([7, 1, 11, 3, 0, 9, 5, 2, 10, 4, 8, 6], dtype=float)
    between = np.abs(places[:, None] - places[None, :])
    found = cheapest_path(places + 1.0, between)
    assert places[found].tolist() == list(range(m))
    ending = cheapest_path(places + 1.0, between, 4)
    assert places[ending].tolist() == [*range(1, m), 0]


def test_there_may_be_nowhere_to_go() -> None:
    assert cheapest_path(np.zeros(0), np.zeros((0, 0))) == []
