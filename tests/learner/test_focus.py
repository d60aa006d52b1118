"""FOCUS as its user meets it: ask, tell, stop, and the same again by replay."""

import math
import pickle

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.paper import PaperDecision
from causalfocus.kernels.exact import same_graph
from causalfocus.learner.round import Rounds
from causalfocus.oracles.for_kernels import limits_of
from worlds import ACTIONS, CHAIN, SPACE, Rig, action_set, actions_of, finish, new_focus, play, rig


def test_it_stops_with_the_right_answer(stopped_learner: cf.Focus) -> None:
    result = stopped_learner.result()
    assert result.certified and stopped_learner.has_stopped
    assert result.evidence >= result.threshold == pytest.approx(math.log(20))
    assert result.model.shd(CHAIN) == 0
    assert np.abs(result.model.weights - CHAIN.weights).max() < 0.15
    assert result.rounds == stopped_learner.rounds == sum(result.counts.values()) < 2000
    assert "rejected" in stopped_learner.decision.reason


def test_intervals_hold_the_truth_and_are_within_epsilon(stopped_learner: cf.Focus) -> None:
    intervals = {(i.cause, i.effect): i for i in stopped_learner.result().intervals}
    for cause, effect, weight in CHAIN.edges:
        interval = intervals[cause, effect]
        assert interval.low <= weight <= interval.high
        assert interval.low <= interval.estimate <= interval.high
        assert interval.high - interval.low <= 2 * 0.15 + 1e-6


def test_intervals_agree_with_the_evidence(stopped_learner: cf.Focus) -> None:
    """An accuracy a little above the half-width is certified for that edge, one below is not."""
    rule = stopped_learner.guarantee
    assert isinstance(rule, ClassRule)
    times = rule.times(stopped_learner.moments)
    model = stopped_learner.estimate
    free = limits_of(rule.space, model.names).copy()
    free[:, :2] = 0.0, math.inf
    for interval in rule.intervals(stopped_learner.moments, model):
        half = (interval.high - interval.low) / 2
        at = model.names.index(interval.effect), model.names.index(interval.cause)
        for factor, enough in ((1.01, True), (0.99, False)):
            found = same_graph.same_graph_evidence(
                times,
                model.weights,
                half * factor,
                free,
                rule._prior,
                rule._setting,
                -math.inf,
            )
            assert (found[at] >= rule.threshold) == enough


def test_replay_is_the_same_learner_to_the_bit(stopped_learner: cf.Focus) -> None:
    twin = stopped_learner.replay()
    assert twin.estimate == stopped_learner.estimate
    assert twin.allocation == stopped_learner.allocation
    assert twin.result() == stopped_learner.result()
    assert twin.decision.evidence == stopped_learner.decision.evidence
    twin.continue_after_stop()
    again = stopped_learner.replay()
    again.continue_after_stop()
    assert twin.ask_batch(20) == again.ask_batch(20)


def test_the_first_rounds_play_every_action_once(learner: cf.Focus, system: Rig) -> None:
    first = [action.targets for action in actions_of(play(learner, system, 4))]
    assert first == [(), ("X1",), ("X2",), ("X3",)]  # the ends by a coin
    without_coin = play(new_focus(ends="game"), rig(), len(ACTIONS))
    assert actions_of(without_coin) == list(ACTIONS)


def test_asking_changes_nothing(learner: cf.Focus, system: Rig) -> None:
    for _ in range(30):
        assert learner.ask() == learner.ask() == learner.ask_batch(4)[0]
        learner.tell(learner.ask(), system(learner.ask()))
    assert len(learner.ask_batch(50)) == 50


def test_samples_nobody_asked_for_count(learner: cf.Focus, system: Rig) -> None:
    inside = cf.do("X1", 0.5)
    learner.tell(inside, system(inside))
    learner.tell(cf.OBSERVE, {"X1": 0.1, "X2": 0.2, "X3": 0.3})
    assert learner.rounds == 2
    assert sum(learner.counts.values()) == 1
    assert learner.log[0].action == inside


