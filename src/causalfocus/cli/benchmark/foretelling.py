"""`causalfocus benchmark foretelling`: whether the range of rounds to go holds what then comes."""

from typing import Annotated

import typer

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Out

MOST_WORKERS = 2


def foretell(
    runs: Annotated[int, typer.Option(min=1, help="Runs under every rule.")] = 200,
    first_seed: FirstSeed = 20_000,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule", help="A rule; give it again for more. All that foretell by default."
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count how often the rounds to go are in the range that was foretold on the way.

    With --out every run is written to foretelling.csv there, and what is in it is not run again.
    """
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.foretelling import RULES, foretelling_runs, foretelling_summary

    file = None if out is None else out / "foretelling.csv"
    seeds, chosen = range(first_seed, first_seed + runs), tuple(rules or RULES)
    found = foretelling_runs(chosen, seeds, min(n_workers(), MOST_WORKERS), file)
    rows = [row for each in watch("foretelling", found, runs * len(chosen)) for row in each]
    deliver(Figures(foretelling=foretelling_summary(rows)), out, as_json)
