"""Units become files, whole or not at all, here and on a cluster."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import causalfocus as cf
from causalfocus.experiments import units as units_module
from causalfocus.experiments.execution import Cluster, Done, Local
from causalfocus.experiments.replicate import run_replicate, system_of
from causalfocus.experiments.specification import Setting, Specification
from causalfocus.experiments.store import Store
from causalfocus.experiments.whole_files import write_whole
from experiments.small_units import SMALL, in_turn, unit


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "unit.json"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    with pytest.raises(TypeError):
        write_whole(path, "text")  # type: ignore[arg-type]
    assert path.read_bytes() == b"two" and list(path.parent.iterdir()) == [path]


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    """As the user's mask says, not as a private temporary file has it."""
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "shared.csv", b"a")
    finally:
        os.umask(before)
    assert (tmp_path / "shared.csv").stat().st_mode & 0o777 == 0o644


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for contents in (b"{", b"[]"):
        write_whole(store.path(unit()), contents)
        with pytest.raises(cf.CausalFocusError, match=r"units.*Delete it to have it run again"):
            store.read([unit()])


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    seen: list[Done] = []
    assert store.complete([unit()], in_turn, seen.append) == []
    both = [unit(), unit(first=2)]
    assert store.find_missing(both) == [both[1]]
    store.complete(both, in_turn, seen.append)
    assert [done.unit.first for done in seen] == [0, 2] and store.find_missing(both) == []
    assert store.times(both)["core_seconds"] == pytest.approx(
        sum(done.seconds for done in seen), abs=0.01
    )
    assert len(store.read(both)) == 2


def test_a_unit_that_fails_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(setting: Setting, specification: Specification, number: int) -> object:
        if number == 3:
            raise ArithmeticError("the numbers of it")
        return run_replicate(setting, specification, number)

    monkeypatch.setattr(units_module, "run_replicate", broken)
    store, units = Store(tmp_path), [unit(first=first) for first in (0, 2, 4)]
    (failure,) = store.complete(units, in_turn, lambda _: None)
    assert failure.failure is not None
    said, _, system = failure.failure.partition(". Its system: ")
    assert said == "Replicate 3 of random in p2-d0.5, seed 0: ArithmeticError: the numbers of it"
    assert cf.LinearSEM.from_dict(json.loads(system)) == system_of(SMALL, 0, 3)
    assert store.find_missing(units) == [units[1]]
    monkeypatch.undo()
    assert store.complete(units, in_turn, lambda _: None) == [] and store.find_missing(units) == []


def test_processes_give_the_same_bytes(tmp_path: Path) -> None:
    units = [unit(first=first) for first in (0, 2, 4)]
    found = {done.unit.first: done.contents for done in Local(2)(units)}
    assert found == {u.first: u.run() for u in units}


@pytest.fixture
def cluster() -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """A scheduler and two workers, each a process of its own."""
    start = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen(
        [*start, "--no-dashboard"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert scheduler.stderr is not None
    address = ""
    for line in scheduler.stderr:
        if "Scheduler at:" in line:
            address = line.split()[-1]
            break
    worker = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny"]
    workers = [
        subprocess.Popen(
            [*worker, "--no-dashboard"],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        yield address, workers
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()
        for stream in (scheduler.stderr, scheduler.stdout):
            if stream is not None:
                stream.close()


def test_a_cluster_gives_the_same_bytes_and_survives_a_death(
    cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    address, workers = cluster
    units = [unit(first=2 * i) for i in range(8)]
    store = Store(tmp_path)
    seen: list[Done] = []

    def on_done(done: Done) -> None:
        seen.append(done)
        if len(seen) == 2:
            workers[0].send_signal(signal.SIGKILL)

    assert store.complete(units, Cluster(address), on_done) == []
    assert workers[0].wait(10) == -signal.SIGKILL
    for u in units:
        assert store.path(u).read_bytes() == u.run()


def test_no_scheduler_is_an_error_with_an_address() -> None:
    with pytest.raises(cf.InvalidInputError, match=r"No dask scheduler answers at 'tcp://127"):
        list(Cluster("tcp://127.0.0.1:1", timeout=1)([unit()]))
