"""The house is in order, as tools/house.py counts; and what it counts is what is there."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_house", ROOT / "tools" / "house.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["count_house"] = module
    spec.loader.exec_module(module)
    return module


house = load()
COUNTS = house.House(ROOT).counts()


@pytest.mark.parametrize("count", COUNTS, ids=lambda count: count.what.replace(" ", "-"))
def test_the_limit_is_kept(count: object) -> None:
    assert not count.is_broken, house.table([count], with_places=True)  # type: ignore[attr-defined]


def test_the_command_fails_where_a_limit_is_broken() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "house.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == any(count.is_broken for count in COUNTS)
    for count in COUNTS:
        assert f"{count.what} " in done.stdout


GUARANTEES = """
from abc import ABC
from dataclasses import dataclass
class Decision(ABC): ...
class PaperDecision(Decision): ...
class Plain:
    def decide(self): ...
class Alarm: ...
class Claim: ...
"""

LEARNER = """
from causalfocus.guarantees.rules import Alarm, Decision, PaperDecision, Plain
from causalfocus.moments.sums import _secret, Sums
Either = PaperDecision | Plain
def look(x, y):
    isinstance(x, Alarm); isinstance(x, Decision); self = x
    isinstance(x, int | PaperDecision)
    isinstance(x, Either)
    type(x) is Plain
    match y:
        case Plain(): ...
    return x._hidden + x._own + self._hidden + x._replace(a=1) + getattr(x, "_hidden")
class Here:
    def __init__(self): self._own = 1
def judged(): ...
def judged_rows(): ...
def open(): ...
"""

KERNEL = """
from typing import NamedTuple
import numpy as np
from causalfocus.kernels.shapes import Rows, Pair, fit, Named
Local = tuple[float, Pair]
def one(rows: Rows, n: np.ndarray, named: Named, local: Local):
    rows[0]; n[0]; n.shape[0]; rows[n]; named.pair[1]; named.array[0]
    found = fit(rows)
    found[-1]; fit(rows)[0]
    _, pair = local
    pair[1]; local[1][0]
    made = (1.0, n)
    made[1]; made[1][0]
"""

SHAPES = """
from typing import NamedTuple
Rows = tuple[float, float]
Pair = tuple[int, int]
Array = list[float]
class Named(NamedTuple):
    pair: Pair
    array: Array
def fit(rows: Rows) -> Rows: ...
"""

CLASSES = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Base:
    a: int
    b: int
    c: int
@dataclass
class Six(Base):
    d: int
    e: int
    f: int
@dataclass(kw_only=True)
class Named(Base):
    d: int
    e: int
    f: int
@dataclass
class Five(Base):
    d: int
    e: int
"""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    """What is counted in a house with every fault."""
    long = "def long():\n" + "    x = 1\n" * 70
    verb = (
        "def verb(\n" + "".join(f"    a{i}=0,\n" for i in range(60)) + "):\n" + "    x = 1\n" * 60
    )
    for name, text in {
        "src/causalfocus/__init__.py": "",
        "src/causalfocus/guarantees/rules.py": GUARANTEES,
        "src/causalfocus/learner/round.py": LEARNER,
        "src/causalfocus/moments/sums.py": "_secret = 1\nclass Sums:\n    _hidden = 2\n",
        "src/causalfocus/kernels/shapes.py": SHAPES,
        "src/causalfocus/kernels/one.py": KERNEL,
        "src/causalfocus/report/classes.py": CLASSES,
        "src/causalfocus/report/long.py": long + "\n" * 330,
        "src/causalfocus/cli/verb.py": verb,
        "tests/deep/test_long.py": "x = 1\n" * 501,
        "tests/test_short.py": "x = 1\n" * 500,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {count.what: count.places for count in house.House(tmp_path).counts()}


def said(places: tuple[str, ...]) -> list[str]:
    """What is said of each place, without where it is."""
    return [place.split(": ", 1)[1] for place in places]


def test_faults_are_found_and_nothing_else(places: dict[str, tuple[str, ...]]) -> None:
    found = {what.split(" above")[0]: said(where) for what, where in places.items()}
    assert found["modules at the root"] == ["at the root"]
    kinds = found["questions which kind of rule it is"]
    assert kinds == ["PaperDecision", "Either", "Plain", "Plain"]
    assert sorted(found["private names of another room"]) == [
        "from causalfocus.moments.sums import _secret",
        "getattr(x, '_hidden')",
        "x._hidden",
    ]
    assert found["functions named by a bare participle"] == ["judged"]
    assert found["functions"] == ["long has 71 lines"]
    assert found["modules"] == ["401 lines"]
    assert found["test files"] == ["501 lines"]
    assert found["dataclasses"] == ["Six has 6 fields"]


def test_subscripts_of_tuples_are_told_from_those_of_arrays(
    places: dict[str, tuple[str, ...]],
) -> None:
    found = said(places["numeric subscripts on tuples in kernels"])
    assert sorted(found) == [
        "fit(rows)[0]",
        "found[-1]",
        "local[1]",
        "local[1][0]",
        "made[1]",
        "made[1]",
        "named.pair[1]",
        "pair[1]",
        "rows[0]",
    ]
