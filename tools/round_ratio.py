"""How much longer one round takes in one version of causalfocus than in another.

    python tools/round_ratio.py BEFORE AFTER [--rounds | --compilation]

BEFORE and AFTER are source folders, each with a package `causalfocus` in it. One worker process per
folder replays the same stored logs of a system of six nodes, under the gaussian rule and under the
class rule. Blocks of rounds alternate between the two workers many times, so that whatever else
the machine does falls on both; times are those of the processor. Then every kernel is compiled
from an empty cache, in both versions by turns. One of the two words leaves the other part out. The
script knows the words of earlier versions.
"""

import inspect
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

EARLIER = {"gaussian": "resolution", "class": "evidence"}
RULES = ("gaussian", "class")
LONGEST = 5000
"""Rounds of a log at most; it ends before the stop."""

BLOCK, PASSES, WARM_UP = 25, 1, 1
"""Rounds of a block; how often the whole log is replayed, and how often before that."""

PAIRS = 12
"""Pairs of workers. The same code is a few percent faster in one process than in another, so the
interval is over pairs: two copies of one version differ by nothing, to its width."""

RESAMPLES = 4000

COMPILATIONS = 3
"""How often everything is compiled in each version."""


def learner_of(rule: str, p: int) -> tuple[Any, Any]:
    """Return a system and a learner of the version that is on the path."""
    import causalfocus as cf

    has_new_words = "rule" in inspect.signature(cf.Focus).parameters
    option = {"rule": rule} if has_new_words else {"stopping": EARLIER[rule]}
    if "ends" in inspect.signature(cf.Focus).parameters:
        option["ends"] = "game"  # so that what is asked for is what the log answers
    space = cf.ModelClass(0.15, max_effect=1.5, noise_variance=(0.8, 1.2), intercept=False)
    model = cf.random_sem(p, density=0.3, seed=1, space=space)
    actions = cf.ActionSet(dict.fromkeys(model.names, (-2.0, 2.0)))
    return model, cf.Focus(actions, space, epsilon=0.075, **option)


def played_log(rule: str) -> list[tuple[int, list[float]]]:
    """Return what a learner asked for, by number, and what came back, up to the stop."""
    model, learner = learner_of(rule, 6)
    rng = np.random.default_rng(3)
    numbers = {action: i for i, action in enumerate(learner.actions)}
    log: list[tuple[int, list[float]]] = []
    while len(log) < LONGEST and not learner.decision.stop:
        action = learner.ask()
        sample = model.sample(action, 1, rng)[0]
        learner.tell(action, sample)
        log.append((numbers[action], sample.tolist()))
    return log[:-1]


def blocks_of(log: list[tuple[int, list[float]]]) -> list[list[tuple[int, list[float]]]]:
    return [log[i : i + BLOCK] for i in range(0, len(log) - BLOCK + 1, BLOCK)]


def replay(rule: str, log: list[tuple[int, list[float]]]) -> None:
    """Replay the log block by block, one for each line on stdin, and say how long each took."""
    blocks = blocks_of([(at, sample) for at, sample in log])
    for _ in range(WARM_UP + PASSES):
        _, learner = learner_of(rule, 6)
        actions = list(learner.actions)
        for block in blocks:
            sys.stdin.readline()
            start = time.process_time()
            for at, sample in block:
                learner.tell(actions[at], sample)
                learner.ask()
            sys.stdout.write(f"{time.process_time() - start}\n")
            sys.stdout.flush()


def compile_everything() -> None:
    """Call whatever has a kernel: both rules to their stop, their results, and all baselines."""
    import causalfocus as cf
    from causalfocus.baselines import BASELINES

    for rule in RULES:
        for p in (2, 3):
            model, learner = learner_of(rule, p)
            rng = np.random.default_rng(3)
            while learner.rounds < 3000 and not learner.decision.stop:
                action = learner.ask()
                learner.tell(action, model.sample(action, 1, rng)[0])
            learner.result()
            learner.alarms()
            float(learner.decision.evidence)
    space = cf.ModelClass(0.15, max_effect=1.5, noise_variance=(0.8, 1.2))
    model = cf.random_sem(3, density=1.0, seed=1, space=space)
    actions = cf.ActionSet(dict.fromkeys(model.names, (-2.0, 2.0)))
    for kind in BASELINES.values():
        rng = np.random.default_rng(3)
        baseline = kind(actions, space, seed=7)
        for _ in range(25):
            action = baseline.ask()
            baseline.tell(action, model.sample(action, 1, rng)[0])
        baseline.estimate  # noqa: B018


