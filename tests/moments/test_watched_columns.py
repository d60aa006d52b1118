"""What is kept for products, lags and shapes, against the samples themselves."""

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.sums.residual_sums import SHAPE_DEGREES, SHAPE_SCALES
from causalfocus.moments.marks import mark_at
from worlds import CHAIN, draw_samples

N = 150


def moments_of(taken: list[cf.Action], samples: Floats) -> cf.Moments:
    moments = cf.Moments(CHAIN.names)
    moments.add_many(taken, samples)
    return moments


def draw(intercept: bool) -> tuple[list[cf.Action], Floats]:
    """Observed first, so that the first sample is the origin of all rows."""
    taken, samples = draw_samples(CHAIN, N - 1, np.random.default_rng(2))
    first = CHAIN.sample(cf.OBSERVE, 1, np.random.default_rng(3))
    return [cf.OBSERVE, *taken], np.vstack([first, samples]) + (5.0 if intercept else 0.0)


def free_in(taken: list[cf.Action], j: int) -> Bools:
    return np.array([action.target != CHAIN.names[j] for action in taken])


@pytest.mark.parametrize("intercept", [False, True])
def test_products_are_sums_over_samples(intercept: bool) -> None:
    taken, samples = draw(intercept)
    rows = moments_of(taken, samples).assumption_rows(intercept=intercept)
    assert rows is not None
    x = samples - (samples[0] if intercept else 0.0)
    for j in range(3):
        for k, m in ((0, 1), (0, 2), (1, 2)):
            (first, n_first), (rest, n_rest) = rows.with_product(j, k, m)
            for row, n, part in (
                (first, n_first, np.arange(N) < 32),
                (rest, n_rest, np.arange(N) >= 32),
            ):
                z = x[part & free_in(taken, j)]
                columns = np.column_stack([z, np.ones(len(z)), z[:, k] * z[:, m]])
                assert n == len(z)
                assert row[0] == pytest.approx(columns.T @ columns, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_lags_and_shapes_follow_the_fits(intercept: bool) -> None:
    """The residuals by the fits that were in force, one sample after the other."""
    taken, samples = draw(intercept)
    rows = moments_of(taken, samples).assumption_rows(intercept=intercept)
    assert rows is not None
    x = np.column_stack([samples - (samples[0] if intercept else 0.0), np.ones(N)])
    view = int(intercept)
    residuals, scales = np.zeros((N, 3)), np.zeros((N, 3))
    for mark in range(5):
        at, end = mark_at(mark), mark_at(mark + 1)
        if at > N:
            break
        fits = moments_of(taken[:at], samples[:at]).state.watch.residuals
        for t in range(at, min(end, N)):
            errors = x[t, :3] - fits.coefficients[view] @ x[t]
            residuals[t] = np.where(fits.scales[view] > 0, errors, 0.0)
            scales[t] = fits.scales[view]
    for j in range(3):
        free = free_in(taken, j)
        ratio = np.divide(residuals, scales, out=np.zeros_like(scales), where=scales > 0)
        before = np.append(0.0, np.where(free, ratio[:, j], 0.0)[:-1])
        chosen = free & (np.arange(N) >= 32)
        columns = np.column_stack([x, before])[chosen]
        row, n = rows.with_lag(j)[1]
        assert n == chosen.sum()
        assert row[0] == pytest.approx(columns.T @ columns, rel=1e-9, abs=1e-9)
        assert row[0][-1, -1] > 10.0  # there are residuals at all
        for c, (degrees, share) in enumerate(zip(SHAPE_DEGREES, SHAPE_SCALES, strict=True)):
            law = stats.t(degrees, scale=share * scales[chosen, j])
            expected = law.logpdf(residuals[chosen, j]).sum()
            assert rows.shapes[j, c] == pytest.approx(expected, rel=1e-10)


def test_merging_keeps_products_and_lags_and_gives_up_shapes() -> None:
    """The first sample of the later part has none before it; shapes begin anew at the next mark."""
    taken, samples = draw(intercept=True)
    parts = moments_of(taken[:70], samples[:70])
    parts.merge(moments_of(taken[70:], samples[70:]))
    whole = moments_of(taken, samples)
    mine, theirs = parts.state.watch, whole.state.watch
    assert mine.triples == pytest.approx(theirs.triples, rel=1e-10, abs=1e-8)
    second = moments_of(taken[70:], samples[70:]).state.watch.residuals.lags
    first = moments_of(taken[:70], samples[:70]).state.watch.residuals.lags
    assert mine.residuals.lags[0] == pytest.approx(first[0] + second[0], rel=1e-12, abs=1e-12)
    rows = parts.assumption_rows(intercept=True)
    assert rows is not None and (rows.fitted < 0).all()
