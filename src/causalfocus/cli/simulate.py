"""`causalfocus simulate`: run a learner on a drawn or given system to its certificate."""

import json
import math
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np
import typer
from rich.console import Console

from causalfocus.cli.given import about_from, action_set, as_known, load_model, model_class
from causalfocus.cli.options import (
    AboutFlag,
    Acyclic,
    AsJson,
    AtOnce,
    BudgetFlag,
    ChangeCosts,
    Costs,
    Density,
    Forbidden,
    Intercept,
    MaxEffect,
    MinEffect,
    NoiseRange,
    Outcomes,
    Ranges,
    Reach,
    Required,
    RuleName,
    RuleOfPolicy,
    Switches,
    Tiers,
)
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE
from causalfocus.learner.focus import Focus
from causalfocus.learner.run import run
from causalfocus.planning.complexity import complexity
from causalfocus.report.checks import check_picture
from causalfocus.report.live import LiveView
from causalfocus.report.pairs import Pairs
from causalfocus.report.pictures import save
from causalfocus.report.spending import by_words
from causalfocus.report.tables import (
    edge_table,
    equation_table,
    interval_table,
    pair_table,
    settled_bar,
)
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.question import About
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

NOT_STOPPED = 3


class Policy(StrEnum):
    """Who chooses the actions."""

    focus = "focus"
    uniform = "uniform"
    random = "random"
    ait_dcdi = "ait-dcdi"
    cbed = "cbed"
    abcd = "abcd"
    git_dcdi = "git-dcdi"


