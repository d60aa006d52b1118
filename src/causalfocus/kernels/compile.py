"""How the kernels are compiled: once per machine, cached on disk, announced to whoever waits."""

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, event

F = TypeVar("F", bound=Callable[..., Any])


def source_digest(folder: Path) -> str:
    """Fingerprint of all kernel sources in a folder and in those within it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).as_posix()
        digest.update(place.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


HOME = Path(__file__).parent
SOURCES = source_digest(HOME)


@cache
def sources_for(folder: Path) -> str:
    """Fingerprint of all that kernels in a folder may call: those of the engine and their own."""
    return SOURCES if folder.is_relative_to(HOME) else SOURCES + source_digest(folder)


class KernelCache(caching.FunctionCache):
    """Machine code on disk, valid only for the exact sources of all kernels.

    Numba looks at the file of the function alone. A kernel contains the machine code of those it
    calls, so a change in another file would leave it stale, and a stale kernel could certify
    something false. The engine's kernels call no others; those of the baselines call the engine's.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._sources = sources_for(Path(function.__code__.co_filename).parent)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), self._sources)  # type: ignore[no-untyped-call]


def kernel(function: F) -> F:
    """Compile a function with numba on its first call and keep the machine code on disk.

    No fast-math: the error-free transformations in `double_double` need every rounding where it is
    written. Division follows IEEE rules, so kernels test their pivots themselves.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if hasattr(caching.FunctionCache, "_index_key"):
        compiled._cache = KernelCache(function)  # noqa: SLF001 - numba has no other way
    result: F = compiled
    return result


class _Announcement(event.Listener):
    """Says once per process that compilation has begun; loading from the cache stays silent."""

    said = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self.said:
            return
        self.said = True
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(
                "causalfocus: compiling the numerical kernels for this machine. "
                "This happens once and takes a minute or two.\n"
            )
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Nothing to add when a kernel is ready."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
