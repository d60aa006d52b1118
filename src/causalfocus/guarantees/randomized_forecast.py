"""How many rounds the randomized rule will take: of a known system, and from where a run stands.

All of it is of first order, as its design is (`randomized_design`): it moves no certificate.
"""

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from causalfocus.allocation.coin_game import (
    coin_complexity,
    explored_sets,
    ideal_shares,
    rounds_to_go,
)
from causalfocus.allocation.set_plan import Course
from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.randomized_design import (
    MOST_WITH_BOUNDS_FIRST,
    present_task,
    task_of,
)
from causalfocus.guarantees.terms import OwnDesign, Rival
from causalfocus.guarantees.total_effects import rounds_alone_to_go
from causalfocus.kernels.randomized.responses import responses_to
from causalfocus.kernels.randomized.widths import coverage, loads_of, means_of, ratios
from causalfocus.moments.moments import Moments
from causalfocus.system.graph import changes_in_words
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule

FIRST_TOSSES: Final = 44.0
FIRST_TOSSES_FOR_EACH: Final = 3.6
"""Tosses of each coin until a row has bounds that are good for something: at least, and for each
unknown effect on it. By experience with systems of two to six variables and next to no noise.
"""

TOGETHER: Final = 1.5
"""The rounds until then and those of first order are added up as powers: for the most part they are
the same rounds."""

MOST_PLANNED: Final = 20
"""Variables up to which the rounds to go are those of a plan that is made for it; a plan for more
takes long, and the present one is hardly worse.
"""

MOST_FROM_START: Final = 10
"""Variables up to which a design from the start is made for the rounds to go."""

LEAST_SHARE: Final = 0.05
"""Of the rounds that are foretold from the start: so many are to go, however many were done."""

LEAST_LEFT: Final = 64.0
"""If a plan lacks less than one round for so many, it leaves out what it waits for."""


def more_rounds(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, course: Course
) -> float:
    """Rounds to go until all pairs are settled, if the system is as it is estimated.

    What a plan still lacks is good near the end, and far too much at the beginning, when intervals
    are wider than they will ever be in proportion to what is foretold; the rounds from the start,
    less those that were done, are good at the beginning. The two are weighed, as powers, by the
    share of the way that is done.
    """
    alone = float(rounds_alone_to_go(rule, moments.coins, estimate).sum())
    if not rule.scope.rows.any():
        return alone
    return alone + _more_rounds_for_rows(rule, moments, estimate, course)


def _more_rounds_for_rows(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, course: Course
) -> float:
    """The same for the direct effects that are asked for."""
    left, n = _left_of_plan(rule, moments, estimate, course), moments.n
    total = rule.spread.middle * _rounds_from_start(rule, estimate, course)
    if not math.isfinite(total) or left < n / LEAST_LEFT:
        return left
    by_total = max(total - n, LEAST_SHARE * total)
    if not math.isfinite(left):
        return by_total
    trust = max(1.0 - n / total, 0.0)
    return float(by_total**trust * left ** (1.0 - trust))


def _left_of_plan(
    rule: "RandomizedRule", moments: Moments, estimate: LinearSEM, course: Course
) -> float:
    """What is left along a plan; with many variables, along the present one."""
    task, covered, moved = present_task(rule, moments, estimate, course.done)
    if course.last is not None and rule.p > MOST_PLANNED:
        along = rounds_to_go(task, covered, course.last, moved)
        if math.isfinite(along):
            return along
    return rounds_to_go(task, covered, moved=moved)


def _rounds_from_start(rule: "RandomizedRule", estimate: LinearSEM, course: Course) -> float:
    """Along the best design for the estimate; with many variables, along the present plan."""
    if rule.p > MOST_FROM_START and course.last is not None:
        sets, shares = course.last.sets, course.last.shares
    else:
        sets, shares = ideal_shares(task_of(rule, estimate, None, 1.0))
    return float(pair_rounds_for(rule, estimate, sets, shares).max())


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
    """Rounds in all at which what is asked of a known system is settled along a design: of first
    order, with the logarithm of that many tosses.
    """
    alone = float(rounds_alone_to_go(rule, None, model).sum())
    if not rule.scope.rows.any():
        return alone
    return alone + float(pair_rounds_for(rule, model, sets, shares).max())


def pair_rounds_for(
    rule: "RandomizedRule", model: LinearSEM, sets: Bools, shares: Floats
) -> Floats:
    """(p, p), rounds at which every pair is settled on the way; 0 where nothing is asked."""
    rounds, found = 1.0, np.zeros((rule.p, rule.p))
    for _ in range(8):
        task = task_of(rule, model, None, 0.5 * rounds)
        responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
        means = means_of(sets, shares / shares.sum(), responses)
        nothing = np.zeros((rule.p, rule.p))
        found = ratios(loads_of(task.stand(nothing), means), means.tosses)
        last = float(found.max())
        if not math.isfinite(last) or abs(last - rounds) < 1e-3 * rounds:
            break
        rounds = max(last, 1.0)
    first = _rounds_to_first_bounds(rule, model)
    together: Floats = (found**TOGETHER + first[:, None] ** TOGETHER) ** (1.0 / TOGETHER)
    return np.where(found > 0.0, together, 0.0)


def _rounds_to_first_bounds(rule: "RandomizedRule", model: LinearSEM) -> Floats:
    """(p,), rounds until a row has bounds that are good for something, where these come first.

    Without them a forecast leaves out most of a run in which the noise is small beside what
    matters.
    """
    if rule.p > MOST_WITH_BOUNDS_FIRST:
        return np.zeros(rule.p)
    task = task_of(rule, model, None, 1.0)
    sets = explored_sets(task.coins, task.at_once, rule.p)
    tosses = coverage(sets, np.full(len(sets), 1.0 / max(len(sets), 1)))
    useful = np.where(rule.unknown & (task.half_ranges > 0.0), tosses, np.inf).min(axis=1)
    needed = FIRST_TOSSES + FIRST_TOSSES_FOR_EACH * rule.unknown.sum(axis=1)
    found: Floats = np.where(useful > 0.0, needed / np.maximum(useful, 1e-9), 0.0)
    return found


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
    words = changes_in_words(model.weights, moved, model.names, rule.smallest)
    return Rival(gains, rival, words)
