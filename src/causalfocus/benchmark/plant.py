"""A plant in raw units, kelvin, bar and litres, from the first round to the certificate."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np
from scipy import stats

from causalfocus.learner.focus import Focus
from causalfocus.system.action_set import ActionSet
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

NAMES: Final = ("temperature", "pressure", "flow", "yield")
TRUE: Final = (
    ("temperature", "pressure"),
    ("pressure", "flow"),
    ("temperature", "yield"),
    ("flow", "yield"),
)
SPACE: Final = ModelClass(
    matters={"temperature": 15, "pressure": 0.5, "flow": 1.5, "yield": 8}, outcomes=["yield"]
)
DELTA: Final = 0.05
EARLY: Final = 200
MOST_ROUNDS: Final = 20_000


def plant() -> LinearSEM:
    """Temperature sets pressure, pressure the flow, and temperature and flow the yield."""
    weights = np.zeros((4, 4))
    weights[1, 0], weights[2, 1], weights[3, 0], weights[3, 2] = 0.015, 1.2, 0.25, 2.0
    spreads = np.array([15.0, 0.3, 0.6, 3.0])
    return LinearSEM(weights, spreads**2, [350.0, -3.0, 1.0, -60.0], NAMES)


@dataclass(frozen=True, kw_only=True)
class PlantRun:
    """One run.

    Attributes
    ----------
    at_once : how many variables may be set in a round; 0 for any number
    rounds : to the certificate
    is_right : whether the claim holds
    early : of the four effects that there are, those of which the sign was certain after `EARLY`
    """

    at_once: int
    rounds: int
    is_right: bool
    early: int


@dataclass(frozen=True, kw_only=True)
class PlantSummary:
    """Rounds, tenth percentile, median and ninetieth; wrong runs with their one-sided 95 percent
    limit; and the share of runs in which all four signs were certain early.
    """

    at_once: int
    n_runs: int
    rounds: tuple[float, float, float]
    n_wrong: int
    limit: float
    early: float


def plant_runs(n: int, workers: int) -> Iterator[PlantRun]:
    """One variable at a time, then any number."""
    tasks = [(at_once, seed) for at_once in (1, 0) for seed in range(n)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_play, tasks, chunksize=4)


def _play(task: tuple[int, int]) -> PlantRun:
    at_once, seed = task
    truth, rng = plant(), np.random.default_rng([seed, 53])
    ranges = {"temperature": (300, 400), "pressure": (1, 5), "flow": (0, 10), "yield": None}
    learner = Focus(ActionSet(ranges, at_once=at_once or None), SPACE, delta=DELTA, seed=seed)
    early = 0
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, truth.sample(action, rng=rng)[0])
        if learner.rounds == EARLY:
            effects = learner.effects()
            early = sum(effects[pair].is_present for pair in TRUE)
    result = learner.result()
    is_right = result.certified and learner.guarantee.holds(result.model, truth)
    return PlantRun(at_once=at_once, rounds=learner.rounds, is_right=is_right, early=early)


def plant_summaries(runs: Sequence[PlantRun]) -> list[PlantSummary]:
    """One row for one at a time, and one for any number."""
    found = []
    for at_once in dict.fromkeys(one.at_once for one in runs):
        of = [one for one in runs if one.at_once == at_once]
        low, middle, high = np.percentile([one.rounds for one in of], [10, 50, 90]).tolist()
        n_wrong = sum(not one.is_right for one in of)
        found.append(
            PlantSummary(
                at_once=at_once,
                n_runs=len(of),
                rounds=(low, middle, high),
                n_wrong=n_wrong,
                limit=float(stats.beta.ppf(0.95, n_wrong + 1, len(of) - n_wrong)),
                early=float(np.mean([one.early == len(TRUE) for one in of])),
            )
        )
    return found


def plant_table(rows: Sequence[PlantSummary]) -> str:
    """As Markdown."""
    head = f"""### A plant in its own units

Four variables in kelvin, bar and litres, what matters in the same units, delta = {DELTA}: rounds to
the certificate; wrong or unfinished runs, with the one-sided 95 percent limit of their probability;
and in how many runs the signs of all four effects were certain after {EARLY} rounds.

| at once | runs | tenth percentile | median | ninetieth | wrong | limit | four signs |
|---|---|---|---|---|---|---|---|
"""
    lines = [
        f"| {r.at_once or 'any'} | {r.n_runs} | {r.rounds[0]:,.0f} | {r.rounds[1]:,.0f} | "
        f"{r.rounds[2]:,.0f} | {r.n_wrong} | {r.limit:.3f} | {100 * r.early:.0f} % |"
        for r in rows
    ]
    return head + "\n".join(lines) + "\n"
