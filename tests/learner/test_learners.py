"""What holds of every learner, FOCUS and the baselines alike."""

import math
import pickle
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.baselines import ABCD, AITDCDI, BASELINES, CBED, GIT, Certified, Random, Schedule
from causalfocus.baselines.baseline import best_action
from causalfocus.learner.protocol import Learner, Told
from causalfocus.learner.recording import Recording

SPACE = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
FREE = cf.ModelClass(0.3)
TRUTH = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, -0.7, 0]], [1.0, 0.9, 1.1])
ACTIONS = cf.ActionSet(dict.fromkeys(TRUTH.names, (-2, 2)))

FITS = {
    "warm_up": 8,
    "refit_every": 10,
    "n_graphs": 20,
    "schedule": Schedule(rate=1e-2, window=25),
}
DRAWS = {"n_models": 20, "n_outcomes": 10}

Make = Callable[..., Recording]


def certified(actions: cf.ActionSet, space: cf.ModelClass, seed: int = 0) -> Certified:
    return Certified(Random(actions, space, seed=seed), epsilon=0.15)


def focus(actions: cf.ActionSet, space: cf.ModelClass, seed: int = 0, **options: str) -> cf.Focus:
    return cf.Focus(actions, space, epsilon=0.15, **options)


SEEDED: dict[str, Make] = {
    "random": Random,
    "ait-dcdi": partial(AITDCDI, **FITS),
    "git-dcdi": partial(GIT, **FITS),
    "cbed": partial(CBED, **DRAWS),
    "abcd": partial(ABCD, **DRAWS),
}
LEARNERS: dict[str, Make] = {
    "focus": focus,
    "focus, evidence": partial(focus, stopping="evidence"),
    "focus, uniform": partial(focus, design="uniform"),
    "certified": certified,
    **SEEDED,
}

every_learner = pytest.mark.parametrize("name", LEARNERS)
every_baseline = pytest.mark.parametrize("name", SEEDED)


