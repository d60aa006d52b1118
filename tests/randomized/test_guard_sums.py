"""What the guardrails remember, against the same written down round by round."""

import numpy as np
import pytest

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.guardrails import largest_spans, product_bounds
from causalfocus.guarantees.randomized_record import (
    new_record,
    with_answer,
    with_ask,
    without_ask,
)
from causalfocus.kernels.randomized.records import Stakes, form_of
from causalfocus.learner.parts import are_same, put_together, take_apart
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.guard_sums import N_LARGEST, ROUNDS_TO_CHOOSE, SCALE, GuardSums
from causalfocus.moments.randomized_sums import Intent
from randomized.rigs import LOOP, REACH, Rig, bench, hidden

Round = tuple[Stakes, Bools, Floats, Floats | None]


def four_weights() -> Floats:
    weights = np.zeros((4, 4))
    weights[:3, :3] = LOOP
    weights[3, 0] = 0.7
    return weights


def dirty_rounds(seed: int, n: int = 160) -> list[Round]:
    """Rounds of a rig with feedback and hidden causes, one in eleven of them lost."""
    one = bench(four_weights(), hidden, seed=seed, failing=0.1, miss=0.2)
    one.play(n, batch=4)
    return [
        (stakes, asked, signs, None if t % 11 == 5 else row)
        for t, (stakes, asked, signs, row) in enumerate(one.literal.rounds)
    ]


def count_all(rounds: list[Round]) -> GuardSums:
    guards = GuardSums.empty(len(rounds[0][1]))
    for t, (stakes, asked, signs, row) in enumerate(rounds):
        guards = guards.count(Intent(t + 1, asked, signs), row, stakes)
    return guards


