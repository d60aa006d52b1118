"""Arguments that the verbs of a campaign share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from causalfocus.campaign import CampaignError
from causalfocus.errors import InvalidInputError
from causalfocus.experiments.whole_files import write_whole

File = Annotated[
    Path,
    typer.Argument(help="The campaign's file.", show_default=False),
]
Who = Annotated[
    str | None,
    typer.Option(envvar="CAUSALFOCUS_WHO", help="Who does this; by default the user's name."),
]
Note = Annotated[str, typer.Option(help="A free text, kept with it.")]

Failed = Annotated[
    list[str] | None,
    typer.Option(help="A variable whose setting failed, known without its value; repeatable."),
]
AsRead = Annotated[
    bool, typer.Option("--as-read", help="Values far from what was set are as they were read.")
]
Force = Annotated[
    str, typer.Option(help="The word for an action that is not allowed: why it was done.")
]


def pairs_in(texts: list[str]) -> list[tuple[str, str]]:
    """Names and texts from NAME=VALUE, each name once."""
    found: list[tuple[str, str]] = []
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not (sign and name):
            raise InvalidInputError(f"{text!r} must look like NAME=VALUE.")
        if any(name == known for known, _ in found):
            raise InvalidInputError(f"{name} is given more than once.")
        found.append((name, value))
    return found


def delimiter_of(text: str) -> str:
    """A tab cannot be typed in every shell."""
    return "\t" if text == "\\t" else text


def write_to(path: Path, contents: bytes | Iterable[bytes], source: Path) -> None:
    """Write a file, whole or not at all, and never over the campaign itself."""
    if path.exists() and path.samefile(source):
        raise InvalidInputError(f"{path} is the campaign itself. Choose another name.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"There is no folder {path.parent} for {path.name}.")
    try:
        write_whole(path, contents)
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror}.") from None
