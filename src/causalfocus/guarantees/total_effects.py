"""Every pair of variables in one table of total effects, and what each waits for."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.effects import TotalEffect, find, radii_of, rounds_at
from causalfocus.guarantees.randomized_design import half_ranges_of
from causalfocus.guarantees.randomized_intervals import ABSENT, Demands
from causalfocus.guarantees.randomized_totals import (
    nats_for_total,
    rounds_for_total,
    totals_of,
)
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule

ROUNDS_AHEAD: Final = 100.0
"""Rounds with the cause alone for which the nats of a first forecast are."""


def total_effects_by_coins(
    rule: "RandomizedRule", coins: CoinRecord, estimate: LinearSEM
) -> tuple[TotalEffect, ...]:
    """Return all pairs, row by row, as `effects_by_coins` does for direct effects: every verdict is
    right, at the same time, except with probability delta.
    """
    kept, names = coins.kept_totals, estimate.names
    demands = replace(rule.demands, needed=None)  # of a total effect nothing is known beforehand
    guess, variances = totals_of(estimate.weights, estimate.noise_variances)
    guess = np.where(np.isfinite(guess), guess, kept.middle)
    is_left = kept.low <= kept.high
    shown = demands.settle(kept, guess) if is_left.all() else guess
    is_settled = demands.holds(kept, shown) & is_left
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
                        rounds_alone=round(n),
                    )
                )
    return tuple(found)


def _first_forecast(rule: "RandomizedRule", shown: Floats, variances: Floats) -> Floats:
    """Return the rounds (p, p) at which pairs without an interval are foretold to be settled, if
    the estimate is right, as present or as absent.
    """
    demands: Demands = rule.demands
    sizes = np.abs(shown)
    radii = np.maximum(np.minimum(demands.epsilon, sizes), ABSENT * (demands.min_effect - sizes))
    nats = nats_for_total(rule.threshold, rule.unknown, ROUNDS_AHEAD)
    return rounds_for_total(nats, variances, radii, half_ranges_of(rule)[None, :])
