"""Checks for eyes: do the residuals look as the assumptions say they should?

Per node: the residuals against normal quantiles, against the fitted values, and their variance
under each action; and the evidence of each kind of alarm as the samples came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import stats

from causalfocus.arrays import Floats
from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.learner.focus import Focus
from causalfocus.learner.protocol import Told
from causalfocus.moments.moments import Moments
from causalfocus.report.pictures import INK, MARKERS, NEGATIVE, POSITIVE, SERIES, new_figure
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GROWTH: Final = 1.08
MOST_POINTS: Final = 2000
"""Scatter plots show no more; every n-th is taken."""

KIND_WORDS: Final[dict[Kind, str]] = {
    "curve": "a response curves",
    "product": "a response is not a sum",
    "dose": "a hidden common cause",
    "lag": "rounds carry over",
    "shape": "outliers or heavy tails",
    "action": "noise differs between actions",
    "drift": "drift with time",
    "constant": "a constant",
    "noise": "noise out of range",
    "weak": "a weak effect",
    "effect": "an effect out of range",
    "loss": "missing values depend on the action",
    "line": "no linear equation is left",
    "total": "no total effect is left",
    "loop": "there is feedback",
    "selection": "rounds are lost by the coin",
    "interference": "rounds disturb each other",
    "middle": "a response curves between the ends",
}


@dataclass(frozen=True)
class Residuals:
    """Of one node, over the samples in which it was not set."""

    node: str
    fitted: Floats
    residuals: Floats
    actions: tuple[str, ...]


def residuals(log: Sequence[Told], model: LinearSEM) -> tuple[Residuals, ...]:
    """What a model leaves unexplained, node by node."""
    samples = np.array([told.sample for told in log]).reshape(len(log), model.p)
    labels = [str(told.action) for told in log]
    targets = [told.effective_action.targets for told in log]
    found = []
    for j, name in enumerate(model.names):
        own = np.array([name not in taken for taken in targets], dtype=bool)
        fitted = samples[own] @ model.weights[j] + model.intercepts[j]
        shown = tuple(label for label, is_own in zip(labels, own, strict=True) if is_own)
        found.append(Residuals(name, fitted, samples[own, j] - fitted, shown))
    return tuple(found)


def evidence_of(learner: Focus) -> list[Told]:
    """The lines of a learner's log that count for its evidence."""
    return [told for told in learner.log if learner.is_evidence(told)]


def alarm_history(learner: Focus) -> dict[Kind, list[tuple[int, float]]]:
    """The loudest alarm of each kind at rounds that grow by eight percent, from the log."""
    history: dict[Kind, list[tuple[int, float]]] = {}
    due = 32.0
    for number, alarms in enumerate(_alarms_by_round(learner), 1):
        if number < due and number < learner.rounds:
            continue
        due = number * GROWTH
        for alarm in reversed(alarms()):
            points = history.setdefault(alarm.kind, [])
            if points and points[-1][0] == number:
                points.pop()
            points.append((number, alarm.evidence))
    return history


def _alarms_by_round(learner: Focus) -> Iterator[Callable[[], tuple[Alarm, ...]]]:
    """After every round of the log, what would tell its alarms. Under a rule by coins the asks
    count as well as what was told, so that a twin learns all again.
    """
    if learner.state.coins is not None:
        twin, asks = learner.replay(()), learner.state.asks
        for _ in twin.take_again(tuple(learner.log), asks.pending, asks.given_up):
            yield twin.alarms
        return
    moments = Moments(learner.names)
    for told in learner.log:
        if learner.is_evidence(told):
            moments.add(told.effective_action, told.sample)
        yield lambda: learner.alarms(moments)


