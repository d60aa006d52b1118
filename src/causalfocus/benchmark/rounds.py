"""What a whole round of FOCUS costs: tell, estimate, best response, certificate check, ask."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from causalfocus.benchmark.clock import seconds_once, seconds_per_call
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.guarantees import Alarm
from causalfocus.learner.focus import Focus
from causalfocus.learner.protocol import Told
from causalfocus.learner.recording import Recording
from causalfocus.moments.assumption_sums import Watch
from causalfocus.moments.moments import Moments
from causalfocus.oracles import joint_mle
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import actions_as_arrays
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

WHOLE_RUNS_UP_TO: Final = 8
FIRST_ROUNDS_PER_ACTION: Final = 20
"""Larger systems are timed over this many rounds per action, not up to their certificate."""

MLE_EVERY: Final = 20
RULES: Final = ("class", "gaussian")


@dataclass(frozen=True, kw_only=True)
class RoundTimes:
    """One system; times in seconds.

    Attributes
    ----------
    n_rounds, stopped : rounds that were timed, and whether they led to the certificate
    round, mle : mean time of a round, and of a joint MLE on the same moments, taken in turn
    judgement : one decision at the end, all rivals looked at and the assumptions tested
    watching : of a round, the time that testing the assumptions takes: sums with squares, time and
        actions, and the tests on their schedule
    """

    rule: str
    p: int
    n_rounds: int
    stopped: bool
    round: float
    mle: float
    judgement: float
    watching: float


def round_times(sizes: range) -> Iterator[RoundTimes]:
    """One row per number of nodes and rule, as soon as it is measured."""
    for rule in RULES:
        _times(3, rule)  # whatever is still to compile, does so here
    for p in sizes:
        for rule in RULES:
            yield _times(p, rule)


def _times(p: int, rule: str) -> RoundTimes:
    truth, learner = _start(p, EPSILON, rule)
    most = 100_000 if p <= WHOLE_RUNS_UP_TO else FIRST_ROUNDS_PER_ACTION * len(learner.actions)
    rng = np.random.default_rng(p)
    in_rounds, in_mles, n_mles = 0.0, 0.0, 0
    watched = _Watching(learner)
    while not learner.has_stopped and learner.rounds < most:
        in_rounds += play(truth, learner, 1, rng)
        watched.see(learner.log[-1])
        if learner.rounds % MLE_EVERY == 0:
            in_mles += seconds_once(lambda: joint_mle(learner.moments, PAPER_CLASS))
            n_mles += 1
    judgement = seconds_per_call(_judgement(learner), blocks=3)
    n, stopped = learner.rounds, learner.has_stopped
    return RoundTimes(
        rule=rule,
        p=p,
        n_rounds=n,
        stopped=stopped,
        round=in_rounds / n,
        mle=in_mles / n_mles,
        judgement=judgement,
        watching=watched.seconds / n,
    )


class _Watching:
    """Time that a learner spends on testing the assumptions: of its tests, and of the sums for them
    as they are kept beside it once more.
    """

    def __init__(self, learner: Focus) -> None:
        self.seconds = 0.0
        self._watch = Watch.empty(len(learner.names))
        self._names = learner.names
        p = len(learner.names)
        self._views = [(np.zeros((1, p)), np.zeros(p, dtype=np.int64))] * 2
        rule = learner.guarantee
        object.__setattr__(rule, "refutation", self._clock(rule.refutation))

    def _clock(
        self, test: Callable[[Moments, LinearSEM], Alarm | None]
    ) -> Callable[[Moments, LinearSEM], Alarm | None]:
        def test_and_clock(moments: Moments, estimate: LinearSEM) -> Alarm | None:
            start = time.perf_counter()
            found = test(moments, estimate)
            self.seconds += time.perf_counter() - start
            return found

        return test_and_clock

    def see(self, told: Told) -> None:
        is_set, values, _ = actions_as_arrays([told.action], self._names)
        start = time.perf_counter()
        self._watch = self._watch.after(is_set, values, told.sample[None, :], self._views)
        self.seconds += time.perf_counter() - start


def _judgement(learner: Focus) -> Callable[[], object]:
    moments, estimate = learner.moments, learner.estimate
    return lambda: learner.guarantee.decide(moments, estimate)


def _start(p: int, epsilon: float, rule: str = "class") -> tuple[LinearSEM, Focus]:
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, 0]))
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    return truth, Focus(actions, PAPER_CLASS, epsilon=epsilon, rule=rule)


def play(truth: LinearSEM, learner: Recording[Any], n: int, rng: np.random.Generator) -> float:
    """Some rounds; returns the time that the learner took, without the system's."""
    taken = 0.0
    for _ in range(n):
        start = time.perf_counter()
        action = learner.ask()
        taken += time.perf_counter() - start
        sample = truth.sample(action, 1, rng)[0]
        start = time.perf_counter()
        learner.tell(action, sample)
        taken += time.perf_counter() - start
    return taken


@dataclass(frozen=True)
class RunMemory:
    """A long run: bytes that the process grew by per round, and what the log alone takes."""

    p: int
    n_rounds: int
    growth: float
    log: float


_SCRIPT = """
import json, re, sys, tracemalloc
from pathlib import Path
import numpy as np
from causalfocus.benchmark.rounds import _start, play
from causalfocus.learner.protocol import Told


def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


p, n_rounds = int(sys.argv[1]), int(sys.argv[2])
truth, learner = _start(p, 0.01)
rng = np.random.default_rng(p)
play(truth, learner, n_rounds // 4, rng)
before, first = resident(), learner.rounds
play(truth, learner, n_rounds - n_rounds // 4, rng)
growth = (resident() - before) / (learner.rounds - first)
tracemalloc.start()
copied = [Told(told.action, told.sample.copy()) for told in learner.log]
print(json.dumps([learner.rounds, growth, tracemalloc.get_traced_memory()[0] / len(copied)]))
"""


def run_memory(p: int, n_rounds: int) -> RunMemory:
    """A run that is not allowed to stop early, in a process of its own. Linux only.

    The first quarter is for everything to find its place; the growth is that of the rest.
    """
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _SCRIPT, str(p), str(n_rounds)],
        check=True,
        capture_output=True,
        text=True,
    )
    return RunMemory(p, *json.loads(done.stdout))
