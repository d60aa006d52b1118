"""`causalfocus campaign next | record | reject | note | go-on`: the round of an experimenter."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from causalfocus.campaign import Asked, Campaign, Event
from causalfocus.campaign.samples import action_in, number_in, read_samples
from causalfocus.cli.campaign.options import File, Note, Who, delimiter_of, is_at_terminal
from causalfocus.cli.options import AsJson
from causalfocus.errors import AlreadyStoppedError, InvalidInputError
from causalfocus.system.actions import Action


def next_actions(
    file: File,
    n: Annotated[int, typer.Option("-n", min=1, help="How many to do at once.")] = 1,
    who: Who = None,
    note: Note = "",
    as_json: AsJson = False,
) -> None:
    """What to do next. It stays pending, under its number, until it is recorded or rejected."""
    with Campaign.open(file) as campaign:
        try:
            asked = campaign.next(n, who=who, note=note)
        except AlreadyStoppedError:
            raise AlreadyStoppedError(_after_stop(campaign)) from None
        waiting = [one for one in campaign.pending if one not in asked]
        if as_json:
            typer.echo(json.dumps([_asked_facts(one) for one in asked]))
            return
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
        list[str] | None, typer.Argument(help="NAME=VALUE of every variable.", show_default=False)
    ] = None,
    number: Annotated[int | None, typer.Option("--id", help="Which pending action.")] = None,
    action: Annotated[
        str | None, typer.Option(help="What was done, if not asked for: observe, or X1=2.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Many at once: columns id and the variables.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Of the CSV file.")] = ",",
    encoding: Annotated[str, typer.Option(help="Of the CSV file.")] = "utf-8-sig",
    who: Who = None,
    note: Note = "",
    as_json: AsJson = False,
) -> None:
    """Record what came of an action. Once this returns, it is safely on the disk."""
    with Campaign.open(file) as campaign:
        if csv is not None:
            if values or number is not None or action is not None:
                raise InvalidInputError("Give values or a CSV file, not both.")
            lines = read_samples(
                csv,
                campaign.specification.actions,
                delimiter=delimiter_of(delimiter),
                encoding=encoding,
                by_id=True,
            )
            told = campaign.record_many(
                [(line.id or 0, line.action, line.sample) for line in lines], who=who, note=note
            )
        else:
            done = None if action is None else action_in(action, campaign.names)
            sample = {name: number_in(text, name) for name, text in _pairs(values or [])}
            if not sample and is_at_terminal() and not as_json:
                sample = _prompt(campaign, number, done)
            told = [campaign.record(sample, id=number, action=done, who=who, note=note)]
        if as_json:
            typer.echo(json.dumps([_told_facts(event, campaign) for event in told]))
            return
        for event in told:
            typer.echo(f"Round {event.round} is recorded: {event.action}.")
        if campaign.stop is not None and campaign.stop.seq > told[0].seq:
            typer.secho(_after_stop(campaign), bold=True)


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


def correct(
    file: File,
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Whose values were wrong.")],
    values: Annotated[list[str], typer.Argument(help="NAME=VALUE of what was wrong.")],
    reason: Annotated[str, typer.Option(help="What went wrong.")] = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Put right what was recorded of a round; the log keeps both, and all is learned again."""
    with Campaign.open(file) as campaign:
        sample = {name: number_in(text, name) for name, text in _pairs(values)}
        if not reason and is_at_terminal() and not as_json:
            reason = typer.prompt("What went wrong")
        event = campaign.correct(number, sample, reason, who=who)
        if as_json:
            typer.echo(json.dumps({"round": number, "seq": event.seq}))
        else:
            typer.echo(f"Round {number} is corrected, and all is learned again.")


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
    if action.target is None or action.value is None:
        return "Observe: set nothing, and measure every variable."
    unit = campaign.specification.unit(action.target)
    value = f"{action.value:g}" + (f" {unit}" if unit else "")
    return f"Set {action.target} to {value}, and measure the others."


def _to_measure(action: Action, campaign: Campaign) -> list[str]:
    return [name for name in campaign.names if name != action.target]


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not (sign and name):
            raise InvalidInputError(f"{text!r} must look like NAME=VALUE.")
        if any(name == known for known, _ in found):
            raise InvalidInputError(f"{name} is given more than once.")
        found.append((name, value))
    return found


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
                sample[name] = number_in(text, name)
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
    action = asked.action
    return {
        "id": asked.id,
        "action": str(action),
        "target": action.target,
        "value": action.value,
        "at": asked.at,
    }


def _told_facts(event: Event, campaign: Campaign) -> dict[str, Any]:
    return {
        "round": event.round,
        "id": event.ask,
        "action": str(event.action),
        "at": event.at,
        "stopped": campaign.stop is not None,
    }
