"""`causalfocus benchmark costs`: what knowing the costs of actions saves."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def costs(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare a learner that knows the costs of its actions with one that does not."""
    from causalfocus.benchmark.costs import cost_runs, cost_summary
    from causalfocus.benchmark.document import Figures

    runs = cost_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = [cost_summary(nodes, watch("costs", runs, systems))]
    deliver(Figures(costs=rows), out, as_json)
