"""What holds of every rule: the contract at the top of `guarantees.guarantee`, clause by clause.

A rule of your own passes if its row in `RULES_ON_TRIAL` does; `demonstration` is such a rule, made
of the protocol alone.
"""

import math
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees import RULES, Guarantee, guarantee_of
from causalfocus.learner.parts import are_same
from causalfocus.moments.randomized_sums import Intent
from causalfocus.planning.forecast import forecasts
from guarantees.demonstration import OrderedRule
from worlds import ACTIONS, CHAIN, SPACE, any_log, play, rig

RULES_ON_TRIAL: dict[str, str | type[Guarantee]] = {name: name for name in RULES} | {
    "demonstration": OrderedRule
}
every_rule = pytest.mark.parametrize("name", RULES_ON_TRIAL)
N_ACTIONS = len(ACTIONS)


def new_rule(name: str, delta: float = 0.05) -> Guarantee:
    return guarantee_of(RULES_ON_TRIAL[name], ACTIONS, SPACE, epsilon=0.15, delta=delta)


def data(n: int, rule: Guarantee, seed: int = 3) -> tuple[cf.Moments, Floats]:
    """Moments of a log that no learner chose, and how often each action was taken. Its actions were
    drawn at random, so that the ends are fair coins.
    """
    moments, counts, coins = cf.Moments(CHAIN.names), np.zeros(N_ACTIONS), rule.new_coins()
    for number, told in enumerate(any_log(n, seed), 1):
        moments.add(told.action, told.sample)
        counts[ACTIONS.index(told.action)] += 1
        if coins is not None:
            values = dict(told.action.settings)
            signs = np.sign([values.get(name, 0.0) for name in CHAIN.names])
            coins = rule.coins_with_ask(coins, Intent(number, signs != 0.0, signs))
            coins = rule.coins_with_answer(coins, number, told.sample)
    return cf.Moments.from_state(CHAIN.names, moments.state, coins), counts


def test_the_suite_covers_every_rule() -> None:
    assert set(RULES) < set(RULES_ON_TRIAL)
    assert all(RULES[name].name == name for name in RULES)


@every_rule
def test_a_rule_is_one_frozen_object(name: str) -> None:
    rule = new_rule(name)
    assert rule == new_rule(name) and rule != new_rule(name, delta=0.1)
    with pytest.raises(FrozenInstanceError):
        rule.delta = 0.5  # type: ignore[misc]
    assert {field.name for field in fields(rule)} >= {"actions", "space", "epsilon", "delta"}
    assert rule.threshold == pytest.approx(math.log(20))
    twin = pickle.loads(pickle.dumps(rule))  # noqa: S301
    moments, counts = data(40, rule)
    estimate = rule.estimate(moments)
    assert twin.decide(moments, estimate, counts).evidence == pytest.approx(
        rule.decide(moments, estimate, counts).evidence, nan_ok=True
    )


@every_rule
@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan, "often"])
def test_delta_is_a_probability(name: str, delta: float) -> None:
    with pytest.raises(cf.InvalidInputError, match="delta is a probability between 0 and 1"):
        new_rule(name, delta=delta)


@every_rule
def test_before_the_first_sample_nothing_is_known(name: str) -> None:
    rule, moments = new_rule(name), cf.Moments(CHAIN.names)
    estimate = rule.estimate(moments)
    decision = rule.decide(moments, estimate, np.zeros(N_ACTIONS))
    assert estimate.n_edges == 0 and estimate.names == CHAIN.names
    assert not decision.stop and decision.rounds == 0 and decision.alarm is None
    assert decision.evidence < decision.threshold and decision.reason.endswith(".")
    assert rule.refutation(moments, estimate) is None
    assert decision.rival is None or not rule.holds(estimate, decision.rival)
    assert {verdict.stand for verdict in rule.verdicts(decision, estimate)} == {"open"}


@every_rule
@pytest.mark.parametrize("n", [1, 7, 60, 400])
def test_the_same_arguments_give_the_same_and_nothing_is_written_to(name: str, n: int) -> None:
    rule = new_rule(name)
    moments, counts = data(n, rule)
    before, given = moments.copy(), counts.copy()
    looks = []
    for _ in range(2):
        estimate = rule.estimate(moments)
        decision = rule.decide(moments, estimate, counts)
        k = len(rule.choices)
        gains = rule.gains(estimate, np.full(k, 1 / k))
        looks.append((estimate, decision.stop, decision.evidence, decision.reason, gains.tolist()))
    assert looks[0] == looks[1]
    assert are_same(moments.state, before.state) and counts.tolist() == given.tolist()


