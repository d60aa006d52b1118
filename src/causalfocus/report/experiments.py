"""The paper's figures: errors against samples, and stopping time against log(1/delta)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.experiments.analysis import Sampled, mean_of, stop_fit
from causalfocus.report.pictures import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LOOKS: Final = {
    "focus": ("FOCUS", "#0072B2", "-", "o"),
    "random": ("RANDOM", "#D55E00", "--", "s"),
    "ait-dcdi": ("AIT-DCDI", "#009E73", "-.", "^"),
    "cbed": ("CBED", "#CC79A7", (0, (1, 1)), "D"),
}
"""Name, colour, line and marker of every method: apart without colours too."""


def experiment_figure(runs: Sequence[Sampled]) -> Figure:
    """The three panels of one setting."""
    figure = new_figure(11.0, 3.9)
    structure, weights, stopping = figure.subplots(1, 3)
    _errors(structure, runs, "shd", "structural Hamming distance")
    _errors(weights, runs, "weight_error", "largest edge-weight error")
    weights.set_yscale("log")
    figure.legend(
        *structure.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    _draw_stops(stopping, [run for run in runs if run.specification.is_certified])
    for axes, letter in zip((structure, weights, stopping), "abc", strict=True):
        axes.set_title(f"({letter})", loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    setting = runs[0].setting
    sizes = sorted({run.n for run in runs})
    shown = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    figure.suptitle(f"p = {setting.p}, density {setting.density:g}; {shown} systems", fontsize=11)
    return figure


def estimator_figure(runs: Sequence[Sampled]) -> Figure:
    """The designs of one setting under one estimator each: what the choice of actions is worth."""
    figure = new_figure(7.6, 4.0)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, what, title in ((left, "mle", "joint MLE"), (right, "bayes", "most probable DAG")):
        for run in runs:
            _curve(axes, run, getattr(run, what)[:, :, 0])
        axes.set_title(f"estimate: {title}", fontsize=10)
        axes.set_xscale("log")
        axes.set_xlabel("samples n")
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("structural Hamming distance")
    shown = left.get_legend_handles_labels()
    figure.legend(
        *shown, loc="outside lower center", ncols=4, frameon=False, title="actions chosen by"
    )
    setting = runs[0].setting
    figure.suptitle(f"p = {setting.p}, density {setting.density:g}", fontsize=11)
    return figure


def _curve(axes: Axes, run: Sampled, errors: Floats) -> None:
    """Means with their band."""
    name, colour, line, marker = LOOKS[run.specification.method]
    means = [mean_of(column) for column in errors.T]
    marks = run.specification.marks
    lows, highs = [m.low for m in means], [m.high for m in means]
    axes.plot(
        marks,
        [m.value for m in means],
        color=colour,
        linestyle=line,
        marker=marker,
        markersize=3.5,
        markevery=4,
        linewidth=1.4,
        label=name,
    )
    if np.isfinite(lows).all():
        axes.fill_between(marks, lows, highs, color=colour, alpha=0.2, linewidth=0)


def _errors(axes: Axes, runs: Sequence[Sampled], what: str, label: str) -> None:
    for run in runs:
        _curve(axes, run, getattr(run, what))
    axes.set_xscale("log")
    axes.set_xlabel("samples n")
    axes.set_ylabel(label)


def _draw_stops(axes: Axes, runs: Sequence[Sampled]) -> None:
    top = 0.0
    for run in runs:
        name, colour, line, marker = LOOKS[run.specification.method]
        fit = stop_fit(run)
        levels = np.log(1 / np.array(fit.deltas))
        values = np.array([mean.value for mean in fit.means])
        halves = np.array([mean.high - mean.value for mean in fit.means])
        if not np.isfinite(values).all():
            continue
        bars = np.where(np.isfinite(halves), halves, 0.0)
        axes.errorbar(
            levels, values, bars, color=colour, fmt=marker, markersize=4, capsize=3, label=name
        )
        axes.plot(
            levels, fit.intercept + fit.slope.value * levels, color=colour, linestyle=line, lw=1.0
        )
        top = max(top, float((values + bars).max()))
        if run.specification.method == "focus":
            axes.plot(levels, fit.rate.value * levels, color=INK, lw=1.2, label="log(1/δ) / C")
            axes.plot(levels, fit.bounds, color=INK, lw=1.2, ls=":", label="lower bound")
    axes.set_xlabel("log(1/δ)")
    axes.set_ylabel("rounds to the certificate")
    if top > 0:
        axes.set_ylim(0, 1.35 * top)
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
