"""`causalfocus benchmark campaigns`: opening a campaign's file and recording into it."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, watch
from causalfocus.cli.benchmark.options import AsJson, Nodes, Out


def campaigns(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the longest campaign.")] = 10_000,
    nodes: Nodes = 6,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Time campaign files, at a tenth of the rounds and at all of them."""
    from causalfocus.benchmark.campaigns import campaign_times
    from causalfocus.benchmark.document import Figures

    lengths = (max(1, rounds // 10), rounds)
    rows = watch("campaigns", campaign_times(nodes, lengths), len(lengths))
    deliver(Figures(campaigns=rows), out, as_json)
