"""A learner under the randomized rule: what counts, in which order, and what it says."""

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.learner.parts import are_same
from causalfocus.learner.protocol import Told
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.report.checks import alarm_history
from worlds import ACTIONS, CHAIN, any_log, finish, play, rig

SPACE = cf.ModelClass(0.3)


def new(**options: object) -> cf.Focus:
    given = {"epsilon": 0.15, "rule": "randomized", "seed": 7} | options
    return cf.Focus(ACTIONS, SPACE, **given)  # type: ignore[arg-type]


def coins_of(learner: cf.Focus) -> CoinRecord:
    assert learner.state.coins is not None
    return learner.state.coins


def test_a_run_ends_with_a_claim_that_holds() -> None:
    learner = finish(new(), rig(), 4000)
    assert learner.has_stopped and learner.guarantee.holds(learner.result().model, CHAIN)
    effects = learner.effects()
    assert effects.n_settled == len(effects) == 6
    for one in effects:
        weight = CHAIN.weights[CHAIN.names.index(one.effect), CHAIN.names.index(one.cause)]
        assert one.low <= weight <= one.high
        assert one.verdict == ("present" if weight else "absent")
    assert learner.decision.evidence >= learner.decision.threshold


def test_samples_without_a_coin_are_no_evidence() -> None:
    """They inform the guess, and leave all that the coins say as it is, to the bit."""
    learner, twin = play(new(), rig(), 60), play(new(), rig(), 60)
    for told in any_log(200):
        twin.tell(told.action, told.sample)
    assert are_same(coins_of(twin), coins_of(learner))
    assert twin.rounds == 260 and twin.moments.n == 260


def test_the_order_of_telling_within_a_batch_does_not_matter() -> None:
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
    assert np.isfinite(coins_of(one).kept.low).any()


def test_rounds_wait_for_earlier_asks_and_withdrawing_lets_them_go() -> None:
    learner = play(new(), rig(), 40)
    learner.ask_batch(3)
    first, *later = learner.pending
    n = coins_of(learner).sums.n
    for ask in later:
        learner.take(Told(ask.action, rig(8)(ask.action), ask.number))
    assert coins_of(learner).sums.n == n
    assert f"2 later rounds wait for number {first.number}" in learner.decision.reason
    learner.withdraw(first.number)
    assert coins_of(learner).sums.n == n + 2


def test_intention_counts_not_the_value() -> None:
    """A setting that missed by far counts for the coins, and for nothing else."""
    learner = play(new(), rig(), 42)
    n, moments = coins_of(learner).sums.n, learner.moments.n
    action = learner.ask()
    row = rig(2)(action)
    row[CHAIN.names.index(action.targets[0])] = 0.0
    learner.tell(action, row)
    assert learner.moments.n == moments and coins_of(learner).sums.n == n + 1


def test_what_is_lost_or_withdrawn_does_not_count() -> None:
    learner = play(new(), rig(), 40)
    n = coins_of(learner).sums.n
    action = learner.ask()
    learner.tell(action, {name: None for name in CHAIN.names if name not in action.targets})
    assert coins_of(learner).sums.n == n
    play(learner, rig(3), 1)
    assert coins_of(learner).sums.n == n + 1


def test_it_is_replayed_to_the_bit() -> None:
    learner, system = new(), rig(1)
    for size in (1, 3, 2, 5) * 12:
        batch = learner.ask_batch(size)
        for action in reversed(batch):
            learner.tell(action, system(action))
    learner.ask_batch(2)
    assert are_same(learner.replay().state, learner.state)


def test_a_variable_without_a_coin_must_be_an_outcome() -> None:
    actions = cf.ActionSet({"heat": (0, 1), "flow": (0, 1), "yield": None})
    with pytest.raises(cf.InvalidInputError, match=r"outcomes=\['yield'\]"):
        cf.Focus(actions, SPACE, epsilon=0.15, rule="randomized")
    known = cf.ModelClass(0.3, outcomes=["yield"])
    learner = cf.Focus(actions, known, epsilon=0.15, rule="randomized", seed=1)
    truth = cf.LinearSEM([[0, 0, 0], [0.8, 0, 0], [0, 0.7, 0]], 0.05, names=actions.names)
    finish(learner, rig(0, truth), 2000)
    assert learner.has_stopped and learner.guarantee.holds(learner.estimate, truth)
    assert learner.effects()["yield", "heat"].high == 0.0


