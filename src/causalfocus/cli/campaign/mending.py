"""`causalfocus campaign correct | withdraw | take-back | widen | add`: what was wrong or is new."""

import json
from typing import Annotated, Any

import typer

from causalfocus.campaign import Campaign, Event
from causalfocus.cli.campaign.options import (
    AsRead,
    Failed,
    File,
    Force,
    Who,
    pairs_in,
)
from causalfocus.cli.given import checked_range
from causalfocus.cli.interview import is_at_terminal
from causalfocus.cli.options import AsJson
from causalfocus.system.words import action_in, value_in

Reason = Annotated[str, typer.Option(help="Why; kept in the log.")]


def correct(
    file: File,
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Which was recorded wrongly.")],
    values: Annotated[
        list[str] | None, typer.Argument(help="NAME=VALUE of what was wrong.", show_default=False)
    ] = None,
    action: Annotated[
        str | None, typer.Option(help="What was really done: observe, X1=2, or X1=2;X3=0.")
    ] = None,
    failed: Failed = None,
    none_failed: Annotated[
        bool, typer.Option("--none-failed", help="No setting failed, after all.")
    ] = False,
    as_read: AsRead = False,
    force: Force = "",
    reason: Reason = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Put right what was recorded of a round; the log keeps both, and all is learned again."""
    with Campaign.open(file) as campaign:
        event = campaign.correct(
            number,
            {name: value_in(text, name) for name, text in pairs_in(values or [])},
            _reason(reason, "What went wrong", as_json=as_json),
            action=None if action is None else action_in(action, campaign.names),
            failed=() if none_failed else failed,
            as_read=as_read,
            force=force,
            who=who,
        )
        words = f"Round {number} is corrected, and all is learned again."
        _say(event, {"round": number}, words, as_json=as_json)


def withdraw(
    file: File,
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Which does not count.")],
    reason: Reason = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Take a round out of all that is learned; it stays in the log. Never for its outcome."""
    with Campaign.open(file) as campaign:
        why = _reason(reason, "Why does it not count", as_json=as_json)
        event = campaign.withdraw(number, why, who=who)
        words = f"Round {number} is withdrawn, and all is learned again."
        _say(event, {"round": number}, words, as_json=as_json)


def take_back(
    file: File,
    number: Annotated[int, typer.Argument(metavar="ID", help="Of the pending action.")],
    reason: Reason = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Take back an ask that was made by accident; what could not be done is rejected instead."""
    with Campaign.open(file) as campaign:
        why = _reason(reason, "How did it come about", as_json=as_json)
        event = campaign.take_back(number, why, who=who)
        words = f"{number} ({event.action}) is taken back."
        _say(event, {"id": number}, words, as_json=as_json)


def widen(
    file: File,
    variable: Annotated[str, typer.Argument(help="heater=20:90, the new range.")],
    reason: Reason = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Let a variable be set over a wider range from now on, or at all."""
    name, ends = _range(variable)
    with Campaign.open(file) as campaign:
        event = campaign.widen(name, *ends, reason, who=who)
        words = f"{name} can be set to {ends[0]:g} and {ends[1]:g} from now on."
        _say(event, {"variable": name, "range": list(ends)}, words, as_json=as_json)


def add(
    file: File,
    variable: Annotated[str, typer.Argument(help="heater=20:80, or yield=none.")],
    unit: Annotated[str, typer.Option(help="Of its values.")] = "",
    cost: Annotated[float | None, typer.Option(help="Of setting it.")] = None,
    outcome: Annotated[bool, typer.Option("--outcome", help="It drives nothing.")] = False,
    switch: Annotated[bool, typer.Option("--switch", help="It has two states only.")] = False,
    reason: Reason = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Learn about one more variable. The rounds so far lack it, and count for no evidence."""
    name, sign, ends = variable.rpartition("=")
    entry: dict[str, Any] = {}
    if ends.strip().lower() != "none" or not sign:
        name, span = _range(variable)
        entry["range"] = list(span)
    if unit:
        entry["unit"] = unit
    if cost is not None:
        entry["cost"] = cost
    with Campaign.open(file) as campaign:
        event = campaign.add_variable(
            name, entry, reason, is_outcome=outcome, is_switch=switch, who=who
        )
        words = (
            f"{name} is a variable from now on. What was recorded so far ({campaign.rounds:,} "
            f"rounds) lacks its value and counts for no evidence until it is corrected."
        )
        _say(event, {"variable": name, **entry}, words, as_json=as_json)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    ((name, ends),) = pairs_in([text])
    return name.strip(), checked_range(name.strip(), ends)


def _reason(given: str, question: str, *, as_json: bool) -> str:
    if given or not is_at_terminal() or as_json:
        return given
    return str(typer.prompt(question))


def _say(event: Event, facts: dict[str, Any], words: str, *, as_json: bool) -> None:
    typer.echo(json.dumps(facts | {"seq": event.seq}) if as_json else words)
