"""`causalfocus demo`: FOCUS on a drawn system, from nothing to a certificate, live."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from causalfocus.cli.simulate import NOT_STOPPED
from causalfocus.learner.focus import Focus
from causalfocus.learner.run import Round, run
from causalfocus.report.live import LiveView
from causalfocus.report.pictures import journey, save
from causalfocus.report.tables import edge_table, equation_table, interval_table
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

EPSILON, DELTA = 0.07, 0.05
SPACE = ModelClass(min_effect=0.15)
TRACE_GROWTH = 1.03


class Trace:
    """The evidence at rounds that grow by three percent: enough for a curve, cheap to take."""

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []
        self._next = 1.0

    def __call__(self, now: Round) -> None:
        if now.number >= self._next or now.learner.decision.stop:
            self.points.append((now.number, now.learner.decision.evidence))
            self._next = now.number * TRACE_GROWTH + 1


def demo(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 5,
    density: Annotated[float, typer.Option(help="Probability of an edge.")] = 0.5,
    seed: Annotated[int, typer.Option(help="For the same run again.")] = 4,
    max_rounds: Annotated[int, typer.Option(min=0, help="Give up after so many.")] = 50_000,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, no picture.")] = False,
) -> None:
    """Learn a drawn system by choosing interventions, from no samples to a certificate."""
    truth = random_sem(nodes, density=density, seed=seed)
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    learner = Focus(actions, SPACE, epsilon=EPSILON, delta=DELTA, seed=seed)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    trace, console = Trace(), Console()

    def system(action: Any) -> Any:
        return truth.sample(action, 1, rng)[0]

    if as_json or not console.is_terminal:
        run(learner, system, max_rounds=max_rounds, on_round=trace)
    else:
        with LiveView(console) as view:

            def traced_view(now: Round) -> None:
                trace(now)
                view(now)

            run(learner, system, max_rounds=max_rounds, on_round=traced_view)
    if as_json:
        typer.echo(json.dumps(_facts(learner, truth)))
    else:
        _show(console, learner, truth, trace, out)
    if not learner.has_stopped:
        raise typer.Exit(NOT_STOPPED)


def _facts(learner: Focus, truth: LinearSEM) -> dict[str, Any]:
    result = learner.result()
    return {
        "rounds": result.rounds,
        "stopped": result.certified,
        "evidence": result.evidence,
        "claim_holds": learner.guarantee.holds(result.model, truth),
        "shd": result.model.shd(truth),
        "max_weight_error": float(np.abs(result.model.weights - truth.weights).max()),
        "truth": truth.to_dict(),
        "estimate": result.model.to_dict(),
    }


def _show(console: Console, learner: Focus, truth: LinearSEM, trace: Trace, out: Path) -> None:
    result, facts = learner.result(), _facts(learner, truth)
    console.print(
        f"A system of {truth.p} nodes, unknown to the learner. Every round it observes or sets one "
        f"node to -2 or 2. It stops when with probability {1 - DELTA:g} every reported effect is "
        f"there and within {EPSILON} of its weight, and every effect of size {SPACE.min_effect:g} "
        f"or more is reported.\n"
    )
    console.print(edge_table(truth, result.model))
    console.print(equation_table(truth, result.model))
    console.print(interval_table(result.intervals, DELTA))
    console.print(
        f"{'Certified' if result.certified else 'Not certified'} after {result.rounds} rounds, "
        f"evidence {result.evidence:.2f} of {result.threshold:.2f} nats. Against the truth: "
        f"structural Hamming distance {facts['shd']}, largest weight error "
        f"{facts['max_weight_error']:.3f}."
    )
    save(journey(truth, result, trace.points), out)
    console.print(f"Picture: {out}")
