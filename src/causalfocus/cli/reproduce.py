"""`causalfocus reproduce`: the paper's experiments, resumable, with their figures."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from causalfocus.cli.options import AsJson
from causalfocus.errors import InvalidInputError
from causalfocus.experiments.execution import Cluster, Done, Local, Runner
from causalfocus.experiments.specification import METHODS, PAPER_SETTINGS, Setting, Specification
from causalfocus.experiments.store import Store
from causalfocus.experiments.units import BLOCK, Unit, units_for
from causalfocus.report.reproduction import deliver

FAILED = 1
QUICK_BUDGET, QUICK_REPLICATES, QUICK_BLOCK = 100, 2, 1


def reproduce(
    settings: Annotated[
        list[str] | None, typer.Argument(help="Such as p6-d0.3; by default the paper's five.")
    ] = None,
    replicates: Annotated[int, typer.Option(min=1, help="Systems per setting.")] = 1000,
    methods: Annotated[str, typer.Option(help="Comma-separated.")] = ",".join(METHODS),
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("out/reproduce"),
    budget: Annotated[int, typer.Option(min=1, help="Rounds of the curves.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Root of all random numbers.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes on this machine.")] = (
        os.cpu_count() or 1
    ),
    dask: Annotated[
        str | None, typer.Option(help="Address of a dask scheduler to run on instead.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two systems, 100 rounds: to see the figures.")
    ] = False,
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="Run nothing; tables and figures of what is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiments; what was run before, in the same folder, is not run again."""
    chosen = [Setting.parse(text) for text in settings] if settings else list(PAPER_SETTINGS)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise InvalidInputError(f"Give at least one method of {', '.join(METHODS)}.")
    block = BLOCK
    if quick:
        budget, replicates, block = QUICK_BUDGET, QUICK_REPLICATES, QUICK_BLOCK
    specifications = [Specification(method=name, budget=budget, seed=seed) for name in names]
    units = units_for(chosen, specifications, replicates, block)
    store, failures = Store(out), list[Done]()
    if not draw_only:
        runner: Runner = Local(workers) if dask is None else Cluster(dask)
        try:
            failures = _complete(store, units, runner)
        except KeyboardInterrupt:
            left = len(store.find_missing(units))
            typer.echo(
                f"Interrupted with {left} of {len(units)} units to go; what is done is kept. The "
                f"same command goes on from here.",
                err=True,
            )
            raise typer.Exit(FAILED) from None
    facts = deliver(store, units, replicates)
    typer.echo(json.dumps(facts) if as_json else _in_words(facts))
    for done in failures:
        typer.echo(f"Failed: {done.failure}", err=True)
    if failures:
        raise typer.Exit(FAILED)


def _in_words(facts: dict[str, Any]) -> str:
    """What a person wants to know first."""
    runs = [
        f"{row['setting']} {row['method']}: {row['replicates']} systems" for row in facts["runs"]
    ]
    fits = [
        f"{row['setting']} {row['method']}: slope of the stopping time over log(1/delta) "
        f"{row['slope']:.0f} ({row['slope_low']:.0f} to {row['slope_high']:.0f}), rate 1/C "
        f"{row['rate']:.0f}; not stopped {row['unstopped']}, refuted {row['refuted']}"
        for row in facts["fits"]
    ]
    stops = [
        f"{row['setting']} {row['method']} at delta = {row['delta']:g}: {row['rounds']:.0f} "
        f"rounds; wrong {row['wrong']}, limit {row['wrong_limit']:.4f}"
        for row in facts["stops"]
    ]
    return "\n".join([*runs, *fits, *stops, f"Figures and tables: {facts['folder']}"])


def _complete(store: Store, units: list[Unit], runner: Runner) -> list[Done]:
    """Run what is missing, with a view of how far along it is."""
    console = Console(stderr=True)
    store.folder.mkdir(parents=True, exist_ok=True)
    n_missing = len(store.find_missing(units))
    console.print(f"{len(units) - n_missing} of {len(units)} units are there; {n_missing} to run.")
    if not console.is_terminal:
        n_done = 0

        def report(done: Done) -> None:
            nonlocal n_done
            n_done += 1
            state = "failed" if done.failure else f"{done.seconds:.1f} s"
            sys.stderr.write(f"{n_done} of {n_missing}: {done.unit.name} ({state})\n")
            sys.stderr.flush()

        return store.complete(units, runner, report)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("units", total=n_missing)
        return store.complete(units, runner, lambda _: progress.advance(task))
