"""Worlds are as they are called, and their direct effects are what instruments find."""

import math

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.benchmark.usual_methods import Stream, regress, two_stage
from causalfocus.benchmark.worlds import (
    DAY,
    NODES,
    SPACE,
    TREND,
    WORLDS,
    Lab,
    clean_twin,
    draw_weights,
    largest_gain,
)

MANY = 20_000
PAIRS = ~np.eye(NODES, dtype=np.bool_)


def noise_of(world: str, seed: int = 5) -> Floats:
    """(n, 3), what is left of observed values when direct effects are taken away."""
    lab, none = Lab(world, seed, MANY), np.zeros((MANY, NODES))
    rows, _ = lab.respond(none > 0.0, none)
    return rows - rows @ lab.weights.T


def random_stream(world: str, seed: int, n: int) -> Stream:
    """Single variables set at random, with coins."""
    rng, lab = np.random.default_rng([seed, 9]), Lab(world, seed, n)
    asked = rng.integers(NODES, size=n)[:, None] == np.arange(NODES)
    signs = np.where(asked, rng.choice([-1.0, 1.0], (n, 1)), 0.0)
    return Stream(asked, signs, lab.respond(asked, lab.world.reach * signs)[0])


@pytest.mark.parametrize("world", WORLDS)
def test_a_lab_is_the_same_for_world_and_seed(world: str) -> None:
    """However many rounds it could perform, and whether one by one or all together."""
    asked = np.random.default_rng(0).random((60, NODES)) < 0.4
    values = np.where(asked, 1.5, 0.0)
    rows, failed = Lab(world, 3, 60).respond(asked, values)
    single = Lab(world, 3, 500)
    for i in range(60):
        action = cf.Action(tuple((single.names[j], 1.5) for j in np.flatnonzero(asked[i])))
        outcome = single(action)
        np.testing.assert_array_equal(outcome.sample, rows[i])
        assert outcome.failed == tuple(single.names[j] for j in np.flatnonzero(failed[i]))
    assert not np.array_equal(rows, Lab(world, 4, 60).respond(asked, values)[0])


@pytest.mark.parametrize("world", [name for name in WORLDS if name != "measurement noise"])
def test_free_variables_follow_their_equations_and_set_ones_their_settings(world: str) -> None:
    """The noise of a round is the same whatever is set in it; the equations are solved anew."""
    rng, lab = np.random.default_rng(1), Lab(world, 2, 400)
    asked = rng.random((400, NODES)) < 0.5
    values = np.where(asked, rng.choice([-1.0, 1.0], (400, NODES)), 0.0)
    rows, failed = lab.respond(asked, values)
    is_set = asked & ~failed
    noise = noise_of(world, 2)[:400]
    for row, given, works, e in zip(rows, values, is_set, noise, strict=True):
        system = np.where(works[:, None], np.eye(NODES), np.eye(NODES) - lab.weights)
        right = np.where(works, lab.world.share * given, e)
        np.testing.assert_allclose(row, np.linalg.solve(system, right), atol=1e-9)
    assert failed.mean() / asked.mean() == pytest.approx(lab.world.failing, abs=0.06)


def test_a_lab_says_when_its_rounds_are_over() -> None:
    lab = Lab("clean", 0, 1)
    lab(cf.OBSERVE)
    with pytest.raises(cf.InvalidInputError, match="performs 1 rounds; 2 were asked for"):
        lab(cf.OBSERVE)
    with pytest.raises(cf.InvalidInputError, match="no world 'sunny'; there are clean"):
        Lab("sunny", 0)


@pytest.mark.parametrize("correlation", [0.3, 0.5, 0.8])
def test_a_hidden_cause_correlates_two_noises(correlation: float) -> None:
    found = np.asarray(np.corrcoef(noise_of(f"hidden cause {correlation}").T))
    sizes = np.sort(np.abs(found[np.triu_indices(NODES, 1)]))
    np.testing.assert_allclose(sizes, [0.0, 0.0, correlation], atol=0.03)
    np.testing.assert_allclose(noise_of(f"hidden cause {correlation}").var(axis=0), 1.0, atol=0.05)


