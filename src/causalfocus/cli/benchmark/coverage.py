"""`causalfocus benchmark coverage`: whether intervals by coins hold all effects at all looks."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, Out, Worlds


def coverage(
    runs: Annotated[int, typer.Option(min=1, help="Runs, in all worlds together.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each run.")] = 1_000,
    worlds: Worlds = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count runs in which any interval misses its effect at any look, in worlds as labs have them.

    With --out every chunk of runs is written to coverage.csv there, and what is in it is not run
    again.
    """
    from causalfocus.benchmark.coverage import count_misses, coverage_runs, n_chunks
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.worlds import WORLDS

    file = None if out is None else out / "coverage.csv"
    chunks = coverage_runs(runs, rounds, worlds or (), n_workers(), file)
    n = n_chunks(runs, worlds or ()) * len(worlds or WORLDS)
    deliver(Figures(coverage=count_misses(watch("coverage", chunks, n))), out, as_json)
