"""The resolution certificate: martingales with mean one, sure bounds, and both cases exactly."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.guarantees import Reorder, ResolutionRule
from causalfocus.guarantees.claims import ResolutionClaim
from causalfocus.kernels.arithmetic import sets
from causalfocus.kernels.arithmetic.sets import regressors_of
from causalfocus.kernels.evidence import subsets, training
from causalfocus.kernels.evidence.edge_evidence import Departure, Noise
from causalfocus.kernels.evidence.row_evidence import even_spread, least_squares
from causalfocus.kernels.gaussian import direction_evidence, resolution, swaps
from causalfocus.kernels.gaussian import levels as resolution_levels
from causalfocus.kernels.records import Actions, Model, Parameters, Row, Span
from causalfocus.oracles import report
from literal import enumerate_dags
from literal.all_dags import Dag

NOTHING = Noise(-math.inf, 1.0, 1.0)
ALL = Span(-math.inf, math.inf)
SPACE = cf.ModelClass(0.3, intercept=False)


def log_likelihood(x, y, b, v) -> float:
    return float(stats.norm.logpdf(y - x @ b, scale=math.sqrt(v)).sum())


def moving_ratio(x, y, along, b, v, spread, wide, a0) -> float:
    """EDGE from samples: given the past the row moves by w + c u_t, so that the residuals are
    jointly Student-t; over the likelihood of (b, v).
    """
    n = len(y)
    moved = (along * x).sum(axis=1)
    shape = np.eye(n) + ((x * spread) @ x.T + wide**2 * np.outer(moved, moved)) / v
    law = stats.multivariate_t(np.zeros(n), shape * v, df=2 * a0)
    return float(law.logpdf(y - x @ b)) - log_likelihood(x, y, b, v)


def directions(x, marks, k) -> np.ndarray:
    """u_t, from the samples before the mark that came last before t; by plain inversion."""
    s = x.shape[1]
    found = np.zeros_like(x)
    for t in range(len(x)):
        before = max([mark for mark in marks if mark <= t], default=0)
        found[t, k] = 1.0
        if before > s:
            inverse = np.linalg.inv(x[:before].T @ x[:before])
            found[t] = inverse[:, k] / inverse[k, k]
    return found


def timed(x, y, marks):
    """One row's moments at the marks, as the kernels take them; the node itself comes last."""
    data = np.column_stack([x, y])
    grams = np.array([[data[:end].T @ data[:end]] for end in [*marks, len(y)]])
    counts = np.array([[float(end)] for end in [*marks, len(y)]])
    return direction_evidence.Times(grams, np.zeros_like(grams), counts)


def fit_along(x, y, marks, k):
    s = x.shape[1]
    times = timed(x, y, marks)
    gram = times.grams[-1, 0]
    regressors = np.arange(s)
    fit = least_squares(Row(gram, 0.0 * gram, s), regressors, float(len(y)))
    b = fit.coefficients
    # The kernels index the row by its node: here the only row, its node in the last column.
    ell, q, eta = np.zeros(s), 0.0, 0.0
    u = directions(x, marks, k)
    moved = (u * x).sum(axis=1)
    ell, q, eta = x.T @ moved, float(moved @ moved), float(moved @ (y - x @ b))
    return fit, direction_evidence.Direction(ell, q, eta), u


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("stiffness", [30.0, 3000.0])
@pytest.mark.parametrize("d", [0.15, 0.5])
def test_evidence_along_a_direction_is_a_lower_bound(s: int, stiffness: float, d: float) -> None:
    """Against the exact ratio at many alternatives: never above, and close at the worst one."""
    rng = np.random.default_rng([s, int(10 * d)])
    n = 160
    x = rng.standard_normal((n, s)) @ (np.eye(s) + 0.4 * rng.standard_normal((s, s)))
    x[60:] *= rng.uniform(0.5, 2.0, s)  # another design later on: the direction turns
    y = x @ rng.uniform(-1, 1, s) + rng.standard_normal(n)
    fit, sums, u = fit_along(x, y, [8, 16, 32, 64, 128], 0)
    b_hat = fit.coefficients
    spread = np.full(s, 0.05**2)
    mixing = direction_evidence.DirectionMixing(np.vstack([spread, np.zeros(s)]), 0.3, stiffness)
    centre = fit.residual / fit.n
    work = np.empty((5, s + 1, s + 1))
    direction = fit.inverse[:, 0] / fit.inverse[0, 0]
    at_worst = []
    for v1, v2 in [(centre, centre), (0.95 * centre, centre), (centre, 1.1 * centre)]:
        bound = direction_evidence.piece_evidence(
            fit, sums, mixing, Departure(0, d), Span(v1, v2), work
        )
        found = []
        for v in np.linspace(v1, v2, 4):
            for side, stretch in itertools.product((-1, 1), (1.0, 1.1, 2.0)):
                for tilt in (-0.5, 0.0, 0.5, 1.0, 1.5):
                    move = side * d * stretch * np.where(np.arange(s) == 0, 1.0, tilt * direction)
                    args = (x, y, u, b_hat + move, v, spread, 0.3, stiffness)
                    found.append(moving_ratio(*args))
        assert bound <= min(found) + 1e-9
        at_worst.append(min(found) - bound)
    if stiffness == 3000.0:
        assert at_worst[0] < 0.3


