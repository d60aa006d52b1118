"""The row fit against one quadratic program per sign vector, by independent solvers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.exact import oracles
from causalfocus.kernels.records import Row
from causalfocus.kernels.search import row_fit, tableau
from literal import Bounds, Rows
from literal.local_fit import LocalFit, Separation, local_fit
from literal.scores import likelihood_score

KINDS = ["regular", "few samples", "collinear", "nearly collinear", "idle columns", "mixed scales"]


def design(kind: str, s: int, rng: np.random.Generator) -> Floats:
    """Samples of s regressors and, last, the target."""
    n = max(1, s - 2) if kind == "few samples" else 12 * s
    x = rng.standard_normal((n, s + 1)) @ rng.standard_normal((s + 1, s + 1))
    if kind == "collinear" and s > 1:
        x[:, 0] = x[:, 1:s] @ rng.standard_normal(s - 1)
    if kind == "nearly collinear" and s > 1:
        x[:, 0] = x[:, 1:s] @ rng.standard_normal(s - 1) + 1e-4 * x[:, 0]
    if kind == "idle columns":
        x[:, rng.integers(s)] = 0.0
    if kind == "mixed scales":
        x[:, :s] *= 10.0 ** rng.integers(-3, 4, size=s)
    return x


def row_of(x: Floats) -> Row:
    """Moments of the last column on the others, with their low parts."""
    p = x.shape[1]
    moments = cf.Moments([f"x{i}" for i in range(p)])
    moments.add_many([cf.OBSERVE] * len(x), x)
    rows = moments.rows(intercept=False)
    return Row(rows.grams[-1], rows.lows[-1], p - 1)


def fast(row: Row, allowed: Floats) -> tuple[float, Floats]:
    s = row.target
    best = np.empty(s)
    value = row_fit.fit_row(row, np.arange(s), allowed, math.inf, tableau.workspace(s), best)
    return value, best


def referee(x: Floats, bounds: Bounds, constraint: tuple[Separation, ...] = ()) -> LocalFit | None:
    """LocalFit of the last column on the others, the variance fixed so that the score is R / 2."""
    p = x.shape[1]
    rows = Rows.from_data(np.full(len(x), -1), x, intercept=False)
    score = likelihood_score(rows, bounds)
    return local_fit(rows, bounds, score, p - 1, frozenset(range(p - 1)), constraint)


def residual(gram: Floats, b: Floats) -> float:
    s = len(b)
    return float(gram[s, s] - 2 * b @ gram[:s, s] + b @ gram[:s, :s] @ b)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_equals_the_enumeration_of_signs(kind: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    s = data.draw(st.integers(1, 4))
    smallest = data.draw(st.sampled_from([1e-3, 0.15, 1.0, 3.0]))
    largest = data.draw(st.sampled_from([smallest, smallest * 1.5, smallest * 20, math.inf]))
    x = design(kind, s, rng)
    gram = x.T @ x
    value, b = fast(row_of(x), row_fit.two_intervals(s, smallest, largest))
    assert np.all((np.abs(b) >= smallest) & (np.abs(b) <= largest))
    found = referee(x, Bounds(smallest, largest, 1.0, 1.0))
    assert found is not None
    expected = residual(gram, found.row[:s])
    scale = gram[s, s] + np.abs(b) @ np.abs(gram[:s, :s]) @ np.abs(b)
    assert abs(value - residual(gram, b)) <= 1e-9 * scale
    assert value <= expected + 1e-9 * scale
    assert value >= expected - 1e-9 * scale


@given(seed=st.integers(0, 2**32), s=st.integers(1, 4), upper=st.booleans())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_one_coefficient_kept_on_one_side(seed: int, s: int, upper: bool) -> None:
    """The constraint C_{j,k,d} of Algorithm same_graph_alternative, infeasible cases included."""
    rng = np.random.default_rng(seed)
    x = design("regular", s, rng)
    gram = x.T @ x
    smallest, largest = 0.2, 1.5
    k = int(rng.integers(s))
    centre = float(rng.choice([-1, 1]) * rng.uniform(smallest, largest))
    bound = centre + 0.1 if upper else centre - 0.1
    allowed = row_fit.two_intervals(s, smallest, largest)
    feasible = oracles._cut_side(allowed, k, bound, upper)
    constraint = (Separation(k, 1 if upper else -1, centre, 0.1),)
    found = referee(x, Bounds(smallest, largest, 1.0, 1.0), constraint)
    assert feasible == (found is not None)
    if found is None:
        return
    value, b = fast(row_of(x), allowed)
    assert (b[k] >= bound) if upper else (b[k] <= bound)
    assert value == pytest.approx(residual(gram, found.row[:s]), rel=1e-9, abs=1e-9 * gram[s, s])


def test_the_cutoff_is_strict() -> None:
    row = row_of(design("regular", 3, np.random.default_rng(0)))
    allowed = row_fit.two_intervals(3, 0.5, 0.8)
    value, _ = fast(row, allowed)
    best, work, members = np.empty(3), tableau.workspace(3), np.arange(3)
    below = row_fit.fit_row(row, members, allowed, value * (1 - 1e-9), work, best)
    above = row_fit.fit_row(row, members, allowed, value * (1 + 1e-9), work, best)
    assert below == math.inf
    assert above == value


def test_equal_minima_go_to_the_positive_side() -> None:
    """The target is unrelated to its regressor: +min_effect and -min_effect fit equally well."""
    gram = np.array([[4.0, 0.0], [0.0, 1.0]])
    value, b = fast(Row(gram, np.zeros((2, 2)), 1), row_fit.two_intervals(1, 0.5, 1.0))
    assert b.tolist() == [0.5]
    assert value == pytest.approx(1.0 + 4.0 * 0.25)


def test_an_indefinite_matrix_is_refused() -> None:
    gram = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    with pytest.raises(ArithmeticError, match="positive semidefinite"):
        fast(Row(gram, np.zeros((3, 3)), 2), row_fit.two_intervals(2, 0.1, 1.0))
