"""What would make a certificate optimistic: values nobody measured, and samples counted twice."""

import math
from pathlib import Path
from typing import Any

import pytest

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.campaign import entry as entry_module
from causalfocus.campaign.export import samples_csv
from causalfocus.campaign.samples import read_samples
from causalfocus.campaign.settings import Details

ACTIONS = cf.ActionSet({"a": (0, 4), "b": (0, 4), "y": None})
SPACE = cf.ModelClass(0.2)
RULE = "gaussian"
"""By it every sample counts, asked for or not, and variables that cannot be set need no word."""


@pytest.fixture
def small(path: Path) -> Campaign:
    return Campaign.create(path, ACTIONS, SPACE, epsilon=0.1, rule=RULE, seed=0)


def n_evidence(campaign: Campaign) -> int:
    return round(campaign.learner.moments.n)


def test_a_failed_setting_has_no_value_but_what_was_measured(
    small: Campaign, tmp_path: Path
) -> None:
    """The asked value would be a measurement that nobody made of a variable that was free."""
    action = cf.do("a", 0.0)
    learner = cf.Focus(ACTIONS, SPACE, epsilon=0.1, rule=RULE)
    for tell in (
        lambda sample: learner.tell(action, sample, failed=["a"]),
        lambda sample: small.record(sample, action=action, failed=["a"]),
        lambda sample: small.import_samples([(action, sample, Details(failed=("a",)))]),
    ):
        with pytest.raises(cf.InvalidInputError, match="lacks a"):
            tell({"b": 2.0, "y": 3.0})
    file = tmp_path / "x.csv"
    file.write_text("action,a,b,y,failed\na=0,,2,3,a\n")
    with pytest.raises(cf.InvalidInputError, match="line 2: The sample lacks a"):
        read_samples(file, ACTIONS)
    small.record({"b": 2.0, "y": 3.0}, action=action)
    with pytest.raises(cf.InvalidInputError, match="lacks a"):
        small.correct(1, reason="it failed", failed="a")
    small.correct(1, {"a": None}, "it failed", failed=["a"])
    assert math.isnan(small.learner.log[0].sample[0]) and n_evidence(small) == 0
    small.correct(1, {"a": 1.7}, "in the notebook")
    assert n_evidence(small) == 1 and small.learner.log[0].effective_action == cf.OBSERVE


@pytest.mark.parametrize("span", [None, (2.0, 2.0)])
def test_a_wider_range_does_not_choose_which_rounds_count(path: Path, span: Any) -> None:
    actions = cf.ActionSet({"a": (0, 4), "y": span})
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule=RULE) as campaign:
        for value in (2.0, 2.5, 4.0):
            sample = {"a": 1.0, "y": value}
            campaign.record(sample, action=cf.do("y", 2.0), as_read=True, force="by hand")
        assert n_evidence(campaign) == 1
        campaign.widen("y", -100.0, 100.0)
        assert n_evidence(campaign) == 1
        campaign.record({"a": 1.0, "y": 97.0}, action=cf.do("y", 100.0))
        assert n_evidence(campaign) == 2
        campaign.correct(3, {"a": 1.5}, "typed 1.0")
        assert n_evidence(campaign) == 2  # nor does a correction of something else
        with Campaign.open(path) as again:
            assert again.verify() == again.n_events() and n_evidence(again) == n_evidence(campaign)


