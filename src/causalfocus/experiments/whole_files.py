"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, contents: bytes | Iterable[bytes]) -> None:
    """Write a file so that at no time a part of it can be seen under its name.

    contents : all of it, or its parts one after the other
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.writelines([contents] if isinstance(contents, bytes) else contents)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