def test_the_kernel_finds_the_directions_of_the_past() -> None:
    """l, q and eta from the moments at the marks, against sums over the samples."""
    rng = np.random.default_rng(3)
    moments = cf.Moments(["a", "b", "c"])
    samples = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 3))
    moments.add_many([cf.OBSERVE] * 100, samples)
    rows = moments.timed_rows(intercept=False)
    times = direction_evidence.Times(rows.grams, rows.lows, rows.counts)
    regressors = np.array([0, 1])
    x, y = samples[:, :2], samples[:, 2]
    for k in (0, 1):
        fit, sums, _ = fit_along(x, y, [8, 16, 32, 64], k)
        inverses = direction_evidence.past_inverses(times, 2, regressors)
        found = direction_evidence.direction_sums(
            times, 2, regressors, inverses, fit.coefficients, k
        )
        assert found.products == pytest.approx(sums.products, rel=1e-9)
        assert found.square == pytest.approx(sums.square, rel=1e-9)
        assert found.residual_product == pytest.approx(sums.residual_product, abs=1e-8)


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


@pytest.mark.parametrize("at", np.linspace(-1.2, 1.2, 13))
@pytest.mark.parametrize("regime", [(0.0, 0.24), (0.24, 0.4), (0.4, math.inf)])
@pytest.mark.parametrize(("centre", "radius"), [(0.0, 0.3), (0.5, 0.15), (0.3, 0.15), (0.1, 0.15)])
def test_distances_against_a_grid(at, regime, centre, radius) -> None:
    low, high = regime
    grid = np.linspace(-3, 3, 60001)
    size = np.abs(grid)
    broken = grid[(size >= low) & (size < high) & (np.abs(grid - centre) >= radius)]
    expected = np.abs(broken - at).min() if len(broken) else math.inf
    found = resolution.distance(at, centre, radius, low, high)
    assert found <= expected + 1e-12
    assert found == pytest.approx(expected, abs=2e-4) or expected == math.inf


@pytest.mark.parametrize("seed", range(30))
def test_shares_against_all_sets_of_strong_edges(seed: int) -> None:
    """Every alternative of case 1b: which unreported edges are strong, and what breaks the claim.

    Each has as many strong edges as it can, and the largest evidence of its strong edges counts.
    """
    rng = np.random.default_rng(seed)
    p = 4
    weights = np.zeros((p, p))
    pairs = [(j, k) for j in range(p) for k in range(j)]
    for j, k in pairs:
        weights[j, k] = rng.random() < 0.4
    tables = np.full((2, p, p), math.inf)
    for j, k in pairs:
        tables[0, j, k] = rng.uniform(0, 14)
        tables[1, j, k] = tables[0, j, k] * rng.uniform(0, 1)
        if weights[j, k]:
            tables[1, j, k] = 40.0
    reported = [pair for pair in pairs if weights[pair]]
    unreported = [pair for pair in pairs if not weights[pair]]
    lowest = math.inf
    of_edge = dict.fromkeys(reported, math.inf)
    for size in range(len(unreported) + 1):
        share = math.log(resolution.W_EDGE / max(len(reported) + size, 1))
        for strong in itertools.combinations(unreported, size):
            told = max((tables[1][pair] for pair in strong), default=-math.inf)
            for pair in [*reported, *strong]:
                against = max(told, tables[0][pair]) + share
                lowest = min(lowest, against)
                if pair in of_edge:
                    of_edge[pair] = min(of_edge[pair], against)
    levels = resolution_levels.edge_levels(tables, weights)
    assert all(levels[pair] <= value for pair, value in of_edge.items())
    found = resolution_levels.row_evidence(tables, weights)
    n_strong = resolution_levels.strong_edges(tables, weights, found)
    assert found <= lowest
    if min((tables[1][pair] for pair in unreported), default=20.0) > 13.0:
        assert found == pytest.approx(lowest, abs=1e-3)
    assert max(len(reported), 1) <= n_strong <= len(pairs)


