"""What comes back from the page's forms, with every wrong field named."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request

from causalfocus.campaign import Asked, Specification
from causalfocus.campaign.settings import checked_time
from causalfocus.errors import InvalidInputError, UnidentifiableError
from causalfocus.guarantees import DEFAULT_RULE
from causalfocus.system.words import number_in, value_in

MOST_BYTES = 1_000_000

ROW_NUMBERS: Final = ("low", "high", "matters")
"""Numbers that the row of a variable may have."""

NEEDS_A_WORD: Final = (
    "No coin can pick a value of {name}. If it drives nothing, tick the box; else give it two "
    "values, or take the gaussian rule below, which assumes more."
)


class FieldError(Exception):
    """What is wrong with a form, by field; the empty name is for the form as a whole."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = errors


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form, the last value of each."""
    body = await request.body()
    if len(body) > MOST_BYTES:
        raise FieldError({"": "This is too long."})
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise FieldError({"": "This is not written in UTF-8."}) from None
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}


def sample_in(
    fields: Mapping[str, str], asked: Asked, specification: Specification
) -> dict[str, float]:
    """The values of a sample; every variable that was not set needs one."""
    sample: dict[str, float] = {}
    errors: dict[str, str] = {}
    for name in specification.names:
        text = fields.get(f"value:{name}", "").strip()
        if not text:
            if f"failed:{name}" in fields:
                errors[f"value:{name}"] = "It failed: what was measured? NA if nothing was."
            elif name not in asked.action.targets:
                errors[f"value:{name}"] = "A value is needed."
            continue
        try:
            sample[name] = value_in(text, name)
        except InvalidInputError as error:
            errors[f"value:{name}"] = f"{error}."
    if errors:
        raise FieldError(errors)
    return sample


def details_in(fields: Mapping[str, str], asked: Asked) -> dict[str, Any]:
    """What the form says beside the values, as `Campaign.record` takes it."""
    performed = fields.get("performed", "").strip()
    try:
        checked_time(performed)
    except InvalidInputError as error:
        raise FieldError({"performed": str(error)}) from None
    return {
        "failed": tuple(name for name in asked.action.targets if f"failed:{name}" in fields),
        "as_read": "as_read" in fields,
        "performed": performed or None,
    }


def number_of(fields: Mapping[str, str], name: str) -> int:
    """A whole number that the page itself has put there."""
    text = fields.get(name, "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise FieldError({"": f"{name} must be a whole number."})
    return int(text)


def specification_in(fields: Mapping[str, str]) -> Specification:
    """A new campaign's specification, from rows of a name, two ends of its range, a unit and the
    change that is worth knowing. What is left empty is what it is in a file that does not say it.
    """
    errors: dict[str, str] = {}
    rows = sorted({int(key.split(":")[1]) for key in fields if _is_row(key)})
    variables, matters = _variables_in(fields, rows, errors)
    said = {key: fields.get(key, "").strip() for key in ("min_effect", "epsilon", "delta")}
    numbers = {key: _number(fields, key, errors) for key, text in said.items() if text}
    if "min_effect" not in numbers:
        _require_matters(fields, rows, matters, errors)
    elif matters:
        errors["min_effect"] = "Leave this empty, or the changes that are worth knowing above."
    at_once = _at_once(fields, errors)
    if errors:
        raise FieldError(errors)
    try:
        return Specification.from_dict(
            {
                "title": fields.get("title", ""),
                "variables": variables,
                "at_once": at_once,
                "outcomes": _with_tick("outcome", fields, rows),
                "switches": _with_tick("switch", fields, rows),
                "rule": fields.get("rule", "").strip() or DEFAULT_RULE,
                **({"matters": matters} if matters else {}),
                **numbers,
            }
        )
    except InvalidInputError as error:
        raise FieldError(_by_field(error, fields, rows)) from None


def _variables_in(
    fields: Mapping[str, str], rows: list[int], errors: dict[str, str]
) -> tuple[dict[str, dict[str, object]], dict[str, float]]:
    """The variables as a specification has them, and what is said to matter; errors are noted."""
    variables, matters = dict[str, dict[str, object]](), dict[str, float]()
    for i in rows:
        name = fields.get(f"name:{i}", "").strip()
        low, high, size = (fields.get(f"{what}:{i}", "").strip() for what in ROW_NUMBERS)
        if not name:
            if low or high or size:
                errors[f"name:{i}"] = "A name is needed."
            continue
        if name in variables:
            errors[f"name:{i}"] = "This name is taken."
        entry: dict[str, object] = {}
        if low or high:
            entry["range"] = [_number(fields, f"{end}:{i}", errors) for end in ("low", "high")]
        if fields.get(f"unit:{i}", "").strip():
            entry["unit"] = fields[f"unit:{i}"].strip()
        if size:
            matters[name] = _number(fields, f"matters:{i}", errors)
        variables[name] = entry
    if not variables:
        errors[f"name:{rows[0] if rows else 0}"] = "At least one variable is needed."
    return variables, matters


def _require_matters(
    fields: Mapping[str, str], rows: list[int], matters: Mapping[str, float], errors: dict[str, str]
) -> None:
    """Note of which variables it is not said what matters."""
    for i in rows:
        name, key = fields.get(f"name:{i}", "").strip(), f"matters:{i}"
        if name and name not in matters:
            errors.setdefault(key, "Which change is worth knowing?")
        elif name and key not in errors and not matters[name] > 0.0:
            errors[key] = "A number above 0 is needed."


def _with_tick(box: str, fields: Mapping[str, str], rows: list[int]) -> list[str]:
    """The variables of which a box is ticked: that they drive nothing, or have two states."""
    named = {i: fields.get(f"name:{i}", "").strip() for i in rows}
    return [name for i, name in named.items() if name and f"{box}:{i}" in fields]


def _by_field(
    error: InvalidInputError, fields: Mapping[str, str], rows: list[int]
) -> dict[str, str]:
    """What is wrong with a specification, at the fields that it is about."""
    if not isinstance(error, UnidentifiableError):
        return {_culprit(str(error)): str(error)}
    at = {fields.get(f"name:{i}", "").strip(): i for i in rows}
    return {f"name:{at[name]}": NEEDS_A_WORD.format(name=name) for name in error.variables}


def _at_once(fields: Mapping[str, str], errors: dict[str, str]) -> int | None:
    """How many variables may be set at once; None for any number."""
    text = fields.get("at_once", "").strip() or "1"
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        errors["at_once"] = "A whole number is needed; 0 for any number."
        return 1
    return int(text) or None


def _is_row(key: str) -> bool:
    name, _, number = key.partition(":")
    return name in ("name", "unit", *ROW_NUMBERS) and number.isdecimal() and len(number) < 4


def _number(fields: Mapping[str, str], key: str, errors: dict[str, str]) -> float:
    text = fields.get(key, "").strip()
    try:
        return number_in(text, key.partition(":")[0]) if text else _raise_missing()
    except InvalidInputError as error:
        errors[key] = f"{error}."
        return 0.0


def _raise_missing() -> float:
    raise InvalidInputError("A number is needed")


def _culprit(message: str) -> str:
    """The field that an error of the specification is about."""
    return next(
        (key for key in ("min_effect", "epsilon", "delta", "at_once") if message.startswith(key)),
        "",
    )
