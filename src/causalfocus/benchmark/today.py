"""Intervals by coins beside what people do today, on the same samples and by the same yardstick.

One stream of rounds per world and seed, those that a design asked for, serves all methods. Each
calls every direct effect present, with a sign, or absent, at the end of a fixed number of rounds or
when it first looks and all are decided. A claim is wrong if an effect is called present that is
zero, or with the wrong sign, or if one of min_effect or more is called absent. So much is asked of
everybody; by coins an effect that is present is known to epsilon as well, if one waits for the
certificate.

- *Regression* of each variable on all others in the rounds in which it is free; present if
  p < delta / pairs. At a fixed number of rounds all else is called absent, as is usual; with looks
  a pair is absent once its interval at delta / pairs lies within min_effect.
- *Regression, order known*: on those alone that come before it in the causal order, which somebody
  has told. In a system with a loop that is the order of the system without it.
- *Two-stage* least squares: the same with the coins as instruments.
- *Coins*: the intervals that the randomized rule keeps, read at the same looks, until every pair is
  present or absent; and until there is a certificate.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.benchmark.usual_methods import Fit, Stream, regress, two_stage
from causalfocus.benchmark.worlds import NODES, SPACE, Lab, draw_weights, world_of
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.randomized import JUST_BELOW
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.randomized_record import new_record, with_answer, with_ask
from causalfocus.guarantees.rules import RULES
from causalfocus.learner.focus import Focus
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.randomized_sums import Intent
from causalfocus.system.actions import actions_as_arrays
from causalfocus.system.graph import topological_order
from causalfocus.system.names import default_names
from causalfocus.system.space import ModelClass

DELTA: Final = 0.1
EPSILON: Final = 0.15
FIXED: Final = 1_000
"""Rounds of the methods that do not look before the end."""

LOOK: Final = 50
MOST: Final = 6_000
"""Rounds of a stream: who has not decided everything by then has not stopped."""

USUAL_LEVEL: Final = 0.05
"""How often one interval of a usual method may miss."""

TROUBLES: Final = (
    "clean",
    "hidden cause 0.5",
    "hidden cause 0.8",
    "hidden cause 0.5, reach 1",
    "feedback",
    "t(3) noise",
    "outliers",
    "measurement noise",
)
"""Worlds that are compared by default."""

PAIRS: Final = ~np.eye(NODES, dtype=np.bool_)
CERTAIN: Final = "coins, looks"
CERTIFIED: Final = "coins, certificate"
RANDOM: Final = "random"
"""The design that sets single variables at random."""

DESIGN: Final = "randomized"
"""The rule whose design collects the samples by default."""

BEYOND: Final = 1.1
"""Rounds that such a design goes on to, over those to its certificate."""


class Method(NamedTuple):
    """A usual method: how it fits, whether it is told the order, whether it looks."""

    fit: Callable[[Stream, Bools], Fit]
    knows_order: bool
    looks: bool


METHODS: Final[dict[str, Method]] = {
    "regression": Method(regress, knows_order=False, looks=False),
    "regression, looks": Method(regress, knows_order=False, looks=True),
    "regression, order known": Method(regress, knows_order=True, looks=False),
    "regression, order known, looks": Method(regress, knows_order=True, looks=True),
    "two-stage": Method(two_stage, knows_order=False, looks=False),
    "two-stage, looks": Method(two_stage, knows_order=False, looks=True),
}


class Answer(NamedTuple):
    """What a method says of all pairs in the end.

    called : (p, p), 1 and -1 for present with that sign, 0 for absent; nan for undecided
    low, high : (p, p), its intervals; at 95 percent each, by coins all at 1 - delta
    rounds : that it took
    """

    called: Floats
    low: Floats
    high: Floats
    rounds: int

    @property
    def is_decided(self) -> bool:
        """Whether every pair is."""
        return not np.isnan(self.called).any()


@dataclass(frozen=True, kw_only=True)
class TodayRun:
    """What a method claimed of one system.

    Attributes
    ----------
    design : what collected the samples
    undecided : pairs that were never decided
    invented : effects called present that are zero
    reversed_signs : effects called present with the wrong sign
    overlooked : effects of min_effect or more called absent
    outside : effects out of their interval, of six
    """

    world: str
    design: str
    method: str
    seed: int
    rounds: int
    undecided: int
    invented: int
    reversed_signs: int
    overlooked: int
    outside: int

    @property
    def is_wrong(self) -> bool:
        """Whether any claim is wrong."""
        return self.invented + self.reversed_signs + self.overlooked > 0


def today_runs(
    worlds: Sequence[str], design: str, n: int, workers: int, file: Path | None = None
) -> Iterator[list[TodayRun]]:
    """Yield the runs of all methods, world by world.

    worlds : which; those of `TROUBLES` if there are none
    design : what collects the samples, see `collect`
    n : streams per world
    file : what is in it is not run again, and what is run is added to it
    """
    for world in worlds:
        world_of(world)
    if design != RANDOM and design not in RULES:
        raise InvalidInputError(
            f"There is no design {design!r}; there are {', '.join([RANDOM, *RULES])}."
        )
    known: dict[tuple[str, str, int], list[TodayRun]] = {}
    for row in [] if file is None else read_rows(file, TodayRun):
        known.setdefault((row.world, row.design, row.seed), []).append(row)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for world in worlds or TROUBLES:
            tasks = [(world, design, seed) for seed in range(n)]
            missing = [task for task in tasks if task not in known]
            rows_of = pool.map(compare, missing, chunksize=5)
            known |= dict(zip(missing, rows_of, strict=True))
            if file is not None and missing:
                write_rows(file, TodayRun, [row for rows in known.values() for row in rows])
            yield [row for task in tasks for row in known[task]]


def compare(task: tuple[str, str, int]) -> list[TodayRun]:
    """Return what every method claims of one system, from one stream.

    task : world, design and seed
    """
    world, design, seed = task
    truth, stream = Lab(world, seed, 1).weights, collect(world, seed, design)
    answers = {name: _answer(method, stream, seed) for name, method in METHODS.items()}
    answers |= answers_by_coins(stream, world_of(world).reach)
    return [
        TodayRun(world=world, design=design, method=name, seed=seed, **judge(answer, truth))
        for name, answer in answers.items()
    ]


def collect(world: str, seed: int, design: str = DESIGN, most: int = MOST) -> Stream:
    """Return the rounds that a design asks for.

    design : "random" for single variables at random with coins, `most` of them; or the name of a
        rule, for what it asks for until it stops, and a little beyond
    most : rounds at most
    """
    lab = Lab(world, seed, most)
    if design == RANDOM:
        rng = np.random.default_rng([seed, 53])
        asked = rng.integers(NODES, size=most)[:, None] == np.arange(NODES)
        signs = np.where(asked, rng.choice([-1.0, 1.0], (most, 1)), 0.0)
        return Stream(asked, signs, lab.respond(asked, lab.world.reach * signs)[0])
    space = ModelClass(SPACE.least_effect)
    learner = Focus(lab.world.actions, space, epsilon=EPSILON, delta=DELTA, rule=design, seed=seed)
    last = most
    while learner.rounds < last:
        if learner.has_stopped and not learner.continued_at:
            learner.continue_after_stop()
            wanted = max(FIXED, LOOK * math.ceil(BEYOND * learner.rounds / LOOK))
            last = min(wanted, most)
            continue
        action = learner.ask()
        outcome = lab(action)
        learner.tell(action, outcome.sample, failed=outcome.failed)
    actions = [told.action for told in learner.log]
    asked, values, _ = actions_as_arrays(actions, lab.names)
    return Stream(asked, np.sign(values), np.array([told.sample for told in learner.log]))


def _answer(method: Method, stream: Stream, seed: int) -> Answer:
    """Return what a usual method says, at the end or when it has decided on everything."""
    causes = _earlier(seed) if method.knows_order else PAIRS
    first, *later = range(LOOK, len(stream.rows) + 1, LOOK) if method.looks else (FIXED,)
    answer = _look(method, stream.first(first), causes)
    for n in later:
        if answer.is_decided:
            break
        answer = _look(method, stream.first(n), causes)
    return answer


def _look(method: Method, stream: Stream, causes: Bools) -> Answer:
    """Return what a usual method says after some rounds."""
    fit = method.fit(stream, causes)
    half, usual = fit.half(DELTA / int(causes.sum())), fit.half(USUAL_LEVEL)
    is_there = np.abs(fit.weights) > half
    is_absent = np.abs(fit.weights) + half < SPACE.least_effect if method.looks else ~is_there
    called = np.where(is_there, np.sign(fit.weights), np.where(is_absent, 0.0, np.nan))
    return Answer(called, fit.weights - usual, fit.weights + usual, len(stream.rows))


def _earlier(seed: int) -> Bools:
    """Return which variables (p, p) come before which in the causal order without a loop."""
    order = topological_order(draw_weights(seed), default_names(NODES))
    rank = np.argsort(order)
    found: Bools = rank[:, None] > rank[None, :]
    return found


def answers_by_coins(stream: Stream, reach: float) -> dict[str, Answer]:
    """Return what the intervals by coins say when all pairs are decided, and when they prove a
    claim.

    reach : half of the range that every variable was set in
    """
    level, size = -math.log(DELTA), np.ones((NODES, NODES))
    demands = Demands(EPSILON * size, SPACE.least_effect * size)
    bids = demands.bids(np.full(NODES, reach))
    record = new_record(PAIRS, JUST_BELOW * demands.min_effect, bids=bids)
    found: dict[str, Answer] = {}
    for n in range(1, len(stream.rows) + 1):
        record = with_ask(record, Intent(n, stream.asked[n - 1], stream.signs[n - 1]))
        record = with_answer(record, n, stream.rows[n - 1], level)
        if n % LOOK == 0:
            kept = record.kept
            answer = Answer(_call(kept, demands), kept.low, kept.high, n)
            is_over = n + LOOK > len(stream.rows) or bool(kept.is_refuted.any())
            if answer.is_decided or is_over:
                found.setdefault(CERTAIN, answer)
            if is_over or demands.holds(kept, demands.claim(kept)).all():
                return {CERTAIN: answer, CERTIFIED: answer, **found}
    return found


def _call(kept: Intervals, demands: Demands) -> Floats:
    """Return what intervals are certain of; nothing if no linear row is left."""
    is_small = np.maximum(-kept.low, kept.high) < demands.min_effect
    is_there = (kept.low > 0.0) | (kept.high < 0.0)
    called = np.where(is_there, np.sign(kept.middle), np.where(is_small, 0.0, np.nan))
    return np.where(kept.is_refuted.any(), np.nan, called)


def judge(answer: Answer, truth: Floats) -> dict[str, int]:
    """Return the counts of a run."""
    called, is_called = answer.called, np.abs(answer.called) == 1.0
    is_outside = (truth < answer.low) | (answer.high < truth)
    is_large = np.abs(truth) >= SPACE.least_effect
    return {
        "rounds": answer.rounds,
        "undecided": int(np.isnan(called).sum()),
        "invented": int((is_called & (truth == 0.0)).sum()),
        "reversed_signs": int((is_called & (truth * called < 0.0)).sum()),
        "overlooked": int(((called == 0.0) & is_large).sum()),
        "outside": int(is_outside.sum()),
    }
