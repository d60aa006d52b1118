"""What holds of every learner, FOCUS and the baselines alike."""

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.baselines import ABCD, AITDCDI, BASELINES, CBED, GIT, Certified, Random, Schedule
from causalfocus.baselines.baseline import Baseline, best_action
from causalfocus.learner.parts import are_same
from causalfocus.learner.protocol import Learner, Told
from worlds import ACTIONS, CHAIN, SPACE, action_set, actions_of, any_log, play, rig

FREE = cf.ModelClass(0.3)

FITS: dict[str, Any] = {
    "warm_up": 8,
    "refit_every": 10,
    "n_graphs": 20,
    "schedule": Schedule(rate=1e-2, window=25),
}
DRAWS: dict[str, Any] = {"n_models": 20, "n_outcomes": 10}

Make = Callable[..., cf.Focus | Baseline[Any]]


def certified_on(actions: cf.ActionSet, space: cf.ModelClass, seed: int = 0) -> Certified:
    return Certified(Random(actions, space, seed=seed), epsilon=0.15)


def focus_on(
    actions: cf.ActionSet, space: cf.ModelClass, seed: int = 0, **options: Any
) -> cf.Focus:
    return cf.Focus(actions, space, epsilon=0.15, seed=seed, **options)


SEEDED: dict[str, Callable[..., Baseline[Any]]] = {
    "random": Random,
    "ait-dcdi": partial(AITDCDI, **FITS),
    "git-dcdi": partial(GIT, **FITS),
    "cbed": partial(CBED, **DRAWS),
    "abcd": partial(ABCD, **DRAWS),
}
LEARNERS: dict[str, Make] = {
    "focus": partial(focus_on, rule="gaussian"),
    "focus, coins": focus_on,
    "focus, evidence": partial(focus_on, rule="class"),
    "focus, uniform": partial(focus_on, design="uniform"),
    "certified": certified_on,
    **SEEDED,
}

every_learner = pytest.mark.parametrize("name", LEARNERS)
every_baseline = pytest.mark.parametrize("name", SEEDED)


def test_the_suite_covers_all_baselines() -> None:
    assert set(SEEDED) == set(BASELINES)


@every_learner
def test_it_is_a_learner_before_the_first_sample_too(name: str) -> None:
    learner: Learner = LEARNERS[name](ACTIONS, SPACE, seed=0)
    assert learner.names == CHAIN.names and learner.log == ()
    assert learner.estimate.n_edges == 0
    assert not learner.decision.stop and learner.decision.reason
    assert learner.ask() in ACTIONS


@every_learner
def test_the_same_seed_makes_the_same_choices(name: str) -> None:
    twins = [play(LEARNERS[name](ACTIONS, SPACE, seed=4), rig(), 40) for _ in range(2)]
    assert actions_of(twins[0]) == actions_of(twins[1])
    assert twins[0].estimate == twins[1].estimate


@every_baseline
def test_another_seed_makes_other_choices(name: str) -> None:
    a, b = (play(SEEDED[name](ACTIONS, SPACE, seed=s), rig(), 40) for s in (1, 2))
    assert actions_of(a) != actions_of(b)


@every_learner
def test_replay_and_pickle_give_the_same_learner_to_the_bit(name: str) -> None:
    learner = play(LEARNERS[name](ACTIONS, SPACE, seed=5), rig(), 43)
    for twin in (learner.replay(), pickle.loads(pickle.dumps(learner))):  # noqa: S301
        assert actions_of(twin) == actions_of(learner)
        assert twin.estimate == learner.estimate and twin.counts == learner.counts
        assert twin.ask_batch(5) == learner.ask_batch(5)
        more = (play(twin, rig(8), 12), play(learner.replay(), rig(8), 12))
        assert actions_of(more[0]) == actions_of(more[1])


@every_learner
def test_asking_changes_nothing(name: str) -> None:
    if name == "focus, coins":
        pytest.skip("by coins it matters what was asked for: test_by_coins")
    learner, quiet = (LEARNERS[name](ACTIONS, SPACE, seed=6) for _ in range(2))
    system = rig()
    for _ in range(25):
        assert learner.ask() == learner.ask() == learner.ask_batch(3)[0]
        assert learner.estimate == learner.estimate
        action = learner.ask()
        sample = system(action)
        learner.tell(action, sample)
        quiet.tell(action, sample)
    assert learner.ask() == quiet.ask() and learner.estimate == quiet.estimate


@every_learner
def test_what_was_not_asked_for_counts(name: str) -> None:
    learner = LEARNERS[name](ACTIONS, SPACE, seed=0)
    inside = cf.do("X1", 0.5)
    learner.tell(inside, [0.5, 0.1, 0.2])
    learner.tell(cf.OBSERVE, {"X1": 0.1, "X2": 0.2, "X3": 0.3})
    assert actions_of(learner) == [inside, cf.OBSERVE]
    assert learner.rounds == 2 and sum(learner.counts.values()) == 1 and learner.cost == 2.0
    assert learner.ask() in ACTIONS


