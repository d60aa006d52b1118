"""`causalfocus campaign next | record | reject | note | go-on`: the rounds of an experimenter."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from causalfocus.campaign import Asked, Campaign, Event
from causalfocus.campaign.plain_actions import action_facts
from causalfocus.campaign.samples import read_samples
from causalfocus.cli.campaign.options import (
    AsRead,
    Failed,
    File,
    Force,
    Note,
    Who,
    delimiter_of,
    pairs_in,
)
from causalfocus.cli.interview import is_at_terminal
from causalfocus.cli.options import AsJson
from causalfocus.errors import AlreadyStoppedError, InvalidInputError
from causalfocus.system.actions import Action
from causalfocus.system.words import action_in, value_in


def next_actions(
    file: File,
    n: Annotated[int, typer.Option("-n", min=1, help="How many to do at once.")] = 1,
    who: Who = None,
    note: Note = "",
    key: Annotated[
        str | None, typer.Option(help="Of this request: the same again asks for nothing new.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What to do next. It stays pending, under its number, until it is recorded or rejected."""
    with Campaign.open(file) as campaign:
        try:
            asked = campaign.next(n, who=who, note=note, key=key)
        except AlreadyStoppedError:
            raise AlreadyStoppedError(_after_stop(campaign)) from None
        waiting = [one for one in campaign.pending if one not in asked]
        if as_json:
            typer.echo(json.dumps([_asked_facts(one) for one in asked]))
            return
        for event in campaign.events(limit=n + 1, newest=True):
            if event.kind == "seeded":
                typer.echo(event.note)
        for one in asked:
            typer.secho(f"{one.id}: {in_words(one.action, campaign)}", bold=True)
        if waiting:
            typer.echo(
                f"Still out: {', '.join(f'{one.id} ({one.action})' for one in waiting[:8])}"
                + (f" and {len(waiting) - 8} more" if len(waiting) > 8 else "")
            )
        blanks = [f"{name}=..." for name in _to_measure(asked[0].action, campaign)]
        words = ["causalfocus", "campaign", "record", str(file), "--id", str(asked[0].id), *blanks]
        typer.echo(f"Then: {shlex.join(words)}")


def record(
    file: File,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            help="NAME=VALUE of every variable; NA if not measured.", show_default=False
        ),
    ] = None,
    number: Annotated[int | None, typer.Option("--id", help="Which pending action.")] = None,
    action: Annotated[
        str | None, typer.Option(help="What was done, if not asked for: observe, X1=2, X1=2;X3=0.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Many at once: columns id and the variables.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Of the CSV file.")] = ",",
    encoding: Annotated[str, typer.Option(help="Of the CSV file.")] = "utf-8-sig",
    failed: Failed = None,
    as_read: AsRead = False,
    force: Force = "",
    performed: Annotated[
        str | None, typer.Option(help="When it was done: 2026-05-04T13:30.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Of this request: the same again is not recorded again.")
    ] = None,
    who: Who = None,
    note: Note = "",
    as_json: AsJson = False,
) -> None:
    """Record what came of an action. Once this returns, it is safely on the disk."""
    with Campaign.open(file) as campaign:
        if csv is not None:
            if values or failed or any(one is not None for one in (number, action, performed, key)):
                raise InvalidInputError("Give values or a CSV file, not both.")
            told = record_file(
                campaign, csv, delimiter, encoding, as_read=as_read, who=who, note=note
            )
        else:
            done = None if action is None else action_in(action, campaign.names)
            sample = {name: value_in(text, name) for name, text in pairs_in(values or [])}
            if not sample and is_at_terminal() and not as_json:
                sample = _prompt(campaign, number, done)
            event = campaign.record(
                sample,
                id=number,
                action=done,
                failed=failed or (),
                as_read=as_read,
                force=force,
                performed=performed,
                who=who,
                note=note,
                key=key,
            )
            told = [event]
        say_recorded(campaign, told, as_json=as_json)


def say_recorded(campaign: Campaign, told: list[Event], *, as_json: bool) -> None:
    """What was recorded, and whether that was enough."""
    if as_json:
        typer.echo(json.dumps([_told_facts(event, campaign) for event in told]))
        return
    for event in told:
        typer.echo(_told_in_words(event))
    if campaign.stop is not None and campaign.stop.seq > told[0].seq:
        typer.secho(_after_stop(campaign), bold=True)


