"""Total effects of a learner: what counts, what is said of them, and that it is said again."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.learner.parts import are_same
from causalfocus.learner.protocol import Told
from causalfocus.moments.coin_record import CoinRecord
from worlds import ACTIONS, CHAIN, action_set, any_log, play, rig

SPACE = cf.ModelClass(0.3)
TRUTH = CHAIN.total_effects()


def new(**options: object) -> cf.Focus:
    given = {"epsilon": 0.15, "rule": "randomized", "seed": 7} | options
    return cf.Focus(ACTIONS, SPACE, **given)  # type: ignore[arg-type]


def coins_of(learner: cf.Focus) -> CoinRecord:
    assert learner.state.coins is not None
    return learner.state.coins


def true_total(cause: str, effect: str) -> float:
    return float(TRUTH[CHAIN.names.index(effect), CHAIN.names.index(cause)])


def play_on(learner: cf.Focus, n: int, seed: int = 0, truth: cf.LinearSEM = CHAIN) -> cf.Focus:
    """Beyond the stop."""
    system = rig(seed, truth)
    for _ in range(n):
        if learner.has_stopped:
            learner.continue_after_stop()
        play(learner, system, 1)
    return learner


def test_total_effects_are_found() -> None:
    """Those of pairs without a direct effect as well."""
    learner = play_on(new(), 3000)
    totals = learner.total_effects()
    assert len(totals) == 6 and totals.rounds == 3000
    for one in totals:
        truth = true_total(one.cause, one.effect)
        assert one.low <= truth <= one.high and one.low <= one.estimate <= one.high
        assert one.verdict == ("present" if truth else "absent")
        at_an_end = [((one.cause, value),) for value in (-2.0, 2.0)]
        assert one.rounds_alone == sum(told.action.settings in at_an_end for told in learner.log)
    assert totals["X1", "X3"].estimate == pytest.approx(-0.63, abs=0.15)
    assert learner.effects()["X1", "X3"].verdict == "absent"


def test_verdicts_never_change_back_and_waiting_is_foretold() -> None:
    learner, before = new(), dict.fromkeys(CHAIN.names, "open")
    for _ in range(12):
        play_on(learner, 100, learner.rounds)
        for one in learner.total_effects():
            pair = f"{one.cause} {one.effect}"
            assert before.get(pair, "open") in ("open", one.verdict)
            before[pair] = one.verdict
            assert one.is_settled == (one.waits_for == one.rounds_alone)
            assert 0 < one.waits_for < math.inf
    assert "present" in before.values() and "absent" in before.values()


def test_before_the_first_round_it_is_foretold_by_the_estimate() -> None:
    """2 h v / (n s^2) is the square of the half width; a range that is twice as wide needs a
    quarter of the rounds.
    """
    waits = []
    for reach in (2.0, 4.0):
        actions = action_set(CHAIN.names, reach)
        learner = cf.Focus(actions, SPACE, epsilon=0.15, rule="randomized", seed=1)
        for told in any_log(400):
            learner.tell(told.action, told.sample)
        waits.append([one.waits_for for one in learner.total_effects()])
        assert all(one.rounds_alone == 0 for one in learner.total_effects())
    assert np.array(waits[0]) == pytest.approx(4.0 * np.array(waits[1]))


def test_what_is_known_not_to_exist_has_no_total_effect() -> None:
    space = cf.ModelClass(0.3, outcomes=["X3"], forbidden=[("X2", "X1")])
    learner = cf.Focus(ACTIONS, space, epsilon=0.15, rule="randomized", seed=1)
    totals = learner.total_effects()
    for pair in (("X3", "X1"), ("X3", "X2"), ("X2", "X1")):
        one = totals[pair]
        assert one.verdict == "absent" and one.is_settled and one.low == one.high == 0.0
    assert totals["X1", "X3"].verdict == "open" and totals["X1", "X3"].high == math.inf


def test_the_only_way_is_the_direct_one() -> None:
    """Then rounds with several at once speak of the total effect too."""
    space = cf.ModelClass(0.3, outcomes=["X3"], forbidden=[("X2", "X1"), ("X1", "X2")])
    actions = action_set(CHAIN.names, at_once=2)
    learner = cf.Focus(actions, space, epsilon=0.15, rule="randomized", seed=1)
    play_on(learner, 300, truth=cf.LinearSEM([[0] * 3, [0] * 3, [0.8, -0.5, 0]], 1.0))
    direct, totals = learner.effects(), learner.total_effects()
    for pair in (("X1", "X3"), ("X2", "X3")):
        assert direct[pair].low <= totals[pair].low <= totals[pair].high <= direct[pair].high
        assert math.isfinite(totals[pair].half)


def test_rounds_that_set_several_do_not_count() -> None:
    actions = action_set(CHAIN.names, at_once=2)
    learner = cf.Focus(actions, SPACE, epsilon=0.15, rule="randomized", seed=3)
    play(learner, rig(), 200)
    rounds = coins_of(learner).totals.rounds
    settings = [told.action.settings for told in learner.log if len(told.action.targets) == 1]
    single = [one[0][0] for one in settings if one[0][1] != 0.0]  # no first coin at the middle
    assert rounds.tolist() == [single.count(name) for name in CHAIN.names]
    assert 0 < rounds.sum() < 200


def test_it_is_replayed_to_the_bit_in_any_order_of_telling() -> None:
    one, other, system = new(), new(), rig(5)
    for _ in range(60):
        one.ask_batch(4)
        for ask in (asks := one.pending):
            other.put_ask(ask.number, ask.action, ask.coins, ask.with_second)
        told = [Told(ask.action, system(ask.action), ask.number) for ask in asks]
        for at in range(4):
            one.take(told[at])
        for at in (3, 1, 0, 2):
            other.take(told[at])
        assert are_same(coins_of(one), coins_of(other))
    assert coins_of(one).totals.squares.any()
    assert are_same(one.replay().state, one.state)


def test_a_sample_that_is_refused_and_an_ask_that_is_withdrawn_leave_the_sums() -> None:
    learner = play(new(), rig(), 60)
    before = coins_of(learner).totals
    action = learner.ask()
    with pytest.raises(cf.InvalidInputError):
        learner.tell(action, [1.0, math.inf, 0.0])
    learner.withdraw(learner.pending[0].number)
    assert are_same(coins_of(learner).totals, before)


def test_samples_without_a_coin_are_no_evidence() -> None:
    learner = new()
    for told in any_log(200):
        learner.tell(told.action, told.sample)
    assert not coins_of(learner).totals.rounds.any()
    assert all(one.high == math.inf for one in learner.total_effects())


def test_other_rules_say_what_to_do() -> None:
    for rule in ("gaussian", "class"):
        learner = play(new(rule=rule), rig(), 60)
        with pytest.raises(cf.InvalidInputError, match=r"with_rule\('randomized'\)"):
            learner.total_effects()
        assert len(learner.with_rule("randomized").total_effects()) == 6


def test_total_effects_as_a_table() -> None:
    learner = play_on(new(), 600)
    totals = learner.total_effects()
    frame = totals.to_frame()
    assert list(frame["rounds_alone"]) == [one.rounds_alone for one in totals] and len(frame) == 6
    lines = str(totals).splitlines()
    assert lines[0].endswith("verdict  rounds with the cause alone") and len(lines) == 7
    assert totals._repr_html_().count("<tr>") == 7 and repr(totals).startswith("<TotalEffects: ")
    assert all("rounds_alone" in pair for pair in totals.to_dict()["pairs"])
    assert all(pair["low"] is None for pair in new().total_effects().to_dict()["pairs"])


def test_an_effect_that_changes_is_refuted() -> None:
    """By the total effects as well; and then nothing is settled any more."""
    learner = play_on(new(), 200)
    assert not learner.has_stopped
    play_on(learner, 1200, truth=cf.LinearSEM(-CHAIN.weights, 1.0))
    assert learner.is_refuted and coins_of(learner).kept_totals.is_refuted.any()
    kinds = {alarm.kind for alarm in learner.alarms() if alarm.evidence >= np.log(20)}
    assert "total" in kinds


def test_nothing_is_settled_once_the_assumptions_are_refuted() -> None:
    learner, system = play(new(epsilon=0.1), rig(), 400), rig(9)
    assert any(one.verdict != "open" for one in learner.total_effects())
    while not learner.has_stopped and learner.rounds < 800:
        action = learner.ask()
        row = system(action)
        is_lost = dict(action.settings).get("X1") == 2.0
        learner.tell(action, np.full(3, np.nan) if is_lost else row)
    assert learner.is_refuted
    found = {(one.verdict, one.is_settled, one.waits_for) for one in learner.total_effects()}
    assert found == {("open", False, math.inf)}
