"""Campaigns: nothing acknowledged is lost, the log is the truth, many hands may work at once."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from campaign_hands import ACTIONS, SPACE, SYSTEM, made
from causalfocus.campaign import Campaign, CampaignError, Event, LogError, Specification, schema
from causalfocus.campaign import file as file_module
from causalfocus.campaign import ledger as ledger_module
from causalfocus.campaign import log as log_module
from causalfocus.campaign.export import samples_csv, whole_json
from causalfocus.campaign.playback import Playback, is_noted
from causalfocus.campaign.samples import read_samples
from causalfocus.campaign.status import status

HANDS = Path(__file__).with_name("campaign_hands.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rig.campaign"


@pytest.fixture
def campaign(path: Path) -> Iterator[Campaign]:
    with made(path) as found:
        yield found


def fill(campaign: Campaign, n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        (asked,) = campaign.next()
        campaign.record(SYSTEM.sample(asked.action, 1, rng)[0], id=asked.id)


def uninterrupted(campaign: Campaign) -> Playback:
    """The same events played from the first to the last, without file or checkpoint."""
    found = Playback(campaign.specification, campaign._ledger.root)
    for event in campaign.iterate():
        found.play(event)
    return found


def same(one: cf.Focus, other: cf.Focus) -> bool:
    """Whether two learners are equal to the bit, in all that the next rounds depend on."""
    a, b = one._moments._state, other._moments._state
    arrays = [
        (a.sums, b.sums),
        (a.origins, b.origins),
        (a.watch.sums, b.watch.sums),
        (a.watch.firsts, b.watch.firsts),
        *((a.watch.marks[m], b.watch.marks[m]) for m in a.watch.marks | b.watch.marks),
        *((x[2], y[2]) for x, y in zip(a.anchors.samples, b.anchors.samples, strict=True)),
        (one._cumulative, other._cumulative),
        (one._hedge.weights, other._hedge.weights),
        (one._hedge._cumulative, other._hedge._cumulative),
        (one.estimate.weights, other.estimate.weights),
        (one._counts, other._counts),
        *((a.marks[m], b.marks[m]) for m in a.marks | b.marks),
    ]
    now, then = one._now, other._now
    aims = (np.zeros(0) if j.aim is None else j.aim for j in (now, then))
    return (
        all(np.array_equal(x, y, equal_nan=True) for x, y in [*arrays, tuple(aims)])
        and (a.n, a.is_sure, a.watch.n) == (b.n, b.is_sure, b.watch.n)
        and [x[:2] for x in a.anchors.samples] == [y[:2] for y in b.anchors.samples]
        and one.continued_at == other.continued_at
        and (now.next_look, now.next_check) == (then.next_look, then.next_check)
        and one.decision.evidence == other.decision.evidence
        and one.decision.reason == other.decision.reason
        and one.result() == other.result()
        and one._hedge.gap == other._hedge.gap
    )


def test_a_round(campaign: Campaign) -> None:
    (asked,) = campaign.next(who="Ada", note="morning")
    assert (asked.id, asked.action) == (1, cf.OBSERVE) and asked.who == "Ada"
    event = campaign.record({"X1": 0.1, "X2": 0.2, "X3": 1 / 3}, id=1, who="Bo", note="warm")
    assert event.sample == (0.1, 0.2, 1 / 3) and (event.who, event.note) == ("Bo", "warm")
    assert event.at.endswith("Z") and campaign.rounds == 1 and campaign.pending == ()
    first, second = campaign.events()
    assert (first.kind, second.kind) == ("asked", "told") and second == event


def test_several_actions_are_out_at_once(campaign: Campaign) -> None:
    """Together they are what a learner would ask for in one batch."""
    one = campaign.next(2)
    two = campaign.next(3)
    batch = campaign.specification.learner().ask_batch(5)
    assert [asked.action for asked in (*one, *two)] == batch
    assert [asked.id for asked in campaign.pending] == [1, 2, 3, 4, 5]
    campaign.reject(2, "pump is broken")
    sample = {"X1": 0.0, "X2": 1.0, "X3": 2.0} | {
        two[1].action.target: two[1].action.value
    }  # in any order
    campaign.record(sample, id=4)
    assert [asked.id for asked in campaign.pending] == [1, 3, 5]
    with pytest.raises(cf.InvalidInputError, match=r"3 actions are pending; say by its number"):
        campaign.record(sample)


def test_what_was_not_asked_for_counts_too(campaign: Campaign) -> None:
    event = campaign.record([0.5, 1.0, 0.0], action=cf.do("X1", 0.5))
    assert event.ask is None and campaign.learner.log[0].action == cf.do("X1", 0.5)


def test_a_reopened_campaign_is_the_same_to_the_bit(campaign: Campaign, path: Path) -> None:
    """Through checkpoints, with a few rounds after the last, and from the log alone."""
    for n in (ledger_module.CHECKPOINT_EVERY + 5, 1, 40):
        fill(campaign, n, seed=n)
        with Campaign.open(path) as again:
            learner = again.learner
            assert again._ledger.current().n_played <= 2 * ledger_module.CHECKPOINT_EVERY + 1
            live = cf.Focus(ACTIONS, SPACE, epsilon=0.01)
            for told in learner.log:
                live.tell(told.action, told.sample)
            assert same(learner, live) and same(learner, campaign.learner)
            assert learner.ask() == live.ask()
            assert again.verify() == again.n_events()
            assert dict(again.curve()) == dict(campaign.curve())


@pytest.mark.parametrize("rule", ["evidence", "resolution"])
def test_the_stop_is_kept(path: Path, rule: str) -> None:
    """A certificate, its event, and the same result after every way of opening the file."""
    system = cf.random_sem(2, density=1.0, seed=3)
    actions = cf.ActionSet(dict.fromkeys(system.names, (-2.0, 2.0)))
    space = cf.ModelClass(min_effect=0.4, max_effect=2.0, noise_variance=(0.5, 2.0))
    rng = np.random.default_rng(1)
    with Campaign.create(path, actions, space, epsilon=0.2, stopping=rule) as campaign:  # type: ignore[arg-type]
        while campaign.stop is None:
            (asked,) = campaign.next()
            campaign.record(system.sample(asked.action, 1, rng)[0], id=asked.id)
        result = campaign.result()
        assert result.certified and campaign.stop.facts is not None
        assert campaign.stop.facts["rounds"] == result.rounds == campaign.rounds
        with pytest.raises(cf.AlreadyStoppedError):
            campaign.next()
        campaign.continue_after_stop(note="to be sure")
        for _ in range(40):
            (asked,) = campaign.next()
            campaign.record(system.sample(asked.action, 1, rng)[0], id=asked.id)
        assert [event.kind for event in campaign.events()].count("stopped") == 1
        assert "Certified after" in status(campaign).statement
    for _ in range(2):
        with Campaign.open(path) as again:
            assert again.result() == result and again.stop is not None
            assert same(again.learner, uninterrupted(again).learner)
        with sqlite3.connect(path) as raw:
            raw.execute("DELETE FROM checkpoint")
        raw.close()


def test_a_correction_is_learned_as_if_it_had_been_right_at_once(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    """Whether a checkpoint came before it, after it, or not at all; and twice for one round."""
    fill(campaign, 50)
    with Campaign.open(path) as other:
        assert other.rounds == 50  # it has the wrong value in memory
        for number, value in ((7, 0.25), (48, -1.0), (7, 0.5)):
            name = "X3" if campaign.learner.log[number - 1].action.target != "X3" else "X1"
            campaign.correct(number, {name: value}, "slip of the pen", who="Ada")
        fill(campaign, 3, seed=9)
        corrected = campaign.corrections()
        assert sorted(corrected) == [7, 48]
        right = [
            (told.action, corrected.get(i, tuple(told.sample)))
            for i, told in enumerate(campaign.learner.log, 1)
        ]
        assert all(
            tuple(t.sample) == r for t, (_, r) in zip(campaign.learner.log, right, strict=True)
        )
        live = cf.Focus(ACTIONS, SPACE, epsilon=0.01)
        for action, row in right:
            live.tell(action, row)
        assert same(campaign.learner, live) and same(other.learner, live)
    with Campaign.open(path) as again:
        assert again.n_replayed <= ledger_module.CHECKPOINT_EVERY and same(again.learner, live)
        assert [tuple(told.sample) for told in again.learner.log] == [row for _, row in right]
        assert again.verify() == again.n_events()
        assert dict(again.curve()) == uninterrupted_curve(again)
        file = tmp_path / "samples.csv"
        file.write_text("".join(samples_csv(again)))
    assert [tuple(line.sample.values()) for line in read_samples(file, campaign.names)] == [
        row for _, row in right
    ]


def uninterrupted_curve(campaign: Campaign) -> dict[int, float]:
    """The evidence after every noted round, from the present log alone."""
    learner, found = campaign.specification.learner(), {}
    for told in campaign.learner.log:
        learner.tell(told.action, told.sample)
        if is_noted(learner.rounds) or learner.rounds == campaign.rounds:
            found[learner.rounds] = learner.decision.evidence
    return found


def test_a_certificate_that_rested_on_a_wrong_value_is_gone(path: Path) -> None:
    system = cf.random_sem(2, density=1.0, seed=3)
    actions = cf.ActionSet(dict.fromkeys(system.names, (-2.0, 2.0)))
    rng = np.random.default_rng(1)
    with Campaign.create(path, actions, cf.ModelClass(min_effect=0.4), epsilon=0.2) as campaign:
        while campaign.stop is None:
            (asked,) = campaign.next()
            campaign.record(system.sample(asked.action, 1, rng)[0], id=asked.id)
        rounds = campaign.rounds
        free = "X1" if campaign.learner.log[-1].action.target != "X1" else "X2"
        campaign.correct(rounds, {free: 40.0}, "a decimal point")
        assert not campaign.result().certified or campaign.result().rounds < rounds
        assert same(campaign.learner, uninterrupted(campaign).learner)
        was = campaign.events(search="told")[-1].sample
        assert was is not None
        campaign.correct(rounds, {free: was[campaign.names.index(free)]}, "it was right")
        assert campaign.result().certified and campaign.stop is not None
        assert campaign.stop.seq == campaign.n_events(), "the new stop is noted anew"


def test_corrections_that_are_refused(campaign: Campaign) -> None:
    fill(campaign, 3)
    n = campaign.n_events()
    cases = [
        (9, {"X1": 1.0}, "why", "no round 9 to correct; the campaign has 3"),
        (1, {}, "why", "Give the variables"),
        (1, {"Y": 1.0}, "why", "no node named 'Y'"),
        (1, {"X1": float("inf")}, "why", "X1 is inf"),
        (1, {"X1": 1.0}, " ", "a reason is needed"),
        (2, {"X1": 5.0}, "why", r"X1 was set to -2 by do\(X1 = -2\)"),
        (1, {"X1": campaign.learner.log[0].sample[0]}, "why", "has these values already"),
    ]
    for number, values, reason, message in cases:
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.correct(number, values, reason)
    assert campaign.n_events() == n


def test_imported_samples_come_all_or_not_at_all(campaign: Campaign, path: Path) -> None:
    fill(campaign, 3)
    good = (cf.OBSERVE, [1.0, 2.0, 3.0])
    with pytest.raises(cf.InvalidInputError, match=r"^Sample 2: The value of X2 is nan"):
        campaign.import_samples([good, (cf.OBSERVE, [1.0, float("nan"), 0.0]), good])
    assert campaign.rounds == 3 and campaign.n_events() == 6
    assert campaign.import_samples([good, good], note="from last year") == 2
    with Campaign.open(path) as again:
        assert again.rounds == 5 and same(again.learner, campaign.learner)
        assert [event.note for event in again.events(search="imported")] == ["from last year"] * 2


def test_an_import_can_stop_the_campaign(path: Path) -> None:
    system = cf.random_sem(2, density=1.0, seed=3)
    actions = cf.ActionSet(dict.fromkeys(system.names, (-2.0, 2.0)))
    rng = np.random.default_rng(0)
    taken = [actions[i % len(actions)] for i in range(600)]
    samples = [(action, system.sample(action, 1, rng)[0]) for action in taken]
    seen: list[int] = []
    with Campaign.create(path, actions, cf.ModelClass(min_effect=0.4), epsilon=0.2) as campaign:
        campaign.import_samples(samples, on_learned=seen.append)
        assert seen[-1] == 600 and campaign.stop is not None
        assert campaign.stop.seq == 601 and campaign.result().rounds < 600
        assert campaign.verify() == 601


def test_opening_does_not_grow_with_the_log(campaign: Campaign, path: Path) -> None:
    """Neither the events played, nor those read, nor what recording one more reads."""
    rng = np.random.default_rng(0)
    read: list[int] = []
    for n in (200, 1600):
        taken = [ACTIONS[i % len(ACTIONS)] for i in range(n)]
        campaign.import_samples([(a, SYSTEM.sample(a, 1, rng)[0]) for a in taken])
        statements = 0

        def count() -> int:
            nonlocal statements
            statements += 1
            return 0

        with Campaign.open(path) as again:
            # Ten instructions of SQLite's machine at a time: a scan of the log would show.
            again._ledger.file._connection.set_progress_handler(count, 10)
            again.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
            assert again._ledger.current().n_played <= ledger_module.CHECKPOINT_EVERY + 1
            again._ledger.file._connection.set_progress_handler(None, 0)
        read.append(statements)
    assert read[1] <= 1.5 * read[0] + 10
    assert campaign.rounds == 1802 and len(campaign.learner.log) == 1802


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
        assert same(again.learner, campaign.learner)
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
        "told",
        "2026-01-02T03:04:05.678Z",
        "Zoë",
        "<b>warm</b>",
        7,
        3,
        cf.do("X1", 0.1 + 0.2),
        (1e-300, -0.0, 1 / 3),
        None,
    ).after(9, b"x" * 32)
    again = Event.from_row(event.to_row())
    assert again == event and again.chained(b"x" * 32) == event.digest
    assert str(again.sample) == str(event.sample)
    assert again.chained(b"y" * 32) != event.digest


def test_points_of_the_curve() -> None:
    noted = [n for n in range(1, 10_001) if is_noted(n)]
    assert noted[:64] == list(range(1, 65))
    assert 200 < len(noted) < 350


def test_zero_has_no_sign(path: Path) -> None:
    """SQLite would not keep it, and the digest would not fit."""
    actions = cf.ActionSet({"a": (-0.0, 5.0), "b": None})
    with Campaign.create(path, actions, SPACE, epsilon=0.1) as campaign:
        campaign.record([-0.0, 1.0], action=cf.do("a", -0.0))
        campaign.import_samples([(cf.do("a", -0.0), [0.0, 2.0])])
        for asked in campaign.next(3):
            value = {} if asked.action.target else {"a": -0.0}
            campaign.record({"b": 1.5} | value, id=asked.id)
    with Campaign.open(path) as again:
        assert again.rounds == 5 and again.verify() == again.n_events()


def test_the_same_samples_are_not_counted_twice(campaign: Campaign, tmp_path: Path) -> None:
    fill(campaign, 20)
    file = tmp_path / "export.csv"
    file.write_text("".join(samples_csv(campaign)))
    past = [(line.action or cf.OBSERVE, line.sample) for line in read_samples(file, campaign.names)]
    with pytest.raises(cf.InvalidInputError, match=r"20 of 20 samples are in the campaign already"):
        campaign.import_samples(past)
    fresh = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(30)]
    with pytest.raises(cf.InvalidInputError, match=r"1 of 31 samples are in the campaign already"):
        campaign.import_samples([past[0], *fresh])
    assert campaign.import_samples(fresh) == 30
    with pytest.raises(cf.InvalidInputError, match="already"):
        campaign.import_samples(fresh)
    assert campaign.import_samples(fresh, again=True) == 30


def test_an_interrupted_import_leaves_nothing(campaign: Campaign) -> None:
    fill(campaign, 3)

    def interrupt(rounds: int) -> None:
        if rounds == 10:
            raise KeyboardInterrupt

    samples = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(30)]
    with pytest.raises(KeyboardInterrupt):
        campaign.import_samples(samples, on_learned=interrupt)
    assert campaign.rounds == 3 and campaign.n_events() == 6
    assert campaign.import_samples(samples) == 30 and campaign.verify() == 36


def test_an_import_waits_for_nobody_and_nobody_for_it(campaign: Campaign, path: Path) -> None:
    """Others write while it learns; it learns again what it must, and all is kept once."""
    samples = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(20)]
    n_written = 0
    with Campaign.open(path, patience=0.0) as other:

        def disturb(rounds: int) -> None:
            nonlocal n_written
            if rounds % 20 == 5 and n_written < 2:
                other.record([0.5, float(n_written), 0.25], action=cf.OBSERVE)
                n_written += 1

        campaign.import_samples(samples, on_learned=disturb)
        assert n_written == 2 and campaign.rounds == other.rounds == 22
        assert same(campaign.learner, other.learner) and campaign.verify() == 22


def test_what_cannot_be_learned_from_is_not_kept(path: Path) -> None:
    """Two values mistyped by eighty digits: the learner overflows some rounds after them."""
    actions = cf.ActionSet({"a": (-1.0, 1.0), "b": (-1.0, 1.0)})
    rng = np.random.default_rng(9)
    bad, rows = int(rng.integers(0, 30)), []
    for t in range(60):
        action, row = actions[t % 5], rng.normal(size=2)
        if t in (bad, bad + 1):
            row = 1e80 * np.array([rng.choice([1, -1]), rng.choice([1, -1])])
        if action.target:
            row["ab".index(action.target)] = action.value
        rows.append((action, row))
    with Campaign.create(path, actions, SPACE, epsilon=0.1) as campaign:
        with pytest.raises(cf.InvalidInputError, match=r"Nothing can be learned .* right units"):
            campaign.import_samples(rows)
        assert campaign.n_events() == 0
        with pytest.raises(cf.InvalidInputError, match="Nothing can be"):  # noqa: PT012
            for action, row in rows:
                campaign.record(row, action=action)
        n = campaign.n_events()
        assert 0 < n < 60
    with Campaign.open(path) as again:
        assert again.rounds == n and again.verify() == n


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


def test_telling_the_learner_directly_changes_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 20)
    for _ in range(20):
        campaign.learner.tell(cf.OBSERVE, [0.0, 0.0, 0.0])
    assert campaign.rounds == 20
    fill(campaign, 15, seed=3)
    with Campaign.open(path) as again:
        assert again.rounds == 35 and again.verify() == 70


def test_a_stop_that_another_version_would_not_make_is_shown(path: Path) -> None:
    """The log keeps what was said; who looks sees both."""
    system = cf.random_sem(2, density=1.0, seed=3)
    actions = cf.ActionSet(dict.fromkeys(system.names, (-2.0, 2.0)))
    rng = np.random.default_rng(1)
    with Campaign.create(path, actions, cf.ModelClass(min_effect=0.4), epsilon=0.2) as campaign:
        for _ in range(40):
            (asked,) = campaign.next()
            campaign.record(system.sample(asked.action, 1, rng)[0], id=asked.id)
        with campaign._ledger.adding() as entry:  # as a version with a laxer rule would
            facts = {"certified": True, "rounds": 40, "edges": [["X1", "X2", 0.5]]}
            entry.add(Event("stopped", facts=facts))
        assert campaign.contradiction is not None
        assert "The log says: certified after 40 rounds" in status(campaign).statement
        with pytest.raises(CampaignError, match="This version of causalfocus finds"):
            campaign.verify()


def test_a_file_that_is_gone_acknowledges_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 2)
    elsewhere = path.with_name("moved.campaign")
    path.rename(elsewhere)
    with pytest.raises(CampaignError, match=r"moved, replaced or deleted .* was not recorded"):
        campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
    elsewhere.rename(path)
    fill(campaign, 1)
    assert campaign.rounds == 3


def test_the_working_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with made(Path("rig.campaign")) as campaign:
        monkeypatch.chdir("/")
        fill(campaign, 2)
        assert campaign.rounds == 2 and str(campaign.path) == "rig.campaign"


def test_a_new_campaign_is_one_whole_file(path: Path, tmp_path: Path) -> None:
    """Even if the program that made it never closes it."""
    with made(path):
        copy = tmp_path / "copy.campaign"
        copy.write_bytes(path.read_bytes())
        with Campaign.open(copy) as found:
            assert found.names == SYSTEM.names


def test_what_is_written_is_forced_to_the_disk(campaign: Campaign) -> None:
    """A power cut cannot be tested here; that the disk is asked to keep its promise can."""
    read = campaign._ledger.file.read
    assert read("PRAGMA journal_mode") == [("wal",)]
    assert read("PRAGMA synchronous") == [(2,)] and read("PRAGMA fullfsync") == [(1,)]


def test_a_look_is_of_one_moment(campaign: Campaign, path: Path) -> None:
    fill(campaign, 5)
    with Campaign.open(path) as other, campaign.held():
        before = status(campaign, foretell=False)
        fill(other, 3, seed=2)
        after = status(campaign, foretell=False)
        assert before == after and campaign.last_event == 10
    assert campaign.rounds == 8 and campaign.last_event == 16


def test_half_a_look_at_the_log_stops_nobody(campaign: Campaign, path: Path) -> None:
    fill(campaign, 3)
    looking = campaign.iterate()
    next(looking)
    with Campaign.open(path) as other:
        fill(other, 2, seed=4)
    fill(campaign, 2, seed=5)
    assert campaign.rounds == 7 and len(list(looking)) == 13


def test_one_variable_is_known_at_once(path: Path) -> None:
    with Campaign.create(path, cf.ActionSet({"a": (0, 1)}), SPACE, epsilon=0.1) as campaign:
        assert campaign.stop is not None and campaign.result().certified
        with pytest.raises(cf.AlreadyStoppedError):
            campaign.next()
    with pytest.raises(cf.InvalidInputError, match="needs two variables"):
        Specification("", cf.ActionSet({"a": (0, 1)}), ("",), cf.PAPER_CLASS, 0.07, 0.05, "paper")


def hand(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HANDS), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_at_any_moment_nothing_acknowledged_is_lost(campaign: Campaign, path: Path) -> None:
    """SIGKILL at random moments during hundreds of records."""
    rng = np.random.default_rng(4)
    acknowledged: dict[str, str] = {}
    for life in range(12):
        process = hand("write", str(path), f"life{life}", "600")
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.8))
        process.send_signal(signal.SIGKILL)
        for line in (first, *process.stdout):
            number, name, count, values = line.rstrip("\n").split(" ", 3)
            if line.endswith("\n"):
                acknowledged[f"{name} {count}"] = f"{number} {values}"
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
        process.stdout.close()
        process.stderr.close()
    told = {e.note: f"{e.round} {list(e.sample or ())!r}" for e in campaign.events(search="told")}
    assert len(acknowledged) > 200
    assert acknowledged.items() <= told.items(), "an acknowledged sample is missing or changed"
    assert len(told) == campaign.rounds, "a sample was recorded twice"
    assert len(told) - len(acknowledged) <= 12, "more than one in flight per life"
    with Campaign.open(path) as again:
        assert again.verify() == again.n_events()
        assert same(again.learner, uninterrupted(again).learner)
        assert len(again.pending) <= 12


def test_two_writers_and_five_readers(campaign: Campaign, path: Path) -> None:
    """For a minute on one file: no error, nothing lost, nothing doubled."""
    seconds = "60"
    writers = [hand("write", str(path), name, seconds) for name in ("Ada", "Bo")]
    readers = [hand("read", str(path), seconds) for _ in range(5)]
    said = [process.communicate(timeout=300) for process in (*writers, *readers)]
    for process, (_, errors) in zip((*writers, *readers), said, strict=True):
        assert process.returncode == 0 and errors == "", errors
    acknowledged = [line.split(" ", 3) for out, _ in said[:2] for line in out.splitlines()]
    assert sorted(int(line[0]) for line in acknowledged) == list(range(1, campaign.rounds + 1))
    assert {line[1] for line in acknowledged} == {"Ada", "Bo"}
    told = {event.note for event in campaign.events(search="told")}
    assert told == {f"{line[1]} {line[2]}" for line in acknowledged}
    assert campaign.verify() == campaign.n_events()


def test_a_writer_waits_for_another(campaign: Campaign, path: Path) -> None:
    """And says so, if it takes too long; readers do not notice."""
    fill(campaign, 2)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    with (
        Campaign.open(path, patience=0.1) as hasty,
        pytest.raises(CampaignError, match=r"Another process has been writing .* Try again"),
    ):
        hasty.next()
    with Campaign.open(path, read_only=True) as reader:
        assert status(reader).rounds == 2
    with ThreadPoolExecutor(1) as pool:
        patient = pool.submit(campaign.next)
        assert not patient.done()
        raw.execute("ROLLBACK")
        assert patient.result()[0].id == 3
    raw.close()


def test_a_full_disk_loses_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 5)
    connection = campaign._ledger.file._connection
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CampaignError, match=r"no room on the disk .* Make room and do it again"):
        campaign.note("x" * 1_000_000)
    n = campaign.n_events()
    connection.execute("PRAGMA max_page_count = 1000000")
    assert campaign.rounds == 5 and same(campaign.learner, uninterrupted(campaign).learner)
    fill(campaign, 1)
    assert campaign.n_events() == n + 2 and campaign.verify() == n + 2


def test_a_record_that_fails_half_way_is_not_seen(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(campaign, 3)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log_module.EventLog, "keep_curve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
    assert campaign.rounds == 3 and same(campaign.learner, uninterrupted(campaign).learner)
    assert campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE).round == 4


def test_versions(campaign: Campaign, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older files are brought up to date step by step; newer ones are left alone."""
    fill(campaign, 2)
    campaign.close()
    more = (
        *schema.MIGRATIONS,
        "CREATE TABLE extra (a INTEGER) STRICT; INSERT INTO extra VALUES (1);",
    )
    monkeypatch.setattr(file_module, "MIGRATIONS", more)
    monkeypatch.setattr(file_module, "VERSION", len(more))
    with pytest.raises(CampaignError, match="must be brought to 2 first"):
        Campaign.open(path, read_only=True)
    with Campaign.open(path) as newer:
        assert newer.rounds == 2
        assert newer._ledger.file.read("SELECT a FROM extra") == [(1,)]
    monkeypatch.undo()
    with pytest.raises(CampaignError, match=r"version 2 .* reads up to 1: .* Upgrade causalfocus"):
        Campaign.open(path)


