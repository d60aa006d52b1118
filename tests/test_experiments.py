"""Experiments: units that are files, resumed and repeated to the byte, here and on a cluster."""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.experiments import units as units_module
from causalfocus.experiments.analysis import (
    ErrorRate,
    Sampled,
    gaps,
    mean_of,
    sampled,
    stop_fit,
    stop_gaps,
)
from causalfocus.experiments.execution import Cluster, Done, Local, attempt
from causalfocus.experiments.replicate import run_replicate, system_of
from causalfocus.experiments.sources import source_digest, sources_behind
from causalfocus.experiments.specification import Setting, Specification, log_spaced
from causalfocus.experiments.stops import Stops
from causalfocus.experiments.store import Store
from causalfocus.experiments.tables import as_csv, curve_rows, replicate_rows
from causalfocus.experiments.units import Unit, units_for
from causalfocus.experiments.whole_files import write_whole

SMALL = Setting(2, 0.5)


def specification(method: str = "random", **options: object) -> Specification:
    return Specification(method=method, **({"budget": 30} | options))


def unit(method: str = "random", first: int = 0, size: int = 2) -> Unit:
    asked = specification(method)
    return Unit(SMALL, asked, first, size, asked.hash)


def test_code_is_what_a_method_imports() -> None:
    behind = sources_behind("causalfocus.learner.focus")
    assert {
        "causalfocus.learner.focus",
        "causalfocus.moments.moments",
        "causalfocus.kernels.exact.oracles",
    } <= set(behind)
    assert not any(name.startswith(("causalfocus.cli", "causalfocus.report")) for name in behind)
    assert "causalfocus.baselines.cbed" not in sources_behind(
        "causalfocus.experiments.replicate", "causalfocus.learner.focus"
    )


