"""What can be done through the page: the verbs of a campaign, each from the fields of a form."""

from collections.abc import Callable
from typing import Any

from causalfocus.campaign.samples import number_in
from causalfocus.errors import InvalidInputError
from causalfocus.web.forms import FieldError, number_of, sample_in
from causalfocus.web.server import Server

Fields = dict[str, str]
Said = dict[str, Any]
Verb = Callable[[Server, Fields], Said]


def create(server: Server, fields: Fields) -> Said:
    server.make(fields)
    return {"said": "The campaign is made."}


def ask(server: Server, fields: Fields) -> Said:
    (asked,) = server.campaign.next(who=_who(fields))
    return {"said": f"Number {asked.id}: {asked.action}.", "id": asked.id}


def record(server: Server, fields: Fields) -> Said:
    campaign, number = server.campaign, number_of(fields, "id")
    asked = next((one for one in campaign.pending if one.id == number), None)
    if asked is None:
        campaign.record({}, id=number)  # raises, and says what became of that number
        raise InvalidInputError(f"Number {number} is not pending.")
    sample = sample_in(fields, asked, campaign.specification)
    note = fields.get("note", "").strip()
    event = campaign.record(sample, id=number, who=_who(fields), note=note)
    return {"said": f"Round {event.round} is recorded."}


def reject(server: Server, fields: Fields) -> Said:
    reason, number = fields.get("reason", "").strip(), number_of(fields, "id")
    if not reason:
        raise FieldError({"reason": "A reason is needed."})
    server.campaign.reject(number, reason, who=_who(fields))
    return {"said": f"Number {number} is rejected."}


def correct(server: Server, fields: Fields) -> Said:
    errors: dict[str, str] = {}
    number, name, value = 0, fields.get("variable", ""), 0.0
    try:
        number = number_of(fields, "round")
    except FieldError:
        errors["round"] = "A whole number is needed."
    try:
        value = number_in(fields.get("true_value", ""), name)
    except InvalidInputError as error:
        errors["true_value"] = f"{error}."
    if not fields.get("why", "").strip():
        errors["why"] = "A reason is needed."
    if errors:
        raise FieldError(errors)
    server.campaign.correct(number, {name: value}, fields["why"].strip(), who=_who(fields))
    return {"said": f"Round {number} is corrected."}


def note(server: Server, fields: Fields) -> Said:
    text = fields.get("text", "").strip()
    if not text:
        raise FieldError({"text": "A text is needed."})
    server.campaign.note(text, who=_who(fields))
    return {"said": "Noted."}


def go_on(server: Server, fields: Fields) -> Said:
    server.campaign.continue_after_stop(who=_who(fields))
    return {"said": "The campaign goes on."}


VERBS: dict[str, Verb] = {
    "create": create,
    "next": ask,
    "record": record,
    "reject": reject,
    "correct": correct,
    "note": note,
    "go-on": go_on,
}


def _who(fields: Fields) -> str:
    return fields.get("who", "").strip()
