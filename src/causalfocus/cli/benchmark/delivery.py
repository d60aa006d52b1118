"""How a measurement shows its progress and hands over its figures."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer
from rich.console import Console

if TYPE_CHECKING:
    from causalfocus.benchmark.document import Figures

Row = TypeVar("Row")


def n_workers() -> int:
    """Return how many processes share the work."""
    return os.cpu_count() or 1


def watch(what: str, rows: Iterable[Row], n: int) -> list[Row]:
    """Collect the rows, and say how far along it is."""
    progress = Console(stderr=True)
    collected = []
    for i, row in enumerate(rows):
        collected.append(row)
        progress.print(f"{what}: {i + 1} of {n}")
    return collected


def deliver(figures: "Figures", out: Path | None, as_json: bool) -> None:
    """Write the files, if asked to, and print."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "benchmark.json").write_text(json.dumps(figures.to_dict(), indent=1) + "\n")
        (out / "benchmark.md").write_text(figures.to_markdown())
        Console(stderr=True).print(
            f"Written: {out / 'benchmark.json'} and {out / 'benchmark.md'}", soft_wrap=True
        )
    typer.echo(json.dumps(figures.to_dict()) if as_json else figures.to_markdown())
