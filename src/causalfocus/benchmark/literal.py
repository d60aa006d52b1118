"""The engine beside the paper's algorithms as written, on the same moments, in the same run.

The literal enumeration lives with the tests; it is found by its path, so the benchmark needs a
checkout of the repository for this part.
"""

import importlib
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from causalfocus.benchmark.clock import seconds_once, seconds_per_call
from causalfocus.benchmark.problems import EPSILON, Problem, problem
from causalfocus.errors import NumericalError
from causalfocus.oracles import best_alternative, joint_mle
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """How many times faster the engine is than the literal enumeration; medians over problems.

    `literal` solves every quadratic program wherever the algorithm calls for it, `remembered` each
    only once; both are interpreted Python around a compiled solver.
    """

    p: int
    oracle: str
    n_problems: int
    literal: float
    remembered: float
    engine: float
    ratio: float
    ratio_remembered: float


def find_referee(folder: Path) -> ModuleType | None:
    """The package `literal` inside a folder of tests, if it is there with what it needs."""
    if not (folder / "literal" / "__init__.py").is_file():
        return None
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("literal")
    except ImportError:
        return None
    finally:
        sys.path.remove(str(folder))


def ratios(referee: ModuleType, sizes: range) -> Iterator[Ratio]:
    """Two rows per number of nodes: the MLE and the alternative."""
    for p in sizes:
        cases = [problem(p, seed) for seed in range(5 if p < 6 else 2)]
        for oracle in ("joint MLE", "alternative"):
            rows = [_measure(referee, case, oracle) for case in cases]
            literal, remembered, engine = (
                statistics.median(column) for column in zip(*rows, strict=True)
            )
            yield Ratio(
                p=p,
                oracle=oracle,
                n_problems=len(cases),
                literal=literal,
                remembered=remembered,
                engine=engine,
                ratio=statistics.median(row[0] / row[2] for row in rows),
                ratio_remembered=statistics.median(row[1] / row[2] for row in rows),
            )


def _measure(referee: ModuleType, case: Problem, oracle: str) -> tuple[float, float, float]:
    """Seconds of the literal, the remembering and the engine's call; their values must agree."""
    slow, fast, value = (_mle if oracle == "joint MLE" else _alternative)(referee, case)
    results: list[Any] = []
    literal = seconds_once(lambda: results.append(slow(memoise=False)))
    remembered = seconds_once(lambda: slow(memoise=True))
    engine = seconds_per_call(fast)
    if abs(value(fast()) - results[0].value) > 1e-8 * (1 + abs(results[0].value)):
        raise NumericalError(
            f"The engine and the literal {oracle} disagree at p = {case.p}, seed {case.seed}: "
            f"{value(fast())!r} against {results[0].value!r}."
        )
    return literal, remembered, engine


def _bounds(referee: ModuleType) -> Any:
    return referee.Bounds(
        PAPER_CLASS.least_effect, PAPER_CLASS.effect_limit, *PAPER_CLASS.variance_limits
    )


def _mle(referee: ModuleType, case: Problem) -> tuple[Any, Any, Any]:
    rows = referee.Rows.from_data(case.targets, case.samples, False)
    bounds = _bounds(referee)

    def slow(memoise: bool) -> Any:
        return referee.finite_joint_mle(rows, bounds, memoise=memoise)

    def value(model: Any) -> float:
        return float(
            referee.negative_log_likelihood(
                rows, model.weights, model.noise_variances, model.intercepts
            )
        )

    return slow, lambda: joint_mle(case.moments, PAPER_CLASS), value


def _alternative(referee: ModuleType, case: Problem) -> tuple[Any, Any, Any]:
    model = case.estimate
    actions = [
        (model.names.index(a.target) if a.target else -1, a.value or 0.0) for a in case.weights
    ]
    parameters = (model.weights, model.noise_variances, model.intercepts)
    amounts = list(case.weights.values())
    rows = referee.Rows.expected(*parameters, actions, amounts, False)
    reference, bounds = referee.Reference(*parameters), _bounds(referee)

    def slow(memoise: bool) -> Any:
        return referee.finite_alternative_oracle(rows, bounds, reference, EPSILON, memoise=memoise)

    def fast() -> Any:
        return best_alternative(model, case.weights, PAPER_CLASS, epsilon=EPSILON)

    return slow, fast, lambda found: float(found.value)
