"""A folder of results: which units are there, and a journal of how long they took."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from causalfocus.experiments.execution import Done, Runner
from causalfocus.experiments.units import Unit, read_unit, write_whole

JOURNAL = "journal.jsonl"


@dataclass(frozen=True)
class Store:
    """Results in a folder.

    Attributes
    ----------
    folder : holds `units`, one file each, and the journal
    """

    folder: Path

    def path(self, unit: Unit) -> Path:
        return self.folder / "units" / unit.name

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Units that are still to be run."""
        return [unit for unit in units if not self.path(unit).exists()]

    def complete(
        self, units: Iterable[Unit], runner: Runner, on_done: Callable[[Done], None]
    ) -> list[Done]:
        """Run what is missing, keeping each unit as soon as it is done; returns the failures.

        Interrupted at any moment, it loses the units in flight and nothing else.
        """
        failures = []
        for done in runner(self.missing(units)):
            if done.contents is None:
                failures.append(done)
            else:
                write_whole(self.path(done.unit), done.contents)
            self._note(done)
            on_done(done)
        return failures

    def _note(self, done: Done) -> None:
        line = {
            "unit": done.unit.name,
            "seconds": round(done.seconds, 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "failure": done.failure,
        }
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def read(self, units: Iterable[Unit]) -> list[dict[str, Any]]:
        """What the given units hold, of those that are there."""
        return [read_unit(self.path(unit)) for unit in units if self.path(unit).exists()]

    def seconds(self, units: Iterable[Unit]) -> float:
        """What running the given units took, by the journal; the last run of each."""
        path = self.folder / JOURNAL
        if not path.exists():
            return 0.0
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        taken = {line["unit"]: float(line["seconds"]) for line in lines if line["failure"] is None}
        return sum(taken.get(unit.name, 0.0) for unit in units)