@every_learner
@pytest.mark.parametrize(
    ("action", "sample", "message"),
    [
        (cf.OBSERVE, [0.0, math.inf, 1.0], "X2 is inf"),
        (cf.OBSERVE, [0.0, 1.0], "A sample is 3 numbers"),
        (cf.OBSERVE, {"X1": 1.0}, "lacks X2, X3"),
        (cf.OBSERVE, {"X1": 1.0, "X2": 0.0, "Y": 2.0}, "Y"),
        (cf.do("Y", 2.0), [0.0, 1.0, 0.0], "Y"),
        ("observe", [0.0, 1.0, 0.0], "is not an action"),
        (cf.OBSERVE, ["a", 1.0, 0.0], "must consist of numbers"),
    ],
)
def test_bad_samples_are_refused_and_nothing_is_lost(
    name: str, action: cf.Action, sample: Any, message: str
) -> None:
    learner = play(LEARNERS[name](ACTIONS, SPACE, seed=2), rig(), 12)
    before = learner.rounds, learner.estimate, learner.counts, learner.ask()
    with pytest.raises(cf.InvalidInputError, match=message):
        learner.tell(action, sample)
    assert (learner.rounds, learner.estimate, learner.counts, learner.ask()) == before
    twin = learner.replay()
    assert actions_of(play(learner, rig(7), 5)) == actions_of(play(twin, rig(7), 5))


@every_learner
def test_an_interrupt_in_the_middle_leaves_it_as_it_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = play(LEARNERS[name](ACTIONS, SPACE, seed=2), rig(), 17)
    twin = learner.replay()
    action, sample = learner.ask(), rig(9)(learner.ask())
    learn = learner.after

    def interrupt(told: Told) -> None:
        learn(told)  # all the way, and still not acknowledged
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner, "after", interrupt)
        with pytest.raises(KeyboardInterrupt):
            learner.tell(action, sample)
    assert learner.rounds == 17 and learner.counts == twin.counts
    assert learner.estimate == twin.estimate and learner.ask() == twin.ask()
    assert are_same(learner.state, twin.state)
    assert actions_of(play(learner, rig(1), 10)) == actions_of(play(twin, rig(1), 10))


@every_learner
def test_an_empty_batch_is_an_error(name: str) -> None:
    learner = LEARNERS[name](ACTIONS, SPACE, seed=0)
    with pytest.raises(cf.InvalidInputError, match="at least one action, got n = 0"):
        learner.ask_batch(0)


def relabel(log: list[Told], at: list[int]) -> list[Told]:
    return [Told(told.action, told.sample[at]) for told in log]


@every_learner
@pytest.mark.parametrize("space", [SPACE, FREE], ids=["class", "intercepts"])
def test_names_in_another_order_give_the_same_estimate(name: str, space: cf.ModelClass) -> None:
    at = [2, 0, 1]
    names = [CHAIN.names[i] for i in at]
    log = any_log(60)
    plain = LEARNERS[name](ACTIONS, space, seed=0)
    turned = LEARNERS[name](action_set(names), space, seed=0)
    for line, other in zip(log, relabel(log, at), strict=True):
        plain.tell(line.action, line.sample)
        turned.tell(other.action, other.sample)
    expected = plain.estimate.relabel(names)
    assert turned.estimate.shd(expected) == 0
    np.testing.assert_allclose(turned.estimate.weights, expected.weights, atol=1e-6)


@every_baseline
def test_names_in_another_order_give_the_same_choices_in_distribution(name: str) -> None:
    at = [2, 0, 1]
    names = [CHAIN.names[i] for i in at]
    log, n = any_log(14), 150
    other = action_set(names)
    table = np.zeros((2, len(ACTIONS)))
    for row, (actions, lines) in enumerate([(ACTIONS, log), (other, relabel(log, at))]):
        learner = SEEDED[name](actions, SPACE, seed=0).replay(lines)
        for seed in range(n):
            learner.seed = 1000 * row + seed
            learner._forget()
            table[row, ACTIONS.index(learner.choose(1)[0])] += 1
    used = table.sum(axis=0) > 0
    if used.sum() > 1:
        assert stats.chi2_contingency(table[:, used]).pvalue > 1e-3
    assert abs(table[0] - table[1]).sum() < n


def test_focus_plays_the_same_game_under_other_names() -> None:
    at = [2, 0, 1]
    names = [CHAIN.names[i] for i in at]
    log = any_log(80)
    plain = focus_on(ACTIONS, SPACE, rule="class").replay(log)
    turned = focus_on(action_set(names), SPACE, rule="class").replay(relabel(log, at))
    for action, share in plain.allocation.items():
        assert turned.allocation[action] == pytest.approx(share, abs=1e-6)
    assert turned.decision.evidence == pytest.approx(plain.decision.evidence, abs=1e-6)


