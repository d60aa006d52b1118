"""The figures on sets of variables made on demand as Markdown."""

import statistics
from collections.abc import Callable, Sequence

from causalfocus.benchmark.columns import ColumnRun
from causalfocus.benchmark.units import in_units


def column_table(rows: Sequence[ColumnRun]) -> str:
    """Values and times side by side, one line per system and the medians."""
    head = """### Sets of variables made on demand

C_epsilon of the class rule, in nats per round, with up to two variables set at once (`pairs`, all
listed) and with any number: made on demand, and all sets listed where that can be done. `gap`: of
the value made on demand, and whether its upper bound holds over `all` sets or over those that a
search `found`. `columns`: sets that were compared in the end, those to begin with included. Times
are of one call each, in turns, in one process.
"""
    headings = (
        "system",
        "sets",
        "C, pairs",
        "on demand",
        "listed",
        "on demand / pairs",
        "gap",
        "columns",
        "time, pairs",
        "on demand",
        "listed",
        "listed / on demand",
    )
    lines = [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    return head + "\n".join(["", *lines, *map(_line, rows), _medians(rows)])


def _line(row: ColumnRun) -> str:
    made, listed = row.made, row.listed
    return (
        f"| p = {row.p}, {row.seed} | {row.n_sets:,} | {row.pairs.value:.6f} | {made.value:.6f} | "
        f"{'' if listed is None else f'{listed.value:.6f}'} | "
        f"{made.value / row.pairs.value:.2f} | "
        f"{made.gap:.1e} {'all' if made.is_exhaustive else 'found'} | {made.n_choices} | "
        f"{in_units(row.pairs.seconds)} | {in_units(made.seconds)} | "
        f"{'' if listed is None else in_units(listed.seconds)} | "
        f"{'' if listed is None else f'{listed.seconds / made.seconds:.1f}'} |"
    )


def _medians(rows: Sequence[ColumnRun]) -> str:
    def median(of: Callable[[ColumnRun], float]) -> float:
        return statistics.median(map(of, rows))

    ratios = [r.listed.seconds / r.made.seconds for r in rows if r.listed is not None]
    return (
        f"| median of {len(rows)} | | {median(lambda r: r.pairs.value):.6f} | "
        f"{median(lambda r: r.made.value):.6f} | | "
        f"{median(lambda r: r.made.value / r.pairs.value):.2f} | "
        f"{median(lambda r: r.made.gap):.1e} | {median(lambda r: r.made.n_choices):g} | "
        f"{in_units(median(lambda r: r.pairs.seconds))} | "
        f"{in_units(median(lambda r: r.made.seconds))} | | "
        f"{f'{statistics.median(ratios):.1f}' if ratios else ''} |"
    )