@every_rule
def test_any_estimate_may_be_judged(name: str) -> None:
    """A wrong one is not certified where the right one is, and nothing fails."""
    rule = new_rule(name)
    moments, counts = data(700, rule)
    others = [
        cf.LinearSEM(np.zeros((3, 3)), 1.0),
        cf.LinearSEM(CHAIN.weights.T, CHAIN.noise_variances),
        cf.LinearSEM(-CHAIN.weights, CHAIN.noise_variances),
    ]
    for wrong in others:
        assert not rule.holds(wrong, CHAIN)
        assert not rule.decide(moments, wrong, counts).stop
    assert rule.holds(CHAIN, CHAIN)
    if name != "paper":  # which stops nowhere near
        assert rule.decide(*data(2500, rule)[:1], rule.estimate(data(2500, rule)[0])).stop


@every_rule
def test_what_is_not_due_does_not_stop(name: str) -> None:
    rule = new_rule(name)
    moments, counts = data(2500, rule)
    estimate = rule.estimate(moments)
    late = rule.decide(moments, estimate, counts, is_due=False)
    full = rule.decide(moments, estimate, counts)
    assert not late.stop and not late.has_surveyed
    assert full.stop == (full.evidence >= full.threshold)
    assert full.level_from(full.threshold) >= full.threshold or not full.stop


@every_rule
def test_stricter_is_never_sooner(name: str) -> None:
    stops = []
    for delta in (0.5, 0.2, 0.05, 1e-3, 1e-9):
        rule = new_rule(name, delta=delta)
        moments, counts = data(900, rule)
        stops.append(rule.decide(moments, rule.estimate(moments), counts).stop)
    assert stops == sorted(stops, reverse=True)


@every_rule
def test_gains_are_those_of_a_model_that_breaks_the_claim(name: str) -> None:
    """The rival is a model, the claim about the truth is wrong of it, and its gains are its own."""
    rule = new_rule(name)
    choices, k = rule.choices, len(rule.choices)
    weights = np.full(k, 1 / k)
    rival = rule.rival(CHAIN, weights)
    assert isinstance(rival.model, cf.LinearSEM) and rival.changes
    if not rule.gains_are_divergences:
        assert (rival.gains >= 0).all() and rival.gains.max() > 0
        assert rule.gains(CHAIN, weights) == pytest.approx(rival.gains)
        return
    own = np.array(
        [np.mean([CHAIN.kl(rival.model, a) for a in choices.actions_of(i)]) for i in range(k)]
    )
    assert rival.gains == pytest.approx(own, rel=1e-6, abs=1e-12)
    assert (own >= 0).all() and own.max() > 0
    assert rule.gains(CHAIN, weights) == pytest.approx(own, rel=1e-6, abs=1e-12)
    nudge = 1 + 1e-9  # a weight that is moved by just epsilon breaks the claim at the boundary
    beyond = CHAIN.weights + nudge * (rival.model.weights - CHAIN.weights)
    assert not rule.holds(CHAIN, cf.LinearSEM(beyond, rival.model.noise_variances))


@every_rule
def test_verdicts_speak_of_every_pair_and_follow_the_certificate(name: str) -> None:
    learner = play(cf.Focus(ACTIONS, SPACE, epsilon=0.15, rule=RULES_ON_TRIAL[name]), rig(), 30)
    pairs = {(v.cause, v.effect) for v in learner.verdicts()}
    assert pairs == {(a, b) for a in CHAIN.names for b in CHAIN.names if a != b}
    assert {v.stand for v in learner.verdicts()} == {"open"}
    cf.run(learner, rig(1), max_rounds=3000 if name != "paper" else 30)
    certain = {(v.cause, v.effect): v.stand for v in learner.verdicts()}
    if not learner.decision.stop:
        assert set(certain.values()) == {"open"}
        return
    for (cause, effect), stand in certain.items():
        is_edge = (cause, effect) in {edge[:2] for edge in CHAIN.edges}
        assert stand == ("present" if is_edge else "absent")


