"""The package as a whole: light import, cached kernels, memory, names."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import causalfocus as cf
from causalfocus.benchmark.memory import peak_memory
from causalfocus.kernels import compile as kernel_compiler


def run(script: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env,
    )
    return done.stdout


def test_import_is_light() -> None:
    loaded = json.loads(
        run("import sys, json, causalfocus; print(json.dumps(sorted(sys.modules)))")
    )
    heavy = {"numba", "matplotlib", "pandas", "networkx", "scipy", "rich", "typer"}
    assert not heavy & set(loaded)


def test_the_world_needs_no_kernels() -> None:
    """Actions, classes and models can be described without waiting for a compiler."""
    out = run(
        "import sys, causalfocus as cf\n"
        "cf.ActionSet({'a': (0, 1)}); cf.ModelClass(0.1); cf.random_sem(4, density=0.5, seed=1)\n"
        "print('numba' in sys.modules)"
    )
    assert out.strip() == "False"


def test_every_public_name_resolves() -> None:
    for name in cf.__all__:
        assert getattr(cf, name) is not None
    assert set(dir(cf)) == set(cf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cf.nothing  # noqa: B018


def test_kernels_elsewhere_depend_on_the_engines_and_their_own(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1")
    theirs = kernel_compiler.sources_for(tmp_path)
    assert theirs.startswith(kernel_compiler.SOURCES) and theirs != kernel_compiler.SOURCES
    assert kernel_compiler.sources_for(kernel_compiler.HOME) == kernel_compiler.SOURCES
    from causalfocus.baselines.kernels import quick_exp

    folder = Path(quick_exp.__file__).parent
    expected = kernel_compiler.SOURCES + kernel_compiler.source_digest(folder)
    kernel: Any = quick_exp.quick_exp
    assert kernel._cache._sources == expected


COUNT_COMPILATIONS = """
from numba.core import event
class Count(event.Listener):
    n = 0
    def on_start(self, event): Count.n += 1
    def on_end(self, event): pass
event.register("numba:compile", Count())
from causalfocus.kernels.exact import scores
from causalfocus.kernels.records import Bounds
scores.row_score(2.0, 1.0, 3.0, Bounds(0.1, 1.0, 0.5, 2.0))
print(Count.n)
"""


def test_kernels_compile_once_and_stale_ones_are_not_used(tmp_path: Path) -> None:
    """A copy of the package: cold, then cached, then with a change in another kernel's file."""
    source = Path(cf.__file__).parent
    copied = tmp_path / "causalfocus"
    subprocess.run(["cp", "-r", str(source), str(copied)], check=True)  # noqa: S607
    for stale in copied.rglob("*.nb?"):
        stale.unlink()

    def compilations() -> int:
        return int(run(COUNT_COMPILATIONS, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}))

    first, second = compilations(), compilations()
    assert first > 0
    assert second == 0
    other = copied / "kernels" / "search" / "orders.py"
    other.write_text(other.read_text() + "\n# a change\n")
    assert compilations() == first


def test_the_cache_key_covers_all_kernel_sources(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    before = kernel_compiler.source_digest(tmp_path)
    assert kernel_compiler.source_digest(tmp_path) == before
    (tmp_path / "b.py").write_text("y = 1\n")
    assert kernel_compiler.source_digest(tmp_path) != before


def test_compilation_is_announced_where_a_person_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    announcement = kernel_compiler._Announcement()
    announcement.on_start(None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    watched = kernel_compiler._Announcement()
    watched.on_start(None)
    watched.on_start(None)
    assert capsys.readouterr().err.count("compiling") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory as Linux reports it")
def test_memory_grows_as_the_table_of_families() -> None:
    """p 2^p doubles: one table of p 2^(p-1), little beside it."""
    rows = list(peak_memory(range(18, 20)))
    for row in rows:
        assert 0.5 * row.table < row.measured < 2.0 * row.table