def test_noises_are_as_they_are_called() -> None:
    assert (stats.kurtosis(noise_of("t(3) noise")) > 3.0).all()
    outliers = np.abs(noise_of("outliers")) > 5.0
    assert outliers.mean() == pytest.approx(0.05 * 2 * stats.norm.sf(0.5), abs=0.003)
    np.testing.assert_allclose(stats.skew(noise_of("skewed noise")), 2.0, atol=0.3)
    lasting = noise_of("AR(0.7) noise")
    for j in range(NODES):
        assert np.corrcoef(lasting[1:, j], lasting[:-1, j])[0, 1] == pytest.approx(0.7, abs=0.03)
    np.testing.assert_allclose(lasting.var(axis=0), 1.0, atol=0.08)
    slopes = np.polyfit(np.arange(MANY), noise_of("drift"), 1)[0]
    np.testing.assert_allclose(slopes, TREND, rtol=0.01)
    days = noise_of("day effects").reshape(-1, DAY, NODES).mean(axis=1)
    np.testing.assert_allclose(days.var(axis=0), 1.0 + 1.0 / DAY, atol=0.2)
    assert np.corrcoef(days.T).min() > 0.95


def test_effects_are_zero_or_matter_and_a_loop_settles() -> None:
    for seed in range(200):
        plain, looped = draw_weights(seed), draw_weights(seed, has_loop=True)
        for weights in (plain, looped):
            assert weights.any() and (np.abs(weights[weights != 0.0]) >= SPACE.least_effect).all()
        assert largest_gain(plain) < 1e-3
        assert 0.2 < largest_gain(looped) < 0.9
        settled = np.zeros(NODES)
        for _ in range(400):
            settled = looped @ settled + 1.0
        np.testing.assert_allclose(settled, np.linalg.solve(np.eye(NODES) - looped, np.ones(NODES)))


def test_the_clean_twin_has_the_same_settings() -> None:
    for name, world in WORLDS.items():
        twin = WORLDS[clean_twin(name)]
        assert twin.reach == world.reach and twin.is_assumed and "clean" in clean_twin(name)


@pytest.mark.parametrize("world", ["hidden cause 0.8", "feedback", "measurement noise", "drift"])
def test_instruments_find_the_direct_effects_and_regression_does_not(world: str) -> None:
    """In the long run. With errors of measurement the effects are those of the true values."""
    n, truth = 200_000, Lab(world, 7, 1).weights
    stream = random_stream(world, 7, n)
    found, plain = two_stage(stream, PAIRS), regress(stream, PAIRS)
    errors = found.errors[PAIRS]
    assert errors.max() < 0.3 if world == "drift" else errors.max() < 0.02
    assert (np.abs(found.weights - truth)[PAIRS] < 5.0 * errors).all()
    assert np.abs(plain.weights - truth).max() > 0.1


def test_a_misread_cause_looks_weaker_than_it_is() -> None:
    """To a regression, even in rounds in which it is set; not to its coin."""
    seed = next(s for s in range(99) if np.count_nonzero(draw_weights(s)) == 1)
    (j,), (k,) = np.nonzero(draw_weights(seed))
    stream = random_stream("measurement noise", seed, 50_000)
    used = stream.asked[:, k]
    x, y = stream.rows[used, k], stream.rows[used, j]
    weight = draw_weights(seed)[j, k]
    slope = float(stats.linregress(x, y).slope)
    assert slope / weight == pytest.approx(4.0 / 5.0, abs=0.03)
    signs = stream.signs[used, k]
    by_coin = (signs @ y) / (signs @ x)
    assert by_coin == pytest.approx(weight, abs=5.0 * math.sqrt(3.0 / used.sum()) / 2.0)
