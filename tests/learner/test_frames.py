"""A Series is read by its labels, and a DataFrame is told as its rows would be, or not at all."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.baselines import Certified, Random
from causalfocus.system.words import action_text

ACTIONS = cf.ActionSet({"heat": (20, 80), "flow": (1, 3), "yield": None}, at_once=2)
NAMES = ACTIONS.names
SPACE = cf.ModelClass(0.2, outcomes=["yield"])
TRUTH = cf.LinearSEM(
    [[0, 0, 0], [0.01, 0, 0], [0.1, 2, 0]], [30.0, 0.1, 1.0], [50.0, 1.5, 0.0], NAMES
)

values = st.floats(-1e6, 1e6, allow_subnormal=False)


def new_learner(rule: str = "randomized") -> cf.Focus:
    return cf.Focus(ACTIONS, SPACE, rule=rule, seed=3)


def told_rows(learner: Any) -> list[tuple[Any, ...]]:
    """All that a log says, as something that can be compared."""
    return [(t.action, t.sample.tobytes(), t.ask, t.failed, t.mark) for t in learner.log]


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(NAMES),
    st.fixed_dictionaries({name: values | st.none() for name in NAMES}),
    st.sampled_from(ACTIONS.actions),
    st.sets(st.sampled_from(NAMES)),
)
def test_a_shuffled_series_is_the_mapping(
    order: list[str], sample: dict[str, float | None], action: cf.Action, left_out: set[str]
) -> None:
    """In any order, with the set variables' own values or without them."""
    kept = {n: sample[n] for n in order if n not in left_out or n not in action.targets}
    series = pd.Series(list(kept.values()), index=list(kept), dtype=object)
    row, same = (
        cf.Moments(NAMES).as_row(action, one, allow_missing=True)
        for one in (series, {n: kept[n] for n in NAMES if n in kept})
    )
    assert row.tobytes() == same.tobytes()
    settled = dict(action.settings)
    for at, name in enumerate(NAMES):  # literally: what was given, else what was asked for
        wanted = kept[name] if name in kept else settled[name]
        if wanted is None:
            assert math.isnan(row[at])
        else:
            assert row[at] == pytest.approx(wanted, rel=1e-8)


WRONG = {
    "missing": (pd.Series({"heat": 1.0, "yield": 2.0}), "lacks flow"),
    "foreign": (
        pd.Series({"heat": 1.0, "flow": 1.0, "yield": 2.0, "pump": 1.0}),
        "no node named 'pump'. The nodes are heat, flow, yield. Leave it out",
    ),
    "doubled": (
        pd.Series([1.0, 2.0, 3.0, 4.0], index=["heat", "flow", "yield", "heat"]),
        "label 'heat' more than once",
    ),
    "numbered": (pd.Series([50.0, 2.0, 9.0]), r"are no names: 0, 1, 2\. .* series.to_numpy\(\)"),
    "a frame": (pd.DataFrame({"heat": [1.0], "flow": [1.0], "yield": [1.0]}), "tell_many"),
}


@pytest.mark.parametrize(("sample", "message"), WRONG.values(), ids=WRONG)
def test_wrong_labels_are_refused_in_one_line(sample: Any, message: str) -> None:
    for learner in (new_learner(), Random(cf.ActionSet(dict.fromkeys(NAMES, (0, 1))), SPACE)):
        before = learner.state
        with pytest.raises(cf.InvalidInputError, match=message) as found:
            learner.tell(cf.OBSERVE, sample)
        assert "\n" not in str(found.value)
        assert learner.rounds == 0 and learner.state is before


def test_a_run_may_give_series_with_labels_in_any_order() -> None:
    rng = [np.random.default_rng(1), np.random.default_rng(1)]
    both = new_learner(), new_learner()

    def in_order(action: cf.Action) -> Any:
        return TRUTH.sample(action, 1, rng[0])[0]

    def by_label(action: cf.Action) -> Any:
        return pd.Series(TRUTH.sample(action, 1, rng[1])[0], index=NAMES)[["yield", "heat", "flow"]]

    for learner, system in zip(both, (in_order, by_label), strict=True):
        cf.run(learner, system, max_rounds=40)
    assert told_rows(both[0]) == told_rows(both[1])


