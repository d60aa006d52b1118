"""Sizes that differ by pair: against lists of all DAGs, single numbers, and other units."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.sums.row_scales import scale_sums
from causalfocus.moments.row_units import even_units
from causalfocus.oracles import edge_probabilities, gaussian_estimate, graph_mle, probable_model
from causalfocus.oracles.for_kernels import limits_of, units_of
from causalfocus.system.sizes import PairSizes
from literal.by_pair import PairBounds, likeliest, score_of
from other_units import DECADES, NAMES, POWERS, changes_in, model_in, sample_of


def drawn(seed: int, n: int, p: int = 3) -> tuple[cf.Moments, Floats]:
    """Moments of a random system under every action, and sizes (p, p) that really differ."""
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.1, 1.2, (p, p))
    weights = np.tril(rng.normal(size=(p, p)), -1) * (rng.random((p, p)) < 0.7)
    order = rng.permutation(p)
    model = cf.LinearSEM(weights[np.ix_(order, order)], rng.uniform(0.5, 2.0, p))
    moments = cf.Moments(model.names)
    actions = [cf.OBSERVE, *(cf.do(name, 1.5) for name in model.names)]
    for i in range(n):
        action = actions[i % len(actions)]
        moments.add(action, model.sample(action, 1, rng)[0])
    return moments, sizes


def as_mapping(sizes: Floats, names: tuple[str, ...]) -> dict[tuple[str, str], float]:
    return {
        (cause, effect): float(sizes[j, k])
        for j, effect in enumerate(names)
        for k, cause in enumerate(names)
        if j != k
    }


def bounds_for(space: cf.ModelClass, names: tuple[str, ...]) -> PairBounds:
    return PairBounds(space.smallest(names), space.largest(names), space.variances(names))


NOISE = {"X1": (0.5, 1.0), "X2": (0.8, 3.0), "X3": (0.1, 0.6)}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("factor", [None, 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_joint_mle_is_the_best_of_all_dags(
    seed: int, factor: float | None, intercept: bool
) -> None:
    """Smallest effects by pair, largest ones too or none, noise by variable."""
    moments, sizes = drawn(seed, 60)
    largest = None if factor is None else as_mapping(factor * sizes, moments.names)
    space = cf.ModelClass(as_mapping(sizes, moments.names), largest, NOISE, intercept=intercept)
    rows, found = moments.rows(intercept=intercept), cf.joint_mle(moments, space)
    value, dag = likeliest(rows.grams, rows.counts, bounds_for(space, moments.names))
    assert space.contains(found)
    assert [set(np.flatnonzero(row)) for row in found.weights] == [set(s) for s in dag]
    score = score_of(rows.grams, rows.counts, found.weights, found.noise_variances)
    assert score == pytest.approx(value, rel=1e-9)


def test_sizes_by_pair_change_the_best_graph() -> None:
    """The test above could not fail if they were not read: some graph must differ."""
    graphs = set()
    for size in (0.1, 0.6, 1.2):
        moments, sizes = drawn(3, 60)
        sizes[:, 0] *= size
        found = cf.joint_mle(moments, cf.ModelClass(as_mapping(sizes, moments.names)))
        graphs.add(found.edges)
    assert len(graphs) > 1


def test_uneven_multiples_make_the_class_wider_and_never_narrower() -> None:
    """Where max_effect is no fixed multiple of min_effect, every member of the class is a member
    of that of the kernels.
    """
    rng = np.random.default_rng(0)
    smallest, largest = rng.uniform(0.1, 0.5, (3, 3)), rng.uniform(0.6, 3.0, (3, 3))
    names = ("X1", "X2", "X3")
    space = cf.ModelClass(as_mapping(smallest, names), as_mapping(largest, names), NOISE)
    units, limits = units_of(space, names), limits_of(space, names)
    assert units is not None
    off = ~np.eye(3, dtype=np.bool_)
    for size, least in ((smallest, True), (largest, False)):
        scaled = units.weights_in(size)
        inside = scaled >= limits[:, :1] * (1 - 1e-12)
        inside &= scaled <= limits[:, 1:2] * (1 + 1e-12)
        assert inside[off].all()
        assert np.allclose(scaled[off], 1.0) == least
    spans = space.variances(names) / units.own[:, None] ** 2
    assert np.array_equal(limits[:, 2:], spans)
    assert spans.prod(axis=1) == pytest.approx(1.0)  # ranges of one ratio would be one range


@pytest.mark.parametrize(
    "rest", [{}, {"max_effect": 1.5, "noise_variance": (0.8, 1.2)}, {"intercept": False}]
)
@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_one_number_is_that_number(seed: int, rest: Any) -> None:
    moments, _ = drawn(seed, 80)
    table, number = np.full((3, 3), 0.3), 0.3
    one, other = cf.ModelClass(number, **rest), cf.ModelClass(table, **rest)
    assert one.is_uniform and not other.is_uniform
    graph = np.array([0, 1, 3])
    for fit in (
        cf.joint_mle,
        probable_model,
        gaussian_estimate,
        lambda m, s: graph_mle(m, graph, s),
    ):
        first, second = fit(moments, one), fit(moments, other)
        assert [e[:2] for e in first.edges] == [e[:2] for e in second.edges]
        assert second.weights == pytest.approx(first.weights, rel=1e-9, abs=1e-12)
        assert second.noise_variances == pytest.approx(first.noise_variances, rel=1e-9)
        assert second.intercepts == pytest.approx(first.intercepts, rel=1e-9, abs=1e-12)
    found = edge_probabilities(moments, other)
    assert found == pytest.approx(edge_probabilities(moments, one), abs=1e-9)


def told(units: Floats, n: int = 120) -> cf.Moments:
    model, rng = model_in(units), np.random.default_rng(5)
    moments = cf.Moments(NAMES)
    for i in range(n):
        action = cf.OBSERVE if i % 4 == 3 else cf.do(NAMES[i % 4], 2.0 * (-1) ** i * units[i % 4])
        moments.add(action, sample_of(model, action, rng.normal(size=4) * units))
    return moments


@pytest.mark.parametrize("noise", [None, (0.5, 2.0)])
@pytest.mark.parametrize("units", [POWERS, DECADES], ids=["powers of two", "decades"])
def test_other_units_change_the_units_alone(
    units: Floats, noise: tuple[float, float] | None
) -> None:
    ones = np.ones(4)

    def space_in(u: Floats) -> cf.ModelClass:
        width = {n: 4 * x for n, x in zip(NAMES, u, strict=True)}
        spans = (
            {n: tuple(end * x**2 for end in noise) for n, x in zip(NAMES, u, strict=True)}
            if (noise)
            else None
        )
        return cf.ModelClass(matters=changes_in(u), widths=width, noise_variance=spans)

    here, there = told(ones), told(units)
    one, other = space_in(ones), space_in(units)
    for fit in (cf.joint_mle, probable_model, gaussian_estimate):
        first, second = fit(here, one), fit(there, other)
        weights = second.weights * units / units[:, None]
        assert [e[:2] for e in first.edges] == [e[:2] for e in second.edges]
        assert len(first.edges) >= 3
        assert weights == pytest.approx(first.weights, rel=1e-6, abs=1e-9)
        assert second.noise_variances / units**2 == pytest.approx(first.noise_variances, rel=1e-6)
        assert second.intercepts / units == pytest.approx(first.intercepts, rel=1e-6, abs=1e-9)
    found = edge_probabilities(there, other)
    assert found == pytest.approx(edge_probabilities(here, one), abs=1e-8)


def test_units_are_taken_from_the_sizes_alone() -> None:
    sizes = np.random.default_rng(1).uniform(0.1, 2.0, (4, 4))
    ratio = even_units(sizes * DECADES[:, None] / DECADES) / even_units(sizes)
    assert ratio / DECADES == pytest.approx(np.full(4, (ratio / DECADES)[0]), rel=1e-9)
    assert even_units(np.full((4, 4), 0.3)) == pytest.approx(np.ones(4))


def test_sums_keep_their_digits_in_other_units() -> None:
    """Exactly, as fractions: 106 bits before, 100 or more after."""
    rng = np.random.default_rng(2)
    high = rng.normal(size=(1, 2, 3, 3))
    high = high + high.swapaxes(2, 3)
    low = high * 2.0**-54 * rng.uniform(-1, 1, high.shape)
    low = np.tril(low[0, 0])[None, None] + np.zeros_like(high)
    low = low + np.tril(low, -1).swapaxes(2, 3)
    factors = rng.uniform(0.1, 1.0, (2, 3)) * 10.0 ** rng.integers(-6, 7, (2, 3))
    found, rest = scale_sums(high, low, factors)
    for j in range(2):
        for i in range(3):
            for k in range(3):
                at = 0, j, i, k
                exact = Fraction(high[at]) + Fraction(low[at])
                exact *= Fraction(factors[j, i]) * Fraction(factors[j, k])
                off = Fraction(found[at]) + Fraction(rest[at]) - exact
                assert abs(off) <= abs(exact) * Fraction(1, 2**100)


def test_what_knows_single_numbers_says_so() -> None:
    space = cf.ModelClass(np.full((2, 2), 0.2), noise_variance=(0.5, 2), intercept=False)
    model = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    with pytest.raises(cf.InvalidInputError, match="The paper's alternative knows single numbers"):
        cf.best_alternative(model, {cf.OBSERVE: 1.0}, space, epsilon=0.1)
    actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    with pytest.raises(cf.InvalidInputError, match="The paper's rule knows single numbers"):
        cf.Focus(actions, space, rule="paper")
    one = cf.ModelClass(0.2, 1.0, (0.5, 2), intercept=False)
    with pytest.raises(cf.InvalidInputError, match="knows one epsilon for all pairs"):
        cf.Focus(actions, one, epsilon=PairSizes.of("epsilon", np.full((2, 2), 0.1)), rule="paper")


def test_random_systems_have_sizes_by_pair_and_noise_by_name() -> None:
    rng, names = np.random.default_rng(0), ("a", "b", "c")
    sizes = rng.uniform(0.1, 3.0, (3, 3))
    space = cf.ModelClass(sizes, 1.5 * sizes, dict(zip(names, NOISE.values(), strict=True)))
    for seed in range(10):
        model = cf.random_sem(3, density=1.0, seed=seed, space=space, names=names)
        assert model.names == names and space.contains(model)
    one, plain = cf.ModelClass(0.2, 2.0, (0.5, 1.0)), cf.random_sem(3, density=0.5, seed=1)
    assert cf.random_sem(3, density=0.5, seed=1, names=("X1", "X2", "X3")) == plain
    assert one.contains(cf.random_sem(3, density=1.0, seed=1, space=one))
    with pytest.raises(cf.InvalidInputError, match="2 names for 3 nodes"):
        cf.random_sem(3, density=0.5, names=("a", "b"))
