"""What a campaign by coins shows: verdicts and intervals first, in the terminal, as JSON and in the
report, early, on the way and at the end.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.campaign.status import Status, status
from causalfocus.cli.app import app
from causalfocus.report.campaign_report import report_html
from worlds import CHAIN, action_set, rig

EARLY, ON_THE_WAY, MOST = 24, 200, 400


def new(path: Path, rule: str = "randomized") -> Campaign:
    actions = action_set(CHAIN.names, reach=6.0, at_once=2)
    return Campaign.create(path, actions, cf.ModelClass(0.3), epsilon=0.15, rule=rule, seed=4)


def play(campaign: Campaign, rounds: int) -> None:
    """Up to so many rounds, or to the stop."""
    system = rig(campaign.rounds)
    while campaign.rounds < rounds and campaign.stop is None:
        (asked,) = campaign.next()
        campaign.record(system(asked.action), id=asked.id)


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Campaign]]:
    """One campaign at three moments."""
    found, folder = {}, tmp_path_factory.mktemp("campaigns")
    for name, rounds in (("early", EARLY), ("on the way", ON_THE_WAY), ("end", MOST)):
        found[name] = new(folder / f"{name.replace(' ', '_')}.campaign")
        play(found[name], rounds)
    yield found
    for one in found.values():
        one.close()


def shown(campaign: Campaign) -> str:
    """The screen of `status`, without its frame."""
    done = CliRunner().invoke(app, ["campaign", "status", str(campaign.path)])
    return " ".join(done.output.replace("│", " ").replace("┃", " ").split())


def of_truth(now: Status) -> None:
    """No verdict that is given is wrong, and every interval holds its effect."""
    for one in now.effects:
        weight = CHAIN.weights[CHAIN.names.index(one.effect), CHAIN.names.index(one.cause)]
        assert one.low <= weight <= one.high
        assert one.verdict == "open" or one.is_present == (weight != 0.0)


def test_the_screen_begins_with_what_is_settled(campaigns: dict[str, Campaign]) -> None:
    early, middle, end = (shown(one) for one in campaigns.values())
    assert "0 of 6 pairs settled" in early and "0 present, 0 absent, 6 open" in early
    assert "No pair has an interval yet" in early and "a first interval" in early
    assert middle.index("pairs settled") < middle.index("Nothing is certified yet as a whole")
    assert middle.index("X1 -> X2") < middle.index("evidence")
    assert "except with probability 0.05" in middle
    assert "6 of 6 pairs settled" in end and "Certified after" in end
    assert end.index("X1 -> X2 +") < end.index("X2 -> X3 -") < end.index("X2 -> X1 none")


def test_signs_are_certain_long_before_the_end(campaigns: dict[str, Campaign]) -> None:
    """And are shown: the evidence for all pairs together is still zero."""
    now = status(campaigns["on the way"], foretell=False)
    of_truth(now)
    assert now.state == "running" and now.evidence == 0.0 and now.settles_pairs
    assert 0 < now.effects.n_settled < 6
    certain = {(edge.cause, edge.effect) for edge in now.edges if edge.is_certain}
    assert certain == {(one.cause, one.effect) for one in now.effects if one.is_present} != set()
    assert "the sign is not certain" in report_html(campaigns["on the way"])


def test_json_has_every_pair(campaigns: dict[str, Campaign]) -> None:
    for campaign in campaigns.values():
        done = CliRunner().invoke(app, ["campaign", "status", str(campaign.path), "--json"])
        found = json.loads(done.output)
        assert done.exit_code == (0 if campaign.stop else 3)
        assert found["settled"] == campaign.learner.effects().n_settled
        assert len(found["pairs"]) == 6 and "effects" not in found
        for pair, one in zip(found["pairs"], campaign.learner.effects(), strict=True):
            assert pair["verdict"] == one.verdict
            assert pair["low"] == (one.low if one.is_bounded else None)
    of_truth(status(campaigns["end"]))


def test_the_report_has_intervals_and_words_for_coins(campaigns: dict[str, Campaign]) -> None:
    early, middle, end = (report_html(one) for one in campaigns.values())
    assert "What is settled" in early and "Intervals of" not in early
    assert "6 pairs have no interval yet, of effects on X1, X2, X3." in early
    for text in (middle, end):
        assert "Intervals of" in text and "Effects that are there" in text
        assert "This rests on the coins" in text and "Gaussian" not in text
        assert "nothing is assumed of its law" in text
    assert "Open pairs" not in end and "Intervals of 6 effects" in end
    assert "<strong>6 of 6 pairs settled</strong>: 2 present, 4 absent, 0 open." in end


def test_another_rule_shows_what_it_did(tmp_path: Path) -> None:
    with new(tmp_path / "gaussian.campaign", "gaussian") as campaign:
        play(campaign, 40)
        now, text = status(campaign), report_html(campaign)
        assert not now.settles_pairs and {one.verdict for one in now.effects} == {"open"}
        assert "What is settled" not in text and "not rejected at 0.05" in text
        assert "pairs settled" not in shown(campaign)
        play(campaign, MOST)
        assert campaign.stop is not None
        found = status(campaign).to_dict()
        assert found["settled"] == 6
        there = {(one["cause"], one["effect"]) for one in found["pairs"] if one["estimate"]}
        assert there == {("X1", "X2"), ("X2", "X3")}


def test_the_evidence_of_many_variables_is_not_weighed_at_every_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"x{i}" for i in range(24)]
    actions = cf.ActionSet(dict.fromkeys(names, (-1.0, 1.0)), at_once=None)
    path = tmp_path / "wide.campaign"
    with Campaign.create(
        path, actions, cf.ModelClass(0.3), epsilon=0.15, rule="randomized", seed=1
    ) as campaign:
        for asked in campaign.next(3):
            free = [name for name in names if name not in asked.action.targets]
            campaign.record({name: 0.1 * len(name) for name in free}, id=asked.id)

    def weigh(*_: object) -> float:
        raise AssertionError("somebody weighs the evidence")

    monkeypatch.setattr("causalfocus.guarantees.randomized_decision.level_of", weigh)
    with Campaign.open(path, read_only=True) as campaign:
        now = status(campaign)
        assert now.rounds == 3 and len(now.effects) == 24 * 23
        assert len(report_html(campaign)) > 10_000
