"""Refutation: what breaks an assumption is noticed, and what does not is left alone."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.benchmark.violations import BrokenSystem, Violation
from causalfocus.guarantees import guarantee_of
from causalfocus.guarantees.alarms import W_ALARM
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.kernels.evidence import training
from causalfocus.kernels.records import Row
from causalfocus.moments.anchors import Origins, exact_difference
from causalfocus.moments.assumption_sums import Watch
from causalfocus.report.checks import alarm_history, check_picture, residuals
from causalfocus.report.pictures import save
from worlds import action_set, draw_samples, finish, play


def watch_columns(x: Floats, times: Ints, anchor: Floats) -> Floats:
    """The columns of a watched row, from samples."""
    shifted = x - anchor
    return np.column_stack([shifted, np.ones(len(x)), shifted**2, times])


def settings_of(targets: Ints, samples: Floats) -> tuple[Bools, Floats]:
    """Which nodes are set, and to what, by the node that is (-1 for none)."""
    is_set = targets[:, None] == np.arange(samples.shape[1])
    return is_set, np.where(is_set, samples, 0.0)


def about(origin: Floats) -> Origins:
    """One origin for all rows."""
    return origin[None, :], np.zeros(len(origin), dtype=np.int64)


@pytest.mark.parametrize("has_origin", [False, True])
def test_watched_rows_are_sums_over_samples(has_origin: bool) -> None:
    """Squares, time and groups, about an origin, against the samples themselves."""
    rng = np.random.default_rng(0)
    p, n = 3, 40
    targets = rng.integers(-1, p, size=n)
    samples = rng.standard_normal((n, p)) + np.array([5.0, -2.0, 0.0])
    levels = rng.choice([-1.0, 2.0, 7.0], size=n)
    for s, target in enumerate(targets):
        if target >= 0:
            samples[s, target] = levels[s]
    origin = samples[0] if has_origin else np.zeros(p)
    views = [about(np.zeros(p)), about(origin)]
    is_set, values = settings_of(targets, samples)
    watch = Watch.empty(p).after(is_set[:16], values[:16], samples[:16], views).with_mark(0)
    watch = watch.after(is_set[16:], values[16:], samples[16:], views)
    rows = watch.rows(0, about_origins=has_origin)
    times = np.arange(1, n + 1)
    for j in range(p):
        for part, (row, count) in (
            (np.arange(n) < 16, rows.training(j)),
            (np.arange(n) >= 16, rows.later(j)),
        ):
            chosen = part & (targets != j)
            columns = watch_columns(samples[chosen], times[chosen], origin)
            assert count == chosen.sum()
            assert row[0] == pytest.approx(columns.T @ columns, rel=1e-12, abs=1e-9)
        k = (j + 1) % p
        first = samples[np.flatnonzero(targets == k)[0], k]
        for group, is_first in ((2 * k, True), (2 * k + 1, False)):
            chosen = (np.arange(n) >= 16) & (targets == k) & ((samples[:, k] == first) == is_first)
            others = (np.arange(n) >= 16) & (targets != j) & ~chosen
            for part, (row, count) in (
                (chosen, rows.group(j, group)),
                (others, rows.without_group(j, group)),
            ):
                assert count == part.sum()
                columns = watch_columns(samples[part], times[part], origin)[:, : p + 1]
                assert row[0] == pytest.approx(columns.T @ columns, rel=1e-12, abs=1e-9)


def test_watching_in_parts_is_watching_in_one() -> None:
    rng = np.random.default_rng(1)
    targets = rng.integers(-1, 2, size=30)
    samples = rng.standard_normal((30, 2))
    samples[targets >= 0, targets[targets >= 0]] = rng.choice(
        [-2.0, 2.0], size=(targets >= 0).sum()
    )
    views = [about(np.zeros(2)), (samples[:2], np.array([1, 0]))]
    later = [about(np.zeros(2)), about(samples[12])]
    is_set, values = settings_of(targets, samples)
    whole = Watch.empty(2).after(is_set, values, samples, views)
    first = Watch.empty(2).after(is_set[:12], values[:12], samples[:12], views)
    second = Watch.empty(2).after(is_set[12:], values[12:], samples[12:], later)
    steps = np.array([exact_difference(samples[i], samples[12]) for i in (1, 0)])
    parts = first.merge(second, steps, keeps_marks=True)
    assert parts.n == whole.n
    assert parts.sums[:, 0] == pytest.approx(whole.sums[:, 0], rel=1e-13, abs=1e-12)
    together, in_one = (
        np.add.reduceat(watch.groups[:, 0], [0, 2, 4], axis=2) for watch in (parts, whole)
    )  # both values of a node, which may have begun with either
    assert together == pytest.approx(in_one, rel=1e-13, abs=1e-12)


def test_merging_keeps_the_first_value_of_a_node_apart() -> None:
    """What a log began with that began otherwise is one of the others here."""

    def watched(settings: list[float]) -> Watch:
        """The first of two nodes is set to these values, one after the other."""
        samples = np.array([[value, 0.5] for value in settings])
        is_set = np.tile([True, False], (len(settings), 1))
        views = [about(np.zeros(2))] * 2
        return Watch.empty(2).after(is_set, np.where(is_set, samples, 0.0), samples, views)

    def counts(watch: Watch) -> list[float]:
        """Of the groups that the row of the other node saw."""
        found: list[float] = watch.groups[0, 0, 1, :, 2, 2].tolist()
        return found

    first, none = watched([1.0]), np.zeros((2, 2, 2))
    merged = first.merge(watched([2.0, 1.0, 3.0, 2.0]), none, keeps_marks=True)
    # Set to 1 first; set to anything later; the other node, twice; observed.
    assert counts(merged) == [1.0, 4.0, 0.0, 0.0, 0.0]
    same = first.merge(watched([1.0, 2.0, 1.0]), none, keeps_marks=True)
    assert counts(same) == [3.0, 1.0, 0.0, 0.0, 0.0]


def test_noise_of_its_own_is_foretold_by_a_student_density() -> None:
    """With few degrees of freedom: an inverse gamma of that many, around the training's scale."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((30, 1)), rng.standard_normal(30)
    data = np.column_stack([x, y])
    first, later = data[:12].T @ data[:12], data[12:].T @ data[12:]
    rows = Row(first, 0 * first, 1), 12.0, Row(later, 0 * later, 1), 18.0
    found = training.log_foretold(*rows, np.array([0]), 3.0)
    b = float((x[:12, 0] @ y[:12]) / (x[:12, 0] @ x[:12, 0]))
    scale2 = float(((y[:12] - b * x[:12, 0]) ** 2).sum()) / 11
    spread = np.eye(18) + x[12:] @ x[12:].T / (x[:12, 0] @ x[:12, 0])
    law = stats.multivariate_t(b * x[12:, 0], scale2 * spread, df=3)
    assert found == pytest.approx(float(law.logpdf(y[12:])), rel=1e-10)


