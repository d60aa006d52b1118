"""`causalfocus benchmark`: speed and memory of the engine, side by side with the literal paper."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from causalfocus.benchmark.document import Figures

Row = TypeVar("Row")


def benchmark(
    quick: Annotated[bool, typer.Option(help="Small sizes only: seconds, not minutes.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for benchmark.json and benchmark.md.")
    ] = None,
    referee: Annotated[
        Path, typer.Option(help="Folder of the tests, which hold the literal enumeration.")
    ] = Path("tests"),
    systems: Annotated[
        int, typer.Option(min=0, help="Only rounds to a certificate, on so many systems.")
    ] = 0,
    costs: Annotated[
        int, typer.Option(min=0, help="Only what knowing the costs saves, on so many systems.")
    ] = 0,
    violations: Annotated[
        int, typer.Option(min=0, help="Only broken assumptions, so many runs of each.")
    ] = 0,
    baselines: Annotated[
        int, typer.Option(min=0, help="Only the baselines, on so many systems of six nodes.")
    ] = 0,
    campaigns: Annotated[
        int, typer.Option(min=0, help="Only campaign files, up to so many rounds.")
    ] = 0,
    nodes: Annotated[int, typer.Option(help="Nodes of these systems.")] = 6,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first of them.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the exact oracles, or with --systems the rounds that a certificate takes."""
    from causalfocus.benchmark.baselines import (
        SCHEDULES,
        VARIANTS,
        curves,
        learner_times,
        recovery,
        schedules,
    )
    from causalfocus.benchmark.campaigns import campaign_times
    from causalfocus.benchmark.certificates import certified_runs, summary
    from causalfocus.benchmark.costs import cost_runs, cost_summary
    from causalfocus.benchmark.game import game_times
    from causalfocus.benchmark.literal import find_referee, ratios
    from causalfocus.benchmark.memory import peak_memory
    from causalfocus.benchmark.oracles import oracle_times
    from causalfocus.benchmark.rounds import round_times, run_memory
    from causalfocus.benchmark.violations import n_tasks, violated_runs

    progress = Console(stderr=True)
    figures = Figures()
    workers = os.cpu_count() or 1
    if systems:
        runs = certified_runs(nodes, range(first_seed, first_seed + systems), workers)
        figures.certificates = [summary(nodes, _watched(progress, "systems", runs, systems))]
    if costs:
        priced = cost_runs(nodes, range(first_seed, first_seed + costs), workers)
        figures.costs = [cost_summary(nodes, _watched(progress, "costs", priced, costs))]
    if violations:
        broken = violated_runs(violations, workers)
        figures.violations = _watched(progress, "violations", broken, n_tasks())
    if baselines:
        figures.learners = learner_times(8)
        figures.recoveries = [recovery(5, 50, 2000, workers)]
        rows = schedules(2 * baselines, workers)
        figures.schedules = _watched(progress, "schedules", rows, 3 * len(SCHEDULES))
        drawn = curves(baselines, workers)
        figures.curves = _watched(progress, "curves", drawn, len(VARIANTS))
    if campaigns:
        lengths = (max(1, campaigns // 10), campaigns)
        figures.campaigns = _watched(progress, "campaigns", campaign_times(nodes, lengths), 2)
    if systems or costs or violations or baselines or campaigns:
        _deliver(figures, progress, out, as_json)
        return
    literal = find_referee(referee)
    if literal is None:
        progress.print(
            f"No literal enumeration in {referee}: its ratios are left out. Run this from a "
            f"checkout with the test extra installed, or give --referee."
        )
    else:
        sizes = range(3, 5 if quick else 7)
        figures.ratios = _watched(progress, "literal", ratios(literal, sizes), 2 * len(sizes))
    sizes = range(5, 8 if quick else 15)
    figures.times = _watched(progress, "times", oracle_times(sizes, 3 if quick else 5), len(sizes))
    sizes = range(17, 18 if quick else 21)
    figures.memory = _watched(progress, "memory", peak_memory(sizes), len(sizes))

    sizes = range(3, 5 if quick else 13)
    figures.rounds = _watched(progress, "rounds", round_times(sizes), 2 * len(sizes))
    sizes = range(3, 5 if quick else 11)
    figures.games = _watched(progress, "games", game_times(sizes, 2 if quick else 5), len(sizes))
    figures.runs = [run_memory(6, 1_000 if quick else 20_000)]
    figures.learners = learner_times(1 if quick else 8)

    _deliver(figures, progress, out, as_json)


def _deliver(figures: Figures, progress: Console, out: Path | None, as_json: bool) -> None:
    """Write the files, if asked to, and print."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "benchmark.json").write_text(json.dumps(figures.to_dict(), indent=1) + "\n")
        (out / "benchmark.md").write_text(figures.to_markdown())
        progress.print(f"Written: {out / 'benchmark.json'} and {out / 'benchmark.md'}")
    typer.echo(json.dumps(figures.to_dict()) if as_json else figures.to_markdown())


def _watched(progress: Console, what: str, rows: Iterable[Row], n: int) -> list[Row]:
    """Collect the rows, saying how far along it is."""
    collected = []
    for i, row in enumerate(rows):
        collected.append(row)
        progress.print(f"{what}: {i + 1} of {n}")
    return collected
