"""`causalfocus benchmark coins` and `large`: what the randomized rule costs."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Systems


def coins(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare the rounds of the randomized rule, loops allowed or not, with those of the gaussian
    rule.
    """
    from causalfocus.benchmark.coins import coin_runs, coin_summary
    from causalfocus.benchmark.document import Figures

    runs = coin_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = [coin_summary(nodes, watch("coins", runs, systems))]
    deliver(Figures(coins=rows), out, as_json)


def large(
    systems: Systems = 10,
    nodes: Nodes = 15,
    first_seed: FirstSeed = 0,
    at_once: Annotated[int, typer.Option(min=0, help="Set in one round; 0 for any number.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare the rounds of the randomized rule on larger systems with the ideal."""
    from causalfocus.benchmark.coins import large_run
    from causalfocus.benchmark.document import Figures

    large_run(4, 0, at_once or None)  # so that no time is that of the compiler
    seeds = range(first_seed, first_seed + systems)
    rows = watch("large", (large_run(nodes, seed, at_once or None) for seed in seeds), systems)
    deliver(Figures(large=rows), out, as_json)