def test_alarms_average_to_at_most_one() -> None:
    """X1 -> X2 with unit noise, an adaptive policy: curve, drift, and noise of one action."""
    rng = np.random.default_rng(9)
    runs, n, mark, b = 3000, 16, 12, 0.5
    logs: dict[str, list[float]] = {"curve": [], "drift": [], "action": []}
    for _ in range(runs):
        x, y, acted = np.empty(n), np.empty(n), np.zeros(n, dtype=bool)
        for t in range(n):
            acted[t] = t > 0 and y[t - 1] > 0.3
            x[t] = 1.5 if acted[t] else rng.standard_normal()
            y[t] = b * x[t] + rng.standard_normal()
        columns = {"curve": x**2, "drift": np.arange(1.0, n + 1), "action": None}
        likelihood = float(stats.norm.logpdf(y[mark:] - b * x[mark:]).sum())
        for kind, extra in columns.items():
            parts = [x, y] if extra is None else [x, extra, y]
            data = np.column_stack(parts)
            own = data.shape[1] - 1

            def row(chosen: Bools, data: Floats = data, own: int = own) -> Row:
                return Row(data[chosen].T @ data[chosen], np.zeros((own + 1, own + 1)), own)

            early = np.arange(n) < mark
            before = (row(early), float(mark))
            regressors = np.arange(own)
            if extra is not None:
                log_m = training.log_predictive(*before, row(~early), float(n - mark), regressors)
            else:
                alone, rest = ~early & acted, ~early & ~acted
                log_m = training.log_foretold(
                    *before, row(alone), float(alone.sum()), regressors, 3.0
                ) + training.log_predictive(*before, row(rest), float(rest.sum()), regressors)
            logs[kind].append(log_m - likelihood)
    for kind, values in logs.items():
        cut = np.minimum(np.exp(values), 100.0)
        error = cut.std() / math.sqrt(runs)
        assert 0.7 < cut.mean() < 1 + 4 * error, kind