def test_forbidden_effects_do_as_well() -> None:
    actions = cf.ActionSet({"heat": (0, 1), "flow": (0, 1), "yield": None})
    known = cf.ModelClass(0.3, forbidden=[("yield", "heat"), ("yield", "flow")])
    assert cf.Focus(actions, known, epsilon=0.15, rule="randomized").effects()
    half = cf.ModelClass(0.3, forbidden=[("yield", "heat")])
    with pytest.raises(cf.InvalidInputError, match="what acts on flow"):
        cf.Focus(actions, half, epsilon=0.15, rule="randomized")


def test_the_ends_must_be_picked_by_coins() -> None:
    with pytest.raises(cf.InvalidInputError, match="counts nothing but coins"):
        new(ends="game")


@pytest.mark.parametrize("at_once", [1, 2])
def test_switches_have_no_second_coins(at_once: int) -> None:
    """In many asks, one by one and in batches; the other variables keep theirs. A value in between
    may still be told, and all of it is replayed to the bit.
    """
    names, spans = CHAIN.names, dict.fromkeys(CHAIN.names, (-2.0, 2.0))
    plain = cf.ActionSet(spans, at_once=at_once)
    with_switch = cf.ActionSet(spans, at_once=at_once, switches=["X2"])
    given = {"epsilon": 0.05, "rule": "randomized", "seed": 7}
    learner, twin = (
        cf.Focus(actions, cf.ModelClass(0.1), **given)  # type: ignore[arg-type]
        for actions in (with_switch, plain)
    )
    system, seen, of_twin = rig(3), dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for size in (1, 12, 40, 3) * 8:
        for player, found in ((learner, seen), (twin, of_twin)):
            player.ask_batch(size)
            for ask in player.pending:
                for name, value in ask.action.settings:
                    assert value in (-2.0, 0.0, 2.0)
                    found[name] += value == 0.0
                assert player is twin or "X2" not in ask.with_second
                player.take(Told(ask.action, system(ask.action), ask.number))
    assert seen["X2"] == 0 and min(seen["X1"], seen["X3"]) > 0 and min(of_twin.values()) > 0
    action = cf.do("X2", 2.0)
    assert learner.choices.index(cf.do("X2", 0.0)) is None
    learner.tell(action, dict(zip(names, (0.1, 1.9, 0.3), strict=True)))  # it missed a little
    learner.tell(action, dict(zip(names, (0.1, 0.5, 0.3), strict=True)))  # by far
    learner.tell(cf.do("X2", 0.0), dict(zip(names, (0.1, 0.0, 0.3), strict=True)))  # by hand
    learner.ask_batch(5)
    assert are_same(learner.replay().state, learner.state)


def test_effects_as_a_table() -> None:
    learner = play(new(), rig(), 300)
    effects = learner.effects()
    frame = effects.to_frame()
    assert list(frame["cause"]) == [one.cause for one in effects] and len(frame) == 6
    assert effects["X1", "X2"] is effects[2]
    with pytest.raises(cf.InvalidInputError, match="A pair is"):
        effects["X1", "X1"]
    lines = str(effects).splitlines()
    assert lines[0].split() == ["cause", "effect", "estimate", "interval", "verdict", "rounds"]
    assert len(lines) == 7
    assert effects._repr_html_().count("<tr>") == 7
    pairs = new().effects().to_dict()["pairs"]
    assert all(pair["low"] is None and pair["verdict"] == "open" for pair in pairs)


def test_names_in_a_notebook_stay_text() -> None:
    actions = cf.ActionSet({"<b>": (0, 1), "y": (0, 1)})
    learner = cf.Focus(actions, SPACE, epsilon=0.15, rule="randomized")
    assert "<b>" not in learner.effects()._repr_html_()


def test_verdicts_of_other_rules_come_with_the_certificate() -> None:
    learner = finish(new(rule="gaussian"), rig(), 4000)
    assert {one.verdict for one in learner.effects()} == {"present", "absent"}
    assert {one.verdict for one in play(new(rule="class"), rig(), 10).effects()} == {"open"}


def test_an_estimate_stays_within_what_the_intervals_leave() -> None:
    learner, system = new(), rig(4)
    for _ in range(400):
        play(learner, system, 1)
        kept = coins_of(learner).kept
        weights = learner.estimate.weights
        is_open = ~learner.guarantee.demands.holds(kept, weights)  # type: ignore[attr-defined]
        assert ((weights >= kept.low) & (weights <= kept.high))[is_open].all()
    assert np.isfinite(kept.low).all()


