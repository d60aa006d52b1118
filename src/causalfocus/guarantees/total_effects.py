"""Every pair of variables in one table of total effects, and what each waits for."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.effects import TotalEffect, find, radii_of, rounds_at
from causalfocus.guarantees.half_ranges import half_ranges_of
from causalfocus.guarantees.randomized_intervals import ABSENT, Demands, Proof, largest_level
from causalfocus.guarantees.randomized_totals import (
    nats_for_total,
    no_total_intervals,
    rounds_for_total,
    totals_at,
    totals_of,
)
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.effect_intervals import no_intervals
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule

ROUNDS_AHEAD: Final = 100.0
"""Rounds with the cause alone for which the nats of a first forecast are."""


def _demands_of(rule: "RandomizedRule") -> Demands:
    """Return what a claim has to say of total effects: of these nothing is known beforehand."""
    return replace(rule.demands, needed=None)


def total_effects_by_coins(
    rule: "RandomizedRule", coins: CoinRecord, estimate: LinearSEM
) -> tuple[TotalEffect, ...]:
    """Return all pairs, row by row, as `effects_by_coins` does for direct effects: every verdict is
    right, at the same time, except with probability delta.
    """
    kept, demands, names = coins.kept_totals, _demands_of(rule), estimate.names
    shown, variances, is_settled = shown_totals(rule, coins, estimate)
    is_left, is_asked = kept.low <= kept.high, rule.scope.totals
    first, radii = _first_forecast(rule, shown, variances), radii_of(kept, demands)
    rounds = coins.totals.rounds
    found = []
    for j, effect in enumerate(names):
        for k, cause in enumerate(names):
            if j != k:
                low, high = float(kept.low[j, k]), float(kept.high[j, k])
                half, n = 0.5 * (high - low), float(rounds[k])
                waits = n if is_settled[j, k] else rounds_at(half, float(radii[j, k]), n)
                is_known = is_settled[j, k] or math.isfinite(half)
                smallest = float(demands.min_effect[j, k])
                found.append(
                    TotalEffect(
                        cause=cause,
                        effect=effect,
                        estimate=float(shown[j, k]),
                        low=low,
                        high=high,
                        verdict=find(low, high, smallest) if is_left[j, k] else "open",
                        is_settled=bool(is_settled[j, k]),
                        waits_for=waits if is_known else max(n, float(first[j, k])),
                        matters=smallest,
                        accuracy=float(demands.epsilon[j, k]),
                        is_asked=bool(is_asked[j, k]) or not is_asked.any(),
                        rounds_alone=round(n),
                    )
                )
    return tuple(found)


def refuted_totals(
    rule: "RandomizedRule", coins: CoinRecord
) -> Iterator[tuple[int, int, Literal["total", "loop"]]]:
    """Yield the pairs, effect and cause, of which no total effect is left, and by what name.

    Where loops are ruled out, what is certain of direct effects closes ways. If some number is left
    without that, it is the loops that are refuted, and not that there is one number.
    """
    kept = coins.kept_totals
    places = np.argwhere(kept.low > kept.high)
    if len(places) == 0:
        return
    fresh = kept
    if coins.unclosed is not None:
        before = no_total_intervals(rule.unknown)
        fresh = totals_at(coins.totals, rule.scope, rule.threshold, coins.unclosed, before)
    for j, k in places.tolist():
        yield j, k, "total" if fresh.low[j, k] > fresh.high[j, k] else "loop"


def shown_totals(
    rule: "RandomizedRule", coins: CoinRecord, estimate: LinearSEM
) -> tuple[Floats, Floats, Bools]:
    """Return the total effects (p, p) that are shown, the variance of what the cause does not
    explain, and which of them are settled.
    """
    kept, demands = coins.kept_totals, _demands_of(rule)
    guess, variances = totals_of(estimate.weights, estimate.noise_variances)
    guess = np.where(np.isfinite(guess), guess, kept.middle)
    is_left = kept.low <= kept.high
    shown = demands.settle(kept, guess) if is_left.all() else guess
    return shown, variances, demands.holds(kept, shown) & is_left


def total_gaps(rule: "RandomizedRule", coins: CoinRecord, estimate: LinearSEM) -> Bools:
    """Return which total effects (p, p) are asked for and not settled."""
    found: Bools = rule.scope.totals & ~shown_totals(rule, coins, estimate)[2]
    return found


def level_of_totals(rule: "RandomizedRule", coins: CoinRecord, estimate: LinearSEM) -> float:
    """Return the largest level, in nats, at which the total effects that are asked for are settled
    by the rounds so far alone.
    """
    shown, unknown = shown_totals(rule, coins, estimate)[0], rule.unknown
    direct, before = no_intervals(unknown), no_total_intervals(unknown)
    demands = _demands_of(rule)

    def prove(level: float) -> Proof:
        found = totals_at(coins.totals, rule.scope, level, direct, before)
        stands = demands.holds(found, shown) | ~rule.scope.totals
        return Proof(bool(stands.all()), True)

    return largest_level(prove)


def rounds_alone_to_go(
    rule: "RandomizedRule", coins: CoinRecord | None, estimate: LinearSEM
) -> Floats:
    """(p,), how many more rounds with each variable alone the total effects that are asked for
    will need.
    """
    if not rule.scope.totals.any():
        return np.zeros(rule.p)
    record = rule.new_coins() if coins is None else coins
    shown, variances, is_settled = shown_totals(rule, record, estimate)
    kept, done = record.kept_totals, record.totals.rounds
    foretold = _first_forecast(rule, shown, variances)
    is_known = np.isfinite(kept.half)
    widths = np.where(is_known, kept.half, 1.0) / radii_of(kept, _demands_of(rule))
    needed = np.where(is_known, done * np.maximum(1.0, widths) ** 2, foretold)
    gaps = rule.scope.totals & ~is_settled
    found: Floats = np.where(gaps, np.maximum(needed - done, 1.0), 0.0).max(axis=0)
    return found


def _first_forecast(rule: "RandomizedRule", shown: Floats, variances: Floats) -> Floats:
    """Return the rounds (p, p) at which pairs without an interval are foretold to be settled, if
    the estimate is right, as present or as absent.
    """
    demands = _demands_of(rule)
    sizes = np.abs(shown)
    radii = np.maximum(np.minimum(demands.epsilon, sizes), ABSENT * (demands.min_effect - sizes))
    nats = nats_for_total(rule.threshold, rule.scope, ROUNDS_AHEAD)
    return rounds_for_total(nats, variances, radii, half_ranges_of(rule)[None, :])
