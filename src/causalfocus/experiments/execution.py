"""Running units: on the cores of this machine, or on a cluster. The same units, the same bytes."""

import importlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from causalfocus.errors import InvalidInputError, MissingExtraError
from causalfocus.experiments.units import Unit


@dataclass(frozen=True)
class Done:
    """A unit that was run.

    Attributes
    ----------
    contents : of its file; None if it failed
    failure : why, in words
    seconds : that it took
    """

    unit: Unit
    contents: bytes | None
    failure: str | None
    seconds: float


def attempt(unit: Unit) -> Done:
    """Run a unit; a failure is an outcome too, so that the rest goes on."""
    start = time.perf_counter()
    try:
        contents, failure = unit.run(), None
    except Exception as error:
        contents, failure = None, str(error)
    return Done(unit, contents, failure, time.perf_counter() - start)


class Runner(Protocol):
    """Something that runs units."""

    def __call__(self, units: Sequence[Unit]) -> Iterator[Done]:
        """Each as soon as it is done, in any order."""


@dataclass(frozen=True)
class Local:
    """The cores of this machine, by joblib."""

    workers: int

    def __call__(self, units: Sequence[Unit]) -> Iterator[Done]:
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=self.workers, return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(attempt)(unit) for unit in units)


@dataclass(frozen=True)
class Cluster:
    """A dask scheduler at an address. A unit whose worker dies is run again by another.

    timeout : seconds to wait for the scheduler
    """

    address: str
    timeout: float = 20.0

    def __call__(self, units: Sequence[Unit]) -> Iterator[Done]:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ModuleNotFoundError:
            raise MissingExtraError(
                "Running on a cluster needs distributed: pip install causalfocus[cluster]"
            ) from None
        try:
            client = distributed.Client(self.address, timeout=self.timeout)
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidInputError(
                f"No dask scheduler answers at {self.address!r} ({error}). Give the address that "
                f"the scheduler prints, such as tcp://host:8786."
            ) from None
        with client:
            futures = client.map(attempt, units, pure=False, retries=3)
            waiting = dict(zip((future.key for future in futures), units, strict=True))
            for future in distributed.as_completed(futures):
                yield _outcome(future, waiting[future.key])


def _outcome(future: Any, unit: Unit) -> Done:
    """What a worker sent, or that none could: workers that died three times, say."""
    try:
        done: Done = future.result()
    except Exception as error:
        return Done(unit, None, f"{unit.name}: {type(error).__name__}: {error}", 0.0)
    return done