def test_what_is_no_campaign(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Dear diary, " * 100)
    with pytest.raises(CampaignError, match="is not an SQLite database"):
        Campaign.open(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as raw:
        raw.execute("CREATE TABLE t (a)")
    raw.close()
    with pytest.raises(CampaignError, match="a database but not a campaign"):
        Campaign.open(other)
    with pytest.raises(CampaignError, match="There is no file"):
        Campaign.open(tmp_path / "absent")
    with pytest.raises(CampaignError, match="exists already"):
        made(text)
    with pytest.raises(CampaignError, match="in a folder that exists"):
        made(tmp_path / "nowhere" / "x.campaign")
    assert text.read_text().startswith("Dear diary")


def test_a_read_only_campaign(campaign: Campaign, path: Path) -> None:
    fill(campaign, 2)
    with Campaign.open(path, read_only=True) as reader:
        assert reader.rounds == 2
        fill(campaign, 1)
        assert reader.rounds == 3, "it follows what others record"
        with pytest.raises(CampaignError, match="opened for reading only"):
            reader.next()


LOOK = """
import os, sys
import causalfocus as cf
from causalfocus.campaign import Campaign
cf.Focus(cf.ActionSet({"a": (0, 1), "b": (0, 1)}), cf.ModelClass(0.2), epsilon=0.1)  # loads all
if os.getuid() == 0:
    os.setuid(65534)  # root may write everywhere
with Campaign.open(sys.argv[1], read_only=sys.argv[2] == "ro") as campaign:
    print(campaign.last_event)
"""


def look(path: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Open a campaign as a user without rights."""
    return subprocess.run(
        [sys.executable, "-c", LOOK, str(path), how], capture_output=True, text=True, check=False
    )


@pytest.fixture
def open_to_all(tmp_path: Path) -> Path:
    """A folder that every user reaches."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


def test_a_file_that_may_not_be_written(open_to_all: Path) -> None:
    folder = open_to_all / "shut"
    folder.mkdir()
    path = folder / "rig.campaign"
    with made(path) as campaign:
        fill(campaign, 2)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        done = look(path, "rw")
        assert "may not be written to" in done.stderr and "reading only" in done.stderr
        done = look(path, "ro")
        assert done.stdout == "4\n", done.stderr
    finally:
        folder.chmod(0o755)


def test_a_creation_that_fails_leaves_nothing(tmp_path: Path, path: Path) -> None:
    with pytest.raises(cf.InvalidInputError, match="epsilon"):
        Campaign.create(path, ACTIONS, SPACE, epsilon=0.5)
    with pytest.raises(cf.InvalidInputError, match="'value'"):
        Campaign.create(path, cf.ActionSet({"value": (0, 1)}), SPACE, epsilon=0.1)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_is_whole(campaign: Campaign, tmp_path: Path) -> None:
    fill(campaign, 4)
    campaign.copy_to(tmp_path / "copy.campaign")
    with Campaign.open(tmp_path / "copy.campaign") as copy:
        assert copy.verify() == 8 and same(copy.learner, campaign.learner)
    with pytest.raises(CampaignError, match="exists already"):
        campaign.copy_to(tmp_path / "copy.campaign")


def test_specifications_read_back_as_they_were(tmp_path: Path) -> None:
    actions = cf.ActionSet(
        {"heat": (20, 80), "flow": 1.5, "yield": None},
        costs={"observe": 0.5, "heat": 5, cf.do("heat", 80.0): 9},
    )
    space = cf.ModelClass(0.2, 3.0, (0.5, 2.0), intercept=False)
    one = Specification("Reactor", actions, ("°C", "", ""), space, None, 0.1, "evidence")
    assert Specification.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(one.to_dict()))
    assert Specification.read(file) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variables": {}}, "needs variables"),
        ({"variables": {"a": {"rnage": [0, 1]}}}, "The variable a has no 'rnage'"),
        ({"variables": {"a": {"range": [3, 1]}}}, "empty range"),
        ({"variables": {"a": {"cost": 3}}}, "a has a cost but no range"),
        ({"variables": {"a": {"range": [0, 1], "unit": 3}}}, "unit of a must be a text"),
        ({"epsilonn": 1}, "has no 'epsilonn'"),
        ({"epsilon": 3}, "above min_effect / 2"),
        ({"delta": 2}, "delta is a probability"),
        ({"stopping": "never"}, "stopping"),
        ({"title": 3}, "title must be a text"),
        ({"noise_variance": 3}, "noise_variance"),
    ],
)
def test_bad_specifications(change: dict[str, object], message: str) -> None:
    good = {"variables": {"a": {"range": [0, 1]}, "b": {}}, "min_effect": 0.2, "epsilon": 0.1}
    Specification.from_dict(good)
    with pytest.raises(cf.InvalidInputError, match=message):
        Specification.from_dict(good | change)