@every_baseline
def test_weights_are_least_squares_on_all_samples(name: str) -> None:
    """Where the class does not bind."""
    wide = cf.ModelClass(1e-6, intercept=False)
    learner = SEEDED[name](ACTIONS, wide, seed=0).replay(any_log(61))
    model = learner.estimate
    for j in range(3):
        own = np.array([t.sample for t in learner.log if t.action.target != CHAIN.names[j]])
        S = np.flatnonzero(model.weights[j])
        expected, *_ = np.linalg.lstsq(own[:, S], own[:, j])
        np.testing.assert_allclose(model.weights[j, S], expected, atol=1e-8)
        residual = own[:, j] - own[:, S] @ expected
        assert model.noise_variances[j] == pytest.approx((residual**2).mean())


@every_baseline
@pytest.mark.parametrize("space", [SPACE, FREE], ids=["class", "intercepts"])
def test_it_finds_a_plain_chain(name: str, space: cf.ModelClass) -> None:
    learner = SEEDED[name](ACTIONS, space, seed=1)
    assert play(learner, rig(), 300).estimate.shd(CHAIN) <= 1


@every_baseline
def test_a_seed_is_drawn_and_told(name: str) -> None:
    a, b = (SEEDED[name](ACTIONS, SPACE) for _ in range(2))
    assert a.seed != b.seed
    again = SEEDED[name](ACTIONS, SPACE, seed=a.seed)
    assert actions_of(play(again, rig(), 20)) == actions_of(play(a, rig(), 20))
    for bad in (-1, 1.5, "x", True):
        with pytest.raises(cf.InvalidInputError, match="A seed is a whole number"):
            SEEDED[name](ACTIONS, SPACE, seed=bad)


def test_random_numbers_are_not_those_of_a_rig_with_the_same_seed() -> None:
    learner = Random(ACTIONS, SPACE, seed=3)
    own = learner._generator(0, 0).random(4)
    assert (own != np.random.default_rng(3).random(4)).all()
    assert (own != learner._generator(0, 1).random(4)).all()


def test_scores_that_are_no_numbers_are_an_error_with_their_numbers() -> None:
    with pytest.raises(cf.NumericalError, match=r"cannot be scored: \[nan, 1.0\]"):
        best_action(np.array([math.nan, 1.0]), np.zeros(2), np.random.default_rng(0))


@every_baseline
def test_without_a_rule_a_run_needs_a_bound(name: str) -> None:
    learner = SEEDED[name](ACTIONS, SPACE, seed=0)
    with pytest.raises(cf.InvalidInputError, match="would never end"):
        cf.run(learner, rig())
    assert not cf.run(learner, rig(), max_rounds=15)
    assert learner.rounds == 15 and math.isnan(learner.decision.evidence)
    assert "Certified" in learner.decision.reason


@pytest.mark.parametrize("name", ["cbed", "abcd", "ait-dcdi", "git-dcdi"])
def test_dear_actions_are_taken_less(name: str) -> None:
    """Late in a run too, when there is little left to learn and scores are close to nought."""
    dear = action_set(CHAIN.names, costs={"X1": 50.0})
    priced = play(SEEDED[name](dear, SPACE, seed=0), rig(), 200)
    blind = play(SEEDED[name](ACTIONS, SPACE, seed=0), rig(), 200)
    of_x1 = [cf.do("X1", -2.0), cf.do("X1", 2.0)]
    assert sum(priced.counts[a] for a in of_x1) < sum(blind.counts[a] for a in of_x1) / 2
    assert priced.cost == sum(n * (50 if a in of_x1 else 1) for a, n in priced.counts.items())


def test_signs_are_used_evenly() -> None:
    for name in ("cbed", "abcd", "git-dcdi"):
        counts = play(SEEDED[name](ACTIONS, SPACE, seed=3), rig(), 120).counts
        for node in CHAIN.names:
            assert abs(counts[cf.do(node, -2.0)] - counts[cf.do(node, 2.0)]) <= 1


@every_baseline
def test_any_baseline_can_be_run_to_a_certificate(name: str) -> None:
    start = SEEDED[name](ACTIONS, SPACE, seed=1)
    play(start, rig(), 30)
    learner = Certified(start, epsilon=0.15, delta=0.1, rule="class")
    assert learner.rounds == 30
    assert actions_of(learner.learner) == actions_of(learner) == actions_of(start)
    assert cf.run(learner, rig(2), max_rounds=3000)
    result = learner.result()
    assert result.certified and result.model.shd(CHAIN) == 0
    assert learner.learner.rounds == learner.rounds == result.rounds
    with pytest.raises(cf.AlreadyStoppedError):
        learner.ask()
    judged = cf.Focus(
        ACTIONS, SPACE, epsilon=0.15, delta=0.1, rule="class", design="uniform"
    ).replay(learner.log)
    assert judged.result() == result


def test_a_certificate_can_be_asked_of_another_rule() -> None:
    learner = Certified(Random(ACTIONS, SPACE, seed=1), epsilon=0.15, rule="class")
    play(learner, rig(), 50)
    other = learner.with_rule("gaussian")
    assert isinstance(other, Certified) and other.rule == "gaussian"
    assert other.learner.ask() == learner.learner.ask() and actions_of(other) == actions_of(learner)
    assert other.decision.evidence != learner.decision.evidence
