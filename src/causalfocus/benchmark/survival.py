"""What each rule survives: right, wrong, refuted or unstopped in worlds in which much goes wrong.

In every world the effects are zero or of size min_effect at least, so all rules claim the same: the
graph, and every weight within epsilon. An error of a rule is a wrong certificate, or a refutation
where all that it assumes holds. In worlds that a rule does not assume, a refutation is what one
hopes for, and no error.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final, Literal

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.benchmark.worlds import MOST_ROUNDS, SPACE, WORLDS, Lab, clean_twin, world_of
from causalfocus.errors import InvalidInputError
from causalfocus.experiments.analysis import ErrorRate
from causalfocus.guarantees.rules import RULES
from causalfocus.learner.focus import Focus
from causalfocus.system.space import ModelClass

EPSILON: Final = 0.15
DELTA: Final = 0.1

BOUNDED: Final = ("class",)
"""Rules that are told the class."""

NEVER_STOPPING: Final = ("paper",)

LINEAR_GAUSSIAN: Final = ("class", "gaussian")
"""Rules that assume what `World.is_assumed` says. The others assume what all worlds keep."""

Fate = Literal["right", "wrong", "refuted", "unstopped"]


@dataclass(frozen=True)
class WorldRun:
    """What became of one run."""

    rule: str
    world: str
    seed: int
    fate: str
    rounds: int


@dataclass(frozen=True, kw_only=True)
class WorldCell:
    """What became of all runs of a rule in a world.

    Attributes
    ----------
    right, wrong, refuted, unstopped : numbers of runs
    errors : wrong certificates, and refutations where all that is assumed holds
    limit : one-sided 95 percent limit of the probability of an error, exact
    median_rounds : of all runs
    clean_rounds : the same in the clean world with the same settings; None if it was not run
    """

    rule: str
    world: str
    right: int
    wrong: int
    refuted: int
    unstopped: int
    errors: int
    limit: float
    median_rounds: float
    clean_rounds: float | None


def stopping_rules() -> tuple[str, ...]:
    """Return the names of all rules that stop at feasible numbers of rounds."""
    return tuple(name for name in RULES if name not in NEVER_STOPPING)


def cells(rules: Sequence[str], worlds: Sequence[str]) -> list[tuple[str, str]]:
    """Return rules and worlds to compare, checked; all if none are named."""
    for rule in rules:
        if rule not in stopping_rules():
            raise InvalidInputError(
                f"There is no rule {rule!r} that stops; there are {', '.join(stopping_rules())}."
            )
    for world in worlds:
        world_of(world)
    return [(rule, world) for rule in rules or stopping_rules() for world in worlds or WORLDS]


def world_runs(
    of: Sequence[tuple[str, str]], n: int, workers: int, file: Path | None = None
) -> Iterator[list[WorldRun]]:
    """Yield n runs of every rule and world, as they are finished.

    of : rules and worlds
    file : what is in it is not run again, and what is run is added to it
    """
    known = {} if file is None else {_key(row): row for row in read_rows(file, WorldRun)}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for rule, world in of:
            missing = [(rule, world, seed) for seed in range(n) if (rule, world, seed) not in known]
            for row in pool.map(_play, missing, chunksize=5):
                known[_key(row)] = row
            if file is not None and missing:
                write_rows(file, WorldRun, known.values())
            yield [known[rule, world, seed] for seed in range(n)]


def _key(row: WorldRun) -> tuple[str, str, int]:
    return row.rule, row.world, row.seed


def count_fates(runs: Iterable[Sequence[WorldRun]]) -> list[WorldCell]:
    """Return a cell for the runs of every rule and world."""
    groups = list(runs)
    medians = {
        (group[0].rule, group[0].world): float(np.median([row.rounds for row in group]))
        for group in groups
    }
    found = []
    for group in groups:
        rule, world = group[0].rule, group[0].world
        fates = [row.fate for row in group]
        is_assumed = rule not in LINEAR_GAUSSIAN or world_of(world).is_assumed
        errors = fates.count("wrong") + (fates.count("refuted") if is_assumed else 0)
        found.append(
            WorldCell(
                rule=rule,
                world=world,
                right=fates.count("right"),
                wrong=fates.count("wrong"),
                refuted=fates.count("refuted"),
                unstopped=fates.count("unstopped"),
                errors=errors,
                limit=ErrorRate(errors, len(group)).limit,
                median_rounds=medians[rule, world],
                clean_rounds=medians.get((rule, clean_twin(world))),
            )
        )
    return found


def survival_table(rows: Sequence[WorldCell]) -> str:
    """Return the cells as Markdown."""
    n = rows[0].right + rows[0].wrong + rows[0].refuted + rows[0].unstopped
    smallest = SPACE.least_effect
    head = f"""### What each rule survives

FOCUS at delta = {DELTA}, epsilon = {EPSILON}, min_effect {smallest} on {n} drawn systems of
three variables per cell, one variable at a time. Numbers of runs: certified with a claim that
holds, with one that does not, refuted, not stopped within {MOST_ROUNDS:,} rounds. `errors`: wrong
certificates, and refutations where all that the rule assumes holds; `limit`: one-sided 95 percent
limit of their probability, exact. Rounds are medians; `clean`: in the clean world with the same
range of settings.

| rule | world | right | wrong | refuted | unstopped | errors | limit | rounds | clean |
|---|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.rule} | {r.world} | {r.right} | {r.wrong} | {r.refuted} | {r.unstopped} | "
        f"{r.errors} | {r.limit:.3f} | {r.median_rounds:,.0f} | "
        f"{'' if r.clean_rounds is None else format(r.clean_rounds, ',.0f')} |"
        for r in rows
    )


def is_right(found: Floats, truth: Floats) -> bool:
    """Return whether reported weights are right about direct effects that are zero or matter."""
    same_graph = bool(((found != 0.0) == (truth != 0.0)).all())
    return same_graph and bool((np.abs(found - truth) < EPSILON).all())


def _play(task: tuple[str, str, int]) -> WorldRun:
    rule, world, seed = task
    lab = Lab(world, seed)
    space = SPACE if rule in BOUNDED else ModelClass(SPACE.least_effect)
    learner = Focus(lab.world.actions, space, epsilon=EPSILON, delta=DELTA, rule=rule, seed=seed)
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        outcome = lab(action)
        learner.tell(action, outcome.sample, failed=outcome.failed)
    return WorldRun(rule, world, seed, _fate(learner, lab), learner.rounds)


def _fate(learner: Focus, lab: Lab) -> Fate:
    if not learner.has_stopped:
        return "unstopped"
    if learner.is_refuted:
        return "refuted"
    return "right" if is_right(learner.result().model.weights, lab.weights) else "wrong"