def test_the_graph_alone_needs_the_same_proof_of_every_edge() -> None:
    """A hidden cause makes the guess show an effect that is not there; a few rounds prove none."""
    actions = cf.ActionSet({"a": (-1, 1), "b": (-1, 1)})
    known = cf.ModelClass(0.3, forbidden=[("b", "a")])
    learner = cf.Focus(actions, known, epsilon="graph", rule="randomized", seed=1)
    rng = np.random.default_rng(0)
    while not learner.has_stopped and learner.rounds < 200:
        action, hidden = learner.ask(), rng.normal()
        row = rng.normal(size=2) + 2.0 * hidden
        for name, value in action.settings:
            row["ab".index(name)] = value
        learner.tell(action, row)
        one = learner.effects()["a", "b"]
        assert one.is_settled == (one.verdict != "open")
        assert learner.has_stopped == one.is_settled


def test_what_was_given_up_is_replayed_to_the_bit() -> None:
    """Asks that were withdrawn held up later rounds as long as they were open, and their coins are
    what the guardrail of lost rounds is about: a replay that forgets them is another run.
    """
    learner, system, rng = new(), rig(1), np.random.default_rng(3)
    for size in (1, 3, 2, 5) * 12:
        learner.ask_batch(size)
        for at in rng.permutation(len(asks := learner.pending)):
            if rng.random() < 0.3:
                learner.withdraw(asks[at].number)
            elif rng.random() < 0.9:
                learner.tell(asks[at].action, system(asks[at].action), ask=asks[at].number)
    learner.ask_batch(2)
    assert coins_of(learner).guards.lost.sum() > 10
    assert are_same(learner.replay().state, learner.state)


def test_asks_that_lapse_are_replayed_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causalfocus.learner.state.MOST_PENDING", 6)
    learner, system = new(), rig(2)
    for _ in range(30):
        learner.ask_batch(4)
        for ask in learner.pending[-3:]:
            learner.tell(ask.action, system(ask.action), ask=ask.number)
    assert coins_of(learner).sums.n > 50 and coins_of(learner).guards.lost.sum() > 10
    assert are_same(learner.replay().state, learner.state)


def test_outcomes_that_are_told_by_number_count_for_their_own_ask() -> None:
    """Told by action alone, those of the same action would come in the order of telling, and that
    may depend on what they are.
    """
    one, other, system = new(), new(), rig(5)
    play(one, rig(), 40)
    play(other, rig(), 40)
    one.ask_batch(60), other.ask_batch(60)
    told = [(ask, system(ask.action)) for ask in one.pending]
    for ask, row in told:
        one.tell(ask.action, row, ask=ask.number)
    for ask, row in sorted(told, key=lambda pair: pair[1][2]):
        other.tell(ask.action, row, ask=ask.number)
    assert are_same(coins_of(one), coins_of(other))
    assert len({ask.action for ask, _ in told}) < 30  # most were asked for more than once


def test_a_number_must_be_pending_and_for_the_action() -> None:
    learner = play(new(), rig(), 40)
    action = learner.ask()
    (ask,) = learner.pending
    with pytest.raises(cf.InvalidInputError, match="no pending ask with the number 1"):
        learner.tell(action, rig()(action), ask=1)
    with pytest.raises(cf.InvalidInputError, match=f"Number {ask.number} asks for"):
        learner.tell(cf.OBSERVE, rig()(cf.OBSERVE), ask=ask.number)
    assert learner.rounds == 40 and learner.pending == (ask,)


def test_nothing_is_settled_once_the_assumptions_are_refuted() -> None:
    """Whoever throws rounds away by their coin sees intervals, and no verdicts any more."""
    learner, system = play(new(), rig(), 600), rig(9)
    assert not learner.has_stopped
    assert any(one.verdict != "open" for one in learner.effects())
    while not learner.has_stopped and learner.rounds < 800:
        action = learner.ask()
        (ask,) = learner.pending
        if dict(action.settings).get("X1", 0.0) > 0.0:
            learner.withdraw(ask.number)
        else:
            learner.tell(action, system(action))
    assert learner.is_refuted and "lost at the high end of X1" in (learner.result().refuted or "")
    learner.continue_after_stop()
    play(learner, system, 5)
    assert {(one.verdict, one.is_settled) for one in learner.effects()} == {("open", False)}


def test_the_history_of_alarms_knows_the_coins() -> None:
    """Rounds of the high end of X1 are lost: a history without the coins would be empty."""
    learner, system = new(), rig(6)
    while not learner.is_refuted and learner.rounds < 400:
        action = learner.ask()
        row = system(action)
        is_lost = dict(action.settings).get("X1") == 2.0
        learner.tell(action, np.full(3, np.nan) if is_lost else row)
    points = alarm_history(learner)["selection"]
    assert learner.is_refuted
    assert points[-1] == (learner.rounds, learner.alarms()[0].evidence)
    assert points[0][1] < points[-1][1]