def data_for(p, n, seed, *, intercept=False, density=0.6, scale=1.0):
    rng = np.random.default_rng([p, seed])
    truth = cf.random_sem(
        p, density=density, seed=seed, intercept_range=(-1.0, 1.0) if intercept else (0.0, 0.0)
    )
    truth = cf.LinearSEM(truth.weights, truth.noise_variances * scale, truth.intercepts)
    moments = cf.Moments(truth.names)
    actions = list(cf.ActionSet(dict.fromkeys(truth.names, (-2, 2))))
    taken = [actions[i] for i in rng.integers(len(actions), size=n)]
    moments.add_many(taken, np.array([truth.sample(action, 1, rng)[0] for action in taken]))
    return truth, moments


def is_acyclic(parents: list[set[int]]) -> bool:
    left = set(range(len(parents)))
    while left:
        free = {j for j in left if not parents[j] & left}
        if not free:
            return False
        left -= free
    return True


def random_costs(rng: np.random.Generator, p: int) -> np.ndarray:
    """Larger sets of parents explain more: the evidence against them is less."""
    costs = rng.normal(3.0, 2.0, (p, 1 << (p - 1)))
    for j in range(p):
        for mask in sorted(range(1 << (p - 1)), key=int.bit_count):
            for bit in range(p - 1):
                if mask >> bit & 1:
                    costs[j, mask] = min(costs[j, mask], costs[j, mask ^ (1 << bit)])
    return costs


def topological_orders(dag: Dag) -> list[tuple[int, ...]]:
    ways = itertools.permutations(range(len(dag)))
    return [way for way in ways if all(dag[j] <= set(way[:i]) for i, j in enumerate(way))]


