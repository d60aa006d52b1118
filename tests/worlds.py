"""The worlds that tests share: a chain of three nodes, what can be done to it, and play with it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.learner.protocol import Told
from causalfocus.learner.recording import Recording

Rig = Callable[[cf.Action], Floats]
Player = TypeVar("Player", bound=Recording[Any])
Stopper = TypeVar("Stopper", bound=cf.Focus)


def action_set(
    names: Iterable[str],
    reach: float = 2.0,
    costs: Mapping[cf.Action | str, float] | None = None,
    at_once: int | None = 1,
) -> cf.ActionSet:
    """To observe, and to set every node to either side of zero."""
    return cf.ActionSet(dict.fromkeys(names, (-reach, reach)), costs=costs, at_once=at_once)


CHAIN = cf.LinearSEM([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, -0.7, 0.0]], [1.0, 0.9, 1.1])
ACTIONS = action_set(CHAIN.names)
SPACE = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)


def new_focus(**options: Any) -> cf.Focus:
    """FOCUS on the chain by the class rule, unless the options say otherwise."""
    given: dict[str, Any] = {"epsilon": 0.15, "delta": 0.05, "rule": "class", "seed": 0}
    return cf.Focus(ACTIONS, SPACE, **(given | options))


def rig(seed: int = 0, truth: cf.LinearSEM = CHAIN) -> Rig:
    """Performs actions on a system; each call draws anew."""
    rng = np.random.default_rng(seed)
    return lambda action: truth.sample(action, 1, rng)[0]


def play(learner: Player, system: Rig, n: int) -> Player:
    """Ask and tell for n rounds."""
    for _ in range(n):
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


def finish(learner: Stopper, system: Rig, most: int) -> Stopper:
    """Ask and tell until it stops, or has so many rounds."""
    while not learner.has_stopped and learner.rounds < most:
        play(learner, system, 1)
    return learner


def actions_of(learner: Recording[Any]) -> list[cf.Action]:
    """What was done, in order."""
    return [told.action for told in learner.log]


def draw_samples(
    truth: cf.LinearSEM, n: int, rng: np.random.Generator
) -> tuple[list[cf.Action], Floats]:
    """Actions drawn at random, and a sample of each."""
    actions = action_set(truth.names)
    taken = [actions[int(i)] for i in rng.integers(len(actions), size=n)]
    samples = [truth.sample(action, 1, rng)[0] for action in taken]
    return taken, np.array(samples).reshape(n, truth.p)


def any_log(n: int, seed: int = 3) -> list[Told]:
    """Of the chain; actions that no learner chose."""
    rng, system = np.random.default_rng(seed), rig(seed)
    taken = [ACTIONS[int(i)] for i in rng.integers(len(ACTIONS), size=n)]
    return [Told(action, system(action)) for action in taken]


def move(action: cf.Action, to: Callable[[float], float]) -> cf.Action:
    """The same action in other units: what is set is set to another value."""
    if action.target is None or action.value is None:
        return action
    return cf.do(action.target, to(action.value))


def targets_of(names: tuple[str, ...], taken: Iterable[cf.Action]) -> list[int]:
    """Which node each action sets; -1 for none."""
    return [names.index(action.target) if action.target else -1 for action in taken]