def test_what_was_refuted_once_has_no_verdicts() -> None:
    """And what was certified keeps those of its certificate, whatever comes later."""
    space = cf.ModelClass(0.3, intercept=False)
    drifting = cf.Focus(ACTIONS, space, epsilon=0.15, rule="gaussian", seed=1)
    system = rig(3)

    def drift(action: cf.Action) -> Floats:
        moved = 0.0 if action.target == "X3" else 0.01 * drifting.rounds
        found: Floats = system(action) + np.array([0.0, 0.0, moved])
        return found

    assert not cf.run(drifting, drift, max_rounds=3000)
    assert drifting.is_refuted
    drifting.continue_after_stop()
    assert {v.stand for v in play(drifting, drift, 30).verdicts()} == {"open"}
    certified = cf.Focus(ACTIONS, SPACE, epsilon=0.15, rule="class")
    assert cf.run(certified, rig(4), max_rounds=3000)
    before = certified.verdicts()
    certified.continue_after_stop()
    for _ in range(20):
        assert play(certified, rig(5), 1).verdicts() == before


@every_rule
def test_intervals_are_of_the_edges_and_hold_the_estimate(name: str) -> None:
    rule = new_rule(name)
    moments, _ = data(800, rule)
    estimate = rule.estimate(moments)
    found = rule.intervals(moments, estimate)
    assert [(i.cause, i.effect) for i in found] in ([], [edge[:2] for edge in estimate.edges])
    assert all(i.low <= i.estimate <= i.high for i in found)


@every_rule
def test_a_plan_is_a_number_of_rounds_or_says_that_there_is_none(name: str) -> None:
    if name == "paper":
        with pytest.raises(cf.InvalidInputError, match="at no feasible number of rounds"):
            forecasts(CHAIN, ACTIONS, SPACE, epsilon=0.15, deltas=[0.05], rule=name)
        return
    strict, lax = forecasts(
        CHAIN, ACTIONS, SPACE, epsilon=0.15, deltas=[0.05, 0.2], rule=RULES_ON_TRIAL[name]
    )[::-1]
    assert 0 < lax.low <= lax.rounds <= lax.high and lax.rounds <= strict.rounds < math.inf
    assert new_rule(name).exploration > 0 or new_rule(name).plans_sets


@every_rule
def test_a_rule_says_what_it_claims_and_what_it_assumes(name: str) -> None:
    rule = new_rule(name)
    assert rule.claim_in_words() and rule.assumptions_in_words()
    assert not rule.claim_in_words().endswith(".")
    assert rule.speaks_of(CHAIN)


@every_rule
def test_feedback_is_refused_by_rules_that_assume_none(name: str) -> None:
    """Where it would be assumed, claimed or planned for."""
    rule = new_rule(name)
    weights = CHAIN.weights.copy()
    weights[0, 2] = 0.4
    looped = cf.LinearSEM(weights, CHAIN.noise_variances, loops=True)
    assert rule.speaks_of(looped) == rule.allows_loops
    if rule.allows_loops:
        return
    moments, counts = data(60, rule)
    chain = "X1 -> X2 -> X3 -> X1, and the .* rule assumes"
    with pytest.raises(cf.InvalidInputError, match=chain):
        rule.require(looped)
    with pytest.raises(cf.InvalidInputError, match=chain):
        cf.complexity(looped, ACTIONS, SPACE, epsilon=0.15, rule=RULES_ON_TRIAL[name])
    if name == "demonstration":  # which has its own words for it
        assert not rule.decide(moments, looped, counts).stop
        return
    with pytest.raises(cf.InvalidInputError, match=chain):
        rule.decide(moments, looped, counts)
    k = len(rule.choices)
    for ask in (rule.gains, rule.rival):
        with pytest.raises(cf.InvalidInputError, match="needs a model without loops"):
            ask(looped, np.full(k, 1 / k))


@every_rule
def test_a_learner_under_it_is_restored_from_its_parts(name: str) -> None:
    learner = play(cf.Focus(ACTIONS, SPACE, epsilon=0.15, rule=RULES_ON_TRIAL[name]), rig(), 80)
    twin = learner.replay()
    assert are_same(twin.state, learner.state)
    assert twin.decision.evidence == learner.decision.evidence
    assert twin.ask() == learner.ask()