def test_a_refused_sample_leaves_the_learner_as_it_was(learner: cf.Focus, system: Rig) -> None:
    play(learner, system, 40)
    before = (learner.rounds, learner.estimate, learner.allocation, learner.ask())
    with pytest.raises(cf.InvalidInputError, match="X2 is inf"):
        learner.tell(cf.OBSERVE, [0.0, math.inf, 1.0])
    with pytest.raises(cf.InvalidInputError, match="'X1' cannot have failed"):
        learner.tell(cf.do("X2", 2.0), [0.0, 2.0, 0.0], failed=["X1"])
    assert (learner.rounds, learner.estimate, learner.allocation, learner.ask()) == before
    learner.tell(learner.ask(), system(learner.ask()))
    assert learner.rounds == 41


def test_after_the_stop_asking_is_explicit_and_recorded(stopped_learner: cf.Focus) -> None:
    learner = stopped_learner.replay()
    with pytest.raises(cf.AlreadyStoppedError, match=f"after {learner.rounds} rounds"):
        learner.ask()
    certified = learner.result()
    learner.continue_after_stop()
    assert learner.continued_at == (certified.rounds,)
    play(learner, rig(9), 25)
    assert learner.result() == certified
    assert learner.rounds == certified.rounds + 25


def test_the_graph_alone_needs_fewer_rounds(stopped_learner: cf.Focus, system: Rig) -> None:
    learner = finish(new_focus(epsilon="graph"), system, 5000)
    assert learner.result().model.shd(CHAIN) == 0
    assert learner.result().epsilon == "graph"
    assert learner.rounds <= stopped_learner.rounds


def test_intercepts_and_no_bounds_but_the_smallest_effect() -> None:
    truth = cf.LinearSEM(CHAIN.weights, CHAIN.noise_variances, [5.0, -100.0, 0.3])
    actions = cf.ActionSet({"X1": (3, 7), "X2": (-98, -94), "X3": (66, 70)})
    learner = cf.Focus(actions, cf.ModelClass(0.3), epsilon=0.15, delta=0.1, rule="class")
    result = finish(learner, rig(3, truth), 8000).result()
    assert result.certified
    assert result.model.shd(truth) == 0
    assert np.abs(result.model.weights - truth.weights).max() < 0.15


def test_uniform_design_takes_the_actions_in_turn(system: Rig) -> None:
    learner = play(new_focus(design="uniform", ends="game"), system, 70)
    assert set(learner.counts.values()) == {10}
    by_coin = play(new_focus(design="uniform"), rig(), 70)
    assert by_coin.state.counts.tolist() == [10, 20, 20, 20]  # as often, and the ends by a coin


