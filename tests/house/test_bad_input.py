"""Every bad input gets an error that names the culprit; nothing already recorded is lost."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.baselines import Random
from worlds import new_focus

CYCLE = [[0, 0.5, 0], [0, 0, 0.5], [0.5, 0, 0]]
NAMES = ["heat", "flow", "yield"]


def moments() -> cf.Moments:
    return cf.Moments(NAMES)


def model() -> cf.LinearSEM:
    return cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)


def alternative(**changes: Any) -> object:
    arguments: dict[str, Any] = {
        "model": model(),
        "weights": {cf.OBSERVE: 1.0},
        "space": cf.PAPER_CLASS,
        "epsilon": 0.07,
    }
    arguments.update(changes)
    return cf.best_alternative(
        arguments["model"],
        arguments["weights"],
        arguments["space"],
        epsilon=arguments["epsilon"],
    )


BAD: dict[str, tuple[Callable[[], object], str]] = {
    # models
    "cyclic weights": (
        lambda: cf.LinearSEM(CYCLE, 1.0, names=NAMES),
        "have a cycle: heat -> yield -> flow -> heat",
    ),
    "self loop": (lambda: cf.LinearSEM([[0.5]], 1.0), "cycle: X1 -> X1"),
    "weights not square": (lambda: cf.LinearSEM([[0, 1]], 1.0), r"square matrix .* shape \(1, 2\)"),
    "no nodes": (lambda: cf.LinearSEM(np.zeros((0, 0)), 1.0), "square matrix"),
    "nan weight": (
        lambda: cf.LinearSEM([[0.0, 0.0], [math.nan, 0.0]], 1.0),
        r"weights must be finite: the entry at \[1, 0\]",
    ),
    "infinite intercept": (
        lambda: cf.LinearSEM([[0.0]], 1.0, math.inf),
        "intercepts must be finite",
    ),
    "weights not numbers": (lambda: cf.LinearSEM([["a"]], 1.0), "weights must be numbers"),
    "negative variance": (
        lambda: cf.LinearSEM(np.zeros((3, 3)), [1, -0.5, 1], names=NAMES),
        "noise variance of flow is -0.5: it must be positive",
    ),
    "zero variance": (lambda: cf.LinearSEM([[0.0]], 0.0), "variance of X1 is 0"),
    "too few variances": (
        lambda: cf.LinearSEM(np.zeros((3, 3)), [1, 1]),
        r"noise_variances must be one number or 3 .* got shape \(2,\)",
    ),
    "too few names": (
        lambda: cf.LinearSEM(np.zeros((3, 3)), 1.0, names=["a", "b"]),
        "2 names for 3 nodes: a, b",
    ),
    "duplicate names": (
        lambda: cf.LinearSEM(np.zeros((2, 2)), 1.0, names=["a", "a"]),
        "The name 'a' appears more than once",
    ),
    "empty name": (lambda: cf.Moments(["a", " "]), "' ' is not a node name"),
    "number as name": (lambda: cf.Moments(["a", 3]), "3 is not a node name"),  # type: ignore[list-item]
    "a string of names": (lambda: cf.Moments("abc"), "not the single string 'abc'"),
    "no names": (lambda: cf.Moments([]), "There are no nodes"),
    "unknown key": (
        lambda: cf.LinearSEM.from_dict({"weights": [[0]], "noise_variances": [1], "edges": []}),
        r"unknown keys \['edges'\]",
    ),
    "missing key": (
        lambda: cf.LinearSEM.from_dict({"weights": [[0]]}),
        r"lacks \['noise_variances'\]",
    ),
    "model not a mapping": (lambda: cf.LinearSEM.from_dict([1]), "a mapping, got list"),  # type: ignore[arg-type]
    "kl of other nodes": (
        lambda: model().kl(cf.LinearSEM(np.zeros((2, 2)), 1.0, names=["a", "b"])),
        "different nodes or orders of nodes: X1, X2 against a, b",
    ),
    "not a reordering": (lambda: model().relabel(["X1", "X3"]), "not a reordering of X1, X2"),
    "unknown target": (
        lambda: model().sample(cf.do("X9", 1.0)),
        "no node named 'X9'. The nodes are X1, X2",
    ),
    "density above one": (lambda: cf.random_sem(4, density=1.5), "between 0 and 1, got 1.5"),
    "no nodes to draw": (lambda: cf.random_sem(0, density=0.5), "1 or more, got 0"),
    "density in words": (lambda: cf.random_sem(4, density="a"), "between 0 and 1, got 'a'"),  # type: ignore[arg-type]
    "empty intercept range": (
        lambda: cf.random_sem(4, density=0.5, intercept_range=(2, 1)),
        r"intercept_range = \(2, 1\) is empty",
    ),
    "negative number of samples": (lambda: model().sample(n=-1), "0 or more, got -1"),
    "unbounded draw": (
        lambda: cf.random_sem(4, density=0.5, space=cf.ModelClass(0.1)),
        "give the class a max_effect and a noise_variance range",
    ),
    # actions
    "infinite value": (lambda: cf.do("X1", math.inf), "must be finite"),
    "value not a number": (lambda: cf.do("X1", "high"), "'high'.* must be a number"),  # type: ignore[arg-type]
    "target without value": (lambda: cf.do("X1"), "lacks the value"),
    "settings and a value": (lambda: cf.do({"X1": 1.0}, 2.0), "a name and a value, or one mapping"),
    "a value that is no number": (lambda: cf.do({"X1": 1.0, "X2": "hot"}), "must be a number"),  # type: ignore[dict-item]
    "none at once": (lambda: cf.ActionSet({"X1": 1.0}, at_once=0), "1 or more, or None"),
    "half at once": (lambda: cf.ActionSet({"X1": 1.0}, at_once=1.5), "1 or more, or None"),  # type: ignore[arg-type]
    "too many sets": (
        lambda: cf.Focus(
            cf.ActionSet(dict.fromkeys(map(str, range(14)), (-1, 1)), at_once=None),
            cf.ModelClass(0.1),
            epsilon=0.05,
            rule="gaussian",
            ends="game",
        ),
        "4,766,585 ways to set up to 13 of 14 variables",
    ),
    "one of several targets": (
        lambda: cf.do({"X1": 1, "X2": 2}).target,
        "sets 2 variables at once",
    ),
    "a mapping as an action": (lambda: cf.Action({"X1": 2.0}), "pairs of a name and a value"),  # type: ignore[arg-type]
    "a name as an action": (lambda: cf.Action("X1"), "pairs of a name and a value"),  # type: ignore[arg-type]
    "not one of many": (
        lambda: cf.ActionSet(dict.fromkeys("abcdefghijkl", (-1, 1)), at_once=None).index(
            cf.do("a", 3)
        ),
        "up to 11 of these at once",
    ),
    "change cost of a stranger": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs={"X9": 3}),
        "X9",
    ),
    "change cost of what cannot be set": (
        lambda: cf.ActionSet({"X1": (0, 1), "X2": None}, change_costs={"X2": 3}),
        "X2 has a change cost but no range",
    ),
    "negative change cost": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs={"X1": -1}),
        "change cost of X1 must be a finite number, 0 or more, got -1",
    ),
    "infinite change cost": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs={"X1": math.inf}),
        "finite number, 0 or more, got inf",
    ),
    "nan change cost": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs={"X1": math.nan}),
        "finite number, 0 or more, got nan",
    ),
    "change cost in words": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs={"X1": "dear"}),  # type: ignore[dict-item]
        "finite number, 0 or more, got 'dear'",
    ),
    "change costs not a mapping": (
        lambda: cf.ActionSet({"X1": (0, 1)}, change_costs=[30]),  # type: ignore[arg-type]
        "change_costs must map names to numbers, got list",
    ),
    "a baseline with slow variables": (
        lambda: Random(cf.ActionSet({"X1": (0, 1)}, change_costs={"X1": 3}), cf.PAPER_CLASS),
        "knows no change costs; these actions have some for X1",
    ),
    "ends by nobody": (lambda: new_focus(ends="dice"), "'coin' or 'game'"),
    "empty range": (
        lambda: cf.ActionSet({"heat": (3, -3)}),
        r"range of 'heat' .* empty range \(3, -3\)",
    ),
    "infinite range": (lambda: cf.ActionSet({"heat": (0, math.inf)}), "'heat' .* finite"),
    "nan range": (lambda: cf.ActionSet({"heat": (math.nan, 1)}), "'heat' .* finite"),
    "range of three": (lambda: cf.ActionSet({"heat": (0, 1, 2)}), "'heat' must be"),
    "range in words": (lambda: cf.ActionSet({"heat": "low"}), "'heat' must be .* got 'low'"),  # type: ignore[dict-item]
    "ranges not a mapping": (lambda: cf.ActionSet([(0, 1)]), "must map names to"),  # type: ignore[arg-type]
    "range of an unknown node": (
        lambda: cf.ActionSet({"heat": (0, 1)}, names=["flow"]),
        "no node named 'heat'. The nodes are flow",
    ),
    "no actions at all": (lambda: cf.ActionSet({}), "There are no nodes"),
    "action not in the set": (
        lambda: cf.ActionSet({"heat": (0, 1)}).index(cf.do("heat", 0.5)),
        r"do\(heat = 0.5\) is not in the action set. It holds: observe, do\(heat = 0\)",
    ),
    # classes
    "zero min_effect": (lambda: cf.ModelClass(0.0), "min_effect must be positive"),
    "nan min_effect": (lambda: cf.ModelClass(math.nan), "min_effect must be positive"),
    "min_effect not a number": (lambda: cf.ModelClass("x"), "min_effect must be a number"),  # type: ignore[arg-type]
    "max below min": (
        lambda: cf.ModelClass(0.5, 0.1),
        "max_effect = 0.1 is below min_effect = 0.5",
    ),
    "empty noise range": (
        lambda: cf.ModelClass(0.1, noise_variance=(2, 1)),
        r"noise_variance = \(2, 1\) is empty",
    ),
    "zero noise": (
        lambda: cf.ModelClass(0.1, noise_variance=(0, 1)),
        "lower end of noise_variance",
    ),
    "noise not a pair": (lambda: cf.ModelClass(0.1, noise_variance=3), "must be a pair"),  # type: ignore[arg-type]
    "intercept not a flag": (lambda: cf.ModelClass(0.1, intercept=1), "True or False, got 1"),  # type: ignore[arg-type]
    # samples
    "nan sample": (
        lambda: moments().add(cf.OBSERVE, [0.0, math.nan, 0.0]),
        "value of flow is nan: every value must be a finite number",
    ),
    "infinite sample": (lambda: moments().add(cf.OBSERVE, [0, 0, -math.inf]), "yield is -inf"),
    "absurd sample": (lambda: moments().add(cf.OBSERVE, [1e200, 0, 0]), "heat is 1e\\+200"),
    "short sample": (
        lambda: moments().add(cf.OBSERVE, [1.0, 2.0]),
        r"A sample is 3 numbers, for heat, flow, yield; got shape \(2,\)",
    ),
    "words in a sample": (lambda: moments().add(cf.OBSERVE, ["a", "b", "c"]), "consist of numbers"),
    "missing node": (
        lambda: moments().add(cf.OBSERVE, {"heat": 1.0, "yield": 0.0}),
        "The sample lacks flow",
    ),
    "unknown node": (
        lambda: moments().add(cf.OBSERVE, {"heat": 1, "flow": 1, "yield": 0, "speed": 2}),
        "no node named 'speed'",
    ),
    "not an action": (
        lambda: moments().add("observe", [0, 0, 0]),  # type: ignore[arg-type]
        "'observe' is not an action. Use cf.OBSERVE or cf.do",
    ),
    "unknown node set": (lambda: moments().add(cf.do("speed", 1), [0, 0, 0]), "named 'speed'"),
    "tolerance below zero": (
        lambda: cf.ActionSet({"flow": (0, 1)}, tolerances={"flow": -0.1}),
        "tolerance of flow must be a number, 0 or more",
    ),
    "tolerance of nothing": (
        lambda: cf.ActionSet({"flow": (0, 1)}, tolerances={"speed": 0.1}),
        "named 'speed'",
    ),
    "switches as one text": (
        lambda: cf.ActionSet({"flow": (0, 1)}, switches="flow"),
        r"switches is a list of names, got 'flow'. For example switches=\['flow'\]",
    ),
    "switch of nothing": (
        lambda: cf.ActionSet({"flow": (0, 1)}, switches=["speed"]),
        "named 'speed'. The nodes are flow",
    ),
    "switch that cannot be set": (
        lambda: cf.ActionSet({"flow": (0, 1), "heat": None}, switches=["flow", "heat"]),
        r"heat is among the switches and cannot be set: .* Give it a range with two ends",
    ),
    "switch with one state": (
        lambda: cf.ActionSet({"flow": 3}, switches=["flow"]),
        r"flow is among the switches and can be set to 3 alone: .* leave it out of the switches",
    ),
    "one bad row of many": (
        lambda: moments().add_many([cf.OBSERVE] * 3, [[0.0] * 3, [0.0] * 3, [0.0, math.nan, 0.0]]),
        "Sample 3 of 3: The value of flow is nan",
    ),
    "more rows than actions": (
        lambda: moments().add_many([cf.OBSERVE], np.zeros((2, 3))),
        r"one row for each of the 1 actions .* got shape \(2, 3\)",
    ),
    "one action for many samples": (
        lambda: moments().add_many(cf.OBSERVE, np.zeros((2, 3))),  # type: ignore[arg-type]
        "one action per sample",
    ),
    "moments of other nodes": (
        lambda: moments().merge(cf.Moments(["a"])),
        "cannot be merged: heat, flow, yield against a",
    ),
    # oracles
    "negative weight": (
        lambda: alternative(weights={cf.OBSERVE: 1.0, cf.do("X1", 2.0): -1.0}),
        r"weight of do\(X1 = 2\) is -1",
    ),
    "nan weight of an action": (
        lambda: alternative(weights={cf.OBSERVE: math.nan}),
        "weight of observe is nan",
    ),
    "weight in words": (lambda: alternative(weights={cf.OBSERVE: "x"}), "weights must be numbers"),
    "overflowing expectation": (
        lambda: cf.Moments.expected(model(), {cf.OBSERVE: 1.0, cf.do("X1", 1e200): 1.0}),
        "too large for floating-point numbers",
    ),
    "weights not a mapping": (lambda: alternative(weights=[1.0]), "must map actions to numbers"),
    "weights of an unknown node": (
        lambda: alternative(weights={cf.do("X7", 1.0): 1.0}),
        "no node named 'X7'",
    ),
    "epsilon above min_effect / 2": (
        lambda: alternative(epsilon=0.08),
        r"epsilon = 0.08 is above min_effect / 2 = 0.075",
    ),
    "epsilon of zero": (lambda: alternative(epsilon=0.0), "epsilon must be positive"),
    "weight below the class": (
        lambda: alternative(model=cf.LinearSEM([[0.0, 0.0], [0.1, 0.0]], 1.0)),
        "X1 -> X2 has size 0.1, below min_effect = 0.15",
    ),
    "weight above the class": (
        lambda: alternative(model=cf.LinearSEM([[0.0, 0.0], [-2.0, 0.0]], 1.0)),
        "X1 -> X2 has size 2, above max_effect = 1.5",
    ),
    "variance outside the class": (
        lambda: alternative(model=cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], [1.0, 2.0])),
        r"noise variance of X2 is 2, outside \[0.8, 1.2\]",
    ),
    "intercept outside the class": (
        lambda: alternative(model=cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0, [0.0, 0.3])),
        "X2 has the intercept 0.3 and intercept is False",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, message = BAD[case]
    with pytest.raises(cf.InvalidInputError, match=message):
        call()


def test_all_errors_have_one_root() -> None:
    for error in (cf.InvalidInputError, cf.NumericalError, cf.MissingExtraError):
        assert issubclass(error, cf.CausalFocusError)
    assert issubclass(cf.InvalidInputError, ValueError)


def test_a_refused_sample_leaves_the_moments_as_they_were() -> None:
    kept = moments()
    kept.add(cf.OBSERVE, [1.0, 2.0, 3.0])
    before = kept.rows(intercept=False)
    with pytest.raises(cf.InvalidInputError):
        kept.add(cf.do("flow", 2.0), [0.0, math.inf, 0.0])
    with pytest.raises(cf.InvalidInputError):
        kept.add_many([cf.OBSERVE] * 2, [[1.0, 1.0, 1.0], [math.nan, 0.0, 0.0]])
    after = kept.rows(intercept=False)
    assert np.array_equal(before.grams, after.grams) and kept.n == 1.0


def test_callers_arrays_are_never_written_to() -> None:
    sample = np.array([0.3333333333, 0.0, 1.0])
    moments().add(cf.do("heat", 1 / 3), sample)
    assert sample[0] == 0.3333333333
