"""A folder of results: which units are there, and a journal of how long they took."""

import json
import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from causalfocus.experiments.execution import Done, Runner
from causalfocus.experiments.units import Unit, read_unit
from causalfocus.experiments.whole_files import write_whole

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

    def find_missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Units that are still to be run."""
        return [unit for unit in units if not self.path(unit).exists()]

    def complete(
        self, units: Iterable[Unit], runner: Runner, on_done: Callable[[Done], None]
    ) -> list[Done]:
        """Run what is missing, keeping each unit as soon as it is done; returns the failures.

        Interrupted at any moment, it loses the units in flight and nothing else.
        """
        failures = []
        for done in runner(self.find_missing(units)):
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

    def times(self, units: Iterable[Unit]) -> dict[str, Any]:
        """What running the given units took, by the journal; the last run of each."""
        path = self.folder / JOURNAL
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        notes = [json.loads(line) for line in lines]
        names = {unit.name for unit in units}
        last = {n["unit"]: n for n in notes if n["failure"] is None and n["unit"] in names}
        seconds = [float(note["seconds"]) for note in last.values()]
        ends = sorted(note["finished"] for note in last.values())
        return {
            "core_seconds": sum(seconds),
            "unit_seconds": statistics.median(seconds) if seconds else math.nan,
            "began": ends[0] if ends else "",
            "ended": ends[-1] if ends else "",
        }