def started(source: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """Return a process of this script that sees one version."""
    return subprocess.Popen(  # noqa: S603
        [sys.executable, __file__, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source), **environment},
        text=True,
    )


def output_of(source: Path, *words: str, **environment: str) -> str:
    output, _ = started(source, *words, **environment).communicate()
    return output


def block_time(worker: "subprocess.Popen[str]") -> float:
    if worker.stdin is None or worker.stdout is None:
        raise RuntimeError("a worker without pipes")
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def interval_of(ratios: list[float]) -> tuple[float, float]:
    """Return a bootstrap 95 percent interval of the median of the pairs' ratios."""
    chance = random.Random(0)  # noqa: S311
    found = sorted(
        statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    return found[int(0.025 * RESAMPLES)], found[int(0.975 * RESAMPLES)]


def pair_times(rule: str, sources: tuple[Path, Path], log: Path) -> list[tuple[float, float]]:
    """Return the times of all blocks in one pair of workers, taken in turn."""
    n_blocks = len(blocks_of(json.loads(log.read_text())))
    workers = [started(source, "replay", rule, str(log)) for source in sources]
    times = []
    for number in range((WARM_UP + PASSES) * n_blocks):
        pair = [0.0, 0.0]
        for which in (number % 2, 1 - number % 2):
            pair[which] = block_time(workers[which])
        if number >= WARM_UP * n_blocks:
            times.append((pair[0] / BLOCK, pair[1] / BLOCK))
    for worker in workers:
        worker.communicate()
    return times


def compare_rounds(rule: str, before: Path, after: Path, folder: Path) -> None:
    """Write the ratio of the times of one round."""
    log = folder / f"{rule}.json"
    log.write_text(output_of(before, "log", rule))
    pairs = [pair_times(rule, (before, after), log) for _ in range(PAIRS)]
    own = [
        1000.0
        * statistics.median(statistics.mean(pair[which] for pair in times) for times in pairs)
        for which in (0, 1)
    ]
    sys.stdout.write(
        f"{rule}: a round takes {own[0]:.3f} ms before and {own[1]:.3f} ms after "
        f"({PAIRS} pairs of workers, {len(pairs[0])} blocks of {BLOCK} rounds in each)\n"
    )
    for name, figure in (
        ("median block", lambda times: statistics.median(b / a for a, b in times)),
        ("whole run", lambda times: sum(b for _, b in times) / sum(a for a, _ in times)),
    ):
        ratios = [figure(times) for times in pairs]
        low, high = interval_of(ratios)
        sys.stdout.write(
            f"  {name}: ratio {statistics.median(ratios):.3f}, 95 percent [{low:.3f}, {high:.3f}]\n"
        )
    sys.stdout.flush()


def compilation_time(source: Path) -> float:
    """Return the time of a first call of everything: with an empty cache, less with a full one."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (float(output_of(source, "compile", NUMBA_CACHE_DIR=cache)) for _ in range(2))
    return cold - warm


def compare_compilation(before: Path, after: Path) -> None:
    """Write the ratio of the times to compile everything, taken by turns."""
    seconds: dict[Path, list[float]] = {before: [], after: []}
    for number in range(COMPILATIONS):
        for source in (before, after) if number % 2 == 0 else (after, before):
            seconds[source].append(compilation_time(source))
    ratios = [b / a for a, b in zip(seconds[before], seconds[after], strict=True)]
    sys.stdout.write(
        f"compiling everything takes {statistics.median(seconds[before]):.0f} s before and "
        f"{statistics.median(seconds[after]):.0f} s after; ratio {statistics.median(ratios):.3f}, "
        f"all of {COMPILATIONS} between {min(ratios):.3f} and {max(ratios):.3f}\n"
    )


def main() -> None:
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["log", rule]:
            json.dump(played_log(rule), sys.stdout)
        case ["replay", rule, log]:
            replay(rule, json.loads(Path(log).read_text()))
        case ["compile"]:
            start = time.process_time()
            compile_everything()
            sys.stdout.write(f"{time.process_time() - start}\n")
        case [before, after, *rest] if rest in ([], ["--rounds"], ["--compilation"]):
            if rest != ["--compilation"]:
                with tempfile.TemporaryDirectory() as folder:
                    for rule in RULES:
                        compare_rounds(rule, Path(before), Path(after), Path(folder))
            if rest != ["--rounds"]:
                compare_compilation(Path(before), Path(after))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