def test_comments_and_docstrings_do_not_make_other_results(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, {folder!r})\n"
        "from causalfocus.experiments import sources\n"
        "sources.PACKAGE = 'toy'\n"
        "print(sources.source_digest('toy.a'))"
    )

    def digest(a: str, b: str) -> str:
        (tmp_path / "toy").mkdir(exist_ok=True)
        (tmp_path / "toy" / "__init__.py").write_text("")
        (tmp_path / "toy" / "a.py").write_text(a)
        (tmp_path / "toy" / "b.py").write_text(b)
        done = subprocess.run(
            [sys.executable, "-c", script.format(folder=str(tmp_path))],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    a = "from toy.b import f\n"
    plain = digest(a, "def f():\n    return 1\n")
    assert digest(a, '"""Words."""\ndef f():\n    """More."""\n    return 1  # why\n') == plain
    assert digest(a, "def f():\n    return 2\n") != plain


def test_names_tell_specifications_apart() -> None:
    base = specification()
    others = [
        specification("cbed"),
        specification(budget=31),
        specification(seed=1),
        specification(epsilon=0.05),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 5
    assert specification().hash == base.hash
    assert unit().name == f"p2-d0.5_random_{base.hash}_00000-00001.json"
    assert base.to_dict()["code"] == source_digest(
        "causalfocus.experiments.replicate", "causalfocus.baselines.random"
    )


def test_marks_are_even_on_a_log_scale() -> None:
    marks = log_spaced(1000)
    assert marks[0] == 10 and marks[-1] == 1000 and list(marks) == sorted(set(marks))
    steps = np.diff(np.log(marks))
    assert steps.max() < 2 * steps.min()
    assert log_spaced(3) == (3,)


@pytest.mark.parametrize("text", ["6-0.3", "p6", "p6-dx", "px-d0.3", "p1-d0.3", "p6-d1.5", ""])
def test_bad_settings(text: str) -> None:
    with pytest.raises(cf.InvalidInputError, match="A setting"):
        Setting.parse(text)


def test_settings_and_methods() -> None:
    assert Setting.parse("p6-d0.3") == Setting(6, 0.3) and Setting(6, 0.3).name == "p6-d0.3"
    with pytest.raises(cf.InvalidInputError, match="no method 'best'; the methods are focus"):
        Specification(method="best")
    with pytest.raises(cf.InvalidInputError, match="budget must be 1 or more"):
        Specification(method="focus", budget=0)


def test_all_methods_meet_the_same_system() -> None:
    assert system_of(SMALL, 0, 3) == system_of(SMALL, 0, 3) != system_of(SMALL, 0, 4)
    assert system_of(Setting(5, 0.3), 0, 3).p == 5


@pytest.mark.parametrize("method", ["focus", "random", "ait-dcdi", "cbed"])
def test_a_unit_run_again_gives_the_same_bytes(method: str) -> None:
    first = unit(method).run()
    assert unit(method).run() == first
    document = json.loads(first)
    assert [line["number"] for line in document["replicates"]] == [0, 1]
    for line in document["replicates"]:
        assert len(line["shd"]) == len(line["weight_error"]) == len(specification().marks)
        assert sum(line["counts"]) == 30
        own = list(map(list, zip(line["shd"], line["weight_error"], strict=True)))
        twin = {"focus": "mle", "random": "mle", "cbed": "bayes"}.get(method)
        assert len(line["mle"]) == len(line["bayes"]) == len(own)
        if twin:
            assert line[twin] == own
        if method in ("focus", "random"):
            assert line["stops"] == sorted(line["stops"]) and len(line["stops"]) == 5
            assert line["complexity"] > 0
        else:
            assert line["stops"] == [] and line["complexity"] is None


def test_other_code_is_refused() -> None:
    asked = specification()
    foreign = Unit(SMALL, asked, 0, 1, "0123456789")
    with pytest.raises(units_module.ReplicateError, match="code of this worker is not that of"):
        foreign.run()


def test_one_run_gives_the_stopping_times_of_every_delta() -> None:
    """As learners that were asked for each delta give them, with the same answers."""
    deltas = (0.1, 0.02, 0.005)
    truth = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, -0.7, 0]], [1.0, 0.9, 1.1])
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))

    def learner(delta: float) -> cf.Focus:
        return cf.Focus(actions, cf.PAPER_CLASS, epsilon=0.07, delta=delta, stopping="evidence")

    def play(own: cf.Focus, stops: Stops | None) -> cf.Focus:
        rng = np.random.default_rng(7)
        while not own.has_stopped:
            action = own.ask()
            own.tell(action, truth.sample(action, 1, rng)[0])
            if stops is not None:
                stops.see(own.decision)
        return own

    stops = Stops(deltas)
    play(learner(min(deltas)), stops)
    assert stops.are_all
    for delta, rounds, answer in zip(deltas, stops.rounds, stops.answers, strict=True):
        alone = play(learner(delta), None)
        assert (alone.rounds, alone.result().model) == (rounds, answer)


def test_units_cover_the_replicates_and_keep_their_borders() -> None:
    few = units_for([SMALL], [specification()], 15, block=10)
    more = units_for([SMALL], [specification()], 40, block=10)
    assert [u.first for u in few] == [0, 10]
    assert {u.name for u in few} < {u.name for u in more}


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


def in_turn(units: Sequence[Unit]) -> Iterator[Done]:
    return map(attempt, units)


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    store, seen = Store(tmp_path), []
    assert store.complete([unit()], in_turn, seen.append) == []
    both = [unit(), unit(first=2)]
    assert store.missing(both) == [both[1]]
    store.complete(both, in_turn, seen.append)
    assert [done.unit.first for done in seen] == [0, 2] and store.missing(both) == []
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
    assert store.missing(units) == [units[1]]
    monkeypatch.undo()
    assert store.complete(units, in_turn, lambda _: None) == [] and store.missing(units) == []


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
    store, seen = Store(tmp_path), []

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


def test_a_mean_and_its_interval() -> None:
    values = np.array([1.0, 2.0, 3.0, math.nan])
    found = mean_of(values)
    half = 1.959964 * 1.0 / math.sqrt(3)
    assert (found.value, found.n) == (2.0, 3)
    assert (found.low, found.high) == pytest.approx((2 - half, 2 + half), rel=1e-6)
    assert mean_of(np.array([4.0])).high == math.inf
    assert mean_of(np.array([])).n == 0