def literal_residual(stakes: Stakes, x: Floats, j: int, b: Floats) -> float:
    centred = x - stakes.centres[j]
    return float(centred[j] - b @ centred)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_sums_are_those_of_the_definition(seed: int) -> None:
    rounds = dirty_rounds(seed)
    guards, p = count_all(rounds), 4
    lost, moved, squares = np.zeros((2, p)), np.zeros((p, p)), np.zeros((p, p))
    for t, (stakes, asked, signs, row) in enumerate(rounds):
        for k in range(p):
            if row is None and signs[k] != 0.0:
                lost[int(signs[k] > 0.0), k] += 1
        for j in range(p):
            if row is None or asked[j] or not stakes.is_begun[j] or t + 1 == len(rounds):
                continue
            r = literal_residual(stakes, row, j, stakes.references[j])
            for k in range(p):
                following = rounds[t + 1][2][k]
                moved[j, k] += r * following
                squares[j, k] += r**2 * following**2
    assert guards.lost.tolist() == lost.tolist() and lost.sum() > 10
    np.testing.assert_allclose(guards.moved, moved, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(guards.squares, squares, rtol=1e-9)
    assert (squares > 0.0).all()


def literal_product(rounds: list[Round], j: int, i: int, k: int, b: Floats) -> tuple[float, float]:
    s = v = 0.0
    for stakes, asked, signs, row in rounds:
        if row is not None and not asked[j] and stakes.is_begun[j]:
            coin, centre = signs[i] * signs[k], stakes.centres.mean(axis=0)
            a = stakes.references[j]
            r = literal_residual(stakes, row, j, a) - float((b - a) @ (row - centre))
            s += coin * r
            v += coin**2 * r**2
    return s, v


@pytest.mark.parametrize("seed", [3, 4])
def test_products_are_bounded_over_all_rows_within_intervals(seed: int) -> None:
    """S is exact and V is a bound at one row; both are bounds over a box, with S at a corner."""
    rounds, rng = dirty_rounds(seed), np.random.default_rng(seed)
    guards = count_all(rounds)
    centre = four_weights() + 0.1 * rng.normal(size=(4, 4))
    np.fill_diagonal(centre, 0.0)
    half = 0.2 * rng.random((4, 4)) * (1.0 - np.eye(4))
    point, box = Intervals(centre, centre, 1), Intervals(centre - half, centre + half, 1)
    n_seen, slack = 0, []
    for j in range(4):
        for test, (i, k) in enumerate(guards.products.pairs[j]):
            s, v = literal_product(rounds, j, i, k, centre[j])
            if v == 0.0:
                continue
            n_seen += 1
            at = np.array([j]), np.array([test])
            least, most = product_bounds(guards, point, *at)
            assert least[0] == pytest.approx(abs(s), rel=1e-6, abs=1e-8)
            assert v <= most[0]
            slack.append(most[0] / v)
            least, most = product_bounds(guards, box, *at)
            corners = rng.choice([-1.0, 1.0], size=(60, 4))
            for step in (*corners, *rng.uniform(-1, 1, size=(20, 4))):
                s, v = literal_product(rounds, j, i, k, centre[j] + step * half[j])
                assert least[0] <= abs(s) + 1e-9 and v <= most[0]
    assert n_seen == 12 and np.median(slack) < 1.6


def plain_stakes(p: int, references: Floats) -> Stakes:
    one = np.repeat(np.eye(p, dtype=np.float32)[None], p, axis=0)
    none, begun = np.zeros((p, p)), np.ones(p, dtype=np.bool_)
    return Stakes(begun, none, references, np.zeros_like(one), one, np.ones((p, p)), none)


@pytest.mark.parametrize("slope", [0.9, 0.1])
def test_the_bound_of_v_is_exact_where_one_coefficient_is_in_question(slope: float) -> None:
    """Values that go with the residual tilt V: it is largest at the end that the tilt points to."""
    rng, references = np.random.default_rng(10), np.zeros((3, 3))
    references[2, 0] = 0.5
    stakes, rounds = plain_stakes(3, references), list[Round]()
    asked = np.array([True, True, False])
    for _ in range(40):
        signs = np.array([*rng.choice([-1.0, 1.0], size=2), 0.0])
        row = 2.0 * signs + rng.normal(size=3)
        row[2] += slope * row[0]
        rounds.append((stakes, asked, signs, row))
    guards, half = count_all(rounds), np.zeros((3, 3))
    half[2, 0] = 0.2
    box = Intervals(references - half, references + half, 1)
    _, most = product_bounds(guards, box, np.array([2]), np.array([0]))
    ends = [literal_product(rounds, 2, 0, 1, of[2])[1] for of in (box.low, box.high)]
    assert most[0] == pytest.approx(max(ends), rel=1e-6)
    assert max(ends) > 1.3 * min(ends)


def literal_span(rounds: list[Round], j: int, b: Floats) -> float:
    """Of row j, over all rounds with two coins in which some other row was watched."""
    total = 0.0
    for stakes, asked, signs, row in rounds:
        if row is not None and np.count_nonzero(signs) > 1 and (stakes.is_begun & ~asked).any():
            shared = row - stakes.centres.mean(axis=0)
            total += float((b - stakes.references[j]) @ shared) ** 2
    return total


@pytest.mark.parametrize("seed", [6, 7])
def test_spans_are_bounded_over_all_rows_within_intervals(seed: int) -> None:
    """Exactly where one coefficient is in question."""
    rounds, rng = dirty_rounds(seed), np.random.default_rng(seed)
    guards, centre = count_all(rounds), 0.5 * four_weights()
    half = 0.3 * rng.random((4, 4)) * (1.0 - np.eye(4))
    most = largest_spans(guards, Intervals(centre - half, centre + half, 1))
    for j in range(4):
        found = [
            literal_span(rounds, j, centre[j] + step * half[j])
            for step in rng.choice([-1.0, 1.0], size=(30, 4))
        ]
        assert 0.3 * most[j] < max(found) <= most[j]
        single = np.zeros((4, 4))
        single[j, (j + 1) % 4] = 0.4
        box = Intervals(centre - single, centre + single, 1)
        ends = [literal_span(rounds, j, of[j]) for of in (box.low, box.high)]
        assert largest_spans(guards, box)[j] == pytest.approx(max(ends), rel=1e-9)


def test_spans_serve_where_there_are_many_coefficients() -> None:
    """The sum of norms grows with the square of their number, the span does not."""
    p, rng = 24, np.random.default_rng(11)
    stakes, rounds = plain_stakes(p, np.zeros((p, p))), list[Round]()
    for _ in range(1500):
        asked = rng.random(p) < 0.5
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=p), 0.0)
        rounds.append((stakes, asked, signs, np.where(asked, 2.0 * signs, rng.normal(size=p))))
    guards, half = count_all(rounds), np.full((p, p), 0.15)
    np.fill_diagonal(half, 0.0)
    box, j = Intervals(-half, half, 1), 0
    _, most = product_bounds(guards, box, np.array([j]), np.array([0]))
    i, k = guards.products.pairs[j, 0]
    norms = np.sqrt(guards.products.sizes[j, 0]) @ half[j]
    assert most[0] < 0.7 * norms**2
    free = [one for one in rounds if not one[1][j]]
    watched = free[ROUNDS_TO_CHOOSE * p - 1 :]
    counted = literal_product(watched, j, i, k, np.zeros(p))[1]
    assert counted == pytest.approx(guards.products.squares[j, 0])
    for step in rng.choice([-1.0, 1.0], size=(20, p)):
        assert literal_product(watched, j, i, k, step * half[j])[1] <= most[0]


