"""`causalfocus benchmark several`: what it is worth to set several variables at once."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def several(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare one variable, two and any number set at once: information and rounds."""
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.several import several_runs, several_summary

    runs = several_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = [several_summary(nodes, watch("several", runs, systems))]
    deliver(Figures(several=rows), out, as_json)
