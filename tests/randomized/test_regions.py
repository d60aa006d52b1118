"""What earlier rounds left of a row: kept in seven digits, it never loses a row that was in it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfocus.arrays import Bools, Floats
from causalfocus.benchmark.coins import large_run
from causalfocus.guarantees.randomized_intervals import intervals_at
from causalfocus.guarantees.randomized_record import new_record, with_answer, with_ask
from causalfocus.kernels.randomized.ball import NO_ROW, Ball
from causalfocus.kernels.randomized.regions import (
    Region,
    Regions,
    ball_of,
    no_regions,
    put_region,
    region_at,
    region_of,
    section,
)
from causalfocus.kernels.randomized.row_tests import Row, row_of_tests
from causalfocus.learner.parts import are_same, put_together, take_apart
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import Intent
from randomized.rigs import CHAIN, LOOP, Bench, bench, bounded_evidence, hidden, play_only

LEVEL = math.log(20)
EVERYTHING = ~np.eye(3, dtype=np.bool_)


def a_row(rng: np.random.Generator, u: int, size: float) -> Row:
    """A row of real rounds, with another centre and other units; the tests do not count here."""
    one = bench(np.zeros((u + 1, u + 1)), lambda rng, _: rng.normal(size=u + 1), seed=1)
    one.play(20)
    reading = one.state.read()
    causes = np.arange(1, u + 1)
    row: Row = row_of_tests(reading.sums, reading.stakes, 0, causes, causes, u)
    scales = size * np.exp(rng.normal(size=u))
    return row._replace(centre=rng.normal(size=u), units=scales)


def a_ball(rng: np.random.Generator, u: int, stretch: float) -> Ball:
    """Of axes whose lengths are up to a factor apart, in any direction."""
    turned = np.linalg.qr(rng.normal(size=(u, u)))[0]
    form = turned @ np.diag(stretch ** rng.uniform(-1.0, 1.0, u)) @ turned.T
    form = 0.5 * (form + form.T)
    return Ball(rng.normal(size=u), form, np.linalg.cholesky(form).T.copy(), rng.exponential())


def on_border(rng: np.random.Generator, ball: Ball, n: int = 500) -> Floats:
    ways = rng.normal(size=(len(ball.middle), n))
    ways *= ball.radius / np.linalg.norm(ways, axis=0)
    found: Floats = ball.middle + np.linalg.solve(ball.upper, ways).T
    return found


def is_in(ball: Ball, points: Floats, grown: float = 1.0) -> Bools:
    away = (points - ball.middle) @ ball.upper.T
    found: Bools = (away**2).sum(axis=1) <= (grown * ball.radius) ** 2
    return found


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([1e-6, 1.0, 1e6]))
def test_a_region_holds_its_ellipsoid_in_any_coordinates(seed: int, u: int, size: float) -> None:
    """About another centre, in other units, for another reference, through seven digits."""
    rng = np.random.default_rng(seed)
    ball = a_ball(rng, u, 3.0 if seed % 2 else 1e4)
    row, other = a_row(rng, u, size), a_row(rng, u, size)
    references = size * rng.normal(size=(2, u)) * rng.choice([0.0, 1.0, 100.0])
    regions, causes = no_regions(u + 2), np.sort(rng.choice(u + 2, u, replace=False))
    put_region(regions, 1, causes, region_of(ball, row, references[0]))
    back = ball_of(region_at(regions, 1, causes), other, references[1])
    points = on_border(rng, ball)
    b = references[0] + row.units * (row.centre + points)
    there = (b - references[1]) / other.units - other.centre
    assert is_in(back, there, 1.0 + 1e-9).all()
    if seed % 2:  # where axes differ much, digits cost more
        assert not is_in(back, there, 0.999).any()


@pytest.mark.parametrize(("short", "is_kept"), [(1e-9, False), (1e-7, False), (1e-5, True)])
def test_what_seven_digits_do_not_hold_is_not_kept(short: float, is_kept: bool) -> None:
    rng = np.random.default_rng(0)
    form = np.array([[1.0, 1.0 - short], [1.0 - short, 1.0]])
    thin = Ball(np.zeros(2), form, np.linalg.cholesky(form).T.copy(), 1.0)
    found = region_of(thin, a_row(rng, 2, 1.0), np.zeros(2))
    assert math.isfinite(found.radius) == is_kept
    assert not is_kept or np.linalg.eigvalsh(found.form).min() > 1e-6


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_a_section_is_what_is_left_where_some_coefficients_are_zero(
    seed: int, left: int, out: int
) -> None:
    rng = np.random.default_rng(seed)
    u = left + out
    ball, units = a_ball(rng, u, 10.0), np.exp(rng.normal(size=u))
    region = Region(0.5 * ball.middle * units, units, ball.form, 2.0 * ball.radius)
    is_left = np.zeros(u, dtype=np.bool_)
    is_left[rng.choice(u, left, replace=False)] = True
    found = section(region, is_left)
    b = np.where(is_left, 3.0 * rng.normal(size=(400, u)) * units, 0.0)
    if found.radius > 0.0:  # and on the border of the section, a little in and out
        upper = np.asarray(np.linalg.cholesky(found.form).T, np.float64)
        small = Ball(np.zeros(left), found.form, upper, found.radius)
        b[:200, is_left] = found.middle + found.units * on_border(rng, small, 200) * np.where(
            np.arange(200) % 2, 0.999, 1.001
        ).reshape(-1, 1)
    y = (b - region.middle) / region.units
    was_in = np.einsum("ni,ij,nj->n", y, region.form, y) <= region.radius**2
    z = (b[:, is_left] - found.middle) / found.units
    is_still = np.einsum("ni,ij,nj->n", z, found.form, z) <= max(found.radius, 0.0) ** 2
    is_still &= found.radius != NO_ROW
    assert not (was_in & ~is_still).any()
    assert np.count_nonzero(is_still & ~was_in) <= 2


def test_of_nothing_a_section_is_nothing() -> None:
    region = Region(np.ones(3), np.ones(3), np.eye(3), 1.0)
    far = section(region, np.array([True, True, False]))
    assert far.radius == pytest.approx(0.0, abs=2e-3) and far.middle == pytest.approx([1.0, 1.0])
    assert section(region, np.array([True, False, False])).radius == NO_ROW
    none = section(region._replace(radius=math.inf), np.array([True, False, True]))
    assert math.isinf(none.radius) and none.form.shape == (2, 2)


def looks(one: Bench, plan: list[tuple[int, Bools]]) -> tuple[Intervals, list[Bench]]:
    """The intervals after some parts of a run, each look with what earlier ones left; in each part
    only some of the variables are set.
    """
    known = no_intervals(one.state.unknown).with_regions(no_regions(one.state.p))
    states = []
    for n, may_be_set in plan:
        for _ in range(n // 50):
            play_only(one, 50, may_be_set)
            known = known.intersect(intervals_at(one.state, LEVEL, known))
            states.append(replace(one))
    return known, states


MOSTLY_ONE = [(600, np.array([True, True, False])), (1500, np.array([True, False, False]))]
"""Two causes of the last variable are learned, and then one of them for long."""


@pytest.mark.parametrize("weights", [CHAIN, LOOP])
def test_rows_that_pass_at_all_looks_are_never_lost(weights: Floats) -> None:
    """On a grid; in the bounds and in the region, whatever was set meanwhile."""
    one = bench(weights, hidden, seed=3)
    known, states = looks(one, [*MOSTLY_ONE, (300, np.array([True, True, False]))])
    assert known.regions is not None
    causes = np.array([0, 1])
    middle, half = known.middle[2, causes], known.half[2, causes]
    region, n_passed = region_at(known.regions, 2, causes), 0
    assert math.isfinite(region.radius)
    for x in np.linspace(-1.3, 1.3, 27):
        for z in np.linspace(-1.3, 1.3, 27):
            b = np.append(middle + half * (x, z), 0.0)
            against = (bounded_evidence(state.state, 2, b) for state in states)
            if all(
                one_look.excess(state.state, 2, b, LEVEL) > 0
                for one_look, state in zip(against, states, strict=True)
            ):
                n_passed += 1
                y = (b[causes] - region.middle) / region.units
                assert abs(x) <= 1.0 and abs(z) <= 1.0
                assert y @ region.form @ y <= region.radius**2
    assert n_passed > 30


def test_a_system_in_which_one_pair_was_late_is_settled() -> None:
    """The coins of its row had been tossed 1,000 times of 16,000; it went on without an end."""
    found = large_run(15, 501, None)
    assert found.is_right and found.rounds < 2 * found.ideal


def test_a_record_with_regions_is_kept_whole() -> None:
    rng, record = np.random.default_rng(2), new_record(EVERYTHING)
    rig = bench(CHAIN, hidden, seed=2).rig
    for number in range(1, 401):
        asked = rng.random(3) < 0.5
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=3), 0.0)
        record = with_ask(record, Intent(number, asked, signs))
        record = with_answer(record, number, rig.respond(asked, 2.0 * signs), LEVEL)
    assert isinstance(record.kept.regions, Regions)
    assert np.isfinite(record.kept.regions.radii).all()
    tree, arrays = take_apart(record)
    assert are_same(put_together(CoinRecord, tree, arrays), record)