def test_limits_of_error_rates_are_those_of_the_binomial() -> None:
    for wrong, n in ((0, 1000), (3, 200), (7, 7)):
        exact = stats.binomtest(wrong, n, alternative="less").proportion_ci(0.95).high
        assert ErrorRate(wrong, n).limit == pytest.approx(exact)


def made(method: str, stops: np.ndarray, shd: np.ndarray, numbers: list[int]) -> Sampled:
    n = len(numbers)
    return Sampled(
        setting=SMALL,
        specification=specification(method),
        numbers=np.array(numbers),
        shd=shd,
        weight_error=shd / 10,
        mle=np.stack([shd, shd / 10], axis=2),
        bayes=np.stack([shd, shd / 10], axis=2),
        stops=stops,
        wrong=np.zeros((n, stops.shape[1]), dtype=bool),
        refuted=np.zeros(n, dtype=bool),
        complexity=np.full(n, 0.01),
        counts=np.ones((n, 5)),
    )


def test_a_line_is_found_where_there_is_one() -> None:
    levels = np.log(1 / np.array(specification().deltas))
    slopes, starts = np.array([100.0, 140.0, 120.0]), np.array([50.0, 10.0, 30.0])
    stops = starts[:, None] + slopes[:, None] * levels
    n_marks = len(specification().marks)
    fit = stop_fit(made("focus", stops, np.zeros((3, n_marks)), [0, 1, 2]))
    assert fit.slope.value == pytest.approx(120.0) and fit.intercept == pytest.approx(30.0)
    assert fit.linearity == pytest.approx(1.0) and fit.rate.value == pytest.approx(100.0)
    kl = 0.95 * math.log(19) + 0.05 * math.log(1 / 19)
    assert fit.bounds[1] == pytest.approx(kl / 0.01)
    assert fit.n_unstopped == 0 and fit.paper_forecast > 1e7
    stops[1, 4] = math.nan
    assert stop_fit(made("focus", stops, np.zeros((3, n_marks)), [0, 1, 2])).n_unstopped == 1


def test_methods_are_compared_on_the_same_systems() -> None:
    n_marks = len(specification().marks)
    nothing = np.zeros((3, 0))
    focus = made("focus", np.zeros((3, 5)), np.tile([[1.0], [2.0], [3.0]], n_marks), [0, 1, 2])
    other = made("cbed", nothing, np.tile([[9.0], [4.0], [2.0]], n_marks), [5, 2, 1])
    (gap,) = gaps(focus, other, [specification().marks[0]])
    assert gap.shd.n == 2 and gap.shd.value == pytest.approx((4 - 3 + 2 - 2) / 2)
    assert gap.weight_error.value == pytest.approx(gap.shd.value / 10)
    assert gap.shd_by_mle == gap.shd_by_bayes == gap.shd


def test_stopping_times_are_compared_where_both_stopped() -> None:
    shd = np.zeros((3, len(specification().marks)))
    mine = np.array([[100.0], [300.0], [500.0]]) + np.arange(5)
    theirs = np.array([[400.0], [200.0], [math.nan]]) + np.arange(5)
    focus, other = made("focus", mine, shd, [0, 1, 2]), made("random", theirs, shd, [0, 1, 2])
    first, *_, last = stop_gaps(focus, other)
    assert (first.delta, last.delta) == (0.1, 0.005)
    assert first.rounds.n == 2 and first.rounds.value == pytest.approx((300 - 100) / 2)
    assert first.ratio == pytest.approx(400 / 600) and last.ratio == pytest.approx(408 / 608)
    assert first.sooner == 0.5
    assert stop_gaps(made("focus", mine, shd, [7, 8, 9]), other) == []


def test_every_run_to_a_certificate_has_its_row() -> None:
    shd = np.zeros((2, len(specification().marks)))
    stops = np.array([[10.0, 20, 30, 40, 50], [10, 20, math.nan, math.nan, math.nan]])
    first, second = replicate_rows([made("focus", stops, shd, [4, 6])])
    assert (first["number"], first["rounds_0.005"], first["wrong_0.005"]) == (4, 50, 0)
    assert (second["number"], second["rounds_0.05"], second["rounds_0.02"]) == (6, 20, "")


