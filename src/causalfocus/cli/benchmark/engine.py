"""`causalfocus benchmark engine`: speed and memory, side by side with the literal paper."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from causalfocus.cli.benchmark.delivery import deliver, watch
from causalfocus.cli.benchmark.options import AsJson, Out


def engine(
    quick: Annotated[bool, typer.Option(help="Small sizes only: seconds, not minutes.")] = False,
    referee: Annotated[
        Path, typer.Option(help="Folder of the tests, which hold the literal enumeration.")
    ] = Path("tests"),
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Time the exact oracles, whole rounds, the complexity and the learners; and their memory."""
    from causalfocus.benchmark.baselines import learner_times
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.game import game_times
    from causalfocus.benchmark.literal import find_referee, ratios
    from causalfocus.benchmark.memory import peak_memory
    from causalfocus.benchmark.oracles import oracle_times
    from causalfocus.benchmark.rounds import round_times, run_memory

    figures = Figures()
    literal = find_referee(referee)
    if literal is None:
        Console(stderr=True).print(
            f"No literal enumeration in {referee}: its ratios are left out. Run this from a "
            f"checkout with the test extra installed, or give --referee."
        )
    else:
        sizes = range(3, 5 if quick else 7)
        figures.ratios = watch("literal", ratios(literal, sizes), 2 * len(sizes))
    sizes = range(5, 8 if quick else 15)
    figures.times = watch("times", oracle_times(sizes, 3 if quick else 5), len(sizes))
    sizes = range(17, 18 if quick else 21)
    figures.memory = watch("memory", peak_memory(sizes), len(sizes))

    sizes = range(3, 5 if quick else 13)
    figures.rounds = watch("rounds", round_times(sizes), 2 * len(sizes))
    sizes = range(3, 5 if quick else 11)
    figures.games = watch("games", game_times(sizes, 2 if quick else 5), len(sizes))
    figures.runs = [run_memory(6, 1_000 if quick else 20_000)]
    figures.learners = learner_times(1 if quick else 8)
    deliver(figures, out, as_json)
