"""The figures on the baselines as Markdown."""

from collections.abc import Sequence

from causalfocus.benchmark.baselines import (
    MARKS,
    TRADES,
    Curve,
    LearnerTimes,
    Recovery,
    ScheduleRow,
)
from causalfocus.benchmark.units import in_units


def learner_table(rows: Sequence[LearnerTimes]) -> str:
    """What a round of each costs."""
    head = """### One round of every learner

One system of the paper's settings, all learners in turns of 25 rounds. `round`: ask and tell, with
the fits of DCDI in them; `estimate`: on demand after it. FOCUS estimates, and checks its
certificate, when it is told.

| learner | p | rounds | round | estimate | round / FOCUS |
|---|---|---|---|---|---|
"""
    focus = next(r.round for r in rows if r.learner.startswith("FOCUS"))
    return head + "\n".join(
        f"| {r.learner} | {r.p} | {r.n_rounds} | {in_units(r.round)} | {in_units(r.estimate)} | "
        f"{r.round / focus:.2g} |"
        for r in rows
    )


def curve_table(rows: Sequence[Curve]) -> str:
    """Errors at the marks."""
    marks = " | ".join(f"n = {mark}" for mark in MARKS)
    lines = "|---" * (3 + len(MARKS)) + "|"
    head = f"""### Structure and weight errors of the baselines

Random systems of six nodes with the paper's settings (density 0.3, no intercepts), the same for
all. Structure: mean structural Hamming distance, with its standard error. Weights: mean largest
error of an edge weight. `less` is the structure error less that of the variant which it stands for,
paired by system. `round`: mean seconds per round, with as many runs at a time as there are cores.

| learner | systems | round | {marks} |
{lines}
"""
    body = []
    for r in rows:
        start = f"{r.n_systems} | {in_units(r.seconds)}"
        body.append(f"| {r.variant}, structure | {start} | {_cells(r.shd, r.shd_error)} |")
        body.append(f"| {r.variant}, weights | | | {_cells(r.weight, r.weight_error)} |")
        if r.difference:
            cells = _cells(r.difference, r.difference_error, sign="+")
            body.append(f"| {r.variant} less {TRADES[r.variant]} | | | {cells} |")
    return head + "\n".join(body)


def _cells(values: Sequence[float], errors: Sequence[float], *, sign: str = "") -> str:
    return " | ".join(f"{v:{sign}.2f} ± {e:.2f}" for v, e in zip(values, errors, strict=True))


def recovery_table(rows: Sequence[Recovery]) -> str:
    """DCDI beside the exact MLE."""
    head = """### Graphs that DCDI finds

Systems of the paper's settings, actions drawn uniformly; DCDI with its default schedule and the
exact joint MLE of the class on the same data. Right: systems with the right graph.

| p | systems | samples | DCDI right | MLE right | DCDI mean SHD | MLE mean SHD |
|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.n_samples:,} | {r.dcdi} | {r.mle} | {r.dcdi_shd:.2f} | "
        f"{r.mle_shd:.2f} |"
        for r in rows
    )


def schedule_table(rows: Sequence[ScheduleRow]) -> str:
    """Accuracy and cost of DCDI's descent."""
    head = """### Schedules of DCDI

Six nodes, uniform actions, cold starts, the expected objective with the penalty of BIC. Settings:
learning rate, first mu, its factor, window.

| schedule | settings | systems | samples | mean SHD | iterations | seconds per fit |
|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.schedule} | {', '.join(f'{value:g}' for value in r.settings)} | {r.n_systems} | "
        f"{r.n_samples:,} | {r.shd:.2f} ± {r.shd_error:.2f} | {r.n_iterations:,.0f} | "
        f"{r.seconds:.3f} |"
        for r in rows
    )