def record_file(
    campaign: Campaign,
    path: Path,
    delimiter: str,
    encoding: str,
    *,
    as_read: bool,
    who: str | None,
    note: str,
) -> list[Event]:
    """Record what a file, such as a run sheet, says of asked actions."""
    lines = read_samples(
        path,
        campaign.specification.actions,
        delimiter=delimiter_of(delimiter),
        encoding=encoding,
        by_id=True,
        as_read=as_read,
    )
    return campaign.record_many(
        [(one.id or 0, one.action, one.sample, one.details) for one in lines if not one.not_done],
        rejections={one.id or 0: one.not_done for one in lines if one.not_done},
        who=who,
        note=note,
    )


def _told_in_words(event: Event) -> str:
    if event.kind == "rejected":
        return f"{event.ask} ({event.action}) is rejected: {event.note}"
    return f"Round {event.round} is recorded: {event.action}."


def reject(
    file: File,
    number: Annotated[int, typer.Argument(metavar="ID", help="Of the pending action.")],
    reason: Annotated[str, typer.Option(help="Why it was not done.")] = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Give up a pending action, for a reason that was known before any outcome."""
    with Campaign.open(file) as campaign:
        if not reason and is_at_terminal() and not as_json:
            reason = typer.prompt("Why was it not done")
        event = campaign.reject(number, reason, who=who)
        if as_json:
            typer.echo(json.dumps({"id": number, "seq": event.seq}))
        else:
            typer.echo(f"{number} ({event.action}) is rejected.")


def note(
    file: File,
    text: Annotated[str, typer.Argument(help="What to write down.")],
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Write something into the log."""
    with Campaign.open(file) as campaign:
        event = campaign.note(text, who=who)
        typer.echo(json.dumps({"seq": event.seq}) if as_json else "Noted.")


def go_on(file: File, who: Who = None, note: Note = "", as_json: AsJson = False) -> None:
    """Go on asking after the stop. The certificate stays as it is."""
    with Campaign.open(file) as campaign:
        event = campaign.continue_after_stop(who=who, note=note)
        typer.echo(json.dumps({"seq": event.seq}) if as_json else "The campaign goes on.")


def in_words(action: Action, campaign: Campaign) -> str:
    """What a person has to do."""
    if action.is_observation:
        return "Observe: set nothing, and measure every variable."
    parts = []
    for name, value in action.settings:
        unit = campaign.specification.unit(name)
        parts.append(f"{name} to {value:g}" + (f" {unit}" if unit else ""))
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Set {listed}, and measure the others."


def _to_measure(action: Action, campaign: Campaign) -> list[str]:
    return [name for name in campaign.names if name not in action.targets]


def _prompt(campaign: Campaign, number: int | None, done: Action | None) -> dict[str, float]:
    """Ask a person for the values, one by one."""
    pending = {asked.id: asked for asked in campaign.pending}
    if done is None:
        if number is None and len(pending) == 1:
            number = next(iter(pending))
        if number not in pending:
            return {}  # recording it gives the error
        done = pending[number].action
    typer.echo(in_words(done, campaign))
    sample = {}
    for name in _to_measure(done, campaign):
        unit = campaign.specification.unit(name)
        while name not in sample:
            text = typer.prompt(name + (f" ({unit})" if unit else ""))
            try:
                sample[name] = value_in(text, name)
            except InvalidInputError as error:
                typer.secho(f"{error}.", fg="red")
    return sample


def _after_stop(campaign: Campaign) -> str:
    result = campaign.result()
    file = campaign.path
    if result.certified:
        return (
            f"The result was certified after {result.rounds:,} rounds: see `causalfocus campaign "
            f"status {file}`. To go on all the same: `causalfocus campaign go-on {file}`."
        )
    return (
        f"{result.refuted} To go on all the same, without a certificate: `causalfocus campaign "
        f"go-on {file}`."
    )


def _asked_facts(asked: Asked) -> dict[str, Any]:
    return {"id": asked.id, **action_facts(asked.action), "at": asked.at}


def _told_facts(event: Event, campaign: Campaign) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "round": event.round,
        "id": event.ask,
        "action": str(event.action),
        "at": event.at,
        "stopped": campaign.stop is not None,
    }
