"""`causalfocus benchmark baselines`: the other methods, their speed and their errors."""

from causalfocus.cli.benchmark.delivery import deliver, n_workers, watch
from causalfocus.cli.benchmark.options import AsJson, Out, Systems


def baselines(systems: Systems = 20, out: Out = None, as_json: AsJson = False) -> None:
    """Time the baselines and follow their errors, on drawn systems of six nodes."""
    from causalfocus.benchmark.baselines import (
        SCHEDULES,
        VARIANTS,
        curves,
        learner_times,
        recovery,
        schedules,
    )
    from causalfocus.benchmark.document import Figures

    figures = Figures(learners=learner_times(8), recoveries=[recovery(5, 50, 2000, n_workers())])
    rows = schedules(2 * systems, n_workers())
    figures.schedules = watch("schedules", rows, 3 * len(SCHEDULES))
    figures.curves = watch("curves", curves(systems, n_workers()), len(VARIANTS))
    deliver(figures, out, as_json)
