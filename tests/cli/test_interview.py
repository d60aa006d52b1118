"""`campaign new` and `plan` ask one thing at a time and check each answer when it is given."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

import causalfocus as cf
from causalfocus.campaign import Campaign, Specification
from causalfocus.cli.app import app

Ask = Callable[..., Result]

REACTOR = (
    ("What is it about", "Reactor 3"),
    ("Name", ""),  # at least one
    ("Name", "id"),  # means something else in files
    ("Name", "heater"),
    ("Unit", "°C"),
    ("set to", "80:20"),
    ("set to", "warm"),
    ("set to", "20:80"),
    ("worth knowing", "-5"),
    ("worth knowing", "5 °C"),
    ("worth knowing", "5"),
    ("Cost", "free"),
    ("Cost", "4"),
    ("Name", "heater"),
    ("Name", "pump"),
    ("Unit", ""),
    ("set to", "0/1"),
    ("worth knowing", "0.5"),
    ("Cost", ""),
    ("Name", "yield"),
    ("Unit", "%"),
    ("set to", "none"),
    ("worth knowing", "2"),
    ("Name", ""),
    ("Is it an outcome", ""),
    ("Is it an outcome", "y"),
    ("in one round", "two"),
    ("in one round", "0"),
    ("how much noise", "y"),
    ("does heater vary", "nan"),
    ("does heater vary", "8"),
    ("does pump vary", "0.5"),
    ("does yield vary", "4"),
    ("be wrong", "5"),
    ("be wrong", ""),
    ("Seed", "x"),
    ("Seed", "11"),
)
SAID = (
    "At least one variable is needed",
    "cannot be called 'id'",
    "Swap them",
    "is not of the form",
    "A number above 0 is needed, got -5",
    "'5 °C' is not a number",
    "'free' is not a number",
    "There is a variable 'heater' already",
    "A whole number is needed, 0 or more, got 'two'",
    "'nan' is not a finite number",
    "A probability between 0 and 1 is needed, got 5",
    "A whole number is needed, 0 or more, got 'x'",
)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """A person at a terminal, who types answers."""
    for name in ("campaign.new", "plan"):
        module = importlib.import_module(f"causalfocus.cli.{name}")
        monkeypatch.setattr(module, "is_at_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)

    def answer(*arguments: str, answers: Any = ()) -> Result:
        typed = "".join(f"{text}\n" for text in answers)
        return CliRunner().invoke(app, [*arguments], input=typed)

    return answer


def test_wrong_answers_are_asked_again_at_once(person: Ask, tmp_path: Path) -> None:
    answers = [text for _, text in REACTOR]
    done = person("campaign", "new", "r.campaign", answers=[*answers, "y"])
    assert done.exit_code == 0, done.output
    at = 0
    for question, _ in REACTOR:  # one thing at a time, in this order
        at = done.output.index(question, at) + 1
    for reason in SAID:
        assert reason in done.output
    assert done.output.index("Foretold: about") < done.output.index("Make the campaign r.campaign")
    assert "Traceback" not in done.output
    with Campaign.open(tmp_path / "r.campaign") as campaign:
        made = campaign.specification
    assert made.title == "Reactor 3" and made.units == ("°C", "", "%") and made.seed == 11
    assert made.actions.ranges == ((20, 80), (0, 1), None) and made.actions.at_once == 2
    assert made.actions.switches == ("pump",) and made.actions.cost_of(cf.do("heater", 80)) == 4
    assert dict(made.space.matters or ()) == {"heater": 5, "pump": 0.5, "yield": 2}
    assert made.space.outcomes == ("yield",) and made.epsilon is None and made.delta == 0.05


def test_nothing_is_made_unless_it_is_wanted(person: Ask, tmp_path: Path) -> None:
    answers = [text for _, text in REACTOR]
    done = person("campaign", "new", "r.campaign", answers=[*answers, "n"])
    assert done.exit_code == 1 and "Nothing was made" in done.output
    assert list(tmp_path.iterdir()) == []
    gone = person("campaign", "new", "r.campaign", answers=answers[:9])  # and then nobody is there
    assert gone.exit_code != 0 and list(tmp_path.iterdir()) == []


def test_what_was_said_is_not_asked_again(person: Ask, tmp_path: Path) -> None:
    flags = ("--variable", "a=0:1", "--variable", "b=none", "--outcome", "b", "--matters", "b=3")
    answers = ["2", "n", "", ""]
    done = person("campaign", "new", "a.campaign", *flags, answers=[*answers, ""])
    assert done.exit_code == 0, done.output
    assert "Which change of a is" in done.output and "Which change of b is" not in done.output
    assert "nobody said how much noise there is" in done.output
    with Campaign.open(tmp_path / "a.campaign") as campaign:
        assert dict(campaign.specification.space.matters or ()) == {"b": 3, "a": 2}


def test_a_variable_that_drives_others_and_cannot_be_set(person: Ask, tmp_path: Path) -> None:
    """It takes the other rule, or the word that it drives nothing; both are asked again."""
    flags = ("--min-effect", "1")
    variables = ["", "heat", "", "20:80", "", "level", "", "none", ""]
    answers = [*variables, "n", "n", "y", "n", "", "", "y"]
    done = person("campaign", "new", "l.campaign", *flags, answers=answers)
    assert done.exit_code == 0, done.output
    assert "it has to be known" in done.output and "worth knowing" not in done.output.split("┃")[0]
    with Campaign.open(tmp_path / "l.campaign") as campaign:
        made = campaign.specification
    assert made.rule == "randomized" and made.space.outcomes == ("level",)


def test_answers_that_cannot_be_together_are_not_lost(person: Ask, tmp_path: Path) -> None:
    """They are shown as a file that can be put right."""
    flags = ("--min-effect", "1", "--epsilon", "0.7", "--noise", "1")
    answers = ["", "heat", "", "20:80", "", "flow", "", "1:3", "", "", "", "", "4"]
    done = person("campaign", "new", "x.campaign", *flags, answers=answers)
    assert isinstance(done.exception, cf.InvalidInputError) and "how much noise" not in done.output
    said = done.output[done.output.index("{") : done.output.rindex("}") + 1]
    (tmp_path / "spec.json").write_text(json.dumps(json.loads(said) | {"epsilon": 0.5}))
    assert person("campaign", "new", "x.campaign", "--spec", "spec.json").exit_code == 0
    assert specification_of(tmp_path / "x.campaign")["variables"]["flow"]["range"] == [1, 3]


def specification_of(path: Path) -> dict[str, Any]:
    with Campaign.open(path, read_only=True) as campaign:
        found = campaign.specification.to_dict()
    assert isinstance(found.pop("seed"), int)
    return found


def test_defaults_are_the_same_everywhere(person: Ask, tmp_path: Path) -> None:
    """By questions, by flags, in YAML and in Python: what nobody says is the same."""
    text = """
    variables: {heat: {range: [20, 80]}, flow: {range: [1, 3]}, yield: {}}
    outcomes: [yield]
    matters: {heat: 5, flow: 0.2, yield: 2}
    """
    by_yaml = Specification.from_dict(yaml.safe_load(text)).to_dict()
    by_yaml.pop("seed")
    actions = cf.ActionSet({"heat": (20, 80), "flow": (1, 3), "yield": None})
    sizes = {"heat": 5.0, "flow": 0.2, "yield": 2.0}
    space = cf.ModelClass(matters=sizes, outcomes=["yield"])
    Campaign.create(tmp_path / "python.campaign", actions, space).close()
    flags = ["--variable", "heat=20:80", "--variable", "flow=1:3", "--variable", "yield=none"]
    flags += [part for name, size in sizes.items() for part in ("--matters", f"{name}={size}")]
    done = person("campaign", "new", "flags.campaign", *flags, "--outcome", "yield")
    assert done.exit_code == 0, done.output
    answers = ["", "heat", "", "20:80", "5", "", "flow", "", "1:3", "0.2", ""]
    answers += ["yield", "", "none", "2", "", "y", "", "", "", "", ""]
    done = person("campaign", "new", "asked.campaign", answers=answers)
    assert done.exit_code == 0, done.output
    for name in ("python", "flags", "asked"):
        assert specification_of(tmp_path / f"{name}.campaign") == by_yaml, name
    learner = cf.Focus(actions, space)
    assert (learner.epsilon, learner.delta, learner.rule) == (None, 0.05, by_yaml["rule"])


def test_all_of_it_by_flags_with_a_forecast(person: Ask, tmp_path: Path) -> None:
    flags = ["--variable", "heat=20:80", "--variable", "level=none", "--variable", "yield=none"]
    flags += ["--matters", "heat=5", "--matters", "level=1", "--matters", "yield=2"]
    flags += ["--outcome", "yield", "--forbid", "level=heat", "--forbid", "level=yield"]
    flags += ["--width", "level=3", "--unit", "heat=K", "--cost", "heat=2", "--cost", "observe=1"]
    done = person("campaign", "new", "f.campaign", *flags, "--noise", "1", "--epsilon", "graph")
    assert done.exit_code == 0, done.output
    assert "Foretold: about" in done.output and "1 for all" in done.output
    found = specification_of(tmp_path / "f.campaign")
    assert found["epsilon"] == "graph" and found["widths"] == {"level": 3}
    assert found["observe_cost"] == 1 and found["variables"]["heat"]["cost"] == 2


def test_a_plan_asks_for_what_is_missing(person: Ask) -> None:
    flags = ("--range", "heat=300:400", "--range", "level=none", "--range", "yield=none")
    more = ("--outcome", "yield", "--rule", "gaussian", "--systems", "1", "--delta", "0.1")
    done = person("plan", *flags, "--min-effect", "0.1", *more, answers=["much", "8", "1", "12"])
    assert done.exit_code == 0, done.output
    assert "'much'" in done.output and "heat 8, level 1, yield 12" in done.output
    flags = ("--range", "heat=300:400", "--range", "yield=none", "--outcome", "yield")
    answers = ["5", "8", "20", "12"]
    done = person("plan", *flags, "--systems", "2", answers=answers)
    assert done.exit_code == 0, done.output
    for words in ("Which change of heat", "Which change of yield", "How much does yield vary"):
        assert words in done.output
    assert "When pairs are settled" in done.output and "half of what" in done.output


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "--matters heat=... --matters yield=.... Or the smallest effect"),
        (("--matters", "yield=8"), "--matters heat=..."),
        (("--min-effect", "0.1"), "--noise heat=... --noise yield=.... Or one for all, --noise 1"),
        (("--min-effect", "0.1", "--noise", "yield=1"), "--noise heat=..."),
        (("--min-effect", "0.1", "--noise", "much"), "must be yield=3, or 3"),
    ],
)
def test_without_a_person_a_plan_says_which_flag(
    monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], message: str
) -> None:
    ranges = ("--range", "heat=300:400", "--range", "yield=none", "--outcome", "yield")
    done = CliRunner().invoke(app, ["plan", *ranges, *flags])
    assert isinstance(done.exception, cf.InvalidInputError) and message in str(done.exception)


def test_a_plan_in_json_has_pairs_and_what_was_assumed() -> None:
    flags = ["--range", "heat=300:400", "--range", "flow=0:10", "--range", "yield=none"]
    flags += ["--outcome", "yield", "--systems", "2", "--delta", "0.1", "--json"]
    flags += ["--matters", "heat=5", "--matters", "flow=.5", "--matters", "yield=8", "--noise", "2"]
    done = CliRunner().invoke(app, ["plan", *flags])
    assert done.exit_code == 0, done.exception
    facts = json.loads(done.stdout)
    pairs = {(one["cause"], one["effect"]): one for one in facts["pairs"]}
    assert set(pairs) == {("heat", "flow"), ("flow", "heat"), ("heat", "yield"), ("flow", "yield")}
    assert pairs["heat", "yield"]["matters"] == pytest.approx(8 / 100)
    assert any("2 systems were drawn" in text for text in facts["assumed"])
