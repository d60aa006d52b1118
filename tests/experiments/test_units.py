"""Units of experiments: named by what they run, and the same bytes each time."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.experiments import units as units_module
from causalfocus.experiments.replicate import system_of
from causalfocus.experiments.sources import source_digest, sources_behind
from causalfocus.experiments.specification import Setting, Specification, log_spaced
from causalfocus.experiments.stops import Stops
from causalfocus.experiments.units import Unit, units_for
from experiments.small_units import SMALL, specification, unit
from worlds import play, rig


def test_code_is_what_a_method_imports() -> None:
    behind = sources_behind("causalfocus.learner.focus")
    assert {
        "causalfocus.learner.focus",
        "causalfocus.moments.moments",
        "causalfocus.kernels.exact.oracles",
    } <= set(behind)
    assert not any(name.startswith(("causalfocus.cli", "causalfocus.report")) for name in behind)
    assert "causalfocus.baselines.cbed" not in sources_behind(
        "causalfocus.experiments.replicate", "causalfocus.experiments.methods.focus"
    )
    assert "causalfocus.learner.focus" not in sources_behind(
        "causalfocus.experiments.replicate", "causalfocus.experiments.methods.cbed"
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
        "causalfocus.experiments.replicate", "causalfocus.experiments.methods.random"
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
        twin = {"focus": "probable", "random": "probable", "cbed": "bayes"}.get(method)
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


def test_one_run_gives_the_stopping_times_of_every_delta(actions: cf.ActionSet) -> None:
    """As learners that were asked for each delta give them, with the same models."""
    deltas = (0.1, 0.02, 0.005)

    def learner(delta: float) -> cf.Focus:
        return cf.Focus(actions, cf.PAPER_CLASS, epsilon=0.07, delta=delta, rule="class", seed=1)

    def watch(own: cf.Focus, stops: Stops | None) -> cf.Focus:
        system = rig(7)
        while not own.has_stopped:
            play(own, system, 1)
            if stops is not None:
                stops.see(own.decision, own.estimate)
        return own

    stops = Stops(deltas)
    watch(learner(min(deltas)), stops)
    assert stops.are_all
    for delta, rounds, model in zip(deltas, stops.rounds, stops.models, strict=True):
        alone = watch(learner(delta), None)
        assert (alone.rounds, alone.result().model) == (rounds, model)


def test_units_cover_the_replicates_and_keep_their_borders() -> None:
    few = units_for([SMALL], [specification()], 15, block=10)
    more = units_for([SMALL], [specification()], 40, block=10)
    assert [u.first for u in few] == [0, 10]
    assert {u.name for u in few} < {u.name for u in more}