def simulate(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 6,
    density: Density = 0.3,
    seed: Annotated[int, typer.Option(help="For the same system and samples again.")] = 0,
    policy: Annotated[Policy, typer.Option(help="Who chooses the actions.")] = Policy.focus,
    rule: RuleOfPolicy = None,
    epsilon: Annotated[float, typer.Option(help="Accuracy of the weights.")] = 0.07,
    delta: Annotated[float, typer.Option(help="How often it may be wrong.")] = 0.05,
    max_rounds: Annotated[int, typer.Option(min=0, help="Give up after so many.")] = 100_000,
    reach: Reach = 2.0,
    ranges: Ranges = None,
    costs: Costs = None,
    change_costs: ChangeCosts = None,
    at_once: AtOnce = 1,
    switch: Switches = None,
    min_effect: MinEffect = 0.15,
    max_effect: MaxEffect = 1.5,
    noise: NoiseRange = (0.8, 1.2),
    intercept: Intercept = False,
    outcome: Outcomes = None,
    forbid: Forbidden = None,
    require: Required = None,
    tier: Tiers = None,
    acyclic: Acyclic = False,
    about: AboutFlag = None,
    budget: BudgetFlag = None,
    model: Annotated[
        Path | None, typer.Option(help="A system as JSON instead of a drawn one.")
    ] = None,
    checks: Annotated[
        Path | None, typer.Option(help="Save a picture of residuals and alarms to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a learner on a system until it has a certificate; exit code 3 if it is not."""
    bounds = min_effect, max_effect, noise
    space = model_class(
        bounds,
        intercept=intercept,
        outcomes=outcome,
        forbidden=forbid,
        required=require,
        tiers=tier,
        acyclic=acyclic,
    )
    truth = (
        load_model(model)
        if model
        else as_known(random_sem(nodes, density=density, seed=seed, space=space), space)
    )
    actions = action_set(
        truth.names,
        ranges or [],
        costs or [],
        reach,
        at_once,
        change_costs or [],
        switches=switch,
    )
    learner = _learner(
        policy,
        actions,
        space,
        seed,
        epsilon=epsilon,
        delta=delta,
        rule=rule.value if rule else _own_rule(policy),
        about=about_from(about),
        budget=budget,
    )
    _require_loops_allowed(learner, truth, policy)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    console = Console()
    start = time.perf_counter()

    def system(action: Any) -> Any:
        return truth.sample(action, 1, rng)[0]

    if as_json or not console.is_terminal:
        run(learner, system, max_rounds=max_rounds)
    else:
        with LiveView(console) as view:
            run(learner, system, max_rounds=max_rounds, on_round=view)
    facts = _facts(learner, truth, time.perf_counter() - start)
    if checks is not None:
        save(check_picture(learner), checks)
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        _show(console, learner, truth, facts, checks)
    if not facts["stopped"]:
        raise typer.Exit(NOT_STOPPED)


def _own_rule(policy: Policy) -> str:
    """The default rule counts coins, and a baseline tosses none."""
    return DEFAULT_RULE if policy in (Policy.focus, Policy.uniform) else RuleName.gaussian.value


class Asked(TypedDict):
    """What a run to a certificate is asked for."""

    epsilon: float
    delta: float
    rule: str
    about: About | None
    budget: int | None


def _learner(
    policy: Policy, actions: ActionSet, space: ModelClass, seed: int, **asked: Unpack[Asked]
) -> Focus:
    """FOCUS, or a baseline under FOCUS's certificate."""
    if policy is Policy.focus:
        return Focus(actions, space, seed=seed, **asked)
    if policy is Policy.uniform:
        return Focus(actions, space, design="uniform", seed=seed, **asked)
    from causalfocus.baselines import BASELINES, Certified

    if asked["about"] is not None or asked["budget"] is not None:
        raise InvalidInputError(
            f"--about and --budget are for FOCUS: the policy {policy.value} asks for everything. "
            f"Leave them out, or take --policy focus."
        )
    learner = BASELINES[policy.value](actions, space, seed=seed)
    return Certified(learner, epsilon=asked["epsilon"], delta=asked["delta"], rule=asked["rule"])


def _require_loops_allowed(learner: Focus, truth: LinearSEM, policy: Policy) -> None:
    """A system with feedback is for rules that allow it; no baseline does."""
    if not learner.guarantee.allows_loops:
        require_no_loops(truth, f"the {learner.guarantee.name} rule")
    if policy not in (Policy.focus, Policy.uniform):
        require_no_loops(truth, f"the policy {policy.value}")


def _own_estimate(learner: Focus) -> LinearSEM:
    """The estimate of whoever chose the actions."""
    from causalfocus.baselines import Certified

    return learner.learner.estimate if isinstance(learner, Certified) else learner.result().model


def _facts(learner: Focus, truth: LinearSEM, seconds: float) -> dict[str, object]:
    result, own, effects = learner.result(), _own_estimate(learner), learner.effects().to_dict()
    error = float(np.abs(own.weights - truth.weights).max())
    shd = own.shd(truth)
    epsilon = learner.epsilon if isinstance(learner.epsilon, float) else 0.0
    return {
        "rounds": result.rounds,
        "stopped": result.certified,
        "claim_holds": learner.guarantee.holds(result.model, truth),
        "correct": shd == 0 and error < epsilon,
        "shd": shd,
        "max_weight_error": error,
        "evidence": finite(result.evidence),
        "threshold": result.threshold,
        "refuted": result.refuted,
        "reason": learner.decision.reason,
        "alarms": [
            {"kind": alarm.kind, "node": alarm.node, "evidence": finite(alarm.evidence)}
            for alarm in learner.alarms()[:5]
        ],
        "cost": result.cost,
        "seconds": round(seconds, 3),
        "counts": by_words(result.counts, at_once=learner.actions.at_once),
        "settled": effects["settled"],
        "pairs": effects["pairs"],
        "complexity": _complexity(learner, truth),
        "truth": truth.to_dict(),
        "estimate": own.to_dict(),
        "certified_model": result.model.to_dict() if result.certified else None,
    }


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _complexity(learner: Focus, truth: LinearSEM) -> float | None:
    """Of the true system, if the rule speaks of it."""
    if truth.p == 1 or not learner.guarantee.speaks_of(truth):
        return None
    return complexity(
        truth,
        learner.actions,
        learner.space,
        epsilon=learner.epsilon,
        rule=learner.rule,
        ends=learner.choices.ends,
    ).value


def _show(
    console: Console,
    learner: Focus,
    truth: LinearSEM,
    facts: dict[str, object],
    checks: Path | None,
) -> None:
    result = learner.result()
    own = _own_estimate(learner)
    console.print(edge_table(truth, own))
    console.print(equation_table(truth, own))
    if learner.guarantee.settles_pairs:
        pairs = Pairs(effects=learner.effects())
        console.print(settled_bar(pairs), pair_table(pairs))
    elif result.intervals:
        console.print(interval_table(result.intervals, result.delta))
    if own != result.model:
        console.print(
            "The tables show the method's own estimate. What the rule judges is FOCUS's from the "
            "same samples, with the intervals below; --json has both.",
            style="dim",
        )
    console.print(
        f"{'Certified' if result.certified else 'Not certified'} after {result.rounds} rounds in "
        f"{facts['seconds']} s: evidence {result.evidence:.2f} of {result.threshold:.2f} nats. "
        f"{'The claim is right.' if facts['claim_holds'] else 'The claim is not (yet) right.'}"
    )
    if learner.actions.prices or learner.actions.change_costs:
        console.print(f"Cost of these rounds: {result.cost:,.6g}.")
    console.print(result.refuted or learner.decision.reason)
    loudest = learner.alarms()[:1]
    if loudest and not result.refuted:
        console.print(
            f"Loudest alarm: {loudest[0].words} ({loudest[0].evidence:.1f} nats; it would refute "
            f"at {result.threshold:.2f}).",
            style="dim",
        )
    if checks is not None:
        console.print(f"Residuals and alarms: {checks}")
