"""Campaigns by coins: files, checkpoints, mending and past logs under the randomized rule."""

from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.learner.parts import are_same
from causalfocus.report.campaign_report import report_html
from worlds import CHAIN, action_set, rig

ACTIONS = action_set(CHAIN.names)
SPACE = cf.ModelClass(0.3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rig.campaign"


def new(path: Path, rule: str = "randomized") -> Campaign:
    return Campaign.create(path, ACTIONS, SPACE, epsilon=0.15, rule=rule, seed=4)


def play(campaign: Campaign, n: int, seed: int = 0) -> None:
    """In batches of three, told in another order than they were asked for."""
    system = rig(seed)
    for _ in range(n // 3):
        asked = campaign.next(3)
        for one in (asked[2], asked[0], asked[1]):
            campaign.record(system(one.action), id=one.id)


def test_a_campaign_is_the_same_after_it_was_opened_again(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 300)
        play(campaign, 60, seed=1)
        campaign.next(2)
        state, effects = campaign.learner.state, campaign.learner.effects().to_dict()
        assert state.coins is not None and state.coins.sums.n > 250
    with Campaign.open(path) as again:
        assert again.n_replayed < 400
        assert are_same(again.learner.state, state)
        assert again.learner.effects().to_dict() == effects
        again.verify()


def test_rounds_count_in_the_order_of_asking(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 30)
        first, second = campaign.next(2)
        campaign.record(rig(3)(second.action), id=second.id)
        before = campaign.learner.state.coins
        assert before is not None
        assert f"1 later rounds wait for number {first.id}" in campaign.decision.reason
        campaign.reject(first.id, "the pump was off")
        after = campaign.learner.state.coins
        assert after is not None and after.sums.n > before.sums.n


def test_a_log_of_another_rule_serves_this_one(path: Path) -> None:
    """What was asked for under the gaussian rule is judged by its coins as if it had been asked for
    by them, in the order of asking.
    """
    with new(path, "gaussian") as campaign:
        play(campaign, 240)
    with Campaign.open(path) as campaign:
        twin = campaign.learner.with_rule("randomized")
        coins = twin.state.coins
        n_coins = sum(bool(told.asked and told.asked.coins) for told in campaign.learner.log)
        assert coins is not None and coins.sums.n == n_coins > 150
        assert np.isfinite(coins.kept.low).any()


def test_a_corrected_value_is_learned_anew(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 120)
        before = campaign.learner.effects().to_dict()
        row = campaign.learner.log[99].sample.copy()
        action = campaign.learner.log[99].action
        free = [j for j, name in enumerate(CHAIN.names) if name not in action.targets]
        row[free[0]] += 3.0
        campaign.correct(100, {CHAIN.names[free[0]]: float(row[free[0]])}, "misread")
        pending = campaign.next(2)
        assert campaign.learner.effects().to_dict() != before
        literal = cf.Focus(ACTIONS, SPACE, epsilon=0.15, rule="randomized", seed=4)
        for _ in literal.take_again(campaign.learner.log, campaign.learner.pending):
            pass
        assert are_same(literal.state.coins, campaign.learner.state.coins)
        assert [ask.number for ask in literal.pending] == [one.id for one in pending]


def test_a_correction_does_not_forget_what_was_rejected(path: Path) -> None:
    """Else whoever rejects by the coin would only have to put right a slip of the pen."""
    with new(path) as campaign:
        play(campaign, 60)
        for at in range(12):
            first, second = campaign.next(2)
            campaign.record(rig(at)(second.action), id=second.id)
            campaign.reject(first.id, "the pump was off")
        before = campaign.learner.state.coins
        action = campaign.learner.log[50].action
        free = next(name for name in CHAIN.names if name not in action.targets)
        was = float(campaign.learner.log[50].sample[CHAIN.names.index(free)])
        campaign.correct(51, {free: was + 1.0}, "misread")
        campaign.correct(51, {free: was}, "it was right")
        after = campaign.learner.state.coins
    assert before is not None and before.guards.lost.sum() >= 10
    assert are_same(after, before)


def test_a_round_with_another_target_than_was_asked_for_is_no_evidence(path: Path) -> None:
    """What was set by mistake does not follow its causes, and may follow the coin."""
    with new(path) as campaign:
        play(campaign, 90)
        at, told = next(
            (at, told)
            for at, told in enumerate(campaign.learner.log, 1)
            if at > 45 and len(told.action.targets) == 1
        )
        ((name, value),) = told.action.settings
        wrong = next(one for one in CHAIN.names if one != name)
        values = {one: 0.3 for one in CHAIN.names if one != wrong}
        coins = campaign.learner.state.coins
        campaign.correct(at, values, "the wrong valve", action=cf.do(wrong, value))
        after = campaign.learner.state.coins
        assert coins is not None and after is not None and after.sums.n == coins.sums.n - 1


def test_a_report_does_not_speak_of_gaussian_noise(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 30)
        text = report_html(campaign)
        assert "Gaussian" not in text and "if the graph is right" not in text
        assert "No bet against them has won anything" in text
    with new(path.with_name("other.campaign"), "gaussian") as campaign:
        play(campaign, 30)
        assert "the noise is Gaussian" in (text := report_html(campaign))
        assert "if the graph is right" in text


def test_a_wider_range_changes_no_test_of_the_past(path: Path) -> None:
    """What directions bet is for the ranges with which the campaign began: intervals, evidence and
    the stop are the same, to the bit.
    """
    with Campaign.create(path, ACTIONS, cf.ModelClass(0.6), epsilon=0.3, seed=4) as campaign:
        while campaign.stop is None:
            play(campaign, 3, seed=campaign.learner.rounds)
        before, first = campaign.learner, campaign.specification.actions.ranges
        campaign.widen("X1", -2.0, 4.0)
        now, coins = campaign.learner, campaign.learner.state.coins
        assert coins is not None and before.state.coins is not None
        assert are_same(coins.kept, before.state.coins.kept)
        assert now.decision.evidence == before.decision.evidence and campaign.contradiction is None
        assert campaign.specification.actions.ranges != campaign.specification.actions.first_ranges
        assert campaign.specification.actions.first_ranges == first
