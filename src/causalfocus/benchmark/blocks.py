"""What it is worth to know that some variables are slow: rounds, changes and cost, in batches."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.learner.focus import Focus
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

BATCHES: Final = (1, 10, 25, 50)
"""Rounds that are asked for at once."""

CHANGE_COSTS: Final = (30.0, 10.0)
"""Of the first two variables; a round costs 1."""

MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True, kw_only=True)
class BlockRun:
    """One run to the stop.

    Attributes
    ----------
    rounds : up to the stop
    changes : of the settings of slow variables
    cost : of rounds and changes
    is_wrong : whether what was certified is not right
    """

    rounds: int
    changes: int
    cost: float
    is_wrong: bool


@dataclass(frozen=True, kw_only=True)
class BlockSummary:
    """Over many systems; medians, of a design that knows the change costs and of one that does not.

    Attributes
    ----------
    median_ratio : of the cost with them over the cost without, on the same system
    """

    p: int
    n_systems: int
    batch: int
    aware_rounds: float
    aware_changes: float
    aware_cost: float
    blind_rounds: float
    blind_changes: float
    blind_cost: float
    median_ratio: float
    n_wrong: int


def block_runs(p: int, seeds: range, workers: int) -> Iterator[tuple[tuple[BlockRun, ...], ...]]:
    """Per system as it is finished, for every size of a batch a run with the change costs and one
    without.
    """
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_compare, [(p, seed) for seed in seeds])


def block_summaries(
    p: int, systems: Sequence[tuple[tuple[BlockRun, ...], ...]]
) -> list[BlockSummary]:
    """Medians for every size of a batch."""
    found = []
    for i, batch in enumerate(BATCHES):
        aware, blind = ([runs[i][which] for runs in systems] for which in (0, 1))
        ratios = [one.cost / other.cost for one, other in zip(aware, blind, strict=True)]
        found.append(
            BlockSummary(
                p=p,
                n_systems=len(systems),
                batch=batch,
                aware_rounds=float(np.median([one.rounds for one in aware])),
                aware_changes=float(np.median([one.changes for one in aware])),
                aware_cost=float(np.median([one.cost for one in aware])),
                blind_rounds=float(np.median([one.rounds for one in blind])),
                blind_changes=float(np.median([one.changes for one in blind])),
                blind_cost=float(np.median([one.cost for one in blind])),
                median_ratio=float(np.median(ratios)),
                n_wrong=sum(one.is_wrong for one in (*aware, *blind)),
            )
        )
    return found


def block_table(rows: Sequence[BlockSummary]) -> str:
    """The summaries as Markdown."""
    first, second = CHANGE_COSTS
    head = f"""### Slow variables

FOCUS by the class rule at delta = 0.05 and epsilon = {EPSILON}, ends by a coin, one variable at a
time. A round costs 1, another setting of X1 costs {first:g} and one of X2 {second:g}. `knows`: the
design is given these change costs; `ignorant`: it is not, and they are counted all the same.
Medians of rounds, changes of slow variables and total cost; `ratio`: median of the cost of the one
that knows over that of the other, on the same system. `wrong`: certified claims that are not right,
of all.

| p | systems | batch | knows: rounds | changes | cost | ignorant: rounds | changes | cost | ratio \
| wrong |
|---|---|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.batch} | {r.aware_rounds:,.0f} | {r.aware_changes:,.0f} | "
        f"{r.aware_cost:,.0f} | {r.blind_rounds:,.0f} | {r.blind_changes:,.0f} | "
        f"{r.blind_cost:,.0f} | {r.median_ratio:.2f} | {r.n_wrong} of {2 * r.n_systems} |"
        for r in rows
    )


def _compare(task: tuple[int, int]) -> tuple[tuple[BlockRun, ...], ...]:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 31]))
    ranges = dict.fromkeys(truth.names, (-2.0, 2.0))
    slow = ActionSet(ranges, change_costs=dict(zip(truth.names, CHANGE_COSTS, strict=False)))
    return tuple(
        tuple(_run(truth, actions, slow, batch, seed) for actions in (slow, ActionSet(ranges)))
        for batch in BATCHES
    )


def _run(
    truth: LinearSEM, actions: ActionSet, priced: ActionSet, batch: int, seed: int
) -> BlockRun:
    """Ask for batches and tell them in order, up to the stop.

    priced : says what was spent in the end
    """
    learner = Focus(actions, PAPER_CLASS, epsilon=EPSILON, delta=0.05, rule="class", seed=seed)
    rng = np.random.default_rng([seed, 37])
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        for action in learner.ask_batch(batch):
            learner.tell(action, truth.sample(action, 1, rng)[0])
            if learner.has_stopped:
                break
    steps = list(pairwise(told.action for told in learner.log))
    slow = [name for name, _ in priced.change_costs]
    changes = sum(
        dict(before.settings).get(name) != dict(after.settings).get(name)
        for before, after in steps
        for name in slow
    )
    result = learner.result()
    return BlockRun(
        rounds=result.rounds,
        changes=changes,
        cost=result.rounds + sum(priced.change_cost(before, after) for before, after in steps),
        is_wrong=result.certified and not learner.guarantee.holds(result.model, truth),
    )
