"""A learner's state as bytes and back, so that a long log need not be replayed from the start.

The log stays the truth. A checkpoint is used only if it was made by the very same code and
numerical libraries, for the same specification, after the very events that the log has (their
chained digest agrees), and if its own digest is right; else the log is replayed from the start. So
a checkpoint saves time and does not change a result. It holds numbers and names, nothing that is
executed.
"""

import hashlib
import io
import json
import platform
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
import scipy

import causalfocus
from causalfocus.learner.focus import Focus
from causalfocus.learner.parts import stored_values, take_apart
from causalfocus.learner.round import FocusState


def _fingerprint() -> str:
    """Of the package's sources and of what computes with them."""
    home = Path(causalfocus.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        digest.update(str(path.relative_to(home)).encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (np.__version__, numba.__version__, scipy.__version__, platform.python_version())
    return "/".join((digest.hexdigest(), *versions, platform.machine()))


CODE_IN_USE: Final = _fingerprint()
"""Taken when this is loaded: the sources may be replaced while the program runs."""


def pack(learner: Focus, more: dict[str, Any]) -> bytes:
    """The whole state of a learner after a round, as bytes.

    more : to be kept with it, as JSON has it
    """
    tree, arrays = take_apart(learner.state)
    text = json.dumps({"state": tree, "more": more}).encode()
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, facts=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()


def unpack(contents: bytes, learner: Focus) -> tuple[FocusState, dict[str, Any]]:
    """The state that was packed, of a learner of the same specification; and what was kept with it.

    learner : one that has seen nothing
    """
    with np.load(io.BytesIO(contents), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    return learner.state_from(stored_values(FocusState, facts["state"], arrays)), facts["more"]
