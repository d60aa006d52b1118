"""The randomized rule and its design: what is still to be settled, as a game of coins.

Certificates by coins hold whatever is chosen from the past: all of this moves rounds alone. What is
foretold is of first order (`allocation.coin_game`), with the logarithm that the tests pay.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from causalfocus.allocation.coin_game import (
    coin_complexity,
    explored_sets,
    half_widths,
    ideal_shares,
    moves_of,
    plan_rounds,
    rounds_to_go,
)
from causalfocus.allocation.coin_task import CoinTask
from causalfocus.allocation.set_plan import Course, SetPlan
from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.closure import against_order
from causalfocus.guarantees.randomized_intervals import own_nats
from causalfocus.guarantees.randomized_record import left_unknown
from causalfocus.guarantees.terms import OwnDesign, Rival
from causalfocus.kernels.randomized.responses import responses_to
from causalfocus.kernels.randomized.row_tests import BID, SCALE
from causalfocus.kernels.randomized.widths import loads_of, means_of, ratios
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.moments import Moments
from causalfocus.system.actions import do
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule

MOST_WIDER: Final = 2.0
"""Than is foretold: intervals that are wider are about to become narrower."""

UNSETTLED: Final = 0.95
"""Of the half width that is foretold: the radius of a pair that is open, at most. What is open
needs more rounds, whatever is foretold."""
MOST_PLANNED: Final = 20
"""Variables up to which the rounds to go are those of a plan that is made for it; a plan for more
takes long, and the present one is hardly worse.
"""

MOST_WITH_BOUNDS_FIRST: Final = 8
BOUNDS_FIRST: Final = 64.0
"""With few variables all coins are tossed equally often until every row has bounds, or until each
was tossed so often with the row's variable free.
"""

PLAN_AHEAD: Final = 0.1
LEAST_AHEAD: Final = 32.0
"""A plan is for this share of the rounds so far, and at least for so many."""


class Prices(NamedTuple):
    """Of a round, beside what it sets, and of each variable that is set."""

    base: float
    each: Floats


def prices_of(rule: "RandomizedRule") -> Prices:
    """What rounds cost: one each, or, if costs were given, the sum over what is set."""
    actions = rule.actions
    each = np.array(actions.amortised_costs) if actions.change_costs else np.zeros(rule.p)
    if not actions.prices:
        return Prices(1.0, each)
    for j, (name, span) in enumerate(zip(actions.names, actions.ranges, strict=True)):
        if span is None:
            each[j] = 1.0  # it is never set; a price of nothing would be refused
        else:
            each[j] += float(np.mean([actions.cost_of(do(name, value)) for value in span]))
    return Prices(0.0, each)


def half_ranges_of(rule: "RandomizedRule") -> Floats:
    """(p,), of the coins; 0 where there is none."""
    return half_widths_of(rule.actions.ranges)


def half_widths_of(ranges: Iterable[tuple[float, float] | None]) -> Floats:
    """(p,), of ranges; 0 where there is none."""
    return np.array([0.0 if span is None else 0.5 * (span[1] - span[0]) for span in ranges])


def nats_of_mixture(rule: "RandomizedRule", tosses: float) -> float:
    """What a direction without a bid has to reach after so many tosses of a coin, if all have equal
    shares.
    """
    own = own_nats(rule.unknown, rule.space.acyclic).direction
    return rule.threshold + own + 0.5 * math.log1p(max(tosses, 1.0) / SCALE)


def nats_of(rule: "RandomizedRule", tosses: float) -> float:
    """What a direction has to reach after so many tosses of a coin, by its mixture or, if it has
    one, by a bid that suits it, if all have equal shares.
    """
    mixture = nats_of_mixture(rule, tosses)
    if rule.bids is None:
        return mixture
    return min(mixture - math.log(1.0 - BID), nats_of_mixture(rule, 0.0) + math.log(2.0 / BID))


def _saved_nats(rule: "RandomizedRule", model: LinearSEM) -> float:
    """What unequal shares save where all but the large effects of a model are settled: the mean
    over the rows.
    """
    n = rule.unknown.sum(axis=1)
    n_large = (rule.unknown & (np.abs(model.weights) >= rule.demands.min_effect)).sum(axis=1)
    rows = n > 0
    total = n_large[rows] + 1.0 + (n - n_large)[rows] / n[rows]
    saved = np.log(n[rows] / np.minimum(total, n[rows]))
    return float(saved.mean()) if rows.any() else 0.0


def task_of(
    rule: "RandomizedRule",
    model: LinearSEM,
    is_settled: Bools | None,
    tosses: float,
    unknown: Bools | None = None,
) -> CoinTask:
    """What is to be settled if the model is the system.

    Where loops are ruled out, what the model's own effects will rule out is not asked: to make
    these certain takes fewer rounds than to settle them, and that is asked anyway.

    is_settled : (p, p), pairs that are no longer asked; None for none
    tosses : of a coin, by then
    unknown : (p, p), effects that there may still be; None for those of the start
    """
    demands = rule.demands
    graph_only = np.minimum(demands.epsilon, np.abs(model.weights))
    radii = np.where(model.weights != 0.0, graph_only, demands.widths_of_none)
    radii = np.where(rule.known_effects, demands.epsilon, radii)
    may_act = rule.unknown if unknown is None else unknown
    if rule.space.acyclic:
        may_act = may_act & ~against_order(model.weights)
    asked = may_act if is_settled is None else may_act & ~is_settled
    prices = prices_of(rule)
    return CoinTask(
        weights=np.clip(model.weights, -1e6, 1e6),
        noise=model.noise_variances,
        half_ranges=half_ranges_of(rule),
        radii=np.where(asked & (radii > 0.0), radii, math.inf),
        nats=nats_of(rule, tosses) - _saved_nats(rule, model),
        at_once=rule.actions.at_once,
        base_cost=prices.base,
        costs=prices.each,
        may_act=may_act,
    )


class _Present(NamedTuple):
    """What is to be settled still, the rounds that are covered (p, p), and what the coins moved in
    them (p, p, p); None if nothing was done.
    """

    task: CoinTask
    covered: Floats
    moved: Floats | None


def _present(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, done: SetPlan | None
) -> _Present:
    p, coins = rule.p, moments.coins
    if coins is None:
        return _Present(task_of(rule, estimate, None, 1.0), np.zeros((p, p)), None)
    covered = coins.sums.coverage
    is_settled = rule.demands.holds(coins.kept, estimate.weights)
    noise = np.where(coins.sums.is_begun, coins.guess.noise, estimate.noise_variances)
    known = LinearSEM.from_fit(estimate.weights, noise, estimate.intercepts, estimate.names)
    tosses = float(covered.sum() / max(np.count_nonzero(covered), 1))
    unknown = left_unknown(coins)
    task = task_of(rule, known, is_settled, tosses, unknown)
    moved = moves_of(task, done) if done is not None and done.shares.any() else None
    foretold = half_widths(replace(task, may_act=unknown), covered, moved=moved)
    return _Present(_with_experience(task, foretold, coins.kept), covered, moved)


def _with_experience(task: CoinTask, foretold: Floats, kept: Intervals) -> CoinTask:
    """The task with smaller radii where intervals are wider than is foretold: it leaves out what is
    of second order, and pairs differ in that.

    foretold : (p, p), half widths with all effects that there may still be, without foresight
    """
    is_known = np.isfinite(kept.half) & np.isfinite(foretold) & (foretold > 0.0)
    factor = np.ones(foretold.shape)
    factor[is_known] = kept.half[is_known] / foretold[is_known]
    usual = float(np.median(factor[is_known])) if is_known.any() else MOST_WIDER
    factor[~is_known] = usual
    radii = task.radii / np.clip(factor, 1.0, MOST_WIDER)
    is_open = np.isfinite(radii) & np.isfinite(foretold) & (foretold > 0.0)
    most = np.where(is_open, UNSETTLED * foretold, math.inf)
    return replace(task, radii=np.minimum(radii, most))


def plan_for(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, course: Course
) -> SetPlan:
    """Which variables to set in the rounds to come."""
    task, covered, moved = _present(rule, moments, estimate, course.done)
    ahead = max(LEAST_AHEAD, PLAN_AHEAD * moments.n)
    if _waits_for_bounds(rule, moments, covered):
        sets = explored_sets(task.coins, task.at_once, rule.p)
        return SetPlan(sets, np.full(len(sets), 1.0 / len(sets)))
    found = plan_rounds(task, covered, ahead, course.last, moved)
    if not len(found.sets):
        return SetPlan(np.zeros((1, rule.p), dtype=np.bool_), np.ones(1))
    return SetPlan(found.sets, found.shares / found.shares.sum())


def _waits_for_bounds(rule: "RandomizedRule", moments: Moments, covered: Floats) -> bool:
    """Whether some row has no bounds yet for want of a few more tosses of each coin. Before that
    nothing can be said of any effect on it, and all of these tosses will be needed anyway.

    covered : (p, p), rounds with the column's variable set and the row's free
    """
    coins = moments.coins
    if coins is None or rule.p > MOST_WITH_BOUNDS_FIRST:
        return False
    has_none = (rule.unknown & ~np.isfinite(coins.kept.half)).any(axis=1)
    tosses = covered[np.ix_(has_none, rule.has_coin)]
    lacks = tosses[~np.eye(rule.p, dtype=np.bool_)[np.ix_(has_none, rule.has_coin)]]
    return bool(lacks.size and lacks.min() < BOUNDS_FIRST)


def more_rounds(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, course: Course
) -> float:
    """Rounds to go until all pairs are settled, if the system is as it is estimated; with many
    variables, along the present plan.
    """
    task, covered, moved = _present(rule, moments, estimate, course.done)
    if course.last is not None and rule.p > MOST_PLANNED:
        along = rounds_to_go(task, covered, course.last, moved)
        if math.isfinite(along):
            return along
    return rounds_to_go(task, covered, moved=moved)


def design_of(rule: "RandomizedRule", model: LinearSEM) -> OwnDesign:
    """The best design that is found for a system that is known, and what it gains per cost."""
    task = task_of(rule, model, None, 1.0)
    sets, shares = ideal_shares(task)
    found = coin_complexity(task)
    return OwnDesign(
        sets=sets,
        shares=shares,
        value=found.value if math.isfinite(found.value) else 0.0,
        upper=found.upper,
        is_exhaustive=math.isfinite(found.upper),
        rival=rival_of(rule, model, sets, shares),
    )


def rounds_for(rule: "RandomizedRule", model: LinearSEM, sets: Bools, shares: Floats) -> float:
    """Rounds in all at which a known system is settled along a design: of first order, with the
    logarithm of that many tosses.
    """
    rounds = 1.0
    for _ in range(8):
        task = task_of(rule, model, None, 0.5 * rounds)
        responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
        means = means_of(sets, shares / shares.sum(), responses)
        nothing = np.zeros((rule.p, rule.p))
        found = float(ratios(loads_of(task.stand(nothing), means), means.tosses).max())
        if not math.isfinite(found) or abs(found - rounds) < 1e-3 * rounds:
            return found
        rounds = max(found, 1.0)
    return rounds


def rival_of(rule: "RandomizedRule", model: LinearSEM, sets: Bools, weights: Floats) -> Rival:
    """The pair that is settled last if sets are taken so often: the model with it moved, and what
    every set gains on it.

    With f = sum_i load_i / n_i, n_i the rounds with i set and the effect free, the pair gains nats
    / f; the share of a set in that is its derivative.
    """
    task = task_of(rule, model, None, 1.0)
    rounds = np.maximum(weights, 1e-9 * max(float(weights.max(initial=0.0)), 1e-300))
    responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
    means = means_of(sets, rounds, responses)
    loads = loads_of(task.stand(np.zeros((rule.p, rule.p))), means)
    found = ratios(loads, means.tosses)
    j, k = np.unravel_index(int(np.argmax(found)), found.shape)
    gains = np.zeros(len(sets))
    if 0.0 < found[j, k] < math.inf:
        is_needed = loads[j, k] > 0.0
        per_toss = np.zeros(rule.p)
        per_toss[is_needed] = loads[j, k, is_needed] / means.tosses[j, is_needed] ** 2
        gains = np.where(sets[:, j], 0.0, sets @ per_toss) * task.nats / found[j, k] ** 2
    moved = model.weights.copy()
    step = task.radii[j, k] if math.isfinite(task.radii[j, k]) else rule.smallest[j, k]
    moved[j, k] += -step if moved[j, k] > 0.0 else step
    if model.weights[j, k] == 0.0:
        moved[j, k] = rule.smallest[j, k]
    rival = LinearSEM.from_fit(moved, model.noise_variances, model.intercepts, model.names)
    return Rival(gains, rival, changes_in_words(model.weights, moved, model.names))
