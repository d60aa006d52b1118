"""What the randomized rule makes of a round: whether to stop, how good the evidence is, and why."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from causalfocus.guarantees.closure import closed_at
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.effects import Effect, effects_by_coins
from causalfocus.guarantees.randomized_intervals import level_of
from causalfocus.guarantees.total_effects import level_of_totals, total_effects_by_coins
from causalfocus.guarantees.verdicts import Stand, Verdict
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule


def _stand(effect: Effect) -> Stand:
    if effect.verdict in ("absent", "open"):
        return "open" if effect.verdict == "open" else "absent"
    return "present"


@dataclass(frozen=True, kw_only=True)
class RandomizedDecision(Decision):
    """A decision of the randomized rule. What is dear to compute is computed when asked for."""

    rule: "RandomizedRule" = field(repr=False)
    coins: CoinRecord | None = field(repr=False)
    estimate: LinearSEM = field(repr=False)

    @cached_property
    def evidence(self) -> float:
        """The largest level, in nats, at which the claim stands by the rounds so far; at the
        threshold if it stands there by the intervals of earlier looks. Where the next look is
        still to come, it stays below the threshold.
        """
        demands, weights = self.rule.demands, self.estimate.weights
        if not self.rule.unknown.any():
            return math.inf
        if self.coins is None or self.alarm is not None:
            return 0.0
        found, asked = math.inf, self.rule.scope
        if asked.rows.any():
            at = closed_at(self.coins, self.rule.known_effects)
            found = level_of(self.coins.sums, weights, demands, at)
        if asked.totals.any():
            found = min(found, level_of_totals(self.rule, self.coins, self.estimate))
        if self.has_surveyed and self.rule.is_proved(self.coins, self.coins.kept, self.estimate):
            return max(found, self.threshold)
        return min(found, math.nextafter(self.threshold, 0.0))

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...] | None:
        """By the intervals of every pair, at any moment."""
        if self.coins is None:
            return None
        found = effects_by_coins(self.coins.kept, self.rule.demands, self.estimate)
        return tuple(Verdict(one.cause, one.effect, _stand(one)) for one in found)

    @property
    def reason(self) -> str:
        if self.alarm is not None:
            return f"The assumptions are refuted: {self.alarm.words}."
        if self.stop:
            if not self.rule.about.is_everything:
                return f"Settled: {self.rule.about.words}, all at the same time."
            return "Every direct effect is settled by its interval, all of them at the same time."
        if self.coins is None or not self.coins.sums.n:
            return "No round with a coin is complete yet."
        found = self._effects_asked_for()
        left = [one for one in found if not one.is_settled]
        waiting = self._who_waits()
        if not left:
            return "All pairs are settled at the last look." + waiting
        last = max(left, key=lambda one: (one.waits_for, one.half))
        return (
            f"{len(found) - len(left)} of {len(found)} pairs are settled; the last to come is the "
            f"effect of {last.cause} on {last.effect}." + waiting
        )

    def _effects_asked_for(self) -> list[Effect]:
        """The effects that the run waits for."""
        rule, coins, found = self.rule, self.coins, list[Effect]()
        if coins is not None:
            asked = rule.scope.direct if not rule.about.is_everything else None
            found += effects_by_coins(coins.kept, rule.demands, self.estimate, asked)
            if rule.scope.totals.any():
                found += total_effects_by_coins(rule, coins, self.estimate)
        return [one for one in found if one.is_asked]

    def _who_waits(self) -> str:
        """Who holds up the rounds that were told, in words."""
        pending = () if self.coins is None else self.coins.sums.pending
        done = sum(one.is_complete for one in pending)
        if not done:
            return ""
        first = pending[0].intent.number
        return (
            f" {done} later rounds wait for number {first}: rounds count in the order of asking, "
            f"so record it, or reject it if it will not be done."
        )
