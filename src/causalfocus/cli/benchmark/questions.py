"""`causalfocus benchmark questions` and `plant`: what it is worth to ask for less; raw units."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, FirstSeed, Nodes, Out, Runs, Systems


def questions(
    systems: Systems = 100,
    nodes: Nodes = 6,
    first_seed: FirstSeed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare the rounds for all direct effects, for those on one variable, for a total effect."""
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.questions import question_runs, question_summaries

    runs = question_runs(nodes, range(first_seed, first_seed + systems), n_workers())
    rows = question_summaries(nodes, watch("questions", runs, systems))
    deliver(Figures(questions=rows), out, as_json)


def plant(runs: Runs = 200, out: Out = None, as_json: AsJson = False) -> None:
    """Count the rounds to a certificate of a plant in raw units, and what is certain early."""
    from causalfocus.benchmark.document import Figures
    from causalfocus.benchmark.plant import plant_runs, plant_summaries

    found = watch("plant", plant_runs(runs, n_workers()), 2 * runs)
    deliver(Figures(plants=plant_summaries(found)), out, as_json)
