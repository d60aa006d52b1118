"""Moments: order, bulk and parts do not matter; expected ones are the limit of sampled ones."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.sums import moment_sums
from instances import draw_member, expected_rows, model_class
from worlds import action_set, draw_samples, move

NAMES = ("X1", "X2", "X3")


def stream(n: int, seed: int, offset: float = 0.0) -> tuple[list[cf.Action], Floats]:
    model = cf.random_sem(3, density=0.7, seed=seed)
    rng = np.random.default_rng(seed)
    taken, samples = draw_samples(model, n, rng)
    return [move(action, lambda value: value + offset) for action in taken], samples + offset


def assert_same_rows(a: cf.Moments, b: cf.Moments, *, to_the_last_bit: bool = True) -> None:
    for intercept in (False, True):
        one, other = a.rows(intercept=intercept), b.rows(intercept=intercept)
        assert np.array_equal(one.counts, other.counts)
        if to_the_last_bit:
            assert np.array_equal(one.grams, other.grams)
            assert np.array_equal(one.lows, other.lows)
            assert np.array_equal(one.means, other.means)
        else:
            off = np.abs((one.grams - other.grams) + (one.lows - other.lows))
            assert (off <= 1e-28 * (1.0 + np.abs(one.grams).max(initial=0.0))).all()
            assert one.means == pytest.approx(other.means, rel=1e-14, abs=1e-14)


@given(seed=st.integers(0, 10**6), n=st.integers(0, 40), cut=st.integers(0, 40))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_single_bulk_merged_and_shuffled_are_the_same_numbers(seed: int, n: int, cut: int) -> None:
    """One by one and in bulk to the last bit. Another order has another origin, and that is in the
    last of 106 bits.
    """
    taken, samples = stream(n, seed, offset=float(seed % 3) * 1e3)
    single, bulk, merged, shuffled = (cf.Moments(NAMES) for _ in range(4))
    for action, sample in zip(taken, samples, strict=True):
        single.add(action, sample)
    bulk.add_many(taken, samples)
    part = cf.Moments(NAMES)
    merged.add_many(taken[:cut], samples[:cut])
    part.add_many(taken[cut:], samples[cut:])
    merged.merge(part)
    order = np.random.default_rng(seed).permutation(n)
    shuffled.add_many([taken[i] for i in order], samples[order])
    for other in (bulk, single.copy()):
        assert_same_rows(single, other)
    for other in (merged, shuffled):
        assert_same_rows(single, other, to_the_last_bit=False)


def exact_gram(samples: Floats, *, centred: bool) -> Floats:
    """In rational arithmetic, rounded once at the end."""
    columns = [[Fraction(float(v)) for v in column] for column in samples.T]
    n = len(samples)
    means = [sum(column) / n if centred else Fraction(0) for column in columns]
    return np.array(
        [
            [
                float(sum((a - m) * (b - k) for a, b in zip(x, y, strict=True)))
                for y, k in zip(columns, means, strict=True)
            ]
            for x, m in zip(columns, means, strict=True)
        ]
    )


@pytest.mark.parametrize("offset", [0.0, 300.0, 1e6, 1e9])
@pytest.mark.parametrize("intercept", [False, True])
def test_sums_are_exact_even_far_from_zero(offset: float, intercept: bool) -> None:
    """Centring at an offset of 1e9 would leave nothing of a plain sum of squares; 106 bits do."""
    rng = np.random.default_rng(0)
    samples = offset + rng.standard_normal((50, 3))
    moments = cf.Moments(NAMES)
    moments.add_many([cf.OBSERVE] * 50, samples)
    gram = moments.rows(intercept=intercept).grams[0]
    expected = exact_gram(samples, centred=intercept)
    assert np.allclose(gram, expected, rtol=4e-16, atol=1e-31 * 50 * offset**2)


def test_a_node_sees_only_the_samples_in_which_it_was_not_set() -> None:
    taken, samples = stream(60, 4)
    moments = cf.Moments(NAMES)
    moments.add_many(taken, samples)
    rows = moments.rows(intercept=True)
    for j, name in enumerate(NAMES):
        mine = samples[[action.target != name for action in taken]]
        assert rows.counts[j] == len(mine)
        assert np.allclose(rows.means[j], mine.mean(axis=0))
        assert np.allclose(rows.grams[j], (mine - mine.mean(axis=0)).T @ (mine - mine.mean(axis=0)))


def test_mappings_may_leave_out_the_node_that_was_set() -> None:
    one, other = cf.Moments(NAMES), cf.Moments(NAMES)
    one.add(cf.do("X2", 0.0), {"X3": 1.5, "X1": -0.5})
    other.add(cf.do("X2", 0.0), [-0.5, 0.0, 1.5])
    assert_same_rows(one, other)


def test_a_value_that_went_through_text_counts_as_the_assigned_one() -> None:
    one, other = cf.Moments(NAMES), cf.Moments(NAMES)
    one.add(cf.do("X1", 1 / 3), [0.3333333333, 0.0, 1.0])
    other.add(cf.do("X1", 1 / 3), [1 / 3, 0.0, 1.0])
    assert_same_rows(one, other)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_expected_moments_equal_the_referees(seed: int, intercept: bool) -> None:
    rng = np.random.default_rng(seed)
    space = model_class("paper", intercept=intercept)
    model = draw_member(4, space, rng)
    actions = action_set(model.names)
    weights = dict(zip(actions, rng.exponential(size=len(actions)).tolist(), strict=True))
    rows = cf.Moments.expected(model, weights).rows(intercept=intercept)
    referee = expected_rows(model, weights, intercept=intercept)
    assert np.allclose(rows.counts, referee.counts, rtol=1e-12)
    for j in range(4):
        gram = referee.gram[j]
        if intercept:
            gram = gram[:4, :4] - np.outer(gram[:4, 4], gram[:4, 4]) / referee.counts[j]
        assert np.allclose(rows.grams[j], gram, rtol=1e-10, atol=1e-10)


def test_expected_moments_are_the_limit_of_sampled_ones() -> None:
    model = cf.random_sem(3, density=1.0, seed=2)
    actions = action_set(model.names)
    n = 40_000
    sampled = cf.Moments(model.names)
    rng = np.random.default_rng(0)
    for action in actions:
        sampled.add_many([action] * n, model.sample(action, n, rng))
    expected = cf.Moments.expected(model, dict.fromkeys(actions, float(n)))
    a, b = sampled.rows(intercept=True).grams, expected.rows(intercept=True).grams
    assert np.allclose(a / n, b / n, atol=0.25)
    assert sampled.n == expected.n == n * len(actions)


def test_expected_moments_keep_the_spread_around_a_large_mean() -> None:
    near = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    far = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0, [1e8, 0.0])
    a = cf.Moments.expected(near, {cf.OBSERVE: 7.0}).rows(intercept=True).grams
    b = cf.Moments.expected(far, {cf.OBSERVE: 7.0}).rows(intercept=True).grams
    assert np.allclose(a, b, rtol=1e-12)


def test_what_was_read_before_does_not_go_stale() -> None:
    """Views are kept between samples; whatever adds to the sums must drop them."""
    moments, other = cf.Moments(["a", "b"]), cf.Moments(["a", "b"])
    other.add(cf.OBSERVE, [5.0, 6.0])
    changes: list[Callable[[], object]] = [
        lambda: moments.add(cf.OBSERVE, [1.0, 2.0]),
        lambda: moments.add_many([cf.do("a", 3.0)], [[3.0, 4.0]]),
        lambda: moments.merge(other),
    ]
    for change in changes:
        before = moments.copy()
        for intercept in (False, True):
            moments.rows(intercept=intercept)
        change()
        for intercept in (False, True):
            now = moments.rows(intercept=intercept)
            found = moment_sums.row_moments(moments._state.sums[int(intercept)], intercept)
            assert np.array_equal(now.grams, found.grams)
            assert np.array_equal(now.counts, found.counts)
    assert moments.rows(intercept=False).counts.tolist() == [2.0, 3.0]
    assert before.rows(intercept=False).counts.tolist() == [1.0, 2.0]  # a copy stays as it was
    before.add(cf.OBSERVE, [0.0, 0.0])
    assert (moments.n, before.n) == (3.0, 3.0)
    assert not np.array_equal(moments._state.sums, before._state.sums)
