"""What the randomized rule costs: beside the gaussian rule, and beside what no luck could better.

Two comparisons. On the paper's systems the rounds of the randomized rule, one variable at a time
and any number at once, with loops allowed and ruled out (acyclic=True), stand beside those of the
gaussian rule, which assumes far more. On larger
systems with a hidden common cause they stand beside the ideal for random halves: the number at
which the half widths that are foretold to first order, with the logarithm that the tests pay, reach
their radii if every coin is tossed in half of the rounds, by chance.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.allocation.coin_game import ideal_rounds
from causalfocus.arrays import Floats
from causalfocus.benchmark.certificates import UNBOUNDED
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.campaign.checkpoint import pack
from causalfocus.guarantees import Rule
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.guarantees.randomized_design import nats_of_mixture, task_of
from causalfocus.learner.focus import Focus
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action, action_as_arrays
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

REACH: Final = 2.0
DELTA: Final = 0.05
MOST_ROUNDS: Final = 100_000

LARGE_SPACE: Final = ModelClass(0.3)
LARGE_EPSILON: Final = 0.15
LOADED: Final = 1 / 3
"""Share of the variables on which the hidden cause acts, with a size of one."""


@dataclass(frozen=True, kw_only=True)
class CoinRun:
    """Rounds on one of the paper's systems.

    Attributes
    ----------
    gaussian, one, any_number : of the gaussian rule, one variable at a time, and of the randomized
        rule, one at a time and any number at once
    one_acyclic, any_acyclic : the same with loops ruled out
    n_wrong : claims that are not right
    """

    gaussian: int
    one: int
    any_number: int
    one_acyclic: int
    any_acyclic: int
    n_wrong: int


@dataclass(frozen=True, kw_only=True)
class CoinSummary:
    """Medians over systems; ratios are of the medians to that of the gaussian rule."""

    p: int
    n_systems: int
    gaussian: float
    one: float
    any_number: float
    one_acyclic: float
    any_acyclic: float
    one_ratio: float
    any_ratio: float
    one_acyclic_ratio: float
    any_acyclic_ratio: float
    n_wrong: int


@dataclass(frozen=True, kw_only=True)
class LargeRun:
    """One larger system with a hidden cause.

    Attributes
    ----------
    p, at_once : variables, and how many may be set in a round
    rounds : to the certificate
    ideal : for random halves, or one at a time in the best shares, in closed form
    is_right : whether the claim is right
    milliseconds : of a round, all told
    megabytes : of a checkpoint at the end
    """

    p: int
    seed: int
    at_once: int
    rounds: int
    ideal: float
    is_right: bool
    milliseconds: float
    megabytes: float


def coin_runs(p: int, seeds: range, workers: int) -> Iterator[CoinRun]:
    """One row per system as it is finished."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_compare, [(p, seed) for seed in seeds])


def coin_summary(p: int, runs: Sequence[CoinRun]) -> CoinSummary:
    """Medians."""
    gaussian, one, several, one_acyclic, any_acyclic = (
        float(np.median([getattr(run, name) for run in runs]))
        for name in ("gaussian", "one", "any_number", "one_acyclic", "any_acyclic")
    )
    return CoinSummary(
        p=p,
        n_systems=len(runs),
        gaussian=gaussian,
        one=one,
        any_number=several,
        one_acyclic=one_acyclic,
        any_acyclic=any_acyclic,
        one_ratio=one / gaussian,
        any_ratio=several / gaussian,
        one_acyclic_ratio=one_acyclic / gaussian,
        any_acyclic_ratio=any_acyclic / gaussian,
        n_wrong=sum(run.n_wrong for run in runs),
    )


def _compare(task: tuple[int, int]) -> CoinRun:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 29]))
    system = HiddenCauseSystem(truth, np.zeros(p), seed)
    acyclic = replace(UNBOUNDED, acyclic=True)
    runs: dict[str, tuple[Rule, int | None, ModelClass]] = {
        "gaussian": ("gaussian", 1, UNBOUNDED),
        "one": ("randomized", 1, UNBOUNDED),
        "any_number": ("randomized", None, UNBOUNDED),
        "one_acyclic": ("randomized", 1, acyclic),
        "any_acyclic": ("randomized", None, acyclic),
    }
    rounds, n_wrong = {}, 0
    for name, (rule, at_once, space) in runs.items():
        actions = ActionSet(dict.fromkeys(truth.names, (-REACH, REACH)), at_once=at_once)
        learner = Focus(actions, space, epsilon=EPSILON, delta=DELTA, rule=rule, seed=seed)
        rounds[name] = _play(learner, system.again()).rounds
        n_wrong += not learner.guarantee.holds(learner.result().model, truth)
    return CoinRun(n_wrong=n_wrong, **rounds)


def _play(learner: Focus, system: "HiddenCauseSystem") -> Focus:
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


