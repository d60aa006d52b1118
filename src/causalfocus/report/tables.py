"""Models and verdicts in the terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from causalfocus.guarantees import Interval
from causalfocus.guarantees.effects import Effect, Finding
from causalfocus.report.pairs import Pairs, estimate_in_words, interval_in_words
from causalfocus.system.sem import LinearSEM

COLOURS: dict[Finding, str] = {"present": "bold", "present, small": "", "absent": "dim", "open": ""}


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


def settled_bar(pairs: Pairs) -> Group:
    """How many pairs are settled, and how many there are of every verdict."""
    n = max(len(pairs.effects), 1)
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        Text(pairs.headline, style="bold"),
        ProgressBar(total=n, completed=pairs.effects.n_settled, width=24),
    )
    return Group(bar, Text(f"{pairs.counts}."))


def pair_table(pairs: Pairs) -> Group:
    """Every pair with its verdict, the furthest from done last; of many, what is there and what is
    the furthest from done.
    """
    if pairs.is_few:
        return Group(_lines(pairs, pairs.lines))
    parts: list[Table | Text] = []
    if pairs.present:
        more = len(pairs.present) - len(pairs.first_present)
        parts += [Text("Present", style="bold"), _lines(pairs, pairs.first_present)]
        parts += [Text(f"and {more:,} more")] * bool(more)
    if pairs.first_open:
        said = (
            f"Open: the {len(pairs.first_open)} furthest from done, of {len(pairs.with_interval):,}"
        )
        parts += [Text(f"\n{said}" if parts else said, style="bold")]
        parts += [_lines(pairs, pairs.first_open)]
    if pairs.without_interval:
        parts += [Text(f"\n{pairs.without_interval}" if parts else pairs.without_interval)]
    return Group(*parts)


def _lines(pairs: Pairs, effects: Iterable[Effect]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("cause -> effect", overflow="fold")
    for heading in ("estimate", "interval"):
        table.add_column(heading, justify="right")
    for heading in ("verdict", "waits for", "more rounds"):
        table.add_column(heading)
    for one in effects:
        table.add_row(
            Text(f"{one.cause} -> {one.effect}"),
            estimate_in_words(one),
            interval_in_words(one),
            one.verdict,
            pairs.waits_for(one),
            pairs.more(one),
            style=COLOURS[one.verdict],
        )
    return table
