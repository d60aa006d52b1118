"""`causalfocus benchmark columns`: sets of variables made on demand beside all of them listed."""

from causalfocus.cli.benchmark.delivery import deliver, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def columns(
    systems: Systems = 10,
    nodes: Nodes = 12,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare sets of variables made on demand with all pairs and with all sets: C and time."""
    from causalfocus.benchmark.columns import column_runs
    from causalfocus.benchmark.document import Figures

    runs = column_runs(nodes, range(first_seed, first_seed + systems))
    deliver(Figures(columns=watch("columns", runs, systems)), out, as_json)
