"""The oracles of the referee against lists of all DAGs."""

from itertools import product
from math import factorial, inf, log
from typing import Any

import numpy as np
import pytest

from literal import (
    OBSERVE,
    Bounds,
    Reference,
    Rows,
    brute_force_alternative,
    brute_force_mle,
    different_graph_alternative,
    enumerate_dags,
    finite_alternative_oracle,
    finite_joint_mle,
    negative_log_likelihood,
    same_graph_alternative,
    weighted_divergence,
)
from literal.problem import Array
from oracles.literal_problems import (
    BOUNDED,
    UNBOUNDED,
    draw,
    each_class,
    fields_of,
    in_class,
    random_actions,
    random_alternative,
    random_data_rows,
    random_reference,
    weighted_divergence_by_the_book,
)


def test_number_of_dags() -> None:
    assert [len(enumerate_dags(p)) for p in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert len(set(enumerate_dags(4))) == 543


@pytest.mark.parametrize("p", [2, 3, 4])
@each_class
@pytest.mark.parametrize("intercept", [False, True])
def test_joint_mle_is_the_best_of_all_dags(p: int, bounds: Bounds, intercept: bool) -> None:
    rng = np.random.default_rng(12)
    # Without a lower bound on the variance, samples that can be interpolated are another matter.
    small = () if bounds.variance_low == 0.0 else (1, p)
    for n in (*small, 4 * p, 60, 60, 60):
        rows = random_data_rows(rng, p, n, bounds, intercept)
        fit = finite_joint_mle(rows, bounds, memoise=True)
        best = brute_force_mle(rows, bounds)
        assert fit.branch is None
        assert fit.value == pytest.approx(best.value, rel=1e-9, abs=1e-8)
        assert in_class(fit, bounds)
        at_fit = negative_log_likelihood(rows, *fields_of(fit))
        assert at_fit == pytest.approx(fit.value, rel=1e-9, abs=1e-8)
        if n == 60:
            assert fit.parents == best.parents
            np.testing.assert_allclose(fit.weights, best.weights, atol=1e-6)
            np.testing.assert_allclose(fit.variances, best.variances, rtol=1e-6)
            np.testing.assert_allclose(fit.intercepts, best.intercepts, atol=1e-6)


def test_joint_mle_without_any_sample() -> None:
    for bounds, variance in ((BOUNDED, 0.25), (UNBOUNDED, 1.0)):
        fit = finite_joint_mle(Rows(np.zeros((3, 4, 4)), np.zeros(3)), bounds)
        assert fit.value == 0.0
        assert fit.parents == (frozenset(),) * 3
        np.testing.assert_array_equal(fit.variances, variance)


def test_joint_mle_of_samples_it_can_interpolate_stays_finite() -> None:
    """The value is rounding divided by the variance floor, so that few of its digits are real."""
    rng = np.random.default_rng(22)
    for n in (1, 2, 3):
        rows = random_data_rows(rng, 3, n, UNBOUNDED, True)
        fit, best = finite_joint_mle(rows, UNBOUNDED), brute_force_mle(rows, UNBOUNDED)
        assert np.isfinite(fit.value)
        assert fit.value == pytest.approx(best.value, rel=0.05)
        assert in_class(fit, UNBOUNDED)


def test_joint_mle_recovers_the_graph_from_many_interventions() -> None:
    rng = np.random.default_rng(13)
    theta = random_reference(rng, 4, BOUNDED, shift=1.0)
    actions = [(OBSERVE, 0.0), *product(range(4), (-2.0, 2.0))]
    rows = Rows.from_data(*draw(rng, theta, actions, 300), True)
    fit = finite_joint_mle(rows, BOUNDED, memoise=True)
    assert fit.parents == theta.parents
    np.testing.assert_allclose(fit.weights, theta.weights, atol=0.15)
    np.testing.assert_allclose(fit.variances, theta.variances, rtol=0.2)
    np.testing.assert_allclose(fit.intercepts, theta.intercepts, atol=0.2)


def test_joint_mle_follows_a_change_of_units() -> None:
    rng = np.random.default_rng(14)
    rows = random_data_rows(rng, 3, 60, UNBOUNDED, True)
    free = Bounds(0.0, inf, 0.0, inf)
    for unit in (1e-6, 1e6):
        units = np.array([unit, unit, unit, 1.0])
        scaled = Rows(rows.gram * np.outer(units, units), rows.counts)
        fit, other = finite_joint_mle(rows, free), finite_joint_mle(scaled, free)
        assert other.value == pytest.approx(fit.value + rows.counts.sum() * log(unit), rel=1e-9)


@pytest.mark.parametrize("p", [2, 3, 4])
@each_class
@pytest.mark.parametrize("intercept", [False, True])
def test_alternative_is_the_best_of_all_dags(p: int, bounds: Bounds, intercept: bool) -> None:
    rng = np.random.default_rng(15)
    for radius in (0.02, 0.15, 0.15, 0.6, 2.5, 5.0):
        rows, theta = random_alternative(rng, p, bounds, intercept)
        fit = finite_alternative_oracle(rows, bounds, theta, radius, memoise=True)
        best = brute_force_alternative(rows, bounds, theta, radius)
        assert fit is not None and best is not None
        assert fit.value == pytest.approx(best.value, rel=1e-7, abs=1e-9)
        assert in_class(fit, bounds)
        moved = float(np.abs(fit.weights - theta.weights).max())
        assert fit.parents != theta.parents or moved >= radius * (1 - 1e-12)
        at_fit = weighted_divergence(rows, theta.variances, *fields_of(fit))
        assert at_fit == pytest.approx(fit.value, rel=1e-7, abs=1e-9)


def test_alternative_value_is_the_weighted_divergence_of_the_returned_parameter() -> None:
    rng = np.random.default_rng(16)
    for _ in range(10):
        theta = random_reference(rng, 3, BOUNDED, shift=1.0)
        actions, action_weights = random_actions(rng, 3, 7)
        rows = Rows.expected(*fields_of(theta), actions, action_weights, True)
        fit = finite_alternative_oracle(rows, BOUNDED, theta, 0.15, memoise=True)
        assert fit is not None
        book = weighted_divergence_by_the_book(theta, fit, actions, action_weights)
        assert fit.value == pytest.approx(book, rel=1e-8, abs=1e-9)


def test_both_branches_are_reached_and_the_better_is_returned() -> None:
    rng = np.random.default_rng(17)
    reached = set()
    for radius in (0.05, 0.05, 0.1, 1.0, 1.0, 1.0):
        rows, theta = random_alternative(rng, 3, BOUNDED, False)
        same = same_graph_alternative(rows, BOUNDED, theta, radius, memoise=True)
        different = different_graph_alternative(rows, BOUNDED, theta, memoise=True)
        fit = finite_alternative_oracle(rows, BOUNDED, theta, radius, memoise=True)
        assert fit is not None and different is not None
        assert fit.value == min(different.value, inf if same is None else same.value)
        assert different.branch == "different_graph" and different.parents != theta.parents
        if same is not None:
            assert same.branch == "same_graph" and same.parents == theta.parents
            assert (np.any(same.weights != theta.weights, axis=1)).sum() == 1
        reached.add(fit.branch)
    assert reached == {"same_graph", "different_graph"}


def test_no_alternative_at_all() -> None:
    single = Reference(np.zeros((1, 1)), np.ones(1), np.zeros(1))
    rows = Rows.expected(*fields_of(single), [(OBSERVE, 0.0)], [1.0], True)
    assert finite_alternative_oracle(rows, BOUNDED, single, 0.1) is None
    assert brute_force_alternative(rows, BOUNDED, single, 0.1) is None


def test_same_graph_branch_is_empty_when_no_coefficient_can_move_that_far() -> None:
    rows, theta = random_alternative(np.random.default_rng(18), 3, BOUNDED, False)
    assert same_graph_alternative(rows, BOUNDED, theta, 5.0) is None


def test_actions_without_weight_leave_nothing_to_distinguish() -> None:
    theta = random_reference(np.random.default_rng(19), 3, BOUNDED, shift=1.0)
    rows = Rows.expected(*fields_of(theta), [(OBSERVE, 0.0), (1, 2.0)], [0.0, 0.0], True)
    fit = finite_alternative_oracle(rows, BOUNDED, theta, 0.1)
    assert fit is not None
    assert fit.value == 0.0
    assert in_class(fit, BOUNDED)


@pytest.mark.parametrize("intercept", [False, True])
def test_memoising_changes_nothing(intercept: bool) -> None:
    rng = np.random.default_rng(20)
    for p in (2, 3, 4):
        data = random_data_rows(rng, p, 40, BOUNDED, intercept)
        rows, theta = random_alternative(rng, p, BOUNDED, intercept)
        mle = [finite_joint_mle(data, BOUNDED, memoise=m) for m in (False, True)]
        alternative = [
            finite_alternative_oracle(rows, BOUNDED, theta, 0.15, memoise=m) for m in (False, True)
        ]
        for plain, remembered in (mle, alternative):
            assert plain is not None and remembered is not None
            assert (plain.value, plain.branch) == (remembered.value, remembered.branch)
            assert plain.parents == remembered.parents
            for a, b in zip(fields_of(plain), fields_of(remembered), strict=True):
                np.testing.assert_array_equal(a, b)


def test_without_memoising_every_permutation_solves_its_own_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import literal.quadratic as module

    solved = 0
    genuine = module._solve_scaled

    def count(*arguments: Any) -> Array:
        nonlocal solved
        solved += 1
        return genuine(*arguments)

    monkeypatch.setattr(module, "_solve_scaled", count)
    p = 4
    rows = random_data_rows(np.random.default_rng(21), p, 40, BOUNDED, False)
    finite_joint_mle(rows, BOUNDED)
    assert solved == factorial(p) * ((3**p - 1) // 2 - p)
    solved = 0
    finite_joint_mle(rows, BOUNDED, memoise=True)
    assert solved == p * (3 ** (p - 1) - 1)