def test_samples_in_bulk_go_by_their_columns() -> None:
    rows = TRUTH.sample(cf.OBSERVE, 5, 0)
    one, other = cf.Moments(NAMES), cf.Moments(NAMES)
    one.add_many([cf.OBSERVE] * 5, rows)
    frame = pd.DataFrame(rows, columns=list(NAMES))
    other.add_many([cf.OBSERVE] * 5, frame[["yield", "heat", "flow"]])
    mine, theirs = one.rows(intercept=True), other.rows(intercept=True)
    assert mine.grams.tobytes() == theirs.grams.tobytes() and one.n == other.n == 5
    for wrong in (frame.rename(columns={"heat": "pump"}), frame[["heat", "flow"]], frame.T):
        with pytest.raises(cf.InvalidInputError, match="columns must be the variables"):
            other.add_many([cf.OBSERVE] * 5, wrong)


def rounds_of(learner: cf.Focus, n: int) -> pd.DataFrame:
    """A rig's table of what a learner asked for, with what was not asked for in between."""
    learner.ask_batch(n)
    rng, rows = np.random.default_rng(7), []
    for ask in learner.pending:
        sample = dict(zip(NAMES, TRUTH.sample(ask.action, 1, rng)[0], strict=True))
        rows.append({"ask": ask.number, "action": action_text(ask.action), **sample})
        seen = dict(zip(NAMES, TRUTH.sample(cf.do("flow", 2.5), 1, rng)[0], strict=True))
        rows.append({"ask": None, "action": "flow=2.5", **seen})
    rows[4]["yield"] = None
    return pd.DataFrame(rows).sample(frac=1.0, random_state=5)


@pytest.mark.parametrize("rule", ["randomized", "gaussian"])
def test_a_frame_is_told_as_its_rows_would_be(rule: str) -> None:
    learner, other = new_learner(rule), new_learner(rule)
    frame = rounds_of(learner, 12)
    other.ask_batch(12)
    found = learner.tell_many(frame)
    pending = {ask.number: ask.action for ask in other.pending}
    for row in frame.to_dict("records"):
        number = None if math.isnan(row["ask"]) else int(row["ask"])
        action = cf.do("flow", 2.5) if number is None else pending[number]
        other.tell(action, {n: row[n] for n in NAMES}, ask=number)
    assert told_rows(learner) == told_rows(other)
    assert learner.effects() == other.effects() and learner.estimate == other.estimate
    assert found.index.equals(frame.index) and found["round"].tolist() == list(range(1, 25))
    answered = [told.ask is not None for told in other.log]
    whole = [told.is_complete for told in other.log]
    for became, is_answer, is_whole in zip(found["became"], answered, whole, strict=True):
        if not is_whole:
            assert became == "lost"
        else:
            asked_for = is_answer or rule == "gaussian"
            assert became == ("evidence" if asked_for else "not asked for")


def test_a_row_without_a_number_leaves_asks_to_the_rows_that_name_them() -> None:
    learner = new_learner()
    (action,) = learner.ask_batch(1)
    row = {"action": action, "heat": 50.0, "flow": 2.0, "yield": 9.0} | dict(action.settings)
    frame = pd.DataFrame([row, {**row, "ask": 1}, row])
    assert learner.tell_many(frame)["ask"].isna().tolist() == [True, False, True]
    other = new_learner()
    other.ask_batch(1)
    assert other.tell_many(frame.drop(columns="ask"))["ask"].isna().tolist() == [False, True, True]


def test_baselines_are_told_frames_too() -> None:
    single = cf.ActionSet({"heat": (20, 80), "flow": (1, 3), "yield": None})
    learner, other = (Random(single, SPACE, seed=1) for _ in range(2))
    certified = Certified(Random(single, SPACE, seed=1))
    frame = pd.DataFrame([GOOD, {**GOOD, "action": "flow=3", "flow": 3.0}, GOOD])
    assert learner.tell_many(frame)["became"].tolist() == ["evidence"] * 3
    certified.tell_many(frame)
    for action in (cf.OBSERVE, cf.do("flow", 3.0), cf.OBSERVE):
        other.tell(action, {"heat": 50.0, "flow": 2.0, "yield": 9.0} | dict(action.settings))
    assert told_rows(learner) == told_rows(other) == told_rows(certified)
    assert learner.ask() == other.ask() and learner.estimate == other.estimate


