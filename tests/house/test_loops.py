"""Every entrance that assumes a system without feedback says so when it is given one with it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.baselines import BASELINES, Certified
from causalfocus.oracles.for_kernels import model_of, plain_model_of
from causalfocus.planning.forecast import forecasts
from cli.commands import causalfocus
from worlds import ACTIONS, SPACE, any_log

LOOPED = cf.LinearSEM(
    [[0.0, 0.0, 0.4], [0.9, 0.0, 0.0], [0.0, -0.7, 0.0]], [1.0, 0.9, 1.1], loops=True
)
LOOP = "X1 -> X2 -> X3 -> X1"


def told() -> cf.Moments:
    moments = cf.Moments(LOOPED.names)
    for one in any_log(50):
        moments.add(one.action, one.sample)
    return moments


ENTRANCES: dict[str, Callable[[], object]] = {
    "order": lambda: LOOPED.order,
    "kernels": lambda: model_of(LOOPED),
    "plain kernels": lambda: plain_model_of(LOOPED),
    "expected moments": lambda: cf.Moments.expected(LOOPED, {cf.OBSERVE: 10.0}),
    "alternative": lambda: cf.best_alternative(LOOPED, {cf.OBSERVE: 1.0}, SPACE, epsilon=0.1),
    "complexity": lambda: cf.complexity(LOOPED, ACTIONS, SPACE, epsilon=0.15, rule="gaussian"),
    "complexity, class": lambda: cf.complexity(LOOPED, ACTIONS, SPACE, epsilon=0.15, rule="class"),
    "forecast": lambda: forecasts(LOOPED, ACTIONS, SPACE, epsilon=0.15, rule="gaussian"),
    "evidence": lambda: cf.evidence(told(), LOOPED, SPACE, epsilon=0.15, rule="gaussian"),
    "evidence, class": lambda: cf.evidence(told(), LOOPED, SPACE, epsilon=0.15, rule="class"),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_loop_is_refused_by_name(entrance: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=f"the loop {LOOP}"):
        ENTRANCES[entrance]()


@pytest.mark.parametrize("name", BASELINES)
def test_no_baseline_certifies_by_a_rule_with_loops_unless_the_rule_allows_them(name: str) -> None:
    learner = Certified(BASELINES[name](ACTIONS, SPACE, seed=0), epsilon=0.15, rule="class")
    with pytest.raises(cf.InvalidInputError, match=LOOP):
        learner.guarantee.require(LOOPED)
    assert not learner.guarantee.speaks_of(LOOPED)


def test_the_commands_refuse_a_file_with_a_loop(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(LOOPED.to_dict()))
    for rule in ("gaussian", "class"):
        for command in (["plan"], ["simulate", "--json"], ["simulate", "--policy", "random"]):
            done = causalfocus(*command, "--model", str(path), "--rule", rule)
            assert done.returncode == 2, done.stdout
            said = " ".join(done.stderr.split())
            assert LOOP in said and f"the {rule} rule assumes" in said


def test_a_file_that_does_not_say_so_is_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    given = LOOPED.to_dict()
    del given["loops"]
    path.write_text(json.dumps(given))
    done = causalfocus("plan", "--model", str(path))
    assert done.returncode == 2 and "loops=True" in done.stderr


def test_a_system_with_a_loop_can_still_be_learned_from() -> None:
    """A learner cannot know what is behind a sample: telling it of one is no entrance."""
    learner = cf.Focus(ACTIONS, SPACE, epsilon=0.15, rule="gaussian")
    rng = np.random.default_rng(0)
    for _ in range(30):
        action = learner.ask()
        learner.tell(action, LOOPED.sample(action, 1, rng)[0])
    assert learner.rounds == 30 and not learner.estimate.has_loops