def check_picture(learner: Focus) -> Figure:
    """All checks of a learner on one page."""
    found = residuals(evidence_of(learner), learner.result().model)
    n = len(found)
    figure = new_figure(11, 2.3 * n + 3.2)
    grid = figure.add_gridspec(n + 1, 3, height_ratios=[1.0] * n + [1.2])
    for row, of in enumerate(found):
        axes = [figure.add_subplot(grid[row, column]) for column in range(3)]
        if len(of.residuals) > 1:
            _quantiles(axes[0], of)
            _against_fitted(axes[1], of)
            _variances(axes[2], of)
        for panel in axes:
            panel.tick_params(labelsize=7)
            panel.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel(of.node, fontsize=11, rotation=0, labelpad=22, color=INK)
        if row == 0:
            titles = ("Residuals against normal quantiles", "against fitted values")
            for panel, title in zip(axes, (*titles, "Variance per action"), strict=True):
                panel.set_title(title, fontsize=10, color=INK)
    _alarms(figure.add_subplot(grid[n, :]), learner)
    return figure


def _quantiles(axes: Axes, of: Residuals) -> None:
    ordered = np.sort(of.residuals) / of.residuals.std()
    expected = stats.norm.ppf((np.arange(len(ordered)) + 0.5) / len(ordered))
    every = max(1, len(ordered) // MOST_POINTS)
    axes.plot(expected[::every], ordered[::every], ".", color=POSITIVE, markersize=2.5)
    ends = np.array([expected[0], expected[-1]])
    axes.plot(ends, ends, color=NEGATIVE, linewidth=1.0)


def _against_fitted(axes: Axes, of: Residuals) -> None:
    """With a running mean over ten bins, which should stay at zero."""
    every = max(1, len(of.fitted) // MOST_POINTS)
    axes.plot(of.fitted[::every], of.residuals[::every], ".", color=POSITIVE, markersize=2.5)
    axes.axhline(0.0, color=NEGATIVE, linewidth=1.0)
    if np.ptp(of.fitted) > 0:
        edges = np.quantile(of.fitted, np.linspace(0, 1, 11))
        place = np.clip(np.searchsorted(edges, of.fitted, side="right") - 1, 0, 9)
        bins = [b for b in range(10) if (place == b).any()]
        centres = [of.fitted[place == b].mean() for b in bins]
        means = [of.residuals[place == b].mean() for b in bins]
        axes.plot(centres, means, color=INK, linewidth=1.4)


def _variances(axes: Axes, of: Residuals) -> None:
    """Bars with 95 percent intervals; they should all hold the line, the pooled variance."""
    labels = list(dict.fromkeys(of.actions))
    taken = np.array(of.actions)
    values, low, high, shown = [], [], [], []
    for label in labels:
        part = of.residuals[taken == label]
        if len(part) < 2:
            continue
        square = float((part**2).mean())
        ends = len(part) * square / stats.chi2.ppf([0.975, 0.025], len(part))
        values.append(square)
        low.append(square - ends[0])
        high.append(ends[1] - square)
        shown.append(label)
    axes.errorbar(
        values, range(len(shown)), xerr=[low, high], fmt="o", color=POSITIVE, markersize=3
    )
    axes.set_yticks(range(len(shown)), shown, fontsize=6)
    axes.axvline(float((of.residuals**2).mean()), color=NEGATIVE, linewidth=1.0)
    axes.invert_yaxis()


def _alarms(axes: Axes, learner: Focus) -> None:
    threshold = learner.decision.threshold
    floor = -8.0 * threshold
    highest = threshold
    for i, (kind, points) in enumerate(sorted(alarm_history(learner).items())):
        rounds, values = zip(*points, strict=True)
        highest = max(highest, *values)
        axes.plot(
            rounds,
            np.maximum(values, floor),
            color=SERIES[i % len(SERIES)],
            marker=MARKERS[i % len(MARKERS)],
            linestyle="-" if i < len(SERIES) else "--",
            markersize=3,
            linewidth=1.2,
            label=KIND_WORDS[kind],
        )
    axes.axhline(threshold, color=INK, linestyle=":", linewidth=1.2)
    axes.set_ylim(floor, min(highest, 12.0 * threshold) * 1.1)
    axes.set_xlabel("rounds", fontsize=9)
    axes.set_ylabel("evidence (nats)", fontsize=9)
    axes.set_title("Alarms; dotted: where they refute", fontsize=10, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, frameon=False, ncols=3, loc="upper left")