def test_a_share_counts_graphs_and_weights_together() -> None:
    n_marks = len(specification().marks)
    run = made("focus", np.zeros((3, 5)), np.tile([[0.0], [0.0], [1.0]], n_marks), [0, 1, 2])
    run.weight_error[1, 0] = 0.071
    first, second, *_ = curve_rows([run])
    assert (first["graph_right"], first["all_right"]) == pytest.approx((2 / 3, 1 / 3))
    assert (second["graph_right"], second["all_right"]) == pytest.approx((2 / 3, 2 / 3))


def test_only_the_replicates_that_were_asked_for_count() -> None:
    documents = [json.loads(unit(first=first).run()) for first in (2, 0)]
    found = sampled(SMALL, specification(), documents, 3)
    assert found is not None and found.numbers.tolist() == [0, 1, 2]
    assert sampled(SMALL, specification(), [], 3) is None


def test_tables_have_a_header_and_six_digits() -> None:
    assert as_csv([{"a": 1, "b": 2 / 3}]) == "a,b\n1,0.666667\n"
    assert as_csv([]) == ""


REPRODUCE = [sys.executable, "-m", "causalfocus", "reproduce", "p2-d0.5"]


def reproduce(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REPRODUCE, "--out", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_draws_and_goes_on_where_it_was(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert {row["method"] for row in facts["runs"]} == {"focus", "random", "ait-dcdi", "cbed"}
    assert all(row["replicates"] == 2 for row in facts["runs"])
    assert (tmp_path / "p2-d0.5.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "p2-d0.5.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "p2-d0.5-estimators.png").exists()
    for name in ("curves", "stops", "fits", "gaps", "stop_gaps", "runs"):
        assert (tmp_path / f"{name}.csv").read_text().startswith("setting,method,replicates")
    assert len((tmp_path / "replicates.csv").read_text().splitlines()) == 1 + 2 * 2
    said = (tmp_path / "summary.md").read_text()
    assert said.count("\n## ") == 5 and said.count("| p2-d0.5 | cbed |") > 4
    wrong = next(line for line in said.splitlines() if line.startswith("| p2-d0.5 | focus | 0.1 |"))
    assert "of 2 |" in wrong
    before = {path.name: path.read_bytes() for path in (tmp_path / "units").iterdir()}
    again = reproduce(tmp_path, "--quick", "--json")
    assert "0 to run" in again.stderr and json.loads(again.stdout) == facts
    assert {path.name: path.read_bytes() for path in (tmp_path / "units").iterdir()} == before


def test_a_killed_run_loses_the_units_in_flight_only(tmp_path: Path) -> None:
    arguments = ["--methods", "random", "--budget", "40", "--replicates", "60", "--workers", "2"]
    process = subprocess.Popen(
        [*REPRODUCE, "--out", str(tmp_path), *arguments],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    units = tmp_path / "units"
    for _ in range(1200):
        if units.exists() and len(list(units.glob("p2*.json"))) >= 2:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.name: path.read_bytes() for path in units.glob("p2*.json")}
    assert len(kept) >= 2 and all(json.loads(contents) for contents in kept.values())
    done = reproduce(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} of 6 units are there" in done.stderr
    after = {path.name: path.read_bytes() for path in units.glob("p2*.json")}
    assert len(after) == 6 and after.items() >= kept.items()


def hear_interrupts() -> None:
    """Whoever started the tests in the background may have them ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    arguments = ["--methods", "random", "--budget", "40", "--replicates", "2000"]
    process = subprocess.Popen(
        [*REPRODUCE, "--out", str(tmp_path), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    try:
        for _ in range(1200):
            if (tmp_path / "journal.jsonl").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    assert "what is done is kept. The same command goes on from here" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "best"], "no method 'best'"),
        (["--methods", " "], "at least one method"),
        (["p0-d2"], "A setting"),
    ],
)
def test_bad_requests(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = reproduce(tmp_path, *arguments)
    assert done.returncode == 2 and message in done.stderr
