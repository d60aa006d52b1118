"""The log is the truth: it cannot be changed, and where it was, it shows."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from campaign.hands import PAIR, new_pair_campaign
from campaign.twins import answer, fill, is_same
from causalfocus.campaign import Campaign, Event, LogError
from causalfocus.campaign.checkpoint import fold, is_symmetric, pack, unfold, unpack
from causalfocus.campaign.playback import is_noted
from causalfocus.campaign.status import status
from causalfocus.learner.parts import are_same, take_apart
from worlds import rig


@pytest.mark.parametrize("harm", ["contents", "code", "chain", "digest"])
def test_a_checkpoint_that_cannot_be_trusted_is_not_used(
    campaign: Campaign, path: Path, harm: str
) -> None:
    fill(campaign, 40)
    with sqlite3.connect(path) as raw:
        ((value,),) = raw.execute(f"SELECT {harm} FROM checkpoint").fetchall()  # noqa: S608
        wrong = value[:-1] + (b"?" if isinstance(value, bytes) else "?")
        raw.execute(f"UPDATE checkpoint SET {harm} = ?", (wrong,))  # noqa: S608
    raw.close()
    with Campaign.open(path) as again:
        assert is_same(again.learner, campaign.learner)
        assert again._ledger.current().n_played == 80


def test_the_log_cannot_be_changed(campaign: Campaign, path: Path) -> None:
    """By SQL it is refused; and where someone gets around that, it shows."""
    fill(campaign, 5)
    raw = sqlite3.connect(path)
    for change in (
        "UPDATE events SET sample = '[0,0,0]' WHERE seq = 4",
        "DELETE FROM events WHERE seq = 4",
        "UPDATE specification SET document = '{}'",
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"only ever added to|does not change"):
            raw.execute(change)
    raw.execute("DROP TRIGGER events_stay")
    raw.execute("UPDATE events SET sample = '[0.0, 0.0, 0.0]' WHERE seq = 4")
    raw.commit()
    raw.close()
    with Campaign.open(path) as again, pytest.raises(LogError, match="Event 4 does not follow"):
        again.verify()


def test_events_read_back_as_they_were() -> None:
    event = Event(
        kind="told",
        at="2026-01-02T03:04:05.678Z",
        who="Zoë",
        note="<b>warm</b>",
        ask=7,
        round=3,
        action=cf.do("X1", 0.1 + 0.2),
        sample=(1e-300, -0.0, 1 / 3),
    ).after(9, b"x" * 32)
    again = Event.from_row(event.to_row())
    assert again == event and again.digest_after(b"x" * 32) == event.digest
    assert str(again.sample) == str(event.sample)
    assert again.digest_after(b"y" * 32) != event.digest


def test_points_of_the_curve() -> None:
    noted = [n for n in range(1, 10_001) if is_noted(n)]
    assert noted[:64] == list(range(1, 65))
    assert 200 < len(noted) < 350


@pytest.mark.parametrize("key", ["epsilon", "delta"])
def test_a_changed_specification_shows(campaign: Campaign, path: Path, key: str) -> None:
    fill(campaign, 40)
    campaign.close()
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER the_specification_stays")
    raw.execute(f"UPDATE specification SET document = json_set(document, '$.{key}', 0.09)")  # noqa: S608
    raw.commit()
    raw.close()
    with pytest.raises(LogError, match=r"specification .* was changed by other hands"):
        Campaign.open(path)


def test_a_stop_that_another_version_would_not_make_is_shown(path: Path) -> None:
    """The log keeps what was said; who looks sees both."""
    pair = rig(1, PAIR)
    with new_pair_campaign(path) as campaign:
        for _ in range(40):
            answer(campaign, pair)
        with campaign._ledger.transaction() as entry:  # as a version with a laxer rule would
            facts = {"certified": True, "rounds": 40, "edges": [["X1", "X2", 0.5]]}
            entry.add(Event(kind="stopped", facts=facts))
        assert campaign.contradiction is not None
        assert "The log says: certified after 40 rounds" in status(campaign).statement
        assert "This version of causalfocus finds" in campaign.contradiction
        assert campaign.verify() == campaign.n_events()  # nothing was changed by other hands


def test_the_log_is_searched_and_paged(campaign: Campaign) -> None:
    fill(campaign, 10)
    campaign.note("100% sure_ about <this>", who="Eve")
    assert [event.seq for event in campaign.events(limit=3, newest=True)] == [21, 20, 19]
    assert [event.seq for event in campaign.events(offset=2, limit=2)] == [3, 4]
    assert campaign.n_events("told") == 10
    assert campaign.n_events("100%") == campaign.n_events("sure_") == campaign.n_events("Eve") == 1
    assert campaign.n_events("100_") == 0
    assert campaign.n_events("X1") == sum(
        e.action is not None and e.action.target == "X1" for e in campaign.events()
    )


def test_a_checkpoint_keeps_symmetric_matrices_once(path: Path) -> None:
    """Grams and scales of eighteen variables; and the state comes back to the bit."""
    names = [f"X{i}" for i in range(18)]
    actions = cf.ActionSet(dict.fromkeys(names, (-1.0, 1.0)), at_once=None)
    learner = cf.Focus(actions, cf.ModelClass(0.3), epsilon=0.15, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(300):
        action = learner.ask()
        learner.tell(action, {name: rng.normal() for name in names} | dict(action.settings))
    packed = pack(learner, {"more": 1})
    tree, arrays = take_apart(learner.state)
    assert learner.state.coins is not None and tree
    grams = learner.state.coins.sums.sums.pool.grams
    assert np.array_equal(grams, grams.transpose(0, 2, 1)) and grams.any()
    size = sum(array.nbytes for array in arrays.values()) + len(json.dumps(tree))
    assert len(packed) < size - grams.nbytes / 3 and pack(learner, {"more": 1}) == packed
    blank = cf.Focus(actions, cf.ModelClass(0.3), epsilon=0.15, seed=1)
    state, more = unpack(packed, blank)
    assert are_same(state, learner.state) and more == {"more": 1}


def test_symmetric_matrices_come_back_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    for shape in ((3, 2, 2), (1, 7, 7), (4, 30, 30)):
        one = rng.normal(size=shape)
        one = one + one.transpose(0, 2, 1)
        one[0, 0, 1] = one[0, 1, 0] = np.nan
        assert is_symmetric(one) and unfold(fold(one)).tobytes() == one.tobytes()
        one[-1, -1, 0] += 1.0
        assert not is_symmetric(one)
    signed = np.zeros((1, 2, 2))
    signed[0, 0, 1] = -0.0
    assert not is_symmetric(signed)
    for other in (np.zeros((2, 2)), np.zeros((0, 3)), np.zeros((2, 1, 1)), np.zeros((2, 3, 4))):
        assert not is_symmetric(other)