def test_specifications_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    with pytest.raises(cf.InvalidInputError, match="cannot be read"):
        Specification.read(file)
    file.write_text("variables: [")
    with pytest.raises(cf.InvalidInputError, match="is not YAML"):
        Specification.read(file)
    file.write_text("min_effect: 1\nepsilon: 0.1\nvariables: {a: [0, 1], a: [1, 2]}\n")
    with pytest.raises(cf.InvalidInputError, match="has 'a' twice"):
        Specification.read(file)
    file.write_text("- a\n- b\n")
    with pytest.raises(cf.InvalidInputError, match="is a mapping, got list"):
        Specification.read(file)
    file.write_text("min_effect: 1\nvariables: {a: [0, 1]}\n")
    with pytest.raises(cf.InvalidInputError, match="lacks epsilon"):
        Specification.read(file)
    other = tmp_path / "spec.json"
    other.write_text("{")
    with pytest.raises(cf.InvalidInputError, match="is not JSON"):
        Specification.read(other)


def test_exports_come_back(campaign: Campaign, tmp_path: Path) -> None:
    """What is exported can be imported into another campaign, to the bit."""
    fill(campaign, 30)
    campaign.record([1 / 3, 0.0, 1.0], action=cf.do("X1", 1 / 3), note="=1+1", who="@me")
    file = tmp_path / "samples.csv"
    file.write_text("".join(samples_csv(campaign)))
    assert "'=1+1" in file.read_text() and "'@me" in file.read_text()
    lines = read_samples(file, campaign.names)
    with made(tmp_path / "second.campaign") as second:
        second.import_samples([(line.action or cf.OBSERVE, line.sample) for line in lines])
        assert same(second.learner, campaign.learner)
    whole = json.loads(whole_json(campaign))
    assert len(whole["events"]) == campaign.n_events()
    assert whole["events"][-1]["sample"]["X1"] == 1 / 3


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


