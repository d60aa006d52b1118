"""Tables and figures of a folder of results."""

from typing import Any

from causalfocus.experiments.analysis import Sampled, collect
from causalfocus.experiments.specification import Setting, Specification
from causalfocus.experiments.store import Store
from causalfocus.experiments.tables import (
    Row,
    as_csv,
    curve_rows,
    fit_rows,
    gap_rows,
    lead_rows,
    replicate_rows,
    stop_gap_rows,
    stop_rows,
)
from causalfocus.experiments.units import Unit
from causalfocus.experiments.whole_files import write_whole
from causalfocus.report.experiments import estimator_figure, experiment_figure
from causalfocus.report.pictures import save
from causalfocus.report.summary import summary


def deliver(store: Store, units: list[Unit], replicates: int) -> dict[str, Any]:
    """Write tables and figures of all that is there; returns what is worth saying."""
    groups: dict[Setting, dict[Specification, list[Unit]]] = {}
    for unit in units:
        methods = groups.setdefault(unit.setting, {})
        methods.setdefault(unit.specification, []).append(unit)
    everything: list[Sampled] = []
    pairs: list[Row] = []
    stop_pairs: list[Row] = []
    for setting, methods in groups.items():
        runs = [
            run
            for specification, parts in methods.items()
            if (run := collect(setting, specification, store.read(parts), replicates))
        ]
        if runs:
            for kind in ("png", "pdf"):
                save(experiment_figure(runs), store.folder / f"{setting.name}.{kind}")
                save(estimator_figure(runs), store.folder / f"{setting.name}-estimators.{kind}")
            pairs += gap_rows(runs, runs[0].specification.marks)
            stop_pairs += stop_gap_rows(runs)
            everything += runs
    tables = {
        "curves": curve_rows(everything),
        "stops": stop_rows(everything),
        "fits": fit_rows(everything),
        "gaps": pairs,
        "stop_gaps": stop_pairs,
        "leads": lead_rows(everything),
        "replicates": replicate_rows(everything),
        "runs": [_run_row(store, units, run) for run in everything],
    }
    for name, rows in tables.items():
        write_whole(store.folder / f"{name}.csv", as_csv(rows).encode())
    write_whole(store.folder / "summary.md", summary(tables).encode())
    return {
        "folder": str(store.folder),
        **{k: tables[k] for k in ("runs", "fits", "stops", "gaps", "stop_gaps")},
    }


def _run_row(store: Store, units: list[Unit], run: Sampled) -> Row:
    """Where a method's results come from."""
    parts = [
        unit
        for unit in units
        if unit.setting == run.setting and unit.specification == run.specification
    ]
    return {
        "setting": run.setting.name,
        "method": run.specification.method,
        "replicates": run.n,
        "seed": run.specification.seed,
        "hash": run.specification.hash,
        **store.times(parts),
    }
