"""A learner's state as bytes and back, so that a long log need not be replayed from the start.

The log stays the truth. A checkpoint is used only if it was made by the very same code and
numerical libraries, for the same specification, after the very events that the log has (their
chained digest agrees), and if its own digest is right; else the log is replayed from the start. So
a checkpoint saves time and does not change a result. It holds numbers and names, nothing that is
executed. Symmetric matrices are kept by their lower triangles, and all is compressed: with a
hundred variables and many rounds that makes half of it.
"""

import hashlib
import io
import json
import math
import platform
import zipfile
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
import scipy

import causalfocus
from causalfocus.learner.focus import Focus
from causalfocus.learner.parts import stored_values, take_apart
from causalfocus.learner.round import FocusState

Array = np.ndarray[Any, Any]

FACTS: Final = "facts"
"""The name of what is no array: a text, as JSON has it."""

QUICKLY: Final = 1
"""The level of compression. Higher ones take longer, and numbers do not become smaller."""

LONG: Final = 1_000_000
"""A longer text is compressed by blocks: the tallies of very many actions become much smaller than
otherwise, and it takes longer."""


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
    folded = sorted(name for name, array in arrays.items() if is_symmetric(array))
    text = json.dumps({"state": tree, "more": more, "folded": folded}).encode()
    arrays[FACTS] = np.frombuffer(text, dtype=np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, array in arrays.items():
            kept = fold(array) if name in folded else array
            out = io.BytesIO()
            np.lib.format.write_array(out, kept, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")
            is_long = name == FACTS and len(text) > LONG
            way, level = (zipfile.ZIP_BZIP2, 9) if is_long else (zipfile.ZIP_DEFLATED, QUICKLY)
            file.writestr(entry, out.getvalue(), way, compresslevel=level)
    return buffer.getvalue()


def is_symmetric(array: Array) -> bool:
    """Whether an array is a stack of matrices that are symmetric to the bit."""
    if array.ndim != 3 or array.shape[1] != array.shape[2] or array.shape[1] < 2:
        return False
    turned = np.ascontiguousarray(array.transpose(0, 2, 1))
    return turned.tobytes() == np.ascontiguousarray(array).tobytes()


def fold(array: Array) -> Array:
    """(n, p (p + 1) / 2), the lower triangles of symmetric matrices (n, p, p)."""
    rows, columns = np.tril_indices(array.shape[1])
    return array[:, rows, columns]


def unfold(array: Array) -> Array:
    """(n, p, p), from lower triangles."""
    p = math.isqrt(2 * array.shape[1])
    rows, columns = np.tril_indices(p)
    found = np.empty((len(array), p, p), dtype=array.dtype)
    found[:, rows, columns] = array
    found[:, columns, rows] = array
    return found


def unpack(contents: bytes, learner: Focus) -> tuple[FocusState, dict[str, Any]]:
    """The state that was packed, of a learner of the same specification; and what was kept with it.

    learner : one that has seen nothing
    """
    with np.load(io.BytesIO(contents), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    facts = json.loads(arrays.pop(FACTS).tobytes())
    for name in facts["folded"]:
        arrays[name] = unfold(arrays[name])
    return learner.state_from(stored_values(FocusState, facts["state"], arrays)), facts["more"]