def test_the_status_says_what_a_person_wants_to_know(campaign: Campaign) -> None:
    empty = status(campaign)
    assert empty.rounds == 0 and empty.remaining is None and empty.state == "running"
    fill(campaign, 60)
    campaign.next()
    now = status(campaign)
    assert now.rounds == 60 and sum(now.counts.values()) == 60
    assert now.remaining is not None and now.remaining.low <= now.remaining.rounds
    assert {(e.cause, e.effect) for e in now.edges} == {
        (c, e) for c, e, _ in campaign.learner.estimate.edges
    }
    assert sum(now.share.values()) == pytest.approx(1.0)
    plain = json.loads(json.dumps(now.to_dict()))
    assert plain["pending"][0]["id"] == 61


def test_bad_requests(campaign: Campaign) -> None:
    with pytest.raises(cf.InvalidInputError, match="Nothing is pending"):
        campaign.record([0.0, 0.0, 0.0])
    campaign.next()
    cases = [
        ({"X1": 1.0, "X2": 2.0}, "lacks X3"),
        ({"X1": 1.0, "X2": 2.0, "Y": 2.0}, "no node named 'Y'"),
        ([1.0, 2.0], "3 numbers"),
        ([1.0, float("nan"), 2.0], "X2 is nan"),
        (["a", 1.0, 2.0], "must consist of numbers"),
    ]
    for sample, message in cases:
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.record(sample, id=1)
    with pytest.raises(cf.InvalidInputError, match="no asked action with the number 9"):
        campaign.record([0.0, 0.0, 0.0], id=9)
    with pytest.raises(cf.InvalidInputError, match="asks for observe, and the sample is of do"):
        campaign.record([2.0, 0.0, 0.0], id=1, action=cf.do("X1", 2.0))
    with pytest.raises(cf.InvalidInputError, match=r"X1 was set to 2 .* but the sample says 1"):
        campaign.record([1.0, 0.0, 0.0], action=cf.do("X1", 2.0))
    with pytest.raises(cf.InvalidInputError, match="a reason is needed"):
        campaign.reject(1, " ")
    with pytest.raises(cf.InvalidInputError, match="Between 1 and 1000"):
        campaign.next(0)
    with pytest.raises(cf.InvalidInputError, match="nothing to note"):
        campaign.note("")
    with pytest.raises(cf.InvalidInputError, match="has not stopped"):
        campaign.continue_after_stop()
    assert campaign.n_events() == 1 and campaign.rounds == 0
    campaign.record([0.0, 0.0, 0.0], id=1)
    with pytest.raises(cf.InvalidInputError, match=r"Number 1 was recorded already, at .*g: n"):
        campaign.record([0.0, 0.0, 0.0], id=1)
    campaign.next()
    campaign.reject(2, "no")
    with pytest.raises(cf.InvalidInputError, match="Number 2 was rejected already"):
        campaign.reject(2, "no")
    assert campaign.n_events() == 4
