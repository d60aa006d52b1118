"""Whether the range of rounds to go holds what then comes, in the share of the runs that it states.

Every run is asked for the range at some marks of its way, a tenth of it for example: how long the
way is is known when it is over, and by then the states of the learner on the way were kept. Runs go
round the sizes of systems, and one variable at a time or any number at once; under the randomized
rule every other pair of systems has a hidden common cause, which that rule allows. What a row keeps
is what the estimate foretold, so ranges can be judged anew without a run.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from scipy import stats

from causalfocus.benchmark.certificates import UNBOUNDED
from causalfocus.benchmark.coins import HiddenCauseSystem
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.rules import RULES as ALL_RULES
from causalfocus.learner.focus import Focus
from causalfocus.planning.remaining import STATED, foretold_rest, range_of
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.space import PAPER_CLASS

RULES: Final = ("randomized", "gaussian", "class")
MARKS: Final = (10, 30, 60, 85)
"""Percent of the way at which the range is asked for."""

KINDS: Final = tuple((p, at_once) for p in (3, 4, 6) for at_once in (1, 0))
"""Variables, and how many of them are set at once, 0 for any number: runs go round these."""

DELTA: Final = 0.05
REACH: Final = 2.0
LOADED: Final = 2
"""Variables on which a hidden cause acts, with a size of one."""

MOST_ROUNDS: Final = 50_000
KEPT: Final = 0.02
"""A state is kept for every step of this share of the rounds so far."""


@dataclass(frozen=True, kw_only=True)
class ForetoldRow:
    """What one run was told at one mark.

    Attributes
    ----------
    p, at_once : variables, and how many are set at once; 0 for any number
    mark : percent of the way
    rounds : at which it was asked, the nearest that was kept
    total : rounds to the stop
    rest : rounds to go by the estimate alone; nan if nothing was foretold
    """

    rule: str
    p: int
    at_once: int
    seed: int
    mark: int
    rounds: int
    total: int
    rest: float

    @property
    def truth(self) -> int:
        """Rounds that were to go."""
        return self.total - self.rounds


def foretelling_runs(
    rules: Sequence[str], seeds: range, workers: int, file: Path | None = None
) -> Iterator[tuple[ForetoldRow, ...]]:
    """Yield the rows of every run as it is finished.

    rules : under each, as many runs as there are seeds
    file : what is in it is not run again, and what is run is added to it
    """
    for rule in rules:
        if rule not in RULES:
            raise InvalidInputError(f"rules are among {', '.join(RULES)}; got {rule!r}.")
    known: dict[tuple[str, int], list[ForetoldRow]] = {}
    for row in [] if file is None else read_rows(file, ForetoldRow):
        known.setdefault((row.rule, row.seed), []).append(row)
    tasks = [(rule, seed) for seed in seeds for rule in rules]
    missing = [task for task in tasks if task not in known]
    yield from (tuple(known[task]) for task in tasks if task in known)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for task, rows in zip(missing, pool.map(ask_on_the_way, missing), strict=True):
            known[task] = list(rows)
            if file is not None:
                write_rows(file, ForetoldRow, [row for each in known.values() for row in each])
            yield rows


def ask_on_the_way(task: tuple[str, int]) -> tuple[ForetoldRow, ...]:
    """Return the rows of one run; none if it did not stop with a certificate.

    task : rule and seed
    """
    rule, seed = task
    p, at_once = KINDS[seed % len(KINDS)]
    learner = new_learner(rule, seed)
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 59]))
    loads = np.zeros(p)
    if rule == "randomized" and seed // len(KINDS) % 2:
        rng = np.random.default_rng([seed, 61])
        loads[rng.choice(p, LOADED, replace=False)] = rng.choice([-1.0, 1.0], LOADED)
    system, kept = HiddenCauseSystem(truth, loads, seed), [learner.state]
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, system(action))
        if learner.rounds >= (1.0 + KEPT) * kept[-1].rounds:
            kept.append(learner.state)
    if not learner.has_stopped or learner.is_refuted:
        return ()
    total, rows = learner.rounds, []
    for mark in MARKS:
        learner.adopt(min(kept, key=lambda one: abs(one.rounds - 0.01 * mark * total)))
        rest = foretold_rest(learner)
        rows.append(
            ForetoldRow(
                rule=rule,
                p=p,
                at_once=at_once,
                seed=seed,
                mark=mark,
                rounds=learner.rounds,
                total=total,
                rest=math.nan if rest is None else rest,
            )
        )
    return tuple(rows)


def new_learner(rule: str, seed: int) -> Focus:
    """Return the learner of a run before its first round."""
    p, at_once = KINDS[seed % len(KINDS)]
    names = [f"X{j + 1}" for j in range(p)]
    actions = ActionSet(dict.fromkeys(names, (-REACH, REACH)), at_once=at_once or None)
    space = PAPER_CLASS if rule == "class" else UNBOUNDED
    return Focus(actions, space, epsilon=EPSILON, delta=DELTA, rule=rule, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Foretelling:
    """How often the range held, under one rule at one mark.

    Attributes
    ----------
    runs : that were asked
    silent : of these, runs of which nothing was foretold
    inside, fewer, more : of the others: as many rounds as the range says, fewer, or more
    low, high : 95 percent limits of the share inside, exact
    width : median of the upper end of the range over the lower
    """

    rule: str
    mark: int
    runs: int
    silent: int
    inside: int
    fewer: int
    more: int
    low: float
    high: float
    width: float

    @property
    def share(self) -> float:
        """Of those inside."""
        return self.inside / max(self.runs - self.silent, 1)


def foretelling_summary(rows: Sequence[ForetoldRow]) -> list[Foretelling]:
    """Return one line for every rule and mark, by the ranges as they are now."""
    rules = [rule for rule in RULES if any(row.rule == rule for row in rows)]
    return [
        _summary(rule, mark, [row for row in rows if (row.rule, row.mark) == (rule, mark)])
        for rule in rules
        for mark in MARKS
    ]


def _summary(rule: str, mark: int, rows: Sequence[ForetoldRow]) -> Foretelling:
    spreads, ranges = ALL_RULES[rule].spreads, []
    for row in rows:
        found = None if math.isnan(row.rest) else range_of(spreads, row.rest, row.rounds)
        if found is not None:
            ranges.append((found.low, row.truth, found.high))
    inside = sum(low <= truth <= high for low, truth, high in ranges)
    limits = limits_of_share(inside, len(ranges))
    return Foretelling(
        rule=rule,
        mark=mark,
        runs=len(rows),
        silent=len(rows) - len(ranges),
        inside=inside,
        fewer=sum(truth < low for low, truth, _ in ranges),
        more=sum(truth > high for _, truth, high in ranges),
        low=limits[0],
        high=limits[1],
        width=float(np.median([high / low for low, _, high in ranges])) if ranges else math.nan,
    )


def limits_of_share(k: int, n: int) -> tuple[float, float]:
    """Return the limits of Clopper and Pearson of a probability, at 95 percent, for k of n."""
    low = 0.0 if k == 0 else float(stats.beta.ppf(0.025, k, n - k + 1))
    high = 1.0 if k == n else float(stats.beta.ppf(0.975, k + 1, n - k))
    return low, high


def foretelling_table(rows: Sequence[Foretelling]) -> str:
    """Return the counts as Markdown."""
    head = f"""### Rounds to go, foretold on the way

Systems of {", ".join(str(p) for p in sorted({p for p, _ in KINDS}))} variables, one set at a time
and any number by turns, half of those of the randomized rule with a hidden common cause. How often
the rounds that were to go at a `mark` of the way were `inside` of the range that is said to hold
{STATED:.0%} of the runs, with exact 95 percent limits; `fewer` and `more`: outside of it. `width`:
median of its upper end over its lower. `silent`: nothing was foretold.

| rule | mark | runs | silent | inside | limits | fewer | more | width |
|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.rule} | {r.mark} percent | {r.runs} | {r.silent} | {r.share:.0%} | "
        f"{r.low:.0%} to {r.high:.0%} | {r.fewer} | {r.more} | {r.width:.1f} |"
        for r in rows
    )
