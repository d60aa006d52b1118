"""The randomized rule and its design: what is still to be settled, as a game of coins.

Certificates by coins hold whatever is chosen from the past: all of this moves rounds alone. What is
foretold is of first order (`allocation.coin_game`), with the logarithm that the tests pay.
"""

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from causalfocus.allocation.coin_game import (
    CoinPlan,
    explored_sets,
    half_widths,
    moves_of,
    plan_rounds,
)
from causalfocus.allocation.coin_task import CoinTask
from causalfocus.allocation.set_plan import Course, SetPlan
from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.budget import affordable
from causalfocus.guarantees.closure import against_order
from causalfocus.guarantees.half_ranges import half_ranges_of
from causalfocus.guarantees.portions import portions_of
from causalfocus.guarantees.randomized_record import left_unknown
from causalfocus.guarantees.total_effects import rounds_alone_to_go
from causalfocus.kernels.randomized.row_tests import BID, SCALE
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.moments import Moments
from causalfocus.system.actions import do
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule

MOST_WIDER: Final = 2.0
"""Than is foretold: intervals that are wider are about to become narrower."""

UNSETTLED: Final = 0.95
"""Of the half width that is foretold: the radius of a pair that is open, at most. What is open
needs more rounds, whatever is foretold."""


MOST_WITH_BOUNDS_FIRST: Final = 8
BOUNDS_FIRST: Final = 64.0
"""With few variables all coins are tossed equally often until every row has bounds, or until each
was tossed so often with the row's variable free.
"""

LARGEST_WEIGHT: Final = 1e6
"""For plans: of an effect, by its own size for classes that have sizes by pair."""

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


def nats_of_mixture(rule: "RandomizedRule", tosses: float) -> float:
    """What a direction without a bid has to reach after so many tosses of a coin, if all have equal
    shares.
    """
    own = portions_of(rule.scope, rule.space.acyclic)[0].own.direction
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
    asked = may_act & rule.scope.direct
    if is_settled is not None:
        asked &= ~is_settled
    prices = prices_of(rule)
    return CoinTask(
        weights=_within_reason(rule, model.weights),
        noise=model.noise_variances,
        half_ranges=np.where(_serves(rule), half_ranges_of(rule), 0.0),
        radii=np.where(asked & (radii > 0.0), radii, math.inf),
        nats=nats_of(rule, tosses) - _saved_nats(rule, model),
        at_once=rule.actions.at_once,
        base_cost=prices.base,
        costs=prices.each,
        may_act=may_act,
    )


def _serves(rule: "RandomizedRule") -> Bools:
    """(p,), whose coin tells something of an effect on another variable that is asked for."""
    rows = rule.scope.rows
    if rows.all() or not rows.any():
        return np.ones(rule.p, dtype=np.bool_)
    found: Bools = rows.sum() - rows > 0
    return found


def _within_reason(rule: "RandomizedRule", weights: Floats) -> Floats:
    """Weights of an estimate that may rest on next to nothing; beyond what anyone measures they are
    cut off, by pair where sizes are, so that it does not depend on units where.
    """
    most = LARGEST_WEIGHT if rule.space.is_uniform else LARGEST_WEIGHT * rule.smallest
    found: Floats = np.clip(weights, -most, most)
    return found


class _Present(NamedTuple):
    """What is to be settled still, the rounds that are covered (p, p), and what the coins moved in
    them (p, p, p); None if nothing was done.
    """

    task: CoinTask
    covered: Floats
    moved: Floats | None


def present_task(
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
    task, covered, moved = present_task(rule, moments, estimate, course.done)
    ahead = max(LEAST_AHEAD, PLAN_AHEAD * moments.n)
    if _waits_for_bounds(rule, moments, covered):
        sets = explored_sets(task.coins, task.at_once, rule.p)
        return SetPlan(sets, np.full(len(sets), 1.0 / len(sets)))
    if course.left is not None:
        task = affordable(task, course.left, partial(_plan_ahead, covered, moved, course.last))
        ahead = min(ahead, max(course.left, 1.0))
    found = plan_rounds(task, covered, ahead, course.last, moved)
    if not len(found.sets):
        return SetPlan(np.zeros((1, rule.p), dtype=np.bool_), np.ones(1))
    alone = rounds_alone_to_go(rule, moments.coins, estimate)
    if not alone.any():
        return SetPlan(found.sets, found.shares / found.shares.sum())
    return _with_rounds_alone(SetPlan(found.sets, found.shares), found.rounds, alone)


def _plan_ahead(
    covered: Floats, moved: Floats | None, last: SetPlan | None, task: CoinTask
) -> CoinPlan:
    return plan_rounds(task, covered, 1.0, last, moved)


def _with_rounds_alone(plan: SetPlan, rounds: float, alone: Floats) -> SetPlan:
    """A plan for so many rounds, in which variables are set alone so often (p,) as well."""
    sets, done = list(plan.sets), list(plan.shares * (rounds / plan.shares.sum()))
    for k in np.flatnonzero(alone).tolist():
        single = np.arange(len(alone)) == k
        same = [m for m, one in enumerate(sets) if np.array_equal(one, single)]
        if same:
            done[same[0]] = max(done[same[0]], float(alone[k]))
        else:
            sets.append(single)
            done.append(float(alone[k]))
    shares = np.array(done)
    kept = shares > 0.0
    return SetPlan(np.array(sets)[kept], shares[kept] / shares.sum())


def _waits_for_bounds(rule: "RandomizedRule", moments: Moments, covered: Floats) -> bool:
    """Whether some row has no bounds yet for want of a few more tosses of each coin. Before that
    nothing can be said of any effect on it, and all of these tosses will be needed anyway.

    covered : (p, p), rounds with the column's variable set and the row's free
    """
    coins = moments.coins
    if coins is None or rule.p > MOST_WITH_BOUNDS_FIRST:
        return False
    has_none = (rule.unknown & ~np.isfinite(coins.kept.half)).any(axis=1) & rule.scope.rows
    which = np.ix_(has_none, rule.has_coin & _serves(rule))
    lacks = covered[which][~np.eye(rule.p, dtype=np.bool_)[which]]
    return bool(lacks.size and lacks.min() < BOUNDS_FIRST)