def test_by_number_alone_and_in_two_columns() -> None:
    learner = new_learner()
    (action,) = learner.ask_batch(1)
    free = {name: 2.0 for name in NAMES if name not in action.targets}
    found = learner.tell_many(pd.DataFrame([{"ask": 1, **free}]))
    assert (found["ask"].tolist(), found["became"].tolist()) == ([1], ["evidence"])
    assert learner.log[0].action == action and learner.log[0].asked is not None
    two = {"target": [None, "flow"], "value": [None, 3.0], "heat": [51.0, 52.0]}
    learner.tell_many(pd.DataFrame({**two, "flow": [2.0, 3.0], "yield": [9.0, 9.5]}))
    assert [told.action for told in learner.log[1:]] == [cf.OBSERVE, cf.do("flow", 3.0)]
    seen = pd.DataFrame({"T": [50.0], "flow": [2.0], "yield": [9.0]})
    learner.tell_many(seen, columns={"T": "heat"}, all_observed=True)
    assert learner.log[-1].sample.tolist() == [50.0, 2.0, 9.0]
    both = {"action": [cf.do({"heat": 80, "flow": 1})], "failed": ["flow"], "heat": [70.0]}
    (became,) = learner.tell_many(pd.DataFrame({**both, "flow": [2.0], "yield": [1.0]}))["became"]
    assert became == "far" and learner.log[-1].failed == ("flow",)


def test_an_empty_cell_of_a_set_variable_needs_a_word() -> None:
    """To take what could not be read for what was asked for would make evidence of it."""
    row = {"action": ["flow=3"], "heat": [50.0], "flow": [np.nan], "yield": [9.0]}
    learner, frame = new_learner("gaussian"), pd.DataFrame(row)
    with pytest.raises(cf.InvalidInputError, match=r"row 0: flow was set to 3 .* unread='nominal'"):
        learner.tell_many(frame)
    with pytest.raises(cf.InvalidInputError, match="unread is 'nominal' or 'lost'"):
        learner.tell_many(frame, unread="yes")  # type: ignore[arg-type]
    assert learner.rounds == 0
    assert learner.tell_many(frame, unread="lost")["became"].tolist() == ["lost"]
    assert learner.tell_many(frame, unread="nominal")["became"].tolist() == ["evidence"]
    assert learner.tell_many(frame.drop(columns="flow"))["became"].tolist() == ["evidence"]
    assert [told.sample[1] for told in learner.log[1:]] == [3.0, 3.0]


GOOD = {"action": "observe", "heat": 50.0, "flow": 2.0, "yield": 9.0}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a value": ({"flow": "much"}, "row b: 'much' for flow is not a number"),
    "a decimal comma": ({"flow": "2,5"}, "row b: '2,5' for flow .* decimals take a point"),
    "infinite": ({"yield": math.inf}, "row b: 'inf' for yield is not a finite number"),
    "an action": ({"action": "heat"}, "row b: 'heat' is no action: write observe"),
    "no action": ({"action": None}, "row b: what was done"),
    "a failure": ({"failed": "flow"}, "row b: 'flow' cannot have failed"),
    "an ask": ({"ask": 99}, "row b: There is no pending ask with the number 99"),
    "half an ask": ({"ask": 1.5}, "row b: ask: '1.5' is no number"),
    "the ask of another action": ({"ask": 1}, "row b: Number 1 asks for"),
    "a truth": ({"yield": True}, "row b: 'True' for yield is not a number"),
}


@pytest.mark.parametrize(("wrong", "message"), BAD.values(), ids=BAD)
def test_one_wrong_row_and_nothing_is_told(wrong: dict[str, Any], message: str) -> None:
    learner = new_learner()
    learner.ask()
    if learner.pending[0].action == cf.OBSERVE:
        wrong = {**wrong, "action": "flow=3"} if wrong == {"ask": 1} else wrong
    frame = pd.DataFrame([GOOD, {**GOOD, **wrong}, GOOD], index=["a", "b", "c"])
    before = learner.state
    with pytest.raises(cf.InvalidInputError, match="1 of 3 rows of the DataFrame") as found:
        learner.tell_many(frame)
    assert found.match(message)
    assert learner.state is before and learner.log == ()


HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"pump": [1.0]}, "no variables: 'pump'.*columns={"),
    "no action": ({"action": None}, "does not say what was done"),
}


@pytest.mark.parametrize(("change", "message"), HEADERS.values(), ids=HEADERS)
def test_columns_that_cannot_be(change: dict[str, Any], message: str) -> None:
    columns = {k: v for k, v in ({k: [v] for k, v in GOOD.items()} | change).items() if v}
    with pytest.raises(cf.InvalidInputError, match=message):
        new_learner().tell_many(pd.DataFrame(columns))


def test_what_is_no_frame_and_what_is_said_twice() -> None:
    learner = new_learner()
    with pytest.raises(cf.InvalidInputError, match=r"takes a pandas DataFrame.*list"):
        learner.tell_many([GOOD])  # type: ignore[arg-type]
    with pytest.raises(cf.InvalidInputError, match="leave out all_observed=True"):
        learner.tell_many(pd.DataFrame([GOOD]), all_observed=True)
    doubled = pd.DataFrame([[1.0, 2.0]], columns=["heat", "heat"])
    with pytest.raises(cf.InvalidInputError, match="more than one column for 'heat'"):
        learner.tell_many(doubled, all_observed=True)
    with pytest.raises(cf.InvalidInputError, match="no column 'T' to map"):
        learner.tell_many(pd.DataFrame([GOOD]), columns={"T": "heat"})
    odd = cf.Focus(cf.ActionSet({"value": (0, 1), "b": (0, 1)}), cf.ModelClass(1.0), seed=1)
    with pytest.raises(cf.InvalidInputError, match="A variable is called 'value'"):
        odd.tell_many(pd.DataFrame({"action": ["observe"], "value": [1.0], "b": [1.0]}))


def test_an_interruption_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = new_learner()
    learner.tell(cf.OBSERVE, [50.0, 2.0, 9.0])
    before, take = learner.state, cf.Focus.take

    def interrupt(self: cf.Focus, told: Any) -> None:
        if self.rounds == 2:
            raise KeyboardInterrupt
        take(self, told)

    monkeypatch.setattr(cf.Focus, "take", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.tell_many(pd.DataFrame([GOOD] * 3))
    monkeypatch.undo()
    assert learner.state is before and len(learner.log) == 1
    learner.tell_many(pd.DataFrame([GOOD] * 3))
    assert learner.rounds == 4 == len(learner.log)


def test_results_and_effects_for_pandas_and_networkx() -> None:
    truth = cf.LinearSEM([[0, 0], [1.0, 0]], 1.0)
    learner = cf.Focus(
        cf.ActionSet(dict.fromkeys(truth.names, (-3, 3))), cf.ModelClass(0.5), seed=0
    )
    early = learner.effects()
    assert len(early.to_networkx().edges) == 0 and len(learner.result().to_frame()) == 0
    assert set(early.to_networkx(every_pair=True).edges) == {("X1", "X2"), ("X2", "X1")}
    assert cf.run(learner, lambda action: truth.sample(action, rng=len(learner.log))[0])
    result, effects = learner.result(), learner.effects()
    (row,) = result.to_frame().to_dict("records")
    (interval,) = result.intervals
    assert row == {
        "cause": "X1",
        "effect": "X2",
        "weight": result.model.weights[1, 0],
        "low": interval.low,
        "high": interval.high,
        "certified": True,
    }
    graph, one = effects.to_networkx(), effects["X1", "X2"]
    assert list(graph.nodes) == ["X1", "X2"] and set(graph.edges) == {("X1", "X2")}
    assert graph.edges["X1", "X2"] == {
        "weight": one.estimate,
        "low": one.low,
        "high": one.high,
        "verdict": "present",
    }
    assert effects.to_frame().to_dict("records")[0]["waits_for"] == effects[0].waits_for
