"""What it is worth to ask for less: rounds for everything, for one variable, for a total effect."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.benchmark.certificates import UNBOUNDED
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.learner.focus import Focus
from causalfocus.learner.run import run
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.question import About, Total
from causalfocus.system.sem import LinearSEM

REACH: Final = 2.0
DELTA: Final = 0.05
MOST_ROUNDS: Final = 100_000
AT_ONCE: Final = (1, None)


@dataclass(frozen=True, kw_only=True)
class QuestionRun:
    """Rounds on one system.

    Attributes
    ----------
    at_once : how many variables may be set in a round; 0 for any number
    everything, last, total : rounds for all direct effects, for those on the last variable in the
        order of causes, and for the total effect of the first on the last
    n_wrong : claims that are not right, of three
    """

    at_once: int
    everything: int
    last: int
    total: int
    n_wrong: int


@dataclass(frozen=True, kw_only=True)
class QuestionSummary:
    """Medians over systems, and medians of the ratios on the same system."""

    p: int
    n_systems: int
    at_once: int
    everything: float
    last: float
    total: float
    last_ratio: float
    total_ratio: float
    n_wrong: int


def question_runs(p: int, seeds: range, workers: int) -> Iterator[tuple[QuestionRun, ...]]:
    """Runs on one system after the other, one for each number at once."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_compare, [(p, seed) for seed in seeds])


def _compare(task: tuple[int, int]) -> tuple[QuestionRun, ...]:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 43]))
    first, last = (truth.names[truth.order[at]] for at in (0, -1))
    questions: dict[str, About | None] = {
        "everything": None,
        "last": last,
        "total": Total(first, last),
    }
    found = []
    for at_once in AT_ONCE:
        rounds, n_wrong = {}, 0
        for name, about in questions.items():
            learner = _run_to_the_end(truth, at_once, about, seed)
            rounds[name] = learner.rounds
            n_wrong += not _is_right(learner, truth, first, last)
        found.append(QuestionRun(at_once=at_once or 0, n_wrong=n_wrong, **rounds))
    return tuple(found)


def _run_to_the_end(truth: LinearSEM, at_once: int | None, about: About | None, seed: int) -> Focus:
    actions = ActionSet(dict.fromkeys(truth.names, (-REACH, REACH)), at_once=at_once)
    learner = Focus(actions, UNBOUNDED, epsilon=EPSILON, delta=DELTA, seed=seed, about=about)
    rng = np.random.default_rng([seed, 47])
    run(learner, lambda action: truth.sample(action, rng=rng)[0], max_rounds=MOST_ROUNDS)
    return learner


def _is_right(learner: Focus, truth: LinearSEM, first: str, last: str) -> bool:
    """Whether it stopped with a claim that holds; an effect that it shows is within epsilon."""
    if not learner.result().certified:
        return False
    if not learner.guarantee.about.totals(truth.names).any():
        return learner.guarantee.holds(learner.result().model, truth)
    at = truth.names.index(last), truth.names.index(first)
    shown, total = learner.total_effects()[first, last].estimate, truth.total_effects()[at]
    if shown and shown * total <= 0.0:
        return False
    return bool(abs(shown - total) <= (EPSILON if shown else learner.guarantee.smallest[at]))


def question_summaries(p: int, runs: Sequence[tuple[QuestionRun, ...]]) -> list[QuestionSummary]:
    """One row for each number at once."""
    found = []
    for i in range(len(AT_ONCE)):
        of = [row[i] for row in runs]
        everything, last, total = (
            np.array([getattr(one, name) for one in of], dtype=np.float64)
            for name in ("everything", "last", "total")
        )
        found.append(
            QuestionSummary(
                p=p,
                n_systems=len(of),
                at_once=of[0].at_once,
                everything=float(np.median(everything)),
                last=float(np.median(last)),
                total=float(np.median(total)),
                last_ratio=float(np.median(last / everything)),
                total_ratio=float(np.median(total / everything)),
                n_wrong=sum(one.n_wrong for one in of),
            )
        )
    return found


def question_table(rows: Sequence[QuestionSummary]) -> str:
    """As Markdown."""
    head = f"""### Less is asked

Median rounds of the randomized rule on the paper's systems at delta = {DELTA} and epsilon =
{EPSILON}: for all direct effects, for those on the last variable in the order of causes, and for
the total effect of the first on the last; in brackets the median of the ratio to everything on the
same system. `wrong`: claims that are not right, of three on every system.

| nodes | systems | at once | everything | about the last | a total effect | wrong |
|---|---|---|---|---|---|---|
"""
    lines = [
        f"| {r.p} | {r.n_systems} | {r.at_once or 'any'} | {r.everything:,.0f} | "
        f"{r.last:,.0f} ({r.last_ratio:.2f}) | {r.total:,.0f} ({r.total_ratio:.2f}) | "
        f"{r.n_wrong} |"
        for r in rows
    ]
    return head + "\n".join(lines) + "\n"
