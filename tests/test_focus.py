"""FOCUS as its user meets it: ask, tell, stop, and the same again by replay."""

import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import causalfocus as cf

SPACE = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
TRUTH = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, -0.7, 0]], [1.0, 0.9, 1.1])
ACTIONS = cf.ActionSet(dict.fromkeys(TRUTH.names, (-2, 2)))


def new(**options: object) -> cf.Focus:
    return cf.Focus(
        ACTIONS, SPACE, **({"epsilon": 0.15, "delta": 0.05, "stopping": "evidence"} | options)
    )


def rig(seed: int = 0, truth: cf.LinearSEM = TRUTH) -> Callable[[cf.Action], np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda action: truth.sample(action, 1, rng)[0]


def run(learner: cf.Focus, system: Callable[[cf.Action], np.ndarray], most: int) -> cf.Focus:
    while not learner.has_stopped and learner.rounds < most:
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


@pytest.fixture(scope="module")
def stopped() -> cf.Focus:
    return run(new(), rig(), 5000)


def test_it_stops_with_the_right_answer(stopped: cf.Focus) -> None:
    result = stopped.result()
    assert result.certified and stopped.has_stopped
    assert result.evidence >= result.threshold == pytest.approx(math.log(20))
    assert result.model.shd(TRUTH) == 0
    assert np.abs(result.model.weights - TRUTH.weights).max() < 0.15
    assert result.rounds == stopped.rounds == sum(result.counts.values()) < 2000
    assert "rejected" in stopped.decision.reason


def test_intervals_hold_the_truth_and_are_within_epsilon(stopped: cf.Focus) -> None:
    intervals = {(i.cause, i.effect): i for i in stopped.result().intervals}
    for cause, effect, weight in TRUTH.edges:
        interval = intervals[cause, effect]
        assert interval.low <= weight <= interval.high
        assert interval.low <= interval.estimate <= interval.high
        assert interval.high - interval.low <= 2 * 0.15 + 1e-6


def test_intervals_agree_with_the_evidence(stopped: cf.Focus) -> None:
    """An accuracy a little above the half-width is certified for that edge, one below is not."""
    rule = stopped._judge.rule
    rows = stopped._moments.evidence_rows(intercept=False)
    model = stopped.estimate
    for interval in rule.intervals(stopped._moments, model):
        half = (interval.high - interval.low) / 2
        at = model.names.index(interval.effect), model.names.index(interval.cause)
        from causalfocus.kernels.exact import same_graph
        from causalfocus.kernels.records import Rows

        for factor, enough in ((1.01, True), (0.99, False)):
            found = same_graph.same_graph_evidence(
                Rows(rows.grams, rows.lows, rows.counts),
                model.weights,
                half * factor,
                rule._bounds._replace(smallest=0.0, largest=math.inf),
                rule._prior,
                rule._setting,
                -math.inf,
            )
            assert (found[at] >= rule.threshold) == enough


def test_replay_is_the_same_learner_to_the_bit(stopped: cf.Focus) -> None:
    twin = stopped.replayed()
    assert twin.estimate == stopped.estimate
    assert twin.allocation == stopped.allocation
    assert twin.result() == stopped.result()
    assert twin.decision.evidence == stopped.decision.evidence
    twin.continue_after_stop()
    again = stopped.replayed()
    again.continue_after_stop()
    assert twin.ask_batch(20) == again.ask_batch(20)


def test_the_first_rounds_play_every_action_once() -> None:
    learner, system = new(), rig()
    taken = []
    for _ in range(len(ACTIONS)):
        taken.append(learner.ask())
        learner.tell(taken[-1], system(taken[-1]))
    assert taken == list(ACTIONS)


def test_asking_changes_nothing() -> None:
    learner, system = new(), rig()
    for _ in range(30):
        assert learner.ask() == learner.ask() == learner.ask_batch(4)[0]
        learner.tell(learner.ask(), system(learner.ask()))
    assert len(learner.ask_batch(50)) == 50


def test_samples_nobody_asked_for_count() -> None:
    learner, system = new(), rig()
    inside = cf.do("X1", 0.5)
    learner.tell(inside, system(inside))
    learner.tell(cf.OBSERVE, {"X1": 0.1, "X2": 0.2, "X3": 0.3})
    assert learner.rounds == 2
    assert sum(learner.counts.values()) == 1
    assert learner.log[0].action == inside


def test_a_refused_sample_leaves_the_learner_as_it_was() -> None:
    learner, system = run(new(), rig(), 40), rig(1)
    before = (learner.rounds, learner.estimate, learner.allocation, learner.ask())
    for action, sample in ((cf.OBSERVE, [0.0, math.nan, 1.0]), (cf.do("X2", 2.0), [0.0, 1.0, 0.0])):
        with pytest.raises(cf.InvalidInputError):
            learner.tell(action, sample)
    assert (learner.rounds, learner.estimate, learner.allocation, learner.ask()) == before
    learner.tell(learner.ask(), system(learner.ask()))
    assert learner.rounds == 41


def test_after_the_stop_asking_is_explicit_and_recorded(stopped: cf.Focus) -> None:
    learner = stopped.replayed()
    with pytest.raises(cf.AlreadyStoppedError, match=f"after {learner.rounds} rounds"):
        learner.ask()
    certified = learner.result()
    learner.continue_after_stop()
    assert learner.continued_at == (certified.rounds,)
    run_on = rig(9)
    for _ in range(25):
        action = learner.ask()
        learner.tell(action, run_on(action))
    assert learner.result() == certified
    assert learner.rounds == certified.rounds + 25


def test_the_graph_alone_needs_fewer_rounds(stopped: cf.Focus) -> None:
    learner = run(new(epsilon=None), rig(), 5000)
    assert learner.result().model.shd(TRUTH) == 0
    assert learner.result().epsilon is None
    assert learner.rounds <= stopped.rounds


def test_intercepts_and_no_bounds_but_the_smallest_effect() -> None:
    truth = cf.LinearSEM(TRUTH.weights, TRUTH.noise_variances, [5.0, -100.0, 0.3])
    actions = cf.ActionSet({"X1": (3, 7), "X2": (-98, -94), "X3": (66, 70)})
    learner = cf.Focus(actions, cf.ModelClass(0.3), epsilon=0.15, delta=0.1, stopping="evidence")
    result = run(learner, rig(3, truth), 8000).result()
    assert result.certified
    assert result.model.shd(truth) == 0
    assert np.abs(result.model.weights - truth.weights).max() < 0.15


def test_uniform_design_takes_the_actions_in_turn() -> None:
    learner = run(new(design="uniform"), rig(), 70)
    assert set(learner.counts.values()) == {10}


def test_the_papers_rule_shows_its_forecast() -> None:
    learner = run(new(stopping="paper"), rig(), 60)
    decision = learner.decision
    assert not decision.stop
    assert decision.forecast > 1e6
    assert decision.statistic > 0
    weights = {action: float(n) for action, n in learner.counts.items()}
    found = cf.best_alternative(learner.estimate, weights, SPACE, epsilon=0.15)
    assert decision.statistic == found.value
    assert "evidence rule" in decision.reason


def test_one_node_has_nothing_to_learn() -> None:
    learner = cf.Focus(cf.ActionSet({"x": (0, 1)}), SPACE, epsilon=0.15)
    assert learner.has_stopped and learner.result().certified
    assert learner.result().model.n_edges == 0 and learner.result().rounds == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, "delta is a probability between 0 and 1"),
        ({"delta": 1.5}, "got 1.5"),
        ({"delta": "x"}, "delta is a probability"),
        ({"epsilon": 0.2}, "above min_effect / 2"),
        ({"stopping": "soon"}, "must be 'resolution', 'evidence' or 'paper', got 'soon'"),
        ({"design": "best"}, "must be 'focus' or 'uniform', got 'best'"),
        ({"stopping": "paper", "epsilon": None}, "needs an epsilon"),
    ],
)
def test_bad_specifications(options: dict[str, object], message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        new(**options)


def test_a_batch_has_at_least_one_action() -> None:
    with pytest.raises(cf.InvalidInputError, match="at least one"):
        new().ask_batch(0)


def test_run_stops_by_itself_or_by_the_bound() -> None:
    learner, seen = new(), []
    assert not cf.run(learner, rig(), max_rounds=10, on_round=lambda r: seen.append(r.number))
    assert seen == list(range(1, 11))
    assert cf.run(learner, rig(5))
    assert learner.has_stopped
    assert cf.run(learner, rig(6))
    with pytest.raises(cf.InvalidInputError, match="0 or more"):
        cf.run(learner, rig(), max_rounds=-1)


@pytest.mark.parametrize("stopping", ["evidence", "resolution"])
def test_memory_per_round_is_the_log(stopping: str) -> None:
    """Nothing but the log grows, between two marks: the other parts keep their sizes."""
    learner, system = new(epsilon=0.001, stopping=stopping), rig()
    cf.run(learner, system, max_rounds=140)
    small = len(pickle.dumps({k: v for k, v in vars(learner).items() if k != "_log"}))
    cf.run(learner, system, max_rounds=110)
    large = len(pickle.dumps({k: v for k, v in vars(learner).items() if k != "_log"}))
    assert large <= small + 200


def test_equal_costs_change_nothing_to_the_bit(stopped: cf.Focus) -> None:
    costs = {"observe": 3.7} | dict.fromkeys(TRUTH.names, 3.7)
    priced = cf.ActionSet(dict.fromkeys(TRUTH.names, (-2, 2)), costs=costs)
    learner = run(cf.Focus(priced, SPACE, epsilon=0.15, stopping="evidence"), rig(), 5000)
    assert [told.action for told in learner.log] == [told.action for told in stopped.log]
    assert learner.allocation == stopped.allocation
    assert learner.estimate == stopped.estimate
    assert learner.result().cost == pytest.approx(3.7 * learner.rounds)
    assert stopped.result().cost == stopped.rounds


def test_dear_actions_are_taken_less_and_the_run_replays() -> None:
    costs = {"X1": 20.0}
    priced = cf.ActionSet(dict.fromkeys(TRUTH.names, (-2, 2)), costs=costs)
    learner = run(cf.Focus(priced, SPACE, epsilon=0.15, stopping="evidence"), rig(), 8000)
    blind = run(new(), rig(), 8000)
    dear = [cf.do("X1", -2), cf.do("X1", 2)]
    assert sum(learner.counts[a] for a in dear) < sum(blind.counts[a] for a in dear) / 2
    blind_cost = sum(n * (20.0 if action in dear else 1.0) for action, n in blind.counts.items())
    assert learner.result().certified and learner.cost < blind_cost
    assert learner.replayed().allocation == learner.allocation


def test_a_run_that_cannot_end_is_given_up() -> None:
    truth = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0)
    actions = cf.ActionSet({"X1": None, "X2": None})
    space = cf.ModelClass(0.3, intercept=False)
    with pytest.warns(cf.UnidentifiableWarning, match="X1 and X2"):
        learner = cf.Focus(actions, space, epsilon=0.15, stopping="evidence")
    with pytest.warns(cf.UnidentifiableWarning, match="reversed"):
        assert not cf.run(learner, rig(0, truth))
    assert learner.rounds == 1000
    assert learner.indistinguishable() is not None
    assert new().indistinguishable() is None


def test_a_sample_is_taken_in_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, or an interrupt, in the middle of learning leaves the learner as it was."""
    learner, system = run(new(), rig(), 60), rig(4)
    twin = learner.replayed()
    action = learner.ask()
    sample = system(action)

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner, "_gains", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.tell(action, sample)
    assert (learner.rounds, learner.counts, learner.estimate) == (60, twin.counts, twin.estimate)
    learner.tell(action, sample)
    twin.tell(action, sample)
    assert (
        learner.allocation == twin.allocation
        and learner.decision.evidence == twin.decision.evidence
    )
