"""Wrong claims and rounds of all methods, counted, and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfocus.benchmark.today import DELTA, EPSILON, FIXED, LOOK, MOST, PAIRS, TodayRun
from causalfocus.benchmark.worlds import SPACE
from causalfocus.experiments.analysis import ErrorRate


@dataclass(frozen=True, kw_only=True)
class TodayCell:
    """All runs of a method in a world.

    Attributes
    ----------
    wrong : runs with a wrong claim; `limit`: one-sided 95 percent limit of its probability, exact
    invented, reversed_signs, overlooked : runs with a claim that is wrong in this way
    undecided : runs that did not decide on everything
    outside : share of the intervals that miss
    """

    world: str
    design: str
    method: str
    runs: int
    wrong: int
    limit: float
    invented: int
    reversed_signs: int
    overlooked: int
    undecided: int
    outside: float
    median_rounds: float


def count_claims(runs: Sequence[Sequence[TodayRun]]) -> list[TodayCell]:
    """Return a cell for every world and method."""
    found = []
    for rows in runs:
        for method in dict.fromkeys(row.method for row in rows):
            group = [row for row in rows if row.method == method]
            wrong = sum(row.is_wrong for row in group)
            found.append(
                TodayCell(
                    world=group[0].world,
                    design=group[0].design,
                    method=method,
                    runs=len(group),
                    wrong=wrong,
                    limit=ErrorRate(wrong, len(group)).limit,
                    invented=sum(row.invented > 0 for row in group),
                    reversed_signs=sum(row.reversed_signs > 0 for row in group),
                    overlooked=sum(row.overlooked > 0 for row in group),
                    undecided=sum(row.undecided > 0 for row in group),
                    outside=sum(row.outside for row in group) / (len(group) * int(PAIRS.sum())),
                    median_rounds=float(np.median([row.rounds for row in group])),
                )
            )
    return found


def today_table(rows: Sequence[TodayCell]) -> str:
    """Return the cells as Markdown."""
    head = f"""### Beside what people do today

The same samples of three variables for all methods, as the design `{rows[0].design}` asked for
them, one variable at a time; delta = {DELTA}, min_effect {SPACE.least_effect}.
Without looks {FIXED:,} rounds, with looks one every {LOOK} rounds until every pair is decided,
{MOST:,} at most; `certificate`: until every effect is known to {EPSILON} as well. `wrong`: runs
with a wrong claim, with the one-sided 95 percent limit of its probability; of these `invented`: an
effect called present that is zero, `sign`: one with the wrong sign, `overlooked`: one of min_effect
or more called absent. `undecided`: runs that did not decide on every pair. `outside`: share of the
effects outside their intervals, at 95 percent each, by coins at 1 - delta for all. Rounds are
medians.

| world | method | runs | wrong | limit | invented | sign | overlooked | undecided | outside \
| rounds |
|---|---|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.world} | {r.method} | {r.runs} | {r.wrong} | {r.limit:.3f} | {r.invented} | "
        f"{r.reversed_signs} | {r.overlooked} | {r.undecided} | {100 * r.outside:.1f} % | "
        f"{r.median_rounds:,.0f} |"
        for r in rows
    )