class HiddenCauseSystem:
    """A system in which something that nobody measures acts on some variables.

    Parameters
    ----------
    model : direct effects and own noise
    loads : (p,), effects of the hidden cause
    seed : of the noise
    """

    def __init__(self, model: LinearSEM, loads: Floats, seed: int) -> None:
        self.model, self.loads, self.seed = model, loads, seed
        self._rng = np.random.default_rng([seed, 31])

    def again(self) -> "HiddenCauseSystem":
        """The same system from its first round on."""
        return HiddenCauseSystem(self.model, self.loads, self.seed)

    @property
    def residual_variances(self) -> Floats:
        """(p,), of all that is not a direct effect."""
        found: Floats = self.model.noise_variances + self.loads**2
        return found

    def __call__(self, action: Action) -> Floats:
        is_set, values, _ = action_as_arrays(action, self.model.names)
        noise = self._rng.standard_normal(self.model.p) * np.sqrt(self.model.noise_variances)
        noise += self.loads * self._rng.standard_normal()
        sample = np.zeros(self.model.p)
        for j in self.model.order:
            free = self.model.weights[j] @ sample + noise[j]
            sample[j] = values[0, j] if is_set[0, j] else free
        return sample


def large_system(p: int, seed: int) -> HiddenCauseSystem:
    """A graph with one cause of each variable on average, of sizes 0.3 to 1.5, and a hidden cause
    of a third of the variables.
    """
    rng = np.random.default_rng([p, seed, 37])
    order = rng.permutation(p)
    weights = rng.uniform(0.3, 1.5, (p, p)) * rng.choice([-1.0, 1.0], (p, p))
    weights *= np.tril(rng.random((p, p)) < 2.0 / (p - 1), -1)
    weights = weights[np.ix_(order, order)]
    loads = np.where(rng.random(p) < LOADED, rng.choice([-1.0, 1.0], p), 0.0)
    return HiddenCauseSystem(LinearSEM(weights, 1.0), loads, seed)


def large_run(p: int, seed: int, at_once: int | None) -> LargeRun:
    """One larger system to its certificate."""
    system = large_system(p, seed)
    actions = ActionSet(dict.fromkeys(system.model.names, (-REACH, REACH)), at_once=at_once)
    learner = Focus(
        actions, LARGE_SPACE, epsilon=LARGE_EPSILON, delta=DELTA, rule="randomized", seed=seed
    )
    start = time.perf_counter()
    _play(learner, system)
    seconds = time.perf_counter() - start
    return LargeRun(
        p=p,
        seed=seed,
        at_once=actions.at_once,
        rounds=learner.rounds,
        ideal=ideal_of(system, actions),
        is_right=learner.has_stopped
        and learner.guarantee.holds(learner.result().model, system.model),
        milliseconds=1e3 * seconds / learner.rounds,
        megabytes=len(pack(learner, {})) / 1e6,
    )


def ideal_of(system: HiddenCauseSystem, actions: ActionSet) -> float:
    """The ideal number of rounds for random halves; for one at a time, in the best shares."""
    model = system.model
    rule = RandomizedRule(actions, LARGE_SPACE, LARGE_EPSILON, DELTA)
    known = LinearSEM(model.weights, system.residual_variances, names=model.names)
    rounds = 1.0
    for _ in range(6):
        is_one = actions.at_once == 1
        tosses = rounds / (model.p if is_one else 4.0)
        nats = nats_of_mixture(rule, tosses)
        task = replace(task_of(rule, known, None, tosses), nats=nats)
        rounds = ideal_rounds(task, "singles" if is_one else "halves")
    return rounds


def coin_table(rows: Sequence[CoinSummary]) -> str:
    """As Markdown."""
    lines = [
        "Median rounds on the paper's systems; the gaussian rule sets one variable at a time.",
        "Acyclic: the randomized rule with loops ruled out.",
        "",
        "| nodes | systems | gaussian | randomized, one | acyclic | any number | acyclic | wrong |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.p} | {r.n_systems} | {r.gaussian:,.0f} | {r.one:,.0f} ({r.one_ratio:.2f}) | "
        f"{r.one_acyclic:,.0f} ({r.one_acyclic_ratio:.2f}) | "
        f"{r.any_number:,.0f} ({r.any_ratio:.2f}) | "
        f"{r.any_acyclic:,.0f} ({r.any_acyclic_ratio:.2f}) | {r.n_wrong} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def large_table(rows: Sequence[LargeRun]) -> str:
    """As Markdown."""
    lines = [
        "Systems with a hidden cause; the ideal is for random halves, or for the best singles.",
        "",
        "| nodes | seed | at once | rounds | ideal | ratio | right | ms a round | MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.p} | {r.seed} | {r.at_once} | {r.rounds:,} | {r.ideal:,.0f} | "
        f"{r.rounds / r.ideal:.2f} | {'yes' if r.is_right else 'NO'} | {r.milliseconds:.2f} | "
        f"{r.megabytes:.1f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"
