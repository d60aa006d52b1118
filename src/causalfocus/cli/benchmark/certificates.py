"""`causalfocus benchmark certificates`: the rounds that a certificate takes, and those foretold."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def certificates(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count the rounds to a certificate, wrong ones, and the rounds foretold, on drawn systems."""
    from causalfocus.benchmark.certificates import certified_runs, summary
    from causalfocus.benchmark.document import Figures

    runs = certified_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = [summary(nodes, watch("systems", runs, systems))]
    deliver(Figures(certificates=rows), out, as_json)