def test_the_papers_rule_shows_its_forecast(system: Rig) -> None:
    learner = play(new_focus(rule="paper"), system, 60)
    decision = learner.decision
    assert isinstance(decision, PaperDecision) and not decision.stop
    assert decision.forecast > 1e6
    assert decision.statistic > 0
    weights = {action: float(n) for action, n in learner.counts.items()}
    found = cf.best_alternative(learner.estimate, weights, SPACE, epsilon=0.15)
    assert decision.statistic == found.value
    assert "use rule='class'" in decision.reason


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
        (
            {"rule": "soon"},
            "must be one of 'randomized', 'gaussian', 'class', 'paper', or .* got 'soon'",
        ),
        ({"design": "best"}, "must be 'focus' or 'uniform', got 'best'"),
        ({"rule": "paper", "epsilon": "graph"}, "needs an epsilon"),
    ],
)
def test_bad_specifications(options: dict[str, object], message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        new_focus(**options)


def test_a_batch_has_at_least_one_action(learner: cf.Focus) -> None:
    with pytest.raises(cf.InvalidInputError, match="at least one"):
        learner.ask_batch(0)


def test_run_stops_by_itself_or_by_the_bound(learner: cf.Focus) -> None:
    seen: list[int] = []
    assert not cf.run(learner, rig(), max_rounds=10, on_round=lambda r: seen.append(r.number))
    assert seen == list(range(1, 11))
    assert cf.run(learner, rig(5))
    assert learner.has_stopped
    assert cf.run(learner, rig(6))
    with pytest.raises(cf.InvalidInputError, match="0 or more"):
        cf.run(learner, rig(), max_rounds=-1)


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_memory_per_round_is_the_log(rule: str, system: Rig) -> None:
    """Nothing but the log grows, between two marks: the other parts keep their sizes."""
    learner = new_focus(epsilon=0.001, rule=rule)
    cf.run(learner, system, max_rounds=140)
    small = len(pickle.dumps({k: v for k, v in vars(learner).items() if k != "_log"}))
    cf.run(learner, system, max_rounds=110)
    large = len(pickle.dumps({k: v for k, v in vars(learner).items() if k != "_log"}))
    assert large <= small + 200


def test_equal_costs_change_nothing_to_the_bit(stopped_learner: cf.Focus) -> None:
    costs: dict[cf.Action | str, float] = {"observe": 3.7}
    costs |= dict.fromkeys(CHAIN.names, 3.7)
    priced = action_set(CHAIN.names, costs=costs)
    learner = finish(cf.Focus(priced, SPACE, epsilon=0.15, rule="class", seed=0), rig(), 5000)
    assert actions_of(learner) == actions_of(stopped_learner)
    assert learner.allocation == stopped_learner.allocation
    assert learner.estimate == stopped_learner.estimate
    assert learner.result().cost == pytest.approx(3.7 * learner.rounds)
    assert stopped_learner.result().cost == stopped_learner.rounds


def test_dear_actions_are_taken_less_and_the_run_replays(stopped_learner: cf.Focus) -> None:
    priced = action_set(CHAIN.names, costs={"X1": 20.0})
    learner = finish(cf.Focus(priced, SPACE, epsilon=0.15, rule="class"), rig(), 8000)
    dear = [cf.do("X1", -2), cf.do("X1", 2)]
    assert sum(learner.counts[a] for a in dear) < sum(stopped_learner.counts[a] for a in dear) / 2
    blind_cost = sum(
        n * (20.0 if action in dear else 1.0) for action, n in stopped_learner.counts.items()
    )
    assert learner.result().certified and learner.cost < blind_cost
    assert learner.replay().allocation == learner.allocation


def test_a_run_that_cannot_end_is_given_up() -> None:
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    actions = cf.ActionSet({"X1": None, "X2": None})
    space = cf.ModelClass(0.3, intercept=False)
    with pytest.warns(cf.UnidentifiableWarning, match="X1 and X2"):
        learner = cf.Focus(actions, space, epsilon=0.15, rule="class")
    with pytest.warns(cf.UnidentifiableWarning, match="reversed"):
        assert not cf.run(learner, rig(0, truth))
    assert learner.rounds == 1000
    assert learner.indistinguishable() is not None
    assert new_focus().indistinguishable() is None


def test_a_sample_is_taken_in_whole_or_not_at_all(
    learner: cf.Focus, system: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error, or an interrupt, in the middle of learning leaves the learner as it was."""
    play(learner, system, 60)
    twin = learner.replay()
    action = learner.ask()
    sample = system(action)

    def interrupt(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "stand", interrupt)
        with pytest.raises(KeyboardInterrupt):
            learner.tell(action, sample)
    assert (learner.rounds, learner.counts, learner.estimate) == (60, twin.counts, twin.estimate)
    learner.tell(action, sample)
    twin.tell(action, sample)
    assert (
        learner.allocation == twin.allocation
        and learner.decision.evidence == twin.decision.evidence
    )
