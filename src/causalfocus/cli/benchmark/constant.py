"""`causalfocus benchmark constant`: what the rounds to a certificate are spent on."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def constant(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Split the rounds to a certificate: information, the price of the mixture, the rest."""
    from causalfocus.benchmark.constant import split_runs, split_summary
    from causalfocus.benchmark.document import Figures

    runs = split_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = [split_summary(nodes, watch("split", runs, systems))]
    deliver(Figures(splits=rows), out, as_json)
