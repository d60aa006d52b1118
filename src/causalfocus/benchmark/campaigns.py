"""What a campaign's file costs: opening it, and recording one more sample, beside learning."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.campaign import Campaign
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.space import ModelClass

HUNDRED: Final = 100
REPEATS: Final = 11


@dataclass(frozen=True, kw_only=True)
class CampaignTimes:
    """Seconds, each the median of several.

    Attributes
    ----------
    p, n_rounds : of the campaign
    opening : until the learner stands ready
    replayed : rounds that opening had to play
    learning : a hundred rounds in memory, at that length
    recording : one more sample in an open campaign, to the disk
    """

    p: int
    n_rounds: int
    opening: float
    replayed: int
    learning: float
    recording: float


def campaign_times(p: int, lengths: tuple[int, ...]) -> Iterator[CampaignTimes]:
    """A campaign that grows, measured at some lengths."""
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, 0, 21]))
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    rng = np.random.default_rng([p, 22])
    space = ModelClass(min_effect=0.15)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "benchmark.campaign"
        with Campaign.create(path, actions, space, epsilon=EPSILON, rule="gaussian") as campaign:
            for n in lengths:
                missing = range(n - campaign.rounds)
                taken = [actions[i % len(actions)] for i in missing]
                campaign.import_samples([(a, truth.sample(a, 1, rng)[0]) for a in taken])
                rows = [(a, truth.sample(a, 1, rng)[0]) for a in actions.actions * HUNDRED]
                recording = []
                for action, row in rows[: 2 * REPEATS]:
                    start = time.perf_counter()
                    campaign.record(row, action=action)
                    recording.append(time.perf_counter() - start)
                opening, replayed = [], 0
                for _ in range(REPEATS):
                    start = time.perf_counter()
                    with Campaign.open(path) as again:
                        learner = again.learner
                        opening.append(time.perf_counter() - start)
                        replayed = again.n_replayed
                start = time.perf_counter()
                for action, row in rows[:HUNDRED]:
                    learner.tell(action, row)
                learning = time.perf_counter() - start
                yield CampaignTimes(
                    p=p,
                    n_rounds=n,
                    opening=median(opening),
                    replayed=replayed,
                    learning=learning,
                    recording=median(recording),
                )


def campaign_table(rows: list[CampaignTimes]) -> str:
    """In Markdown."""
    head = """### Campaigns

Opening a campaign's file until its learner is ready, the rounds that this replays, a hundred rounds
of learning in memory, and recording one more sample, on the disk when it returns.

| p | rounds | opening | replayed | 100 rounds of learning | ratio | recording one |
|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_rounds:,} | {1e3 * r.opening:.1f} ms | {r.replayed} | "
        f"{1e3 * r.learning:.1f} ms | {r.opening / r.learning:.2f} | {1e3 * r.recording:.1f} ms |"
        for r in rows
    )
