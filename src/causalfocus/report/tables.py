"""Models in the terminal."""

from collections.abc import Sequence

from rich.table import Table

from causalfocus.guarantees import Interval
from causalfocus.system.sem import LinearSEM


def edge_table(truth: LinearSEM, estimate: LinearSEM) -> Table:
    """Every edge of either model: its true weight, the recovered one, and what to think of it."""
    table = Table(title="Edges, true and recovered", title_justify="left")
    table.add_column("cause -> effect")
    table.add_column("true", justify="right")
    table.add_column("recovered", justify="right")
    table.add_column("error", justify="right")
    table.add_column("")
    true = {(cause, effect): weight for cause, effect, weight in truth.edges}
    found = {(cause, effect): weight for cause, effect, weight in estimate.edges}
    for pair in sorted(true.keys() | found.keys(), key=lambda pair: (pair not in true, pair)):
        weight, recovered = true.get(pair), found.get(pair)
        if weight is None or recovered is None:
            verdict = "[red]not in the true graph" if weight is None else "[red]missed"
            error = ""
        else:
            verdict, error = "[green]right", f"{recovered - weight:+.3f}"
        table.add_row(
            f"{pair[0]} -> {pair[1]}", _number(weight), _number(recovered), error, verdict
        )
    return table


def equation_table(truth: LinearSEM, estimate: LinearSEM) -> Table:
    """The structural equations beside each other."""
    table = Table(title="Equations", title_justify="left")
    table.add_column("true")
    table.add_column("recovered")
    left, right = truth.equations().splitlines(), estimate.equations().splitlines()
    for pair in zip(left, right, strict=True):
        table.add_row(*pair)
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def interval_table(intervals: Sequence[Interval], delta: float) -> Table:
    """The weights that the evidence leaves, given the graph."""
    table = Table(title=f"Weights not rejected at delta = {delta:g}", title_justify="left")
    table.add_column("cause -> effect")
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    for interval in intervals:
        table.add_row(
            f"{interval.cause} -> {interval.effect}",
            f"{interval.low:+.3f}",
            f"{interval.high:+.3f}",
        )
    return table
