"""Units of work: a block of replicates of one method in one setting, and the file it becomes.

A file's name says all that its contents depend on, so what exists is never run again and results
of different code or settings never mix. Files are written whole or not at all.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causalfocus.errors import CausalFocusError
from causalfocus.experiments.replicate import run_replicate, system_of
from causalfocus.experiments.specification import Setting, Specification

BLOCK = 10
"""Replicates in a unit."""


class ReplicateError(CausalFocusError):
    """A replicate that failed, with what it takes to run it again."""


@dataclass(frozen=True)
class Unit:
    """Replicates `first`, ..., `first + size - 1` of a method in a setting.

    hash : of the specification where the unit was made; a worker with other code has another
    """

    setting: Setting
    specification: Specification
    first: int
    size: int
    hash: str

    @property
    def name(self) -> str:
        """Setting, method, hash of the specification and replicates."""
        last = self.first + self.size - 1
        start = f"{self.setting.name}_{self.specification.method}_{self.hash}"
        return f"{start}_{self.first:05d}-{last:05d}.json"

    def run(self) -> bytes:
        """The contents of the file: the same bytes whenever, and wherever, it is run."""
        if self.specification.hash != self.hash:
            raise ReplicateError(
                f"{self.name}: the code of this worker is not that of the machine which asked for "
                f"the unit. Install the same version on both."
            )
        replicates = []
        for number in range(self.first, self.first + self.size):
            try:
                found = run_replicate(self.setting, self.specification, number)
            except Exception as error:
                seed = self.specification.seed
                system = json.dumps(system_of(self.setting, seed, number).to_dict())
                raise ReplicateError(
                    f"Replicate {number} of {self.specification.method} in {self.setting.name}, "
                    f"seed {seed}: {type(error).__name__}: {error}. Its system: {system}"
                ) from error
            replicates.append(found.to_dict())
        document = {
            "setting": {"p": self.setting.p, "density": self.setting.density},
            "specification": self.specification.to_dict(),
            "replicates": replicates,
        }
        return (json.dumps(document, sort_keys=True) + "\n").encode()


def units_for(
    settings: Sequence[Setting],
    specifications: Sequence[Specification],
    n_replicates: int,
    block: int = BLOCK,
) -> list[Unit]:
    """All units that so many replicates take, the first replicates of everything first.

    Blocks are never cut, so that more replicates can be added later.
    """
    return [
        Unit(setting, specification, first, block, specification.hash)
        for first in range(0, n_replicates, block)
        for setting in settings
        for specification in specifications
    ]


def read_unit(path: Path) -> dict[str, Any]:
    """What a unit's file holds."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise CausalFocusError(
            f"{path} cannot be read as results: {error}. Delete it to have it run again."
        ) from None
    if not isinstance(found, dict) or "replicates" not in found:
        raise CausalFocusError(f"{path} holds no results. Delete it to have it run again.")
    return found
