"""What can be done through the page: the verbs of a campaign, each from the fields of a form."""

from collections.abc import Callable
from typing import Any

from causalfocus.errors import InvalidInputError
from causalfocus.system.words import action_in, value_in
from causalfocus.web.forms import FieldError, details_in, number_of, sample_in
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
    note, details = fields.get("note", "").strip(), details_in(fields, asked)
    try:
        event = campaign.record(sample, id=number, who=_who(fields), note=note, **details)
    except InvalidInputError as error:
        far = next((n for n in asked.action.targets if str(error).startswith(f"{n} was set")), None)
        raise FieldError({"" if far is None else f"value:{far}": str(error)}) from None
    return {"said": f"Round {event.round} is recorded."}


def reject(server: Server, fields: Fields) -> Said:
    reason, number = fields.get("reason", "").strip(), number_of(fields, "id")
    if not reason:
        raise FieldError({"reason": "A reason is needed."})
    server.campaign.reject(number, reason, who=_who(fields))
    return {"said": f"Number {number} is rejected."}


def take_back(server: Server, fields: Fields) -> Said:
    reason, number = fields.get("accident", "").strip(), number_of(fields, "id")
    if not reason:
        raise FieldError({"accident": "A reason is needed."})
    server.campaign.take_back(number, reason, who=_who(fields))
    return {"said": f"Number {number} is taken back."}


def withdraw(server: Server, fields: Fields) -> Said:
    errors: dict[str, str] = {}
    number = 0
    try:
        number = number_of(fields, "withdrawn_round")
    except FieldError:
        errors["withdrawn_round"] = "A whole number is needed."
    if not fields.get("withdrawn_why", "").strip():
        errors["withdrawn_why"] = "A reason is needed."
    if errors:
        raise FieldError(errors)
    server.campaign.withdraw(number, fields["withdrawn_why"].strip(), who=_who(fields))
    return {"said": f"Round {number} is withdrawn."}


def correct(server: Server, fields: Fields) -> Said:
    errors: dict[str, str] = {}
    number, name, values, action = 0, fields.get("variable", ""), dict[str, float](), None
    campaign = server.campaign
    try:
        number = number_of(fields, "round")
    except FieldError:
        errors["round"] = "A whole number is needed."
    try:
        if fields.get("true_action", "").strip():
            action = action_in(fields["true_action"], campaign.names)
    except InvalidInputError as error:
        errors["true_action"] = f"{error}."
    try:
        if action is None or fields.get("true_value", "").strip():
            values = {name: value_in(fields.get("true_value", ""), name)}
    except InvalidInputError as error:
        errors["true_value"] = f"{error}."
    if not fields.get("why", "").strip():
        errors["why"] = "A reason is needed."
    if errors:
        raise FieldError(errors)
    campaign.correct(number, values, fields["why"].strip(), action=action, who=_who(fields))
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
    "take-back": take_back,
    "withdraw": withdraw,
    "correct": correct,
    "note": note,
    "go-on": go_on,
}


def _who(fields: Fields) -> str:
    return fields.get("who", "").strip()