def run_to_the_end(system: BrokenSystem, space: cf.ModelClass, rule: str) -> cf.Focus:
    actions = action_set(system.model.names)
    learner = cf.Focus(actions, space, epsilon=0.07, delta=0.05, rule=rule)
    return finish(learner, system, 8_000)


@pytest.mark.parametrize(
    ("violation", "size", "kinds"),
    [
        ("effect above max_effect", 0.3, {"effect"}),
        ("noise out of range", 0.6, {"noise"}),
        ("intercept", 0.5, {"constant"}),
        ("quadratic term", 0.4, {"curve"}),
        ("variance under one action", 8.0, {"action"}),
        ("drift", 3.0, {"drift", "constant"}),
    ],
)
def test_what_breaks_the_class_is_named(violation: Violation, size: float, kinds: set[str]) -> None:
    system = BrokenSystem(violation, size, 1, 1000)
    learner = run_to_the_end(system, cf.PAPER_CLASS, "class")
    assert learner.is_refuted and not learner.result().certified
    alarm = learner.decision.alarm
    assert alarm is not None and alarm.kind in kinds
    assert alarm.node == system.model.names[system.effect]
    assert alarm.words in (learner.result().refuted or "")


@pytest.mark.parametrize("seed", [2, 7])
def test_a_plan_does_not_wait_for_a_weight_that_cannot_be_certified(seed: int) -> None:
    """More rounds only speak more against the largest weight of the class; a design that went for
    it alone was not refuted in 8,000 rounds.
    """
    system = BrokenSystem("effect above max_effect", 0.1, seed, 1000)
    learner = run_to_the_end(system, cf.PAPER_CLASS, "class")
    assert learner.is_refuted and learner.rounds < 5_000


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_what_breaks_nothing_is_certified(rule: str) -> None:
    system = BrokenSystem("none", 0.0, 3, 1000)
    learner = run_to_the_end(system, cf.PAPER_CLASS, rule)
    result = learner.result()
    assert result.certified and result.refuted is None
    assert learner.guarantee.holds(result.model, system.model)
    assert max(alarm.evidence for alarm in learner.alarms()) < 0


def test_what_was_refuted_is_never_certified() -> None:
    system = BrokenSystem("quadratic term", 0.5, 2, 1000)
    learner = run_to_the_end(system, cf.ModelClass(0.15, intercept=False), "gaussian")
    assert learner.is_refuted and learner.decision.stop and learner.decision.refuted
    result = learner.result()
    with pytest.raises(cf.AlreadyStoppedError, match="will certify nothing"):
        learner.ask()
    learner.continue_after_stop()
    straight = BrokenSystem("none", 0.0, 2, 1000)
    play(learner, straight, 50)
    assert learner.result() is result and not result.certified
    twin = learner.replay()
    assert twin.is_refuted and twin.result().rounds == result.rounds


def test_the_narrowest_step_is_suggested_and_taken() -> None:
    system = BrokenSystem("intercept", 0.8, 4, 1000)
    learner = run_to_the_end(system, cf.PAPER_CLASS, "class")
    assert learner.is_refuted
    assert "with_space(...) with intercept=True" in (learner.result().refuted or "")
    wider = learner.with_space(cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=True))
    assert wider.rounds == learner.rounds and not wider.is_refuted
    assert learner.is_refuted  # the first one stays as it was


