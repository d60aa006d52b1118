"""The quick look at pairs of variables against its own formula and against more rounds."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.kernels.evidence import pairs
from causalfocus.oracles.for_kernels import plain_model_of, plain_parents_of, plain_rows_of
from causalfocus.system.actions import actions_as_arrays

EPSILON, MIN_EFFECT, STEP, STRIDE = 0.07, 0.2, 0.07, 0.1
SYSTEM = cf.LinearSEM(
    [[0, 0, 0, 0], [0.6, 0, 0, 0], [0.5, -0.8, 0, 0], [0, 0, 0.7, 0]], [0.8, 1.0, 1.3, 1.0]
)
ACTIONS = cf.ActionSet(dict.fromkeys(SYSTEM.names, (-2.0, 2.0)))


def looked_at(rounds: dict[cf.Action, float], fine: float, *, is_wide: bool) -> pairs.Pairs:
    rows = cf.Moments.expected(SYSTEM, rounds).rows(intercept=False)
    scale = (EPSILON, MIN_EFFECT, STEP, STRIDE, fine, is_wide)
    known = plain_parents_of(cf.ModelClass(MIN_EFFECT), SYSTEM.names)
    return pairs.pair_evidence(plain_rows_of(rows), SYSTEM.weights, scale, known)


@pytest.mark.parametrize("is_wide", [False, True])
def test_evidence_is_step_times_distance_times_information(is_wide: bool) -> None:
    rounds = {action: 40.0 + 3 * i for i, action in enumerate(ACTIONS)}
    fine = 0.2
    found = looked_at(rounds, fine, is_wide=is_wide)
    rows = cf.Moments.expected(SYSTEM, rounds).rows(intercept=False)
    before = {0: [], 1: [0], 2: [0, 1], 3: [0, 1, 2]}
    assert len(found.effects) == 6
    for i, (j, k) in enumerate(zip(found.effects, found.causes, strict=True)):
        own = [m for m in range(4) if SYSTEM.weights[j, m] != 0]
        kept = sorted(before[j] if is_wide else {*own, k})
        gram, n = rows.grams[j], rows.counts[j]
        inside = gram[np.ix_(kept, kept)]
        inverse = np.linalg.inv(inside)
        fitted = inverse @ gram[kept, j]
        variance = (gram[j, j] - fitted @ gram[kept, j]) / n
        at = kept.index(k)
        h, far = (STEP, EPSILON) if SYSTEM.weights[j, k] else (STRIDE, MIN_EFFECT)
        expected = h * (far - h / 2) / (variance * inverse[at, at])
        for m in range(len(kept)):
            expected -= 0.5 * math.log1p((fine * h) ** 2 * inside[m, m] / variance)
        assert found.evidence[i] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("is_wide", [False, True])
def test_gains_are_what_a_few_more_rounds_add(is_wide: bool) -> None:
    rounds = dict.fromkeys(ACTIONS, 1000.0)
    start = looked_at(rounds, 0.0, is_wide=is_wide)
    means = np.zeros((4, 4))
    settings = actions_as_arrays(ACTIONS, SYSTEM.names)
    gains = pairs.pair_gains(start, plain_model_of(SYSTEM), means, settings)
    for a, action in enumerate(ACTIONS):
        more = looked_at({**rounds, action: 1001.0}, 0.0, is_wide=is_wide)
        assert gains[:, a] == pytest.approx(more.evidence - start.evidence, rel=5e-3, abs=1e-9)


def test_a_row_without_samples_is_unknown() -> None:
    found = looked_at({cf.do("X3", 2.0): 50.0}, 0.2, is_wide=False)
    assert (found.evidence[found.effects == 2] == pairs.UNKNOWN).all()
    assert (found.unit > 0).all()
