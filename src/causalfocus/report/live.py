"""A live view of a run in the terminal: what is known, what is being done, and where it goes."""

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from causalfocus.learner.focus import Focus
from causalfocus.learner.run import Round
from causalfocus.report.pairs import Pairs
from causalfocus.report.spending import by_words
from causalfocus.report.tables import pair_table, settled_bar

REFRESH_EVERY = 25


class LiveView:
    """Shows a run while it lasts; use it as a context manager and as the callback of `run`."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> "LiveView":
        self._live.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._live.__exit__(None, None, None)

    def __call__(self, now: Round) -> None:
        if now.number % REFRESH_EVERY == 0 and isinstance(now.learner, Focus):
            self._live.update(_screen(now, now.learner))


def _screen(now: Round, learner: Focus) -> RenderableType:
    spent = by_words(learner.counts, at_once=learner.actions.at_once)
    counts = ", ".join(f"{words}: {n:.0f}" for words, n in spent.items())
    return Panel(
        Group(
            Text(f"round {now.number}: {now.action}"),
            *(_verdicts(learner) if learner.guarantee.settles_pairs else _evidence(learner)),
            Text(f"\nrounds per action: {counts}", style="dim"),
        ),
        title="FOCUS",
    )


def _verdicts(learner: Focus) -> list[RenderableType]:
    """The pairs; the evidence for all of them together would be dear, and zero for long."""
    pairs = Pairs(effects=learner.effects())
    reason = Text(learner.decision.reason, style="italic")
    return [settled_bar(pairs), reason, Text(""), pair_table(pairs)]


def _evidence(learner: Focus) -> list[RenderableType]:
    """The evidence, and the graph so far."""
    decision = learner.decision
    shown = min(max(decision.evidence, 0.0), decision.threshold)
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        "evidence",
        ProgressBar(total=decision.threshold, completed=shown, width=40),
        f"{decision.evidence:.2f} of {decision.threshold:.2f} nats",
    )
    edges = Table(show_header=False, box=None, padding=(0, 2))
    for cause, effect, weight in learner.estimate.edges:
        edges.add_row(f"{cause} -> {effect}", f"{weight:+.3f}")
    reason = Text(decision.reason, style="italic")
    return [bar, reason, Text("\nthe graph so far"), edges]