@pytest.mark.parametrize("p", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_contrary_orders_against_all_dags(p: int, seed: int) -> None:
    """Case 2: the least evidence over all DAGs whose union with the report has a cycle.

    For each the best of its topological orders counts; rows are swapped as the proof says.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(p)
    weights = np.zeros((p, p))
    for a, b in itertools.combinations(range(p), 2):
        weights[order[b], order[a]] = rng.random() < 0.6
    costs = random_costs(rng, p)
    reported = [set(np.flatnonzero(weights[j]).tolist()) for j in range(p)]

    def cost(j: int, parents: set[int]) -> float:
        return float(costs[j, sets.as_mask(sum(1 << k for k in parents), j)])

    def closed(nodes: set[int]) -> bool:
        return all(reported[j] <= nodes for j in nodes)

    def evidence_along(dag: Dag, way: tuple[int, ...]) -> float:
        total = 0.0
        mixed = [set(parents) for parents in dag]
        for i, j in enumerate(way):
            if not (closed(set(way[:i])) and closed(set(way[: i + 1]))):
                total += cost(j, set(dag[j]))
                mixed[j] = reported[j]
        assert is_acyclic(mixed)  # what the proof needs
        return total

    contrary = (
        dag
        for dag in enumerate_dags(p)
        if not is_acyclic([reported[j] | set(dag[j]) for j in range(p)])
    )
    least = min(
        (max(evidence_along(dag, way) for way in topological_orders(dag)) for dag in contrary),
        default=math.inf,
    )
    found, before_each, is_swapped = swaps.contrary_order(costs, weights)
    assert found == pytest.approx(least)
    if math.isfinite(found):
        swapped = [j for j in range(p) if is_swapped[j]]
        assert sum(costs[j, sets.as_mask(before_each[j], j)] for j in swapped) == (
            pytest.approx(found)
        )


def single_evidence(rule, moments, weights, j, parents, k) -> tuple[float, float]:
    """Case 1b for one row on one set of parents, assembled anew from the samples' moments: the
    evidence, before its share, against a strong alternative and against a weak (or counted) one.
    """
    times, split = rule.times(moments), rule.split(moments)
    epsilon, smallest, cut, top, large, small, fine, a0 = rule.scale
    p, q = weights.shape[0], times.grams.shape[2]
    regressors = np.array([*sorted(parents), *range(p, q)])
    at = list(regressors).index(k)
    row, n = Row(times.grams[-1, j], times.lows[-1, j], j), times.counts[-1, j]
    fit = least_squares(row, regressors, n)
    b = fit.coefficients
    inverses = direction_evidence.past_inverses(times, j, regressors)
    sums = direction_evidence.direction_sums(times, j, regressors, inverses, b, at)
    noise = resolution.noise_of(split, j, regressors)
    is_reported = weights[j, k] != 0

    def against(values: np.ndarray, wide: float, share: float) -> float:
        if not len(values):
            return math.inf
        mixing = direction_evidence.DirectionMixing(
            even_spread(regressors, p, fine * wide), wide, a0
        )
        departure = Departure(at, float(np.abs(values - b[at]).min()))
        told = noise._replace(log_marginal=noise.log_marginal - math.log(share))
        return direction_evidence.direction_evidence(fit, sums, mixing, departure, told, ALL)

    grid = np.linspace(-6, 6, 240001)
    size = np.abs(grid)
    breaks = np.abs(grid - weights[j, k]) >= (epsilon if is_reported else smallest)
    edge = resolution.W_EDGE / max(np.count_nonzero(weights), 1)
    weak = resolution.W_WEAK / (p * (p - 1) / 2)
    beyond = against(grid[breaks & (size >= top)], large, edge)
    strong = min(beyond, against(grid[breaks & (size >= cut) & (size < top)], small, edge))
    if is_reported:
        return strong, against(grid[breaks & (size < cut)], small, weak)
    return strong, min(beyond, against(grid[(size >= cut) & (size < top)], small, edge))


@pytest.mark.parametrize(
    ("p", "n", "intercept"), [(3, 800, False), (3, 500, True), (4, 900, False)]
)
@pytest.mark.parametrize("seed", range(2))
def test_rows_against_all_dags(p: int, n: int, intercept: bool, seed: int) -> None:
    """Case 1: over all DAGs whose union with the report is acyclic, row by row."""
    _, moments = data_for(p, n, seed, intercept=intercept)
    space = cf.ModelClass(0.3, intercept=intercept)
    rule = ResolutionRule(space, 0.15, 0.05)
    weights = report(moments, space).weights
    reported = [set(np.flatnonzero(weights[j]).tolist()) for j in range(p)]
    strong, other = np.full((p, p), math.inf), np.full((p, p), math.inf)
    seen: dict[tuple[int, frozenset[int], int], tuple[float, float]] = {}
    missing = np.full((p, p), math.inf)
    split = rule.split(moments)
    assert split is not None
    costs = swaps.swap_costs(split, weights)
    for dag in enumerate_dags(p):
        if not is_acyclic([reported[j] | set(dag[j]) for j in range(p)]):
            continue
        for j in range(p):
            for k in reported[j] - dag[j]:
                value = costs[j, sets.as_mask(sum(1 << m for m in dag[j]), j)]
                missing[j, k] = min(missing[j, k], value)
            for k in dag[j] if reported[j] <= dag[j] else ():
                if (j, dag[j], k) not in seen:
                    seen[j, dag[j], k] = single_evidence(rule, moments, weights, j, dag[j], k)
                strong[j, k] = min(strong[j, k], seen[j, dag[j], k][0])
                other[j, k] = min(other[j, k], seen[j, dag[j], k][1])
    data = resolution.Data(rule.times(moments), split)
    reachable, tables, _ = resolution.row_tables(
        data, weights, rule.scale, -math.inf, math.inf, False
    )
    assert reachable
    assert tables[0] == pytest.approx(strong, abs=2e-2)
    assert tables[1] == pytest.approx(other, abs=2e-2)
    found = swaps.missing_evidence(costs, weights, split.log_share)
    assert found == pytest.approx(missing + swaps.log_swap_weight(p, split.log_share))


@pytest.mark.parametrize("level", [1.0, 3.0, 8.0])
def test_leaving_early_does_not_change_the_verdict(level: float) -> None:
    for seed in range(6):
        _, moments = data_for(3, 600, seed, density=0.8)
        rule = ResolutionRule(SPACE, 0.15, math.exp(-level))
        estimate = report(moments, SPACE)
        decision = rule.decide(moments, estimate)
        assert (
            decision.verdict is None or decision.stop == rule.judge(moments, estimate).rejects_all
        )
        if decision.verdict is not None:
            plain = ResolutionRule(SPACE, 0.15, math.exp(-level)).decide(
                moments, estimate, judge_graph=False
            )
            assert decision.stop == (plain.evidence >= level)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_surely_enough_does_not_move_the_rival(seed: int) -> None:
    """Tables that stop where the evidence suffices: the same verdict and the same least entry."""
    _, moments = data_for(4, 500, seed, density=0.6)
    answer = report(moments, SPACE).weights
    rule = ResolutionRule(SPACE, 0.15, 0.05)
    split = rule.split(moments)
    assert split is not None
    data = resolution.Data(rule.times(moments), split)
    whole, short = (
        resolution.row_tables(data, answer, rule.scale, -math.inf, enough, True).evidence
        for enough in (math.inf, rule.threshold)
    )
    levels = [resolution_levels.row_evidence(tables, answer) for tables in (whole, short)]
    assert (levels[0] >= rule.threshold) == (levels[1] >= rule.threshold)
    assert levels[1] <= levels[0] + 1e-9
    if levels[0] < rule.threshold:
        assert levels[1] == pytest.approx(levels[0])
        low = whole < rule.threshold
        assert short[low] == pytest.approx(whole[low])


def policy(history, rng):
    """Any rule that looks at the past alone."""
    if not history:
        return -1
    return int(rng.integers(-1, 2)) if history[-1][1][0] > 0 else 0


def simulated(b, n, rng):
    """Two nodes, X1 -> X2 with weight b, unit noise; actions observe, do(X1, 1), do(X2, 1)."""
    history = []
    for _ in range(n):
        target = policy(history, rng)
        first = 1.0 if target == 0 else rng.standard_normal()
        second = 1.0 if target == 1 else b * first + rng.standard_normal()
        history.append((target, np.array([first, second])))
    return history


def test_every_numerator_averages_to_one() -> None:
    """Under the alternative itself and an adaptive policy: EDGE with directions of the past, NOISE
    and SWAP of one and of two rows as the training foretells them.
    """
    rng = np.random.default_rng(11)
    b, runs, n, mark = 0.4, 4000, 17, 12
    ratios = {name: [] for name in ("edge", "noise", "swap one", "swap two")}
    for _ in range(runs):
        history = simulated(b, n, rng)
        targets = np.array([target for target, _ in history])
        samples = np.array([values for _, values in history])
        own = targets != 1
        x, y = samples[own][:, :1], samples[own][:, 1]
        marks = [int(own[:8].sum()), int(own[:16].sum())]
        u = directions(x, marks, 0)
        value = moving_ratio(x, y, u, np.array([b]), 1.0, np.array([0.05**2]), 0.3, 10.0)
        ratios["edge"].append(value)
        early = np.arange(n) < mark
        grams = {}
        for j in (0, 1):
            for part, chosen in (("training", early), ("later", ~early)):
                rows = samples[(targets != j) & chosen]
                grams[j, part] = Row(rows.T @ rows, np.zeros((2, 2)), j), float(len(rows))

        def swapped(j: int, parents: list[int], grams=grams) -> float:
            data = (*grams[j, "training"], *grams[j, "later"])
            return training.log_predictive(*data, np.array(parents, dtype=np.int64))

        own_rows = {
            0: samples[(targets != 0) & ~early],
            1: samples[(targets != 1) & ~early],
        }
        likelihood = {
            0: float(stats.norm.logpdf(own_rows[0][:, 0]).sum()),
            1: float(stats.norm.logpdf(own_rows[1][:, 1] - b * own_rows[1][:, 0]).sum()),
        }
        if min(len(own_rows[0]), grams[0, "training"][1], grams[1, "training"][1]) < 4:
            for name in ("noise", "swap one", "swap two"):
                ratios[name].append(0.0)  # as if nothing had been tested: the ratio stays one
            continue
        ratios["noise"].append(swapped(1, [0]) - likelihood[1])
        ratios["swap one"].append(swapped(1, []) - likelihood[1])
        both = swapped(0, [1]) + swapped(1, []) - likelihood[0] - likelihood[1]
        ratios["swap two"].append(both)
    for name, logs in ratios.items():
        values = np.exp(logs)
        # The mean of min(value, 100) is at most one, and close to it: heavy tails are cut.
        cut = np.minimum(values, 100.0)
        error = cut.std() / math.sqrt(runs)
        assert cut.mean() < 1 + 4 * error, name
        assert cut.mean() > 0.85, name


def test_what_the_claim_says() -> None:
    claim = ResolutionClaim(cf.ModelClass(0.3), 0.15)
    model = cf.LinearSEM([[0, 0, 0], [0.5, 0, 0], [0, 0, 0]], 1.0)

    def truth(direct: float, other: float, backwards: float = 0.0) -> cf.LinearSEM:
        return cf.LinearSEM([[0, backwards, 0], [direct, 0, 0], [0, other, 0]], 1.0)

    assert claim.holds(model, truth(0.5, 0.0))
    assert claim.holds(model, truth(0.36, 0.29))  # weak effects may exist
    assert not claim.holds(model, truth(0.34, 0.0))
    assert not claim.holds(model, truth(0.5, -0.3))
    assert not claim.holds(model, truth(0.0, 0.0, 0.5))
    graph_alone = ResolutionClaim(cf.ModelClass(0.3), None)
    assert graph_alone.holds(model, truth(1.5, 0.0))
    assert not graph_alone.holds(model, truth(0.0, 0.0))


def test_a_weak_effect_may_exist_and_a_missing_one_is_not_certified() -> None:
    truth = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, 0.05, 0]], 1.0)
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    moments = cf.Moments.expected(truth, dict.fromkeys(actions, 300))
    answer = report(moments, SPACE)
    assert [edge[:2] for edge in answer.edges] == [("X1", "X2")]
    value = cf.evidence(moments, answer, SPACE, epsilon=0.15)
    assert value > 3.0
    nothing = cf.LinearSEM(np.zeros((3, 3)), 1.0)
    backwards = cf.LinearSEM([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], 1.0)
    shifted = cf.LinearSEM([[0, 0, 0], [0.72, 0, 0], [0, 0, 0]], 1.0)
    for wrong in (nothing, backwards, shifted):
        assert cf.evidence(moments, wrong, SPACE, epsilon=0.15) < 0


@pytest.mark.parametrize("intercept", [False, True])
def test_relabelling_batching_and_units(intercept: bool) -> None:
    """The order of the names, bulk or single, and a common unit of all variables do not matter."""
    space = cf.ModelClass(0.3, intercept=intercept)
    truth, _ = data_for(3, 1, 4, intercept=intercept, density=1.0)
    rng = np.random.default_rng(4)
    actions = list(cf.ActionSet(dict.fromkeys(truth.names, (-2, 2))))
    taken = [actions[i] for i in rng.integers(len(actions), size=700)]
    samples = np.array([truth.sample(action, 1, rng)[0] for action in taken])
    bulk, single, other = (
        cf.Moments(names) for names in (truth.names, truth.names, ["X3", "X1", "X2"])
    )
    bulk.add_many(taken, samples)
    for action, sample in zip(taken, samples, strict=True):
        single.add(action, sample)
    other.add_many(taken, samples[:, [2, 0, 1]])
    larger = cf.Moments(truth.names)
    larger.add_many(
        [a if a.target is None else cf.do(a.target, 1000 * a.value) for a in taken], 1000 * samples
    )
    answer = report(bulk, space)
    value = cf.evidence(bulk, answer, space, epsilon=0.15)
    assert cf.evidence(single, answer, space, epsilon=0.15) == value
    mirrored = cf.evidence(other, answer.relabelled(other.names), space, epsilon=0.15)
    assert mirrored == pytest.approx(value, abs=1e-6)
    assert cf.evidence(larger, answer, space, epsilon=0.15) == pytest.approx(value, abs=1e-6)
    if intercept:
        shift = np.array([100.0, -7.0, 3.0])
        moved = cf.Moments(truth.names)
        at = {name: i for i, name in enumerate(truth.names)}
        moved.add_many(
            [
                a if a.target is None else cf.do(a.target, a.value + shift[at[a.target]])
                for a in taken
            ],
            samples + shift,
        )
        assert cf.evidence(moved, answer, space, epsilon=0.15) == pytest.approx(value, abs=1e-6)


def test_marks_wait_for_the_origin_of_every_row() -> None:
    """With intercepts a row is shifted by its first own sample; a mark before that would let the
    direction know the future. One by one or in bulk, the same marks are kept.
    """
    rng = np.random.default_rng(0)
    taken = [cf.do("a", 1.0)] * 20 + [cf.OBSERVE] * 30
    samples = rng.standard_normal((50, 2))
    samples[:20, 0] = 1.0
    bulk, single = cf.Moments(["a", "b"]), cf.Moments(["a", "b"])
    bulk.add_many(taken, samples)
    for action, sample in zip(taken, samples, strict=True):
        single.add(action, sample)
    assert sorted(bulk._state.marks) == sorted(single._state.marks) == [2]  # not 8, not 16 samples
    # Of a: 12 and 30 samples, less its origin. Of b: 32 and 50, less its own and that of a.
    assert bulk.timed_rows(intercept=True).counts.tolist() == [[11.0, 30.0], [29.0, 48.0]]
    for mark, sums in bulk._state.marks.items():
        assert (sums == single._state.marks[mark]).all()


def test_no_data_one_node_and_the_graph_alone() -> None:
    empty = cf.Moments(["a", "b"])
    assert cf.evidence(empty, report(empty, SPACE), SPACE, epsilon=0.15) < 0
    alone = cf.Moments(["a"])
    rule = ResolutionRule(SPACE, 0.15, 0.05)
    assert rule.decide(alone, report(alone, SPACE)).stop
    truth, moments = data_for(3, 600, 3, density=0.8)
    answer = report(moments, SPACE)
    both = [cf.evidence(moments, answer, SPACE, epsilon=e) for e in (0.15, None)]
    assert both[1] >= both[0]
    assert ResolutionClaim(SPACE, None).holds(answer, truth)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_run_to_the_certificate_and_back(intercept: bool) -> None:
    """FOCUS with nothing but min_effect; the log replays to the bit; other rules continue it."""
    truth = cf.LinearSEM(
        [[0, 0, 0], [1.4, 0, 0], [0.2, -0.8, 0]],
        [0.3, 5.0, 1.0],
        [1.0, -2.0, 0.5] if intercept else 0.0,
    )
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-3, 3)))
    learner = cf.Focus(actions, cf.ModelClass(0.5, intercept=intercept), epsilon=0.25, delta=0.1)
    rng = np.random.default_rng(1)
    assert cf.run(learner, lambda action: truth.sample(action, 1, rng)[0], max_rounds=5000)
    result = learner.result()
    assert result.certified and learner.claim.holds(result.model, truth)
    for interval in result.intervals:
        actual = truth.weights[
            truth.names.index(interval.effect), truth.names.index(interval.cause)
        ]
        assert interval.low <= actual <= interval.high
        assert interval.high - interval.low < 4 * 0.25
    again = learner.replayed()
    assert again.result().evidence == result.evidence and again.rounds == learner.rounds
    assert [told.action for told in again.log] == [told.action for told in learner.log]
    wider = learner.with_stopping("evidence")
    assert wider.rounds == learner.rounds and wider.stopping == "evidence"
    finer = learner.with_space(cf.ModelClass(0.6, intercept=intercept))
    assert finer.rounds == learner.rounds and finer.space.min_effect == 0.6
    assert learner.stopping == "resolution" and learner.space.min_effect == 0.5


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("stopping", ["resolution", "evidence"])
def test_the_first_perfect_fits_do_not_freeze_the_design(stopping: str, intercept: bool) -> None:
    """One sample fits perfectly, and nothing bounds the noise: an infinite divergence, almost."""
    truth = cf.LinearSEM([[0, 0, 0], [0.7, 0, 0], [0, 0.6, 0]], 1.0)
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    space = cf.ModelClass(0.2, intercept=intercept)
    learner = cf.Focus(actions, space, epsilon=0.1, stopping=stopping)
    rng = np.random.default_rng(0)
    for _ in range(200):
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
    assert learner._hedge.learning_rate > 0.01


def test_what_no_longer_rises_is_aimed_at() -> None:
    """An effect far below min_effect that is plain to see: its direction has to be shown, which the
    game alone does late.
    """
    truth = cf.LinearSEM([[0, 0.147], [0, 0]], [1.0, 0.2])
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    learner = cf.Focus(actions, cf.ModelClass(0.5), epsilon=0.22, delta=0.2)
    rng = np.random.default_rng(8)
    assert cf.run(learner, lambda action: truth.sample(action, 1, rng)[0], max_rounds=3000)
    assert learner.claim.holds(learner.result().model, truth)


def test_rivals_are_systems_that_break_the_claim() -> None:
    """A missing edge and a reversed order, with the best rows that they leave."""
    truth, moments = data_for(3, 600, 3, density=0.8)
    answer = report(moments, SPACE)
    claim = ResolutionClaim(SPACE, 0.15)
    assert claim.holds(answer, truth)
    j, k = np.argwhere(answer.weights)[0]
    others = np.array([int(s) for s in sets.nondescendants(answer.weights)])
    others[j] &= ~(1 << int(k))
    without = claim.rival(moments, answer, Reorder(others, np.arange(3) == j))
    assert without.weights[j, k] == 0.0 and not claim.holds(answer, without)
    before = np.array([0b000, 0b001, 0b011])
    turned = claim.rival(moments, answer, Reorder(before, np.ones(3, dtype=bool)))
    assert turned.order.tolist() == [0, 1, 2] and not claim.holds(answer, turned)
    rows = moments.rows(intercept=False)
    expected = np.linalg.lstsq(rows.grams[2][:2, :2], rows.grams[2][:2, 2], rcond=None)[0]
    assert turned.weights[2, :2] == pytest.approx(expected)


def test_the_reason_names_what_is_left() -> None:
    truth = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0)
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    learner = cf.Focus(actions, cf.ModelClass(0.3, intercept=False), epsilon=0.15)
    rng = np.random.default_rng(0)
    reasons = set()
    while not learner.has_stopped:
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
        reasons.add(learner.decision.reason)
    assert any("X1 -> X2" in reason for reason in reasons)
    assert any("breaks the claim is rejected" in reason for reason in reasons)


def test_complexity_of_the_claim() -> None:
    """Two nodes: the closest system moves the one weight by epsilon, or has the order reversed."""
    truth = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0)
    actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    space = cf.ModelClass(0.3, intercept=False)
    found = cf.complexity(truth, actions, space, epsilon=0.1)
    # All rounds at do(X1, +-2): G = 4, so 1/2 log(1 + 0.1^2 * 4).
    assert found.value == pytest.approx(0.5 * math.log1p(0.04), rel=2e-3)
    assert "X1 -> X2 at" in found.rivals[0].changes
    with pytest.raises(cf.InvalidInputError, match="paper's claim alone"):
        found.lower_bound(0.05)
    blind = cf.ActionSet({"X1": None, "X2": None})
    hidden = cf.complexity(truth, blind, space, epsilon=0.1)
    assert not hidden.is_identifiable


def test_rows_of_the_response_are_the_closest() -> None:
    """The closed form of the best response against a search over rows, by Nelder-Mead."""
    from scipy.optimize import minimize

    from causalfocus.kernels.gaussian import response as resolution_response
    from causalfocus.kernels.sums.population import divergences

    truth = cf.random_sem(3, density=1.0, seed=8)
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    targets = np.array([-1, 0, 0, 1, 1, 2, 2])
    values = np.array([0.0, -2, 2, -2, 2, -2, 2])
    amounts = np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1])
    assert len(actions) == 7
    reference = Model(truth.weights, truth.noise_variances, truth.intercepts, truth.order)
    rival = resolution_response.closest_rival(
        reference, truth.weights, Actions(targets, values, amounts), 0.1, 0.3, False
    )
    value = float(rival.gains @ amounts)
    least = math.inf
    for effect, cause in zip(*np.nonzero(truth.weights), strict=True):
        nd = [m for m in range(3) if sets.nondescendants(truth.weights)[effect] >> m & 1]

        def cost(given, effect=effect, cause=cause, nd=nd, side=1.0) -> float:
            weights, noise = truth.weights.copy(), truth.noise_variances.copy()
            free = [m for m in nd if m != cause]
            weights[effect, free] = given[:-1]
            weights[effect, cause] = truth.weights[effect, cause] + side * 0.1
            noise[effect] = math.exp(given[-1])
            other = Parameters(weights, noise, truth.intercepts)
            return float(divergences(reference, other, targets, values) @ amounts)

        start = [truth.weights[effect, m] for m in nd if m != cause]
        found = minimize(
            cost,
            [*start, math.log(truth.noise_variances[effect])],
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 4000},
        )
        least = min(least, found.fun)
    assert (rival.effect, rival.cause) != (-1, -1)
    assert value == pytest.approx(least, rel=1e-5)


def test_regressors_and_nondescendants() -> None:
    weights = np.zeros((4, 4))
    weights[1, 0] = weights[2, 1] = 1.0
    nd = sets.nondescendants(weights)
    assert [bin(int(nodes)) for nodes in nd] == ["0b1000", "0b1001", "0b1011", "0b111"]
    assert regressors_of(nd[2], 4, 5).tolist() == [0, 1, 3, 4]
