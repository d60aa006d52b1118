"""The tables of a folder of results, to be read."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from causalfocus.experiments.tables import Row

SHOWN_MARKS: Final = (20, 50, 100, 200, 400, 800, 1000)
"""Rounds at which errors are shown; the nearest marks are taken."""

Column = tuple[str, Callable[[Row], str]]


def summary(tables: dict[str, list[Row]]) -> str:
    """All tables in Markdown, a heading each."""
    marks = nearest(sorted({_int(row["n"]) for row in tables["curves"]}))
    shown = {
        name: [row for row in tables[name] if row["n"] in marks] for name in ("curves", "gaps")
    }
    sections = [
        ("Errors", _table(shown["curves"], ERRORS)),
        ("Errors less those of FOCUS on the same systems", _table(shown["gaps"], GAPS)),
        ("Who is ahead, all marks and settings at once", _table(tables["leads"], LEADS)),
        ("Rounds to the certificate", _table(tables["stops"], STOPS)),
        ("Rounds less those of FOCUS on the same systems", _table(tables["stop_gaps"], STOP_GAPS)),
        ("Stopping time against log(1/delta)", _table(tables["fits"], FITS)),
        ("Where the results come from", _table(tables["runs"], RUNS)),
    ]
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in sections if table) + "\n"


def nearest(marks: Sequence[int]) -> list[int]:
    """Of these marks those nearest to the ones that are shown."""
    if not marks:
        return []
    wanted = [n for n in SHOWN_MARKS if n <= marks[-1]] or [marks[-1]]
    return sorted({min(marks, key=lambda mark: abs(mark - n)) for n in wanted})


def _table(rows: Iterable[Row], columns: Sequence[Column]) -> str:
    lines = [
        "| " + " | ".join(title for title, _ in columns) + " |",
        "|---" * len(columns) + "|",
    ]
    body = ["| " + " | ".join(show(row) for _, show in columns) + " |" for row in rows]
    return "\n".join(lines + body) if body else ""


def _plain(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _number(name: str, form: str) -> Callable[[Row], str]:
    return lambda row: format(row[name], form)


def _spread(name: str, form: str) -> Callable[[Row], str]:
    """A mean with its interval."""

    def show(row: Row) -> str:
        value, low, high = (format(row[name + end], form) for end in ("", "_low", "_high"))
        return f"{value} ({low} to {high})"

    return show


def _wrong(row: Row) -> str:
    return f"{row['wrong']} of {row['replicates']}"


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no count")
    return value


HEAD: Final[list[Column]] = [("setting", _plain("setting")), ("method", _plain("method"))]

ERRORS: Final[list[Column]] = [
    *HEAD,
    ("systems", _number("replicates", ",")),
    ("n", _plain("n")),
    ("SHD", _spread("shd", ".2f")),
    ("largest weight error", _spread("weight_error", ".3f")),
    ("graph right", _number("graph_right", ".1%")),
    ("and weights within epsilon", _number("all_right", ".1%")),
    ("SHD by joint MLE", _spread("shd_by_mle", ".2f")),
    ("SHD by most probable DAG", _spread("shd_by_bayes", ".2f")),
]

GAPS: Final[list[Column]] = [
    *HEAD,
    ("n", _plain("n")),
    ("SHD", _spread("shd_gap", "+.2f")),
    ("largest weight error", _spread("weight_error_gap", "+.3f")),
    ("SHD, both by joint MLE", _spread("shd_gap_by_mle", "+.2f")),
    ("SHD, both by most probable DAG", _spread("shd_gap_by_bayes", "+.2f")),
]

LEADS: Final[list[Column]] = [
    *HEAD,
    ("systems", _number("replicates", ",")),
    ("error", _plain("error")),
    ("n", _plain("n")),
    ("its error less FOCUS's", _spread("lead", "+.3f")),
    ("ahead", _plain("ahead")),
]

STOPS: Final[list[Column]] = [
    *HEAD,
    ("delta", _number("delta", "g")),
    ("rounds", _spread("rounds", ",.0f")),
    ("lower bound", _number("lower_bound", ",.0f")),
    ("wrong", _wrong),
    ("95% limit", _number("wrong_limit", ".4f")),
]

STOP_GAPS: Final[list[Column]] = [
    *HEAD,
    ("delta", _number("delta", "g")),
    ("more rounds than FOCUS", _spread("rounds_gap", ",.0f")),
    ("FOCUS's rounds / its", _number("ratio", ".3f")),
    ("FOCUS is first", _number("sooner", ".1%")),
]

FITS: Final[list[Column]] = [
    *HEAD,
    ("slope", _spread("slope", ".0f")),
    ("1/C", _spread("rate", ".0f")),
    ("slope x C", _number("slope_over_rate", ".2f")),
    ("R squared", _number("linearity", ".5f")),
    ("at log(1/delta) = 0", _number("intercept", ",.0f")),
    ("not stopped", _plain("unstopped")),
    ("refuted", _plain("refuted")),
    ("paper's rule, delta = 0.05", _number("paper_rule_forecast", ".1e")),
]

RUNS: Final[list[Column]] = [
    *HEAD,
    ("systems", _number("replicates", ",")),
    ("seed", _plain("seed")),
    ("hash", _plain("hash")),
    ("hours of one core", lambda row: format(float(str(row["core_seconds"])) / 3600, ".2f")),
    ("median seconds of a unit", _number("unit_seconds", ".1f")),
    ("first unit", _plain("began")),
    ("last unit", _plain("ended")),
]
