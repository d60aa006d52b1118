"""What is believed, beside what is certain."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import causalfocus as cf
from campaign.hands import PAIR, SPACE, SYSTEM, new_pair_campaign
from causalfocus.campaign import Campaign
from causalfocus.campaign.status import LEAST_BELIEVED, Belief, status
from causalfocus.cli.app import app
from causalfocus.report.campaign_report import report_html


def play(campaign: Campaign, system: cf.LinearSEM, rounds: int) -> None:
    rng = np.random.default_rng(campaign.rounds)
    for _ in range(rounds):
        (asked,) = campaign.next()
        campaign.record(system.sample(asked.action, 1, rng)[0], id=asked.id)


def test_beliefs_are_the_probabilities_of_the_edges(campaign: Campaign) -> None:
    assert status(campaign, foretell=False).beliefs == ()
    play(campaign, SYSTEM, 40)
    found = status(campaign, foretell=False)
    assert found.state == "running" and found.beliefs
    expected = cf.edge_probabilities(campaign.learner.moments, SPACE)
    names = SYSTEM.names
    for belief in found.beliefs:
        at = names.index(belief.effect), names.index(belief.cause)
        assert belief.probability == pytest.approx(float(expected[at]))
    probabilities = [belief.probability for belief in found.beliefs]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(probabilities) == (expected > LEAST_BELIEVED).sum()
    printed = json.loads(json.dumps(found.to_dict()))["beliefs"]
    assert printed[0]["cause"] == found.beliefs[0].cause


def test_they_are_shown_apart_and_say_that_they_certify_nothing(campaign: Campaign) -> None:
    play(campaign, SYSTEM, 40)
    first = status(campaign, foretell=False).beliefs[0]
    shown = CliRunner().invoke(app, ["campaign", "status", str(campaign.path)])
    words = " ".join(shown.output.replace("│", " ").split())
    assert "Believed so far, which certifies nothing" in words
    assert f"{first.cause} -> {first.effect} {first.in_percent}" in words
    assert "100%" not in words
    assert "it certifies nothing" in report_html(campaign)


def test_none_are_left_beside_a_certificate(path: Path) -> None:
    with new_pair_campaign(path) as campaign:
        while campaign.stop is None:
            play(campaign, PAIR, 1)
        found = status(campaign, foretell=False)
        assert found.state == "certified" and found.beliefs == ()
        assert "Believed so far" not in report_html(campaign)


def test_a_belief_is_never_rounded_up_to_certainty() -> None:
    shown = [Belief(cause="a", effect="b", probability=p).in_percent for p in (0.366, 0.991, 1.0)]
    assert shown == ["37%", "over 99%", "over 99%"]
