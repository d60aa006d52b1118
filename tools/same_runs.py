"""Whether two versions of causalfocus do the same, to the bit.

    python tools/same_runs.py record FILE          # with either version installed
    python tools/same_runs.py compare FILE FILE

Plays every learner under every rule on five systems and writes down what it did: actions,
estimates, evidence, stopping rounds, intervals and alarms. Numbers are written as hexadecimal
floats, so that what agrees here agrees to the last bit. The script knows the words of earlier
versions.
"""

import hashlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import causalfocus as cf
from causalfocus.baselines import BASELINES, Certified

EARLIER = {"gaussian": "resolution", "class": "evidence", "paper": "paper"}
LOOKS = (1, 2, 5, 10, 20, 40, 64, 77, 100, 160, 250, 400, 640, 1000, 1600, 2500)
MOST = {"gaussian": 2600, "class": 2600, "paper": 120, None: 170}


def rule_option(rule: str) -> dict[str, str]:
    """The rule, in the words of the version that is installed."""
    if "rule" in inspect.signature(cf.Focus).parameters:
        return {"rule": rule}
    return {"stopping": EARLIER[rule]}


def ends_option() -> dict[str, str]:
    """Ends by the game, in versions that toss coins: they may toss others."""
    return {"ends": "game"} if "ends" in inspect.signature(cf.Focus).parameters else {}


def problems() -> Iterator[tuple[str, cf.LinearSEM, cf.ActionSet, cf.ModelClass, float]]:
    """Five systems: sizes, constants, costs and settable variables differ."""
    bounds = {"max_effect": 1.5, "noise_variance": (0.8, 1.2)}
    plain = cf.ModelClass(0.15, **bounds, intercept=False)
    shifted = cf.ModelClass(0.2, **bounds)
    for name, p, density, seed, space, constants, costs in (
        ("sparse six", 6, 0.3, 1, plain, 0.0, {}),
        ("dense five", 5, 0.6, 2, plain, 0.0, {"X1": 5.0, "observe": 0.5}),
        ("constants", 4, 0.5, 3, shifted, 3.0, {}),
        ("chain of three", 3, 1.0, 4, shifted, 100.0, {}),
        ("pair", 2, 1.0, 5, plain, 0.0, {"X2": 2.0}),
    ):
        model = cf.random_sem(
            p, density=density, seed=seed, space=space, intercept_range=(-constants, constants)
        )
        ranges: dict[str, Any] = dict.fromkeys(model.names, (-2.0, 2.0))
        if name == "constants":
            ranges["X4"] = None
        yield name, model, cf.ActionSet(ranges, costs=costs), space, space.least_effect / 2


def learners(
    actions: cf.ActionSet, space: cf.ModelClass, epsilon: float
) -> Iterator[tuple[str, str | None, Any]]:
    for rule in EARLIER:
        option: dict[str, Any] = {**rule_option(rule), **ends_option()}
        yield f"focus {rule}", rule, cf.Focus(actions, space, epsilon=epsilon, **option)
        uniform = cf.Focus(actions, space, epsilon=epsilon, design="uniform", **option)
        yield f"uniform {rule}", rule, uniform
    option = {**rule_option("gaussian"), **ends_option()}
    yield "graph alone", "gaussian", cf.Focus(actions, space, epsilon=None, **option)
    for name, kind in BASELINES.items():
        yield name, None, kind(actions, space, seed=7)
    for rule in ("gaussian", "class"):
        chosen = BASELINES["random"](actions, space, seed=8)
        yield f"certified {rule}", rule, Certified(chosen, epsilon=epsilon, **rule_option(rule))


def of_model(model: cf.LinearSEM) -> str:
    arrays = (model.weights, model.noise_variances, model.intercepts)
    return hashlib.sha256(b"".join((a + 0.0).tobytes() for a in arrays)).hexdigest()


def look(learner: Any) -> dict[str, Any]:
    found = {
        "rounds": learner.rounds,
        "estimate": of_model(learner.estimate),
        "evidence": float(learner.decision.evidence).hex(),
        "batch": [str(action) for action in next_batch(learner)],
    }
    if isinstance(learner, cf.Focus):
        result = learner.result()
        found |= {
            "reason": learner.decision.reason,
            "intervals": [
                [i.low.hex(), float(i.estimate).hex(), i.high.hex()] for i in result.intervals
            ],
            "alarms": [[a.kind, a.node, a.evidence.hex()] for a in learner.alarms()[:5]],
            "allocation": [float(part).hex() for part in learner.allocation.values()],
        }
    return found


def next_batch(learner: Any) -> list[cf.Action]:
    try:
        return list(learner.ask_batch(3))
    except cf.AlreadyStoppedError:
        return []


def played(learner: Any, model: cf.LinearSEM, most: int, seed: int) -> dict[str, Any]:
    """One run, to its stop or to the end of the rounds."""
    rng = np.random.default_rng(seed)
    actions, looks = hashlib.sha256(), []
    while learner.rounds < most and not learner.decision.stop:
        action = learner.ask()
        actions.update(str(action).encode())
        learner.tell(action, model.sample(action, 1, rng)[0])
        if learner.rounds in LOOKS:
            looks.append(look(learner))
    looks.append(look(learner))
    return {"stop": learner.decision.stop, "actions": actions.hexdigest(), "looks": looks}


def record(path: Path) -> None:
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, actions, space, epsilon in problems():
            for label, rule, learner in learners(actions, space, epsilon):
                found[f"{name}, {label}"] = played(learner, model, MOST[rule], seed=11)
                sys.stderr.write(f"{name}, {label}: {learner.rounds} rounds\n")
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def in_words_of_today(text: str) -> str:
    """Reasons name the rules, which had other names once."""
    return text.replace("use the evidence rule.", "use rule='class'.")


def compare(one: Path, other: Path) -> int:
    before, after = (json.loads(in_words_of_today(file.read_text())) for file in (one, other))
    differing = [
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    ]
    for name in sorted(differing):
        sys.stdout.write(f"different: {name}\n")
    n_looks = sum(len(run["looks"]) for run in before.values())
    n_rounds = sum(run["looks"][-1]["rounds"] for run in before.values())
    sys.stdout.write(
        f"{len(before) - len(differing)} of {len(before)} runs are the same to the bit "
        f"({n_rounds:,} rounds, {n_looks} looks)\n"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", file]:
            record(Path(file))
        case ["compare", one, other]:
            sys.exit(compare(Path(one), Path(other)))
        case _:
            sys.exit(__doc__)
