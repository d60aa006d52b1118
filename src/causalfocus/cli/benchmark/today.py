"""`causalfocus benchmark today`: intervals by coins beside what people do today."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, Out, Runs, Worlds


def today(
    runs: Runs = 200,
    worlds: Worlds = None,
    design: Annotated[
        str, typer.Option(help="What collects the samples: a rule by its name, or random.")
    ] = "randomized",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare wrong claims and rounds of regression, two-stage least squares and coins.

    With --out every run is written to today.csv there, and what is in it is not run again.
    """
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.today import TROUBLES, today_runs
    from causalfocus.benchmark.today_table import count_claims

    file = None if out is None else out / "today.csv"
    rows = today_runs(worlds or (), design, runs, n_workers(), file)
    found = watch("today", rows, len(worlds or TROUBLES))
    deliver(Figures(today=count_claims(found)), out, as_json)
