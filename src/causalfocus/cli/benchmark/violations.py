"""`causalfocus benchmark violations`: what each rule survives."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, Out, Runs, Worlds


def violations(
    runs: Runs = 200,
    worlds: Worlds = None,
    rules: Annotated[
        list[str] | None, typer.Option(help="A rule; give it again for more. All by default.")
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count right and wrong certificates and refutations, by rule, in worlds as labs have them.

    With --out every run is written to violations.csv there, and what is in it is not run again.
    """
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.survival import cells, count_fates, world_runs

    of = cells(rules or (), worlds or ())
    file = None if out is None else out / "violations.csv"
    rows = count_fates(watch("violations", world_runs(of, runs, n_workers(), file), len(of)))
    deliver(Figures(survival=rows), out, as_json)