def test_a_run_that_is_refuted_does_not_count_as_certified() -> None:
    system = BrokenSystem("quadratic term", 0.5, 2, 1000)
    actions = action_set(system.model.names)
    space = cf.ModelClass(0.15, intercept=False)
    learner = cf.Focus(actions, space, epsilon=0.07, rule="gaussian")
    assert cf.run(learner, system, max_rounds=8_000) is False
    assert learner.is_refuted


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_alarms_are_below_the_ratio_to_every_system_inside_the_claim(rule: str) -> None:
    """The drift alarm from samples: foretold density over the likelihood of rows in the claim."""
    rng = np.random.default_rng(7)
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    taken, samples = draw_samples(truth, 200, rng)
    samples[:, 1] += np.array([a.target != "X2" for a in taken]) * np.arange(200) * 0.01
    moments = cf.Moments(truth.names)
    moments.add_many(taken, samples)
    space = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=False)
    guarantee = guarantee_of(rule, action_set(truth.names), space, epsilon=0.07)
    (alarm,) = [a for a in guarantee.alarms(moments, truth) if a.kind == "drift" and a.node == "X2"]
    own = np.array([a.target != "X2" for a in taken])
    early = np.arange(200) < 32
    x, y, t = samples[own, 0], samples[own, 1], np.arange(1.0, 201)[own]
    data = np.column_stack([x, t, y])
    (first, n_first), (rest, n_rest) = (
        (Row(data[chosen].T @ data[chosen], np.zeros((3, 3)), 2), float(chosen.sum()))
        for chosen in (early[own], ~early[own])
    )
    log_m = training.log_predictive(first, n_first, rest, n_rest, np.array([0, 1]))
    largest_share = math.log(W_ALARM / 6 / 2) + math.log(1 / 6) + math.log(0.75)
    later = ~early[own]
    for b in np.linspace(0.15, 1.5, 40):
        for v in np.linspace(0.8, 1.2, 9):
            likelihood = stats.norm.logpdf(y[later] - b * x[later], scale=math.sqrt(v)).sum()
            assert alarm.evidence <= log_m - likelihood + largest_share + 1e-6
    assert alarm.evidence > 0  # the drift is plain to see


def test_residuals_and_pictures(tmp_path: Path) -> None:
    system = BrokenSystem("variance under one action", 6.0, 5, 1000)
    learner = run_to_the_end(system, cf.ModelClass(0.15, intercept=False), "gaussian")
    model = learner.result().model
    for of in residuals(learner.log, model):
        j = model.names.index(of.node)
        own = [told for told in learner.log if told.action.target != of.node]
        assert len(of.residuals) == len(own) == len(of.actions)
        again = own[3].sample[j] - model.weights[j] @ own[3].sample - model.intercepts[j]
        assert of.residuals[3] == pytest.approx(again)
    history = alarm_history(learner)
    assert history["action"][-1][0] == learner.rounds
    assert history["action"][-1][1] == pytest.approx(
        max(a.evidence for a in learner.alarms() if a.kind == "action")
    )
    save(check_picture(learner), tmp_path / "checks.png")
    assert (tmp_path / "checks.png").stat().st_size > 10_000
    empty = cf.Focus(learner.actions, learner.space, epsilon=0.07)
    save(check_picture(empty), tmp_path / "empty.png")


@pytest.mark.parametrize("kind", [GaussianRule, ClassRule])
def test_a_single_node_that_drifts_is_refuted(
    kind: type[GaussianRule] | type[ClassRule],
) -> None:
    rng = np.random.default_rng(0)
    moments = cf.Moments(["a"])
    moments.add_many([cf.OBSERVE] * 300, rng.standard_normal((300, 1)) + np.arange(300)[:, None])
    found = kind(action_set("a"), cf.ModelClass(0.3), 0.15, 0.05).refutation(
        moments, cf.LinearSEM([[0]], 1.0, names=["a"])
    )
    assert found is not None
    assert found.kind == "drift"