def test_own_samples_are_known_after_a_variable_was_added(small: Campaign, tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        small.record([value, 1.0, 0.5], action=cf.OBSERVE)
    small.add_variable("z")
    small.correct(1, {"z": 0.25}, "in the notebook")
    file = tmp_path / "own.csv"
    file.write_text("".join(samples_csv(small)))
    lines = read_samples(file, small.specification.actions)
    samples = [(line.action or cf.OBSERVE, line.sample) for line in lines]
    with pytest.raises(cf.InvalidInputError, match=r"2 of 2 samples are in .* \(rounds 1, 2\)"):
        small.import_samples(samples)


def test_corrected_samples_are_known_as_they_were_and_as_they_are(small: Campaign) -> None:
    small.record([1.0, -0.0, 0.5], action=cf.OBSERVE)
    small.correct(1, {"y": 5.0}, "typed 0.5")
    for sample in ([1.0, 0.0, 5.0], [1.0, -0.0, 0.5]):
        with pytest.raises(cf.InvalidInputError, match="in the campaign already"):
            small.import_samples([(cf.OBSERVE, sample)])
    small.withdraw(1, "of another rig")
    assert small.import_samples([(cf.OBSERVE, [1.0, 0.0, 5.0])]) == 1


def between(monkeypatch: pytest.MonkeyPatch, other: Campaign, act: Any) -> None:
    """Let another process write once, after something was checked and before it is written."""
    add_all, done = entry_module.Entry.add_all, list[bool]()

    def later(self: Any, *given: Any) -> Any:
        placed = add_all(self, *given)
        if not done:
            done.append(True)
            act(other)
        return placed

    monkeypatch.setattr(entry_module.Entry, "add_all", later)


def test_what_others_write_meanwhile_is_seen(
    small: Campaign, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks are made again on what the file then holds."""
    small.record([1.0, 1.0, 1.0], action=cf.OBSERVE)
    with Campaign.open(path) as other:
        with monkeypatch.context() as patch:
            between(patch, other, lambda c: c.correct(1, {"a": 2.0}, "one"))
            small.correct(1, {"b": 3.0}, "two")
        assert small.learner.log[0].sample.tolist() == [2.0, 3.0, 1.0]
        past = [(cf.OBSERVE, [7.0, 7.0, 7.0])]
        with monkeypatch.context() as patch:
            between(patch, other, lambda c: c.import_samples(past))
            with pytest.raises(cf.InvalidInputError, match="in the campaign already"):
                small.import_samples(past)
        with monkeypatch.context() as patch:
            between(patch, other, lambda c: c.widen("a", 0.0, 100.0))
            with pytest.raises(cf.InvalidInputError, match="can be widened, not narrowed"):
                small.widen("a", -1.0, 4.0)
        with monkeypatch.context() as patch:
            between(patch, other, lambda c: c.add_variable("z", {"range": [0, 1]}))
            with pytest.raises(cf.InvalidInputError, match="a variable 'z' already"):
                small.add_variable("z")
        with monkeypatch.context() as patch:
            between(patch, other, lambda c: c.withdraw(1, "one"))
            with pytest.raises(cf.InvalidInputError, match="withdrawn already"):
                small.withdraw(1, "two")
        assert small.verify() == other.n_events() and n_evidence(small) == 0


def test_slow_variables_may_be_added(path: Path) -> None:
    actions = cf.ActionSet({"a": (0, 4), "b": (0, 4)}, change_costs={"a": 3})
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule=RULE, seed=1) as campaign:
        campaign.next(4)
        campaign.add_variable("z", {"range": [0, 1], "change_cost": 5})
        asked = campaign.next(30)
        assert {name for one in asked for name in one.action.targets} >= {"a", "z"}
        runs = [one.action.targets == ("z",) for one in asked]
        first = runs.index(True)
        assert all(runs[first : first + 5])  # it stays for as long as its change is worth
        assert campaign.verify() == campaign.n_events()


def test_rounds_before_a_variable_was_added_are_not_lost_rounds(small: Campaign) -> None:
    for i in range(30):
        small.record([1.0 + i, 1.0, 1.0], action=cf.OBSERVE)
    small.add_variable("z")
    for i in range(30):
        small.record({"b": 1.0 + i, "y": 1.0, "z": 0.5}, action=cf.do("a", 4.0))
    assert [alarm for alarm in small.learner.alarms() if not alarm.can_refute] == []


def test_a_campaign_without_settable_variables(path: Path) -> None:
    """It may certify nothing, and is a campaign all the same."""
    actions = cf.ActionSet({"a": None, "b": None})
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule=RULE) as campaign:
        (asked,) = campaign.next()
        assert asked.action == cf.OBSERVE
    with Campaign.open(path) as again:
        assert again.verify() == 1


def test_a_range_that_ends_at_minus_zero(path: Path) -> None:
    actions = cf.ActionSet({"a": (-0.0, 4), "b": (-4, -0.0)})
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule=RULE, seed=3) as campaign:
        campaign.next(20)
        assert campaign.verify() == 20


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "-2+3", "@y", "+1"])
def test_names_that_are_formulas_are_refused(small: Campaign, name: str, tmp_path: Path) -> None:
    with pytest.raises(cf.InvalidInputError, match="take it for a formula"):
        small.add_variable(name)
    other = cf.ActionSet({name: (0, 1), "b": None})
    with pytest.raises(cf.InvalidInputError, match="take it for a formula"):
        Campaign.create(tmp_path / "y.campaign", other, SPACE, epsilon=0.1, rule=RULE)
    assert not (tmp_path / "y.campaign").exists()


def test_keys_stand_for_one_request(small: Campaign) -> None:
    small.record([1.0, 1.0, 1.0], action=cf.OBSERVE, key="k")
    small.next(1, key="n")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"action": cf.do("a", 1.0)}, "says something else"),
        ({"id": 1}, "says something else"),
        ({"action": cf.OBSERVE, "key": ""}, "is a text that is not empty"),
        ({"action": cf.OBSERVE, "key": 5}, "is a text that is not empty"),
    ]
    for given, message in cases:
        with pytest.raises(cf.InvalidInputError, match=message):
            small.record([1.0, 1.0, 1.0], **({"key": "k"} | given))
    with pytest.raises(cf.InvalidInputError, match="was used to ask for 1, not 3"):
        small.next(3, key="n")
    small.add_variable("z")
    assert small.record([1.0, 1.0, 1.0], key="k").round == 1
    assert small.rounds == 1 and len(small.pending) == 1


def test_withdrawn_after_a_correction_shows_the_correction(small: Campaign, path: Path) -> None:
    for i in range(40):
        small.record([1.0 + i, 1.0, 1.0], action=cf.OBSERVE)
    small.correct(2, {"y": 9.0}, "typed 1")
    small.withdraw(2, "of another rig")
    with Campaign.open(path) as again:
        assert again.n_replayed < 40 and again.learner.log[1].sample[2] == 9.0
