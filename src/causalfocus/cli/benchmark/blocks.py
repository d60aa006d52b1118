"""`causalfocus benchmark blocks`: what it is worth to know that some variables are slow."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def blocks(
    systems: Systems = 40,
    nodes: Nodes = 5,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare a design that is given change costs with one that is not, in batches."""
    from causalfocus.benchmark.blocks import block_runs, block_summaries
    from causalfocus.benchmark.document import Figures

    runs = block_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = block_summaries(nodes, watch("blocks", runs, systems))
    deliver(Figures(blocks=rows), out, as_json)
