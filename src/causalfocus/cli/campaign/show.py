"""`causalfocus campaign status`: all that matters, on one screen."""

import json

import typer
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from causalfocus.campaign import Campaign, Specification
from causalfocus.campaign.status import Status, status
from causalfocus.cli.campaign.options import File
from causalfocus.cli.options import AsJson
from causalfocus.report.campaign_report import pairs_in
from causalfocus.report.spending import in_brief
from causalfocus.report.tables import pair_table, settled_bar

NOT_STOPPED = 3
MOST_SHOWN = 15
"""Actions that are listed with their rounds."""


def show_status(file: File, as_json: AsJson = False) -> None:
    """What is known of every pair, the evidence, what is pending. Exit code 3 until done."""
    with Campaign.open(file, read_only=True) as campaign:
        now, asked = status(campaign), campaign.specification
    if as_json:
        typer.echo(json.dumps(now.to_dict()))
    else:
        Console().print(_screen(now, asked))
    if now.state == "running":
        raise typer.Exit(NOT_STOPPED)


def _screen(now: Status, asked: Specification) -> Panel:
    parts: list[RenderableType] = [Text(now.statement, style=_style(now)), Text("")]
    if now.settles_pairs and now.state != "refuted":
        parts = [*_pairs(now), *parts]
    parts.append(_evidence(now))
    if now.state == "running":
        parts.append(Text(now.reason, style="italic"))
    parts.append(Text(""))
    if not now.settles_pairs:
        parts += [_edges(now), Text("")]
    if now.beliefs:
        parts += [Text(_beliefs(now), style="dim"), Text("")]
    parts.append(_rounds(now, asked.actions.at_once))
    if now.alarm is not None and now.alarm[1] > 0:
        words, evidence = now.alarm
        parts.append(
            Text(
                f"A doubt: {words} ({evidence:.1f} of the {now.threshold:.1f} nats that refute).",
                style="yellow",
            )
        )
    if now.losses is not None:
        parts.append(Text(now.losses, style="yellow"))
    for one in now.pending:
        since = f"since {one.at}" + (f", by {one.who}" if one.who else "")
        parts.append(Text(f"Pending {one.id}: {in_brief(one.action)} ({since})"))
    return Panel(Group(*parts), title=Text(now.title or "Campaign"))


def _pairs(now: Status) -> list[RenderableType]:
    """Verdicts first."""
    pairs = pairs_in(now)
    return [settled_bar(pairs), Text(""), pair_table(pairs), Text("")]


def _style(now: Status) -> str:
    return {"certified": "bold green", "refuted": "bold red"}.get(now.state, "")


def _evidence(now: Status) -> Table:
    found = now.evidence
    shown = min(max(found or 0.0, 0.0), now.threshold)
    bar = Table.grid(padding=(0, 1))
    value = "none yet" if found is None else f"{found:.2f} of {now.threshold:.2f} nats"
    bar.add_row("evidence", ProgressBar(total=now.threshold, completed=shown, width=36), value)
    return bar


def _edges(now: Status) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("effect", "weight", "not rejected"):
        table.add_column(heading, justify="left" if heading == "effect" else "right")
    for edge in now.edges:
        ends = (
            "" if edge.low is None or edge.high is None else f"{edge.low:+.3f} to {edge.high:+.3f}"
        )
        table.add_row(Text(f"{edge.cause} -> {edge.effect}"), f"{edge.weight:+.3f}", ends)
    if not now.edges:
        table.add_row("none", "", "")
    return table


def _beliefs(now: Status) -> str:
    shown = (f"{b.cause} -> {b.effect} {b.in_percent}" for b in now.beliefs)
    return f"Believed so far, which certifies nothing: {', '.join(shown)}."


def _rounds(now: Status, at_once: int) -> Text:
    text = f"{now.rounds:,} rounds, cost {now.cost:,.6g}."
    if now.remaining is not None:
        text += f" {now.remaining.words}"
    elif now.settles_pairs and now.state == "running" and now.rounds:
        text += " How many are to go cannot be foretold yet."
    if now.n_left_out:
        text += f" {now.n_left_out:,} of them count for no evidence."
    busy = [f"{action} {n:,}" for action, n in now.counts.items() if n]
    if at_once > 1 and len(busy) > MOST_SHOWN:  # many sets of variables, each a few times
        text += f" So far: {len(busy):,} different actions."
    elif busy:
        more = f" and {len(busy) - MOST_SHOWN} other actions" if len(busy) > MOST_SHOWN else ""
        text += f" So far: {', '.join(busy[:MOST_SHOWN])}{more}."
    return Text(text)