def rig(seed: int = 0) -> Callable[[cf.Action], np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda action: TRUTH.sample(action, 1, rng)[0]


def played(learner: Recording, n: int, seed: int = 0) -> Recording:
    system = rig(seed)
    for _ in range(n):
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


def taken(learner: Recording) -> list[cf.Action]:
    return [told.action for told in learner.log]


def any_log(n: int, seed: int = 3) -> list[Told]:
    rng, system = np.random.default_rng(seed), rig(seed)
    actions = [ACTIONS[int(i)] for i in rng.integers(len(ACTIONS), size=n)]
    return [Told(action, system(action)) for action in actions]


def test_the_suite_covers_all_baselines() -> None:
    assert set(SEEDED) == set(BASELINES)


@every_learner
def test_it_is_a_learner_before_the_first_sample_too(name: str) -> None:
    learner: Learner = LEARNERS[name](ACTIONS, SPACE, seed=0)
    assert learner.names == TRUTH.names and learner.log == ()
    assert learner.estimate.n_edges == 0
    assert not learner.decision.stop and learner.decision.reason
    assert learner.ask() in ACTIONS


@every_learner
def test_the_same_seed_makes_the_same_choices(name: str) -> None:
    twins = [played(LEARNERS[name](ACTIONS, SPACE, seed=4), 40) for _ in range(2)]
    assert taken(twins[0]) == taken(twins[1])
    assert twins[0].estimate == twins[1].estimate


@every_baseline
def test_another_seed_makes_other_choices(name: str) -> None:
    a, b = (played(SEEDED[name](ACTIONS, SPACE, seed=s), 40) for s in (1, 2))
    assert taken(a) != taken(b)


@every_learner
def test_replay_and_pickle_give_the_same_learner_to_the_bit(name: str) -> None:
    learner = played(LEARNERS[name](ACTIONS, SPACE, seed=5), 43)
    for twin in (learner.replayed(), pickle.loads(pickle.dumps(learner))):  # noqa: S301
        assert taken(twin) == taken(learner)
        assert twin.estimate == learner.estimate and twin.counts == learner.counts
        assert twin.ask_batch(5) == learner.ask_batch(5)
        more = (played(twin, 12, seed=8), played(learner.replayed(), 12, seed=8))
        assert taken(more[0]) == taken(more[1])


@every_learner
def test_asking_changes_nothing(name: str) -> None:
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
    assert taken(learner) == [inside, cf.OBSERVE]
    assert learner.rounds == 2 and sum(learner.counts.values()) == 1 and learner.cost == 1.0
    assert learner.ask() in ACTIONS


@every_learner
@pytest.mark.parametrize(
    ("action", "sample", "message"),
    [
        (cf.OBSERVE, [0.0, math.nan, 1.0], "X2 is nan"),
        (cf.OBSERVE, [0.0, 1.0], "A sample is 3 numbers"),
        (cf.OBSERVE, {"X1": 1.0}, "lacks X2, X3"),
        (cf.OBSERVE, {"X1": 1.0, "X2": 0.0, "Y": 2.0}, "Y"),
        (cf.do("X2", 2.0), [0.0, 1.0, 0.0], "X2 was set to 2"),
        (cf.do("Y", 2.0), [0.0, 1.0, 0.0], "Y"),
        ("observe", [0.0, 1.0, 0.0], "is not an action"),
        (cf.OBSERVE, ["a", 1.0, 0.0], "must consist of numbers"),
    ],
)
def test_bad_samples_are_refused_and_nothing_is_lost(
    name: str, action: cf.Action, sample: object, message: str
) -> None:
    learner = played(LEARNERS[name](ACTIONS, SPACE, seed=2), 12)
    before = learner.rounds, learner.estimate, learner.counts, learner.ask()
    with pytest.raises(cf.InvalidInputError, match=message):
        learner.tell(action, sample)
    assert (learner.rounds, learner.estimate, learner.counts, learner.ask()) == before
    twin = learner.replayed()
    assert taken(played(learner, 5, seed=7)) == taken(played(twin, 5, seed=7))


@every_learner
def test_an_interrupt_in_the_middle_leaves_it_as_it_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = played(LEARNERS[name](ACTIONS, SPACE, seed=2), 17)
    twin = learner.replayed()
    action, sample = learner.ask(), rig(9)(learner.ask())
    learn = learner._learn

    def interrupted(told: Told) -> None:
        learn(told)  # all the way, and still not acknowledged
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner, "_learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.tell(action, sample)
    assert learner.rounds == 17 and learner.counts == twin.counts
    assert learner.estimate == twin.estimate and learner.ask() == twin.ask()
    if isinstance(learner, cf.Focus):
        assert learner.allocation == twin.allocation
        assert learner._cumulative.tolist() == twin._cumulative.tolist()
    assert taken(played(learner, 10, seed=1)) == taken(played(twin, 10, seed=1))


@every_learner
def test_an_empty_batch_is_an_error(name: str) -> None:
    learner = LEARNERS[name](ACTIONS, SPACE, seed=0)
    with pytest.raises(cf.InvalidInputError, match="at least one action, got n = 0"):
        learner.ask_batch(0)


def relabelled(log: list[Told], at: list[int]) -> list[Told]:
    return [Told(told.action, told.sample[at]) for told in log]


@every_learner
@pytest.mark.parametrize("space", [SPACE, FREE], ids=["class", "intercepts"])
def test_names_in_another_order_give_the_same_estimate(name: str, space: cf.ModelClass) -> None:
    at = [2, 0, 1]
    names = [TRUTH.names[i] for i in at]
    log = any_log(60)
    plain = LEARNERS[name](ACTIONS, space, seed=0)
    turned = LEARNERS[name](cf.ActionSet(dict.fromkeys(names, (-2, 2))), space, seed=0)
    for line, other in zip(log, relabelled(log, at), strict=True):
        plain.tell(line.action, line.sample)
        turned.tell(other.action, other.sample)
    expected = plain.estimate.relabelled(names)
    assert turned.estimate.shd(expected) == 0
    np.testing.assert_allclose(turned.estimate.weights, expected.weights, atol=1e-6)


@every_baseline
def test_names_in_another_order_give_the_same_choices_in_distribution(name: str) -> None:
    at = [2, 0, 1]
    names = [TRUTH.names[i] for i in at]
    log, n = any_log(14), 150
    other = cf.ActionSet(dict.fromkeys(names, (-2, 2)))
    table = np.zeros((2, len(ACTIONS)))
    fixed = {}
    for row, (actions, lines) in enumerate([(ACTIONS, log), (other, relabelled(log, at))]):
        fixed[row] = SEEDED[name](actions, SPACE, seed=0).replayed(lines)
        for seed in range(n):
            learner = fixed[row]
            learner.seed = 1000 * row + seed
            learner._forget()
            table[row, ACTIONS.index(learner.ask())] += 1
    used = table.sum(axis=0) > 0
    if used.sum() > 1:
        assert stats.chi2_contingency(table[:, used]).pvalue > 1e-3
    assert abs(table[0] - table[1]).sum() < n


def test_focus_plays_the_same_game_under_other_names() -> None:
    at = [2, 0, 1]
    names = [TRUTH.names[i] for i in at]
    log = any_log(80)
    plain = focus(ACTIONS, SPACE, stopping="evidence").replayed(log)
    turned = focus(
        cf.ActionSet(dict.fromkeys(names, (-2, 2))), SPACE, stopping="evidence"
    ).replayed(relabelled(log, at))
    for action, share in plain.allocation.items():
        assert turned.allocation[action] == pytest.approx(share, abs=1e-6)
    assert turned.decision.evidence == pytest.approx(plain.decision.evidence, abs=1e-6)


@every_baseline
def test_weights_are_least_squares_on_all_samples(name: str) -> None:
    """Where the class does not bind."""
    wide = cf.ModelClass(1e-6, intercept=False)
    learner = SEEDED[name](ACTIONS, wide, seed=0).replayed(any_log(61))
    model = learner.estimate
    for j in range(3):
        own = np.array([t.sample for t in learner.log if t.action.target != TRUTH.names[j]])
        S = np.flatnonzero(model.weights[j])
        expected, *_ = np.linalg.lstsq(own[:, S], own[:, j])
        np.testing.assert_allclose(model.weights[j, S], expected, atol=1e-8)
        residual = own[:, j] - own[:, S] @ expected
        assert model.noise_variances[j] == pytest.approx((residual**2).mean())


@every_baseline
@pytest.mark.parametrize("space", [SPACE, FREE], ids=["class", "intercepts"])
def test_it_finds_a_plain_chain(name: str, space: cf.ModelClass) -> None:
    learner = SEEDED[name](ACTIONS, space, seed=1)
    assert played(learner, 300).estimate.shd(TRUTH) <= 1


@every_baseline
def test_a_seed_is_drawn_and_told(name: str) -> None:
    a, b = (SEEDED[name](ACTIONS, SPACE) for _ in range(2))
    assert a.seed != b.seed
    again = SEEDED[name](ACTIONS, SPACE, seed=a.seed)
    assert taken(played(again, 20)) == taken(played(a, 20))
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
    dear = cf.ActionSet(dict.fromkeys(TRUTH.names, (-2, 2)), costs={"X1": 50.0})
    priced = played(SEEDED[name](dear, SPACE, seed=0), 200)
    blind = played(SEEDED[name](ACTIONS, SPACE, seed=0), 200)
    of_x1 = [cf.do("X1", -2.0), cf.do("X1", 2.0)]
    assert sum(priced.counts[a] for a in of_x1) < sum(blind.counts[a] for a in of_x1) / 2
    assert priced.cost == sum(n * (50 if a in of_x1 else 1) for a, n in priced.counts.items())


def test_signs_are_used_evenly() -> None:
    for name in ("cbed", "abcd", "git-dcdi"):
        counts = played(SEEDED[name](ACTIONS, SPACE, seed=3), 120).counts
        for node in TRUTH.names:
            assert abs(counts[cf.do(node, -2.0)] - counts[cf.do(node, 2.0)]) <= 1


@every_baseline
def test_any_baseline_can_be_run_to_a_certificate(name: str) -> None:
    start = SEEDED[name](ACTIONS, SPACE, seed=1)
    played(start, 30)
    learner = Certified(start, epsilon=0.15, delta=0.1, stopping="evidence")
    assert learner.rounds == 30 and taken(learner.learner) == taken(learner) == taken(start)
    assert cf.run(learner, rig(2), max_rounds=3000)
    result = learner.result()
    assert result.certified and result.model.shd(TRUTH) == 0
    assert learner.learner.rounds == learner.rounds == result.rounds
    with pytest.raises(cf.AlreadyStoppedError):
        learner.ask()
    judged = cf.Focus(
        ACTIONS, SPACE, epsilon=0.15, delta=0.1, stopping="evidence", design="uniform"
    ).replayed(learner.log)
    assert judged.result() == result


def test_a_certificate_can_be_asked_of_another_rule() -> None:
    learner = Certified(Random(ACTIONS, SPACE, seed=1), epsilon=0.15, stopping="evidence")
    played(learner, 50)
    other = learner.with_stopping("resolution")
    assert isinstance(other, Certified) and other.stopping == "resolution"
    assert other.learner.ask() == learner.learner.ask() and taken(other) == taken(learner)
    assert other.decision.evidence != learner.decision.evidence