def test_rows_without_bounds_have_no_products() -> None:
    guards = count_all(dirty_rounds(5))
    low = np.full((4, 4), -1.0)
    low[:, 0] = -np.inf
    least, most = product_bounds(
        guards, Intervals(low, -low, 1), np.arange(1, 4), np.zeros(3, dtype=np.int64)
    )
    assert (least == 0.0).all() and (most == np.inf).all()


def test_a_scale_is_fixed_in_the_first_round_of_a_row() -> None:
    rounds = dirty_rounds(6)
    guards, before = GuardSums.empty(4), np.zeros(4)
    for t, (stakes, asked, signs, row) in enumerate(rounds):
        guards = guards.count(Intent(t + 1, asked, signs), row, stakes)
        for j in range(4):
            if before[j] == 0.0 and guards.scales[j] > 0.0:
                q = np.eye(4)[j] - stakes.references[j]
                assert guards.scales[j] == pytest.approx(SCALE * (q @ form_of(stakes, j) @ q))
                assert not asked[j] and row is not None
            else:
                assert guards.scales[j] == before[j]
        before = guards.scales
    assert (before > 0.0).all()


def test_many_variables_watch_the_pairs_of_the_largest_effects() -> None:
    """Chosen once, from what was known before; the numbers grow with the square of p."""
    p, rng = 30, np.random.default_rng(7)
    references = np.zeros((p, p))
    references[0, [3, 9, 20, 25]] = 1.0, -0.5, 0.8, 0.3
    stakes, guards = plain_stakes(p, references), GuardSums.empty(p)
    rounds: list[Round] = []
    for t in range(500):
        asked = rng.random(p) < 0.5
        asked[29] = False  # cannot be set: its coin can be in no pair
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=p), 0.0)
        row = rng.normal(size=p)
        others = plain_stakes(p, rng.normal(size=(p, p)) * (1 - np.eye(p)))
        mine = stakes if t < 400 else others
        guards = guards.count(Intent(t + 1, asked, signs), row, mine)
        rounds.append((mine, asked, signs, row))
    pairs = guards.products.pairs
    assert pairs[0].tolist() == [[3, 9], [3, 20], [3, 25], [9, 20], [9, 25], [20, 25]]
    assert (pairs >= 0).all() and (pairs < 29).all()
    assert (pairs != np.arange(p)[:, None, None]).all()
    s, v = literal_product(rounds[-100:], 0, 3, 20, np.zeros(p))
    early = count_all(rounds[:-100])
    change = guards.products.moved - early.products.moved
    assert change[0, 1, 0] == pytest.approx(s)
    assert v > 0.0
    n_numbers = sum(
        array.size
        for array in (guards.moved, guards.squares, guards.lost, *guards.products, *guards.spans)
    )
    assert n_numbers <= (5 * N_LARGEST * (N_LARGEST - 1) // 2 + 8) * p**2


def play_record(
    seed: int, order: str, n_batches: int = 20, *, rig_seed: int = 0
) -> tuple[CoinRecord, CoinRecord]:
    """A record after batches of eight asks told in some order, and as it was before the last."""
    record = new_record(~np.eye(4, dtype=np.bool_))
    rig = Rig(four_weights(), hidden, np.random.default_rng([rig_seed, 1]))
    coins, shuffle = np.random.default_rng(seed), np.random.default_rng(8)
    before = record
    for batch in range(n_batches):
        told: list[tuple[int, Floats | None]] = []
        before = record
        for i in range(8):
            number = 8 * batch + i + 1
            asked = coins.random(4) < 0.5
            signs = np.where(asked, coins.choice([-1.0, 1.0], size=4), 0.0)
            record = with_ask(record, Intent(number, asked, signs))
            row = rig.respond(asked, REACH * signs)
            told.append((number, None if number % 9 == 4 else row))
        if order == "backwards":
            told.reverse()
        elif order == "mixed":
            told = [told[i] for i in shuffle.permutation(8)]
        for number, answer in told:
            if answer is None:
                record = without_ask(record, number, 3.0)
            else:
                record = with_answer(record, number, answer, 3.0)
    return record, before


@pytest.mark.parametrize("order", ["backwards", "mixed"])
def test_the_order_of_telling_changes_nothing(order: str) -> None:
    one, other = (play_record(9, way)[0].guards for way in ("as asked", order))
    assert are_same(one, other)
    assert one.lost.sum() > 10 and one.rounds.min() > 20 and one.products.squares.any()


def test_what_is_shared_is_never_written_to() -> None:
    _, before = play_record(9, "mixed", n_batches=12)
    again, _ = play_record(9, "mixed", n_batches=11)
    assert are_same(before.guards, again.guards)


def test_parts_are_kept_and_put_together() -> None:
    for record in (new_record(~np.eye(4, dtype=np.bool_)), play_record(9, "as asked")[0]):
        tree, arrays = take_apart(record.guards)
        assert are_same(put_together(GuardSums, tree, arrays), record.guards)
