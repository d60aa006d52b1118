"""`causalfocus demo`: FOCUS on a drawn system, from nothing to a certificate, live.

Something that nobody measures drives two of the nodes, as it may in any laboratory.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from causalfocus.cli.options import AnyRule, RuleName
from causalfocus.cli.simulate import NOT_STOPPED, finite
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

HIDDEN = "?"
"""The name of what nobody measures, in the picture."""


class Trace:
    """Evidence and verdicts at rounds that grow by three percent: enough for a curve, cheap."""

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []
        self.verdicts: list[tuple[int, int, int]] = []
        self._next = 1.0

    def __call__(self, now: Round) -> None:
        decision = now.learner.decision
        if now.number >= self._next or decision.stop:
            self.points.append((now.number, decision.evidence))
            if decision.verdicts is not None:
                stands = [verdict.stand for verdict in decision.verdicts]
                counts = stands.count("present"), stands.count("absent")
                self.verdicts.append((now.number, *counts))
            self._next = now.number * TRACE_GROWTH + 1


def demo(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 5,
    density: Annotated[float, typer.Option(help="Probability of an edge.")] = 0.5,
    seed: Annotated[int, typer.Option(help="For the same run again.")] = 4,
    rule: AnyRule = RuleName.randomized,
    max_rounds: Annotated[int, typer.Option(min=0, help="Give up after so many.")] = 50_000,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, no picture.")] = False,
) -> None:
    """Learn a drawn system by choosing interventions, from no samples to a certificate."""
    truth = random_sem(nodes, density=density, seed=seed)
    world = _with_hidden_cause(truth)
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)), at_once=None)
    learner = Focus(actions, SPACE, epsilon=EPSILON, delta=DELTA, rule=rule.value, seed=seed)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    trace, console = Trace(), Console()

    def system(action: Any) -> Any:
        return world.sample(action, 1, rng)[0, : truth.p]

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
        _show(console, learner, (truth, world), trace, out)
    if not learner.has_stopped:
        raise typer.Exit(NOT_STOPPED)


def _with_hidden_cause(truth: LinearSEM) -> LinearSEM:
    """The same system with one more node, the last, that drives two of the others alike."""
    weights = np.zeros((truth.p + 1, truth.p + 1))
    weights[:-1, :-1] = truth.weights
    weights[truth.order[[max(truth.p - 2, 0), truth.p - 1]], -1] = 1.0
    return LinearSEM(
        weights,
        np.append(truth.noise_variances, 1.0),
        np.append(truth.intercepts, 0.0),
        names=(*truth.names, HIDDEN),
    )


def _facts(learner: Focus, truth: LinearSEM) -> dict[str, Any]:
    result = learner.result()
    return {
        "rounds": result.rounds,
        "stopped": result.certified,
        "evidence": finite(result.evidence),
        "claim_holds": learner.guarantee.holds(result.model, truth),
        "shd": result.model.shd(truth),
        "max_weight_error": float(np.abs(result.model.weights - truth.weights).max()),
        "truth": truth.to_dict(),
        "estimate": result.model.to_dict(),
    }


def _show(
    console: Console,
    learner: Focus,
    systems: tuple[LinearSEM, LinearSEM],
    trace: Trace,
    out: Path,
) -> None:
    """systems : of what is measured, and with what nobody measures."""
    truth, world = systems
    driven = [effect for cause, effect, _ in world.edges if cause == HIDDEN]
    result, facts = learner.result(), _facts(learner, truth)
    console.print(
        f"A system of {truth.p} nodes, unknown to the learner; something that nobody measures "
        f"drives {' and '.join(driven)}. Every round the learner picks nodes, any number of them, "
        f"and fair coins set each to -2 or 2. It stops when with probability {1 - DELTA:g} every "
        f"reported effect is there and within {EPSILON} of its weight, and every effect of size "
        f"{SPACE.min_effect:g} or more is reported.\n"
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
    if result.refuted:
        console.print(result.refuted)
    picture = journey(truth, result, trace.points, verdicts=trace.verdicts, world=world)
    save(picture, out)
    console.print(f"Picture: {out}")
