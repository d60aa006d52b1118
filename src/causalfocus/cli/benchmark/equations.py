"""`causalfocus benchmark equations`: what becomes of a run if one equation breaks a rule."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, Out


def equations(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each kind and size.")] = 100,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count refutations and wrong certificates where one equation breaks an assumption."""
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.violations import n_tasks, violated_runs

    rows = watch("equations", violated_runs(runs, n_workers()), n_tasks())
    deliver(Figures(violations=rows), out, as_json)
