"""A learner's state as bytes and back, so that a long log need not be replayed from the start.

The log stays the truth. A checkpoint is used only if it was made by the very same code and
numerical libraries, for the same specification, after the very events that the log has (their
chained digest agrees), and if its own digest is right; else the log is replayed from the start. So
a checkpoint saves time and does not change an answer. It holds numbers and names, nothing that is
executed.
"""

import hashlib
import io
import json
import platform
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
import scipy

import causalfocus
from causalfocus.arrays import Floats
from causalfocus.guarantees import Interval
from causalfocus.learner.focus import Focus
from causalfocus.learner.result import Result
from causalfocus.learner.round import Judgement
from causalfocus.moments.anchors import Anchors
from causalfocus.moments.assumption_sums import Watch
from causalfocus.moments.state import State
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM

Arrays = dict[str, Floats]


def _fingerprint() -> str:
    """Of the package's sources and of what computes with them."""
    home = Path(causalfocus.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        digest.update(str(path.relative_to(home)).encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (np.__version__, numba.__version__, scipy.__version__, platform.python_version())
    return "/".join((digest.hexdigest(), *versions, platform.machine()))


CODE_IN_USE: Final = _fingerprint()
"""Taken when this is loaded: the sources may be replaced while the program runs."""


def packed(learner: Focus, before: Judgement, more: dict[str, Any]) -> bytes:
    """A learner after a round.

    before : its judgement one round earlier: what the present one was made from, with the samples
    more : to be kept with it, as JSON has it
    """
    state = learner._moments._state
    arrays: Arrays = {
        "sums": state.sums,
        "origins": state.origins,
        "watch": state.watch.sums,
        "firsts": state.watch.firsts,
        "counts": learner._counts,
        "cumulative": learner._cumulative,
        "hedge": learner._hedge._cumulative,
        "weights": learner._hedge.weights,
    }
    arrays |= {f"mark {m}": sums for m, sums in state.marks.items()}
    arrays |= {f"watch {m}": sums for m, sums in state.watch.marks.items()}
    arrays |= {f"anchor {i}": row for i, (_, _, row) in enumerate(state.anchors.samples)}
    if before.aim is not None:
        arrays["aim"] = before.aim
    facts = {
        "rounds": learner.rounds,
        "n": state.n,
        "watched": state.watch.n,
        "is_sure": state.is_sure,
        "anchors": [[number, target] for number, target, _ in state.anchors.samples],
        "gap": learner._hedge.gap,
        "before": [before.next_look, before.next_check],
        "stop": None if learner._stop is None else _result_to_dict(learner._stop),
        "continued": learner._continued,
        "more": more,
    }
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez(buffer, allow_pickle=False, facts=text, **arrays)
    return buffer.getvalue()


def unpacked(contents: bytes, learner: Focus) -> tuple[int, Judgement, dict[str, Any]]:
    """Bring a learner that has seen nothing into the state that was packed, but for its log.

    Returns
    -------
    rounds : of the learner
    before, more : as they were packed
    """
    with np.load(io.BytesIO(contents), allow_pickle=False) as file:
        arrays: Arrays = {name: file[name] for name in file.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    watch = Watch(
        len(learner.names),
        facts["watched"],
        arrays["watch"],
        arrays["firsts"],
        _marked(arrays, "watch"),
    )
    anchors = Anchors(
        tuple(
            (number, target, arrays[f"anchor {i}"])
            for i, (number, target) in enumerate(facts["anchors"])
        )
    )
    learner._moments._state = State(
        facts["n"],
        arrays["sums"],
        arrays["origins"],
        anchors,
        _marked(arrays, "mark"),
        watch,
        facts["is_sure"],
    )
    learner._counts[:] = arrays["counts"]
    learner._cumulative = arrays["cumulative"]
    learner._hedge._cumulative = arrays["hedge"]
    learner._hedge.gap, learner._hedge.weights = facts["gap"], arrays["weights"]
    learner._continued[:] = facts["continued"]
    learner._stop = None if facts["stop"] is None else _result_from_dict(facts["stop"])
    look, check = facts["before"]
    blank = learner._now
    before = Judgement(blank.estimate, blank.decision, arrays.get("aim"), look, check)
    learner._now = learner._judge.judged(learner._moments, learner._counts, before)
    return facts["rounds"], before, facts["more"]


def _marked(arrays: Arrays, kind: str) -> dict[int, Floats]:
    found = {}
    for name, sums in arrays.items():
        first, _, number = name.partition(" ")
        if first == kind and number:
            found[int(number)] = sums
    return dict(sorted(found.items()))


def _result_to_dict(result: Result) -> dict[str, Any]:
    return {
        "model": result.model.to_dict(),
        "intervals": [[i.cause, i.effect, i.low, i.estimate, i.high] for i in result.intervals],
        "certified": result.certified,
        "refuted": result.refuted,
        "rounds": result.rounds,
        "evidence": result.evidence,
        "threshold": result.threshold,
        "delta": result.delta,
        "epsilon": result.epsilon,
        "counts": [[action.target, action.value, n] for action, n in result.counts.items()],
        "cost": result.cost,
    }


def _result_from_dict(given: dict[str, Any]) -> Result:
    return Result(
        LinearSEM.from_dict(given["model"]),
        tuple(Interval(*line) for line in given["intervals"]),
        given["certified"],
        given["refuted"],
        given["rounds"],
        given["evidence"],
        given["threshold"],
        given["delta"],
        given["epsilon"],
        {Action(target, value): n for target, value, n in given["counts"]},
        given["cost"],
    )
