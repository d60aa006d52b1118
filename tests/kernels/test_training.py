"""What training samples foretell of later ones."""

import math

import numpy as np
import pytest
from scipy import stats

from causalfocus.kernels.evidence import training
from causalfocus.kernels.records import Row


def test_what_the_training_foretells_is_a_product_of_student_densities() -> None:
    """One later sample after the other, each given all before it, with a flat prior."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    data = np.column_stack([x, y])
    first, later = data[:9].T @ data[:9], data[9:].T @ data[9:]
    for k in range(3):
        expected = 0.0
        for t in range(9, 30):
            past, now = x[:t, :k], x[t, :k]
            inverse = np.linalg.inv(past.T @ past) if k else np.zeros((0, 0))
            b = inverse @ past.T @ y[:t]
            degrees = t - k
            scale2 = ((y[:t] - past @ b) ** 2).sum() / degrees * (1 + now @ inverse @ now)
            expected += stats.t.logpdf(y[t], degrees, loc=now @ b, scale=math.sqrt(scale2))
        rows = Row(first, 0 * first, 2), 9.0, Row(later, 0 * later, 2), 21.0
        assert training.log_predictive(*rows, np.arange(k)) == pytest.approx(expected, rel=1e-10)


def test_training_that_does_not_determine_a_row_gives_no_evidence() -> None:
    rng = np.random.default_rng(6)
    data = rng.standard_normal((20, 3))
    gram = data.T @ data
    few, none = data[:2].T @ data[:2], np.zeros((3, 3))
    for n, training_gram in [(2.0, few), (0.0, none), (1.0, none)]:
        row = Row(training_gram, 0 * gram, 2)
        found = training.log_predictive(row, n, Row(gram, 0 * gram, 2), 20.0, np.arange(2))
        assert found == -math.inf
