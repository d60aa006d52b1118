"""Results as rows: for CSV files and for Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence

from causalfocus.experiments.analysis import Mean, Sampled, gaps, mean_of, stop_fit, stop_gaps
from causalfocus.experiments.leads import leads

Row = dict[str, object]


def curve_rows(runs: Iterable[Sampled]) -> list[Row]:
    """Mean errors at all marks, with their intervals."""
    rows = []
    for run in runs:
        for at, mark in enumerate(run.specification.marks):
            row: Row = {**_head(run), "n": mark}
            row |= _spread("shd", mean_of(run.shd[:, at]))
            row |= _spread("weight_error", mean_of(run.weight_error[:, at]))
            for name, errors in (("mle", run.mle), ("bayes", run.bayes)):
                row |= _spread(f"shd_by_{name}", mean_of(errors[:, at, 0]))
                row |= _spread(f"weight_error_by_{name}", mean_of(errors[:, at, 1]))
            is_graph = run.shd[:, at] == 0
            is_all = is_graph & (run.weight_error[:, at] <= run.specification.epsilon)
            row |= {"graph_right": float(is_graph.mean()), "all_right": float(is_all.mean())}
            rows.append(row)
    return rows


def stop_rows(runs: Iterable[Sampled]) -> list[Row]:
    """Stopping times, wrong stops and their limits, one row per delta."""
    rows = []
    for run in runs:
        if not run.specification.is_certified:
            continue
        fit = stop_fit(run)
        for at, delta in enumerate(fit.deltas):
            rows.append(
                {
                    **_head(run),
                    "delta": delta,
                    **_spread("rounds", fit.means[at]),
                    "lower_bound": fit.bounds[at],
                    "wrong": fit.errors[at].wrong,
                    "wrong_limit": fit.errors[at].limit,
                }
            )
    return rows


def fit_rows(runs: Iterable[Sampled]) -> list[Row]:
    """The line of stopping time over log(1/delta) beside the rate."""
    rows = []
    for run in runs:
        if not run.specification.is_certified:
            continue
        fit = stop_fit(run)
        rows.append(
            {
                **_head(run),
                **_spread("slope", fit.slope),
                "intercept": fit.intercept,
                "linearity": fit.linearity,
                **_spread("rate", fit.rate),
                "slope_over_rate": fit.slope.value / fit.rate.value,
                "unstopped": fit.n_unstopped,
                "refuted": fit.n_refuted,
                "paper_rule_forecast": fit.paper_forecast,
            }
        )
    return rows


def gap_rows(runs: Sequence[Sampled], marks: Sequence[int]) -> list[Row]:
    """Errors of the others less FOCUS's, paired by system."""
    focus = next((run for run in runs if run.specification.method == "focus"), None)
    rows = []
    for run in runs:
        if focus is None or run is focus:
            continue
        for gap in gaps(focus, run, marks):
            row: Row = {**_head(run), "n": gap.n}
            row |= _spread("shd_gap", gap.shd)
            row |= _spread("weight_error_gap", gap.weight_error)
            row |= _spread("shd_gap_by_mle", gap.shd_by_mle)
            row |= _spread("shd_gap_by_bayes", gap.shd_by_bayes)
            rows.append(row)
    return rows


def lead_rows(runs: Sequence[Sampled]) -> list[Row]:
    """Where FOCUS is ahead or behind, with intervals that hold together."""
    return [
        {
            "setting": lead.setting,
            "method": lead.method,
            "replicates": lead.difference.n,
            "error": lead.error,
            "n": lead.n,
            **_spread("lead", lead.difference),
            "ahead": lead.verdict,
        }
        for lead in leads(runs)
    ]


def stop_gap_rows(runs: Sequence[Sampled]) -> list[Row]:
    """Rounds to the certificate of the others less FOCUS's, paired by system."""
    focus = next((run for run in runs if run.specification.method == "focus"), None)
    rows = []
    for run in runs:
        if focus is None or run is focus or not run.specification.is_certified:
            continue
        for gap in stop_gaps(focus, run):
            row: Row = {**_head(run), "delta": gap.delta, **_spread("rounds_gap", gap.rounds)}
            rows.append(row | {"ratio": gap.ratio, "sooner": gap.sooner})
    return rows


def replicate_rows(runs: Iterable[Sampled]) -> list[Row]:
    """Every run to a certificate: its system's complexity, its stopping times, and their truth."""
    rows = []
    for run in runs:
        if not run.specification.is_certified:
            continue
        for i, number in enumerate(run.numbers.tolist()):
            row: Row = {
                "setting": run.setting.name,
                "method": run.specification.method,
                "number": number,
                "complexity": float(run.complexity[i]),
                "refuted": int(run.refuted[i]),
            }
            for at, delta in enumerate(run.specification.deltas):
                row[f"rounds_{delta:g}"] = int(run.stops[i, at]) if run.stops[i, at] > 0 else ""
                row[f"wrong_{delta:g}"] = int(run.wrong[i, at])
            rows.append(row)
    return rows


def _head(run: Sampled) -> Row:
    return {
        "setting": run.setting.name,
        "method": run.specification.method,
        "replicates": run.n,
    }


def _spread(name: str, mean: Mean) -> Row:
    return {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}


def as_csv(rows: Sequence[Row]) -> str:
    """With a header; numbers to six digits."""
    if not rows:
        return ""
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _as_cell(value) for key, value in row.items()})
    return file.getvalue()


def _as_cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
