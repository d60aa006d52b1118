"""Residuals on all subsets of regressors, and how nodes are named by bits."""

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.kernels.arithmetic import sets
from causalfocus.kernels.evidence import subsets
from causalfocus.kernels.records import Row


@pytest.mark.parametrize("scales", [(1, 1, 1, 1), (1e5, 1, 1e-4, 1), (1, 1, 1, 1e-9)])
@pytest.mark.parametrize("intercept", [False, True])
def test_residuals_on_all_subsets(scales: tuple[float, ...], intercept: bool) -> None:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4)) * np.array(scales)
    moments = cf.Moments(["a", "b", "c", "d"])
    moments.add_many([cf.OBSERVE] * 60, data)
    rows = moments.evidence_rows(intercept=intercept)
    used = data[1:] - data[0] if intercept else data
    for j in range(4):
        row = Row(rows.grams[j], rows.lows[j], j)
        sure = subsets.sure_residuals(row, float(len(used)), 4)
        for mask in range(8):
            chosen = [k for k in range(4) if sets.as_nodes(mask, j) >> k & 1]
            x = np.column_stack([used[:, chosen], np.ones((len(used), int(intercept)))])
            residual = float(((used[:, j] - x @ np.linalg.pinv(x) @ used[:, j]) ** 2).sum())
            assert sure[mask] == pytest.approx(residual, rel=1e-7)
            assert sets.as_mask(sets.as_nodes(mask, j), j) == mask


def test_collinear_regressors_are_no_evidence() -> None:
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 3))
    data[:, 1] = 2.0 * data[:, 0]
    moments = cf.Moments(["a", "b", "c"])
    moments.add_many([cf.OBSERVE] * 50, data)
    rows = moments.evidence_rows(intercept=False)
    sure = subsets.sure_residuals(Row(rows.grams[2], rows.lows[2], 2), 50.0, 3)
    assert sure[3] == 0.0 and sure[1] > 0.0


def test_regressors_and_nondescendants() -> None:
    weights = np.zeros((4, 4))
    weights[1, 0] = weights[2, 1] = 1.0
    nd = sets.nondescendants(weights)
    assert [bin(int(nodes)) for nodes in nd] == ["0b1000", "0b1001", "0b1011", "0b111"]
    assert sets.regressors_of(nd[2], 4, 5).tolist() == [0, 1, 3, 4]
