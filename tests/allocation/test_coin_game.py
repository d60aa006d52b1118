"""The design of the randomized rule against enumeration, other solvers and what must not matter."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from causalfocus.allocation.coin_game import (
    EXPLORED,
    EXPLORED_BY_SQUARE,
    CoinPlan,
    coin_complexity,
    explored_sets,
    half_widths,
    ideal_rounds,
    plan_rounds,
    rounds_to_go,
)
from causalfocus.allocation.coin_task import CoinTask
from causalfocus.allocation.set_plan import SetPlan
from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.widths import coverage
from literal.coin_widths import every_set, squares, squares_by_all


def drawn_task(p: int, seed: int, *, at_once: int = 1, loops: bool = False) -> CoinTask:
    rng = np.random.default_rng(seed)
    there = rng.random((p, p)) < (0.4 if loops else 0.7)
    weights = there * rng.uniform(0.3, 0.8 if loops else 1.5, (p, p)) * rng.choice([-1, 1], (p, p))
    weights = np.where(np.eye(p), 0.0, weights) if loops else np.tril(weights, -1)
    order = rng.permutation(p)
    return CoinTask(
        weights=weights[np.ix_(order, order)],
        noise=rng.uniform(0.5, 1.5, p),
        half_ranges=rng.uniform(0.5, 3.0, p),
        radii=rng.uniform(0.05, 0.3, (p, p)),
        nats=6.0,
        at_once=at_once,
    )


def nothing(task: CoinTask) -> Floats:
    return np.zeros((task.p, task.p))


def worst(task: CoinTask, sets: Bools, rounds: Floats) -> float:
    """The largest squared half width in units of the radius, by definition."""
    found = squares(task, sets, rounds) / task.radii**2
    return float(np.where(np.eye(task.p), 0.0, found).max())


def least_rounds(task: CoinTask, sets: Bools) -> float:
    """By another solver: shares x = exp(z) of sets, smoothly the largest of all pairs."""
    best, z = math.inf, np.zeros(len(sets))
    for power in (4.0, 16.0, 64.0, 256.0):

        def smooth(z: Floats, power: float = power) -> float:
            x = np.exp(z - z.max())
            found = squares(task, sets, x / x.sum()) / task.radii**2
            ratios = np.log(found[task.regressors])
            return float(
                ratios.max() + np.log(np.exp(power * (ratios - ratios.max())).sum()) / power
            )

        z = minimize(smooth, z, method="BFGS", options={"maxiter": 300}).x
        x = np.exp(z - z.max())
        best = min(best, worst(task, sets, x / x.sum()))
    return best


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_half_widths_are_those_of_the_definition(seed: int, at_once: int, loops: bool) -> None:
    task = drawn_task(4, seed, at_once=at_once, loops=loops)
    plan = plan_rounds(task, nothing(task), 300.0)
    covered = coverage(plan.sets, plan.shares)
    slow = np.sqrt(squares(task, plan.sets, plan.shares))
    assert half_widths(task, covered, plan) == pytest.approx(slow, rel=1e-9)
    assert plan.half_widths == pytest.approx(slow, rel=1e-9)
    assert plan.shares.sum() == pytest.approx(300.0)
    assert plan.sets.sum(axis=1).max() <= at_once


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_act_is_no_regressor(seed: int, at_once: int) -> None:
    """Half widths are those of the rows without it, it is not asked, and the game knows: it finds
    the best singles, with fewer rounds, and no coin is tossed for what it alone would tell.
    """
    plain = drawn_task(4, seed, at_once=at_once)
    may_act = np.random.default_rng(seed).random((4, 4)) < 0.6
    task = replace(plain, may_act=may_act)
    assert np.array_equal(task.scales > 0.0, may_act & ~np.eye(4, dtype=np.bool_))
    plan = plan_rounds(task, nothing(task), 300.0)
    slow = np.sqrt(squares(task, plan.sets, plan.shares))
    assert plan.half_widths == pytest.approx(slow, rel=1e-9)
    assert (plan.to_go > 0.0)[may_act & ~np.eye(4, dtype=np.bool_)].all()
    assert not plan.to_go[~may_act].any()
    found = ideal_rounds(task, "singles")
    assert found == pytest.approx(least_rounds(task, np.eye(4, dtype=np.bool_)), rel=0.01)
    assert found < ideal_rounds(plain, "singles")


@pytest.mark.parametrize("seed", range(4))
def test_halves_are_the_mean_over_all_sets(seed: int) -> None:
    """Also where a variable between two others has no coin."""
    task = drawn_task(5, seed, at_once=5)
    if seed % 2:
        kept = np.arange(5) != 2
        radii = np.where(kept, task.radii, np.inf)
        task = replace(task, half_ranges=np.where(kept, task.half_ranges, 0.0), radii=radii)
    sets = every_set(task.coins.tolist(), 5, 6)[:, :5]
    n = 2.0 ** len(task.coins)
    slow = squares(task, sets, np.full(len(sets), 1 / n))
    asked = np.isfinite(task.radii) & ~np.eye(5, dtype=np.bool_)
    most = (slow[asked] / task.radii[asked] ** 2).max()
    assert ideal_rounds(task, "halves") == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_singles_are_the_best_there_are_and_the_bound_proves_it(seed: int, loops: bool) -> None:
    task = drawn_task(4, seed, loops=loops)
    found, hardness = ideal_rounds(task, "singles"), coin_complexity(task)
    assert found == pytest.approx(least_rounds(task, np.eye(4, dtype=np.bool_)), rel=0.01)
    assert hardness.value == pytest.approx(task.nats / found)
    assert hardness.value <= hardness.upper <= 1.006 * hardness.value


@pytest.mark.parametrize(("p", "seed"), [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1)])
def test_the_plan_is_as_good_as_another_solver_with_all_sets(p: int, seed: int) -> None:
    task = drawn_task(p, seed, at_once=p)
    slow = least_rounds(task, every_set(list(range(p)), p, p))
    assert ideal_rounds(task, "plan") <= 1.03 * slow
    assert slow <= 1.03 * ideal_rounds(task, "plan")


@pytest.mark.parametrize("seed", range(4))
def test_no_weighing_of_the_coins_needs_much_less(seed: int) -> None:
    """Information is linear in the rounds, so a bound holds for all designs: for every choice of
    prices, (sum of prices times squares)^2 / (sum of prices) / (the most that a set is worth). With
    ranges and radii that differ much it can be much lower.
    """
    task = drawn_task(5, seed, at_once=5)
    task = replace(task, half_ranges=np.full(5, 2.0), radii=np.full((5, 5), 0.1))
    sets = every_set(list(range(5)), 5, 5)
    rounds, prices = np.ones(len(sets)), np.where(np.eye(5), 0.0, 1.0)
    radii = np.where(np.eye(5), 1.0, task.radii)
    least, most = 0.0, math.inf
    for _ in range(60):
        found, inverses = squares_by_all(task, sets, rounds)
        ratios = found / radii**2
        most = min(most, float(ratios.max() * rounds.sum()))
        prices *= ratios
        paid = prices * 2 * task.nats * task.noise[:, None] / radii**2
        gains = np.zeros(len(sets))
        for m, row in enumerate(sets):
            struck = np.where(row[:, None], 0.0, task.weights)
            moved = np.linalg.inv(np.eye(5) - struck) * row * task.half_ranges
            for j in np.flatnonzero(~row):
                others = np.arange(5) != j
                gains[m] += paid[j, others] @ ((inverses[j] @ moved[others]) ** 2).sum(axis=1)
        least = max(least, (prices * ratios).sum() ** 2 / prices.sum() / gains.max())
        rounds *= np.sqrt(gains / (gains @ rounds / rounds.sum()))
        prices /= prices.sum()
    plan = ideal_rounds(task, "plan")
    assert least <= most * (1 + 1e-9)
    assert least <= plan <= 1.35 * least


@pytest.mark.parametrize("at_once", [1, 3])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), exponents=st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_units_do_not_matter(seed: int, exponents: list[int], at_once: int) -> None:
    """Powers of two, so that nothing is rounded otherwise."""
    task, unit = drawn_task(4, seed, at_once=at_once), 2.0 ** np.array(exponents)
    other = replace(
        task,
        weights=task.weights * unit[:, None] / unit,
        noise=task.noise * unit**2,
        half_ranges=task.half_ranges * unit,
        radii=task.radii * unit[:, None] / unit,
    )
    one, two = (plan_rounds(each, nothing(task), 50.0) for each in (task, other))
    assert two.rounds == pytest.approx(one.rounds, rel=1e-6)
    assert two.half_widths == pytest.approx(one.half_widths * unit[:, None] / unit, rel=1e-4)


@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_names_do_not_matter(seed: int, at_once: int) -> None:
    """But for which sets are explored, and for ties."""
    task = drawn_task(4, seed, at_once=at_once)
    order = np.random.default_rng(seed).permutation(4)
    square = np.ix_(order, order)
    other = replace(
        task,
        weights=task.weights[square],
        noise=task.noise[order],
        half_ranges=task.half_ranges[order],
        radii=task.radii[square],
    )
    assert ideal_rounds(other) == pytest.approx(ideal_rounds(task), rel=0.03)
    assert ideal_rounds(other, "halves") == pytest.approx(ideal_rounds(task, "halves"), rel=1e-6)
    assert ideal_rounds(other, "singles") == pytest.approx(ideal_rounds(task, "singles"), rel=0.006)


@pytest.mark.parametrize("at_once", [1, 3])
def test_what_costs_more_is_done_less_and_costs_more_in_all(at_once: int) -> None:
    task = drawn_task(4, 5, at_once=at_once)
    before, share = 0.0, 1.0
    for price in (0.0, 1.0, 4.0, 16.0):
        dear = replace(task, costs=np.array([price, 0.0, 0.0, 0.0]))
        plan = plan_rounds(dear, nothing(task), 1.0)
        assert plan.cost >= 0.99 * before
        now = float(plan.shares[plan.sets[:, 0]].sum())
        assert now <= share + 1e-3
        before, share = plan.cost, now


def test_a_price_for_everything_is_only_another_currency() -> None:
    task = drawn_task(4, 1)
    plan = plan_rounds(task, nothing(task), 10.0)
    other = plan_rounds(replace(task, base_cost=3.0), nothing(task), 10.0)
    assert other.rounds == pytest.approx(plan.rounds, rel=1e-9)
    assert other.cost == pytest.approx(3.0 * plan.cost, rel=1e-9)
    summed = replace(task, base_cost=0.0, costs=np.full(4, 3.0))
    assert plan_rounds(summed, nothing(task), 10.0).cost == pytest.approx(other.cost, rel=1e-9)


@pytest.mark.parametrize(("p", "at_once"), [(4, 1), (5, 5), (9, 9), (9, 3)])
def test_a_plan_is_kept(p: int, at_once: int) -> None:
    """Played to its end by its own shares, all is settled when it said, and no later for planning
    anew on the way; one round before, it is not.
    """
    task = drawn_task(p, 3, at_once=at_once)
    plan = plan_rounds(task, nothing(task), 100.0)
    rates = coverage(plan.sets, plan.shares) / 100.0
    settled = np.where(np.eye(p), np.inf, task.radii)
    assert (half_widths(task, plan.rounds * rates, plan) <= settled * (1 + 1e-6)).all()
    assert not (half_widths(task, (plan.rounds - 1.0) * rates, plan) <= settled).all()
    assert (
        plan.to_go.max()
        == plan.rounds
        == pytest.approx(rounds_to_go(task, nothing(task), plan), rel=1e-6)
    )
    half = 0.5 * plan.rounds
    assert rounds_to_go(task, half * rates, plan) == pytest.approx(half, rel=1e-6)
    again = plan_rounds(task, half * rates, 100.0, SetPlan(plan.sets, plan.shares))
    assert again.cost <= 1.01 * half
    assert again.least <= again.cost


@pytest.mark.parametrize("n", [*range(2, 21), 50, 100])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_every_coin_is_tossed_with_every_other_free(n: int, at_once: int) -> None:
    sets = explored_sets(np.arange(1, n + 1), at_once, n + 2)
    found = coverage(sets, np.ones(len(sets)))[:, 1 : n + 1]
    found = found[~np.eye(n + 2, dtype=np.bool_)[:, 1 : n + 1]]
    assert found.min() >= 1.0
    assert sets.sum(axis=0)[1 : n + 1].tolist() == [max(min(at_once, n // 2), 1)] * n
    if at_once == 100 and n >= 50:
        assert found.min() >= 0.1 * n


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_a_share_is_explored_whatever_the_estimate_says(at_once: int) -> None:
    task = drawn_task(8, 2, at_once=at_once)
    plan = plan_rounds(task, nothing(task), 80.0)
    least = coverage(explored_sets(task.coins, at_once, 8), np.full(8, 10.0))
    kept = coverage(plan.sets, plan.shares)
    share = 64 * EXPLORED_BY_SQUARE if at_once == 1 else EXPLORED
    assert (kept >= share * least * 0.999).all()


def test_more_at_once_needs_fewer_rounds() -> None:
    task = drawn_task(8, 4)
    found = [ideal_rounds(replace(task, at_once=n)) for n in (1, 2, 4, 8)]
    assert found[1] < 0.9 * found[0] and found[2] < 0.95 * found[1] and found[3] < 1.03 * found[2]
    assert found[3] < 0.8 * ideal_rounds(replace(task, at_once=8), "halves")


def test_the_same_question_has_the_same_answer() -> None:
    task = drawn_task(9, 4, at_once=9)
    one, two = (plan_rounds(task, nothing(task), 7.0) for _ in range(2))
    assert one.sets.tobytes() == two.sets.tobytes()
    assert one.shares.tobytes() == two.shares.tobytes()


def with_nothing_asked() -> CoinTask:
    return replace(drawn_task(3, 0, at_once=3), radii=np.full((3, 3), np.inf))


def is_idle(plan: CoinPlan) -> bool:
    return plan.rounds == plan.cost == 0.0 and not plan.to_go.any()


def test_with_nothing_to_settle_coins_are_tossed_all_the_same() -> None:
    task = with_nothing_asked()
    plan = plan_rounds(task, nothing(task), 6.0)
    assert is_idle(plan) and plan.shares.sum() == pytest.approx(6.0)
    assert (coverage(plan.sets, plan.shares)[~np.eye(3, dtype=np.bool_)] > 0.0).all()
    assert [ideal_rounds(task, design) for design in ("halves", "singles", "plan")] == [0.0] * 3
    assert coin_complexity(task).value == math.inf


@pytest.mark.parametrize("at_once", [1, 4])
def test_when_all_is_settled_the_plan_goes_on(at_once: int) -> None:
    task = drawn_task(4, 0, at_once=at_once)
    plan = plan_rounds(task, np.full((4, 4), 1e7), 50.0)
    assert is_idle(plan) and plan.shares.sum() == pytest.approx(50.0)
    assert rounds_to_go(task, np.full((4, 4), 1e7)) == 0.0


def test_one_variable_alone() -> None:
    one = np.zeros((1, 1))
    task = CoinTask(
        weights=one, noise=np.ones(1), half_ranges=np.ones(1), radii=one, nats=3.0, at_once=1
    )
    assert is_idle(plan_rounds(task, one, 5.0)) and ideal_rounds(task) == 0.0


def test_a_variable_that_cannot_be_set_is_never_settled_and_spoils_nothing() -> None:
    task = drawn_task(4, 1, at_once=2)
    lame = replace(task, half_ranges=np.where(np.arange(4) == 1, 0.0, task.half_ranges))
    plan = plan_rounds(lame, nothing(task), 10.0)
    assert not plan.sets[:, 1].any() and plan.rounds == ideal_rounds(lame) == math.inf
    others = np.delete(np.arange(4), 1)
    assert np.isinf(plan.to_go[others, 1]).all() and np.isinf(plan.half_widths[others, 1]).all()
    assert np.isfinite(plan.to_go[:, others]).all() and coin_complexity(lame).value == 0.0
    outcome = replace(lame, radii=np.where(np.arange(4) == 1, np.inf, lame.radii))
    assert 0.0 < plan_rounds(outcome, nothing(task), 10.0).rounds < math.inf


def test_no_coin_at_all() -> None:
    task = replace(drawn_task(3, 0, at_once=2), half_ranges=np.zeros(3))
    plan = plan_rounds(task, nothing(task), 4.0)
    assert len(plan.sets) == len(plan.shares) == 0 and plan.rounds == math.inf


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_a_loop_that_feeds_back_all_it_gets_still_has_a_plan(at_once: int) -> None:
    weights = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    task = replace(drawn_task(3, 0, at_once=at_once), weights=weights)
    plan = plan_rounds(task, nothing(task), 10.0)
    assert np.isfinite(plan.shares).all() and plan.shares.sum() == pytest.approx(10.0)


BAD: list[tuple[dict[str, object], str]] = [
    ({"weights": np.zeros((2, 3))}, "weights has shape"),
    ({"weights": np.full((3, 3), np.nan)}, "weights must be finite"),
    ({"noise": np.array([1.0, -1.0, 1.0])}, "noise must be finite, and not negative"),
    ({"radii": np.zeros((3, 3))}, "radii must be positive"),
    ({"nats": 0.0}, "nats must be a positive number"),
    ({"at_once": 0}, "at_once must be 1 or more"),
    ({"base_cost": 0.0}, "must have a positive and finite cost"),
    ({"costs": np.array([0.0, -0.5, 0.0])}, "costs must not be negative"),
    ({"may_act": np.ones((2, 2), dtype=np.bool_)}, "may_act is a table of 3 by 3"),
    ({"may_act": np.ones((3, 3))}, "may_act is a table of 3 by 3 of True and False"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD)
def test_a_wrong_task_says_so(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        replace(drawn_task(3, 0), **wrong)  # type: ignore[arg-type]


def test_wrong_questions_say_so() -> None:
    task = drawn_task(3, 0)
    with pytest.raises(InvalidInputError, match="covered is a table"):
        half_widths(task, np.zeros((2, 2)))
    with pytest.raises(InvalidInputError, match="ahead is a positive number"):
        plan_rounds(task, nothing(task), 0.0)
    with pytest.raises(InvalidInputError, match="design must be"):
        ideal_rounds(task, "thirds")  # type: ignore[arg-type]
