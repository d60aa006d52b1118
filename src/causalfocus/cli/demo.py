"""`causalfocus demo`: draw a system, sample it under all actions, recover it, look at both."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from causalfocus.actions import ActionSet
from causalfocus.moments import Moments
from causalfocus.oracles import joint_mle
from causalfocus.sem import LinearSEM
from causalfocus.space import PAPER_CLASS
from causalfocus.systems import random_sem


def demo(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 5,
    density: Annotated[float, typer.Option(help="Probability of an edge.")] = 0.5,
    samples: Annotated[int, typer.Option(min=0, help="Samples under every action.")] = 60,
    seed: Annotated[int, typer.Option(help="For the same run again.")] = 4,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, no picture.")] = False,
) -> None:
    """Draw a system, sample it under all actions, show the recovered graph beside the true one."""
    truth = random_sem(nodes, density=density, seed=seed)
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    moments = sampled(truth, actions, samples, seed)
    estimate = joint_mle(moments, PAPER_CLASS)
    error = float(np.abs(estimate.weights - truth.weights).max())
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "samples": moments.n,
                    "shd": estimate.shd(truth),
                    "max_weight_error": error,
                    "truth": truth.to_dict(),
                    "estimate": estimate.to_dict(),
                }
            )
        )
        return
    _show(truth, estimate, actions, moments.n, error, out)


def sampled(truth: LinearSEM, actions: ActionSet, n: int, seed: int) -> Moments:
    """Moments of n samples under each action."""
    moments = Moments(truth.names)
    streams = np.random.SeedSequence([seed, 1]).spawn(len(actions))
    for action, stream in zip(actions, streams, strict=True):
        moments.add_many([action] * n, truth.sample(action, n, np.random.default_rng(stream)))
    return moments


def _show(
    truth: LinearSEM, estimate: LinearSEM, actions: ActionSet, n: float, error: float, out: Path
) -> None:
    from causalfocus.report.pictures import comparison, save
    from causalfocus.report.tables import edge_table, equation_table

    console = Console()
    console.print(
        f"{n:g} samples of a system of {truth.p} nodes under {len(actions)} actions: observe, and "
        f"set each node to -2 or 2. The exact maximum-likelihood estimate over all graphs:\n"
    )
    console.print(edge_table(truth, estimate))
    console.print(equation_table(truth, estimate))
    console.print(
        f"Structural Hamming distance {estimate.shd(truth)}, largest weight error {error:.3f}."
    )
    save(comparison(truth, estimate), out)
    console.print(f"Picture: {out}")
