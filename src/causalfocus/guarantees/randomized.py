"""The randomized rule: the guarantee of a randomized trial, for a whole graph.

Each end of a range is picked by a fair coin. Nothing that a variable does not cause can depend on
its coin: not hidden causes, not drift, not outliers, not the past. So the coins alone carry the
evidence, and the claim assumes nothing of the noise. Assumed are linear and additive responses,
fair coins, settings that act on others through their own variable alone, and rounds that are not
lost for their outcome. Feedback is allowed; where it is ruled out, `acyclic=True`, what is certain
closes the pairs against it (`closure`).

Terms and proofs: `kernels.randomized` (the tests, and all rows that they leave),
`moments.randomized_sums` (what counts, and in which order), `randomized_intervals` (simultaneous
intervals), `guardrails` (watching what is assumed and cannot be proved). Intervals at all looks are
intersected (`randomized_record`), so that a verdict never changes back. The rule stops when they
prove what the estimate claims of every pair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from causalfocus.allocation.set_plan import Course, SetPlan
from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import identified
from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.guarantees.changes import EffectBounds, through_means
from causalfocus.guarantees.closure import certain_effects, without_loops
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.effects import Effect, TotalEffect, effects_by_coins
from causalfocus.guarantees.experience import OF_RANDOMIZED
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.guardrails import guard_alarms
from causalfocus.guarantees.half_ranges import half_ranges_of, half_widths_of
from causalfocus.guarantees.portions import Scope
from causalfocus.guarantees.randomized_decision import RandomizedDecision
from causalfocus.guarantees.randomized_design import plan_for
from causalfocus.guarantees.randomized_forecast import (
    design_of,
    more_rounds,
    pair_rounds_for,
    rival_of,
    rounds_for,
)
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.randomized_record import (
    left_unknown,
    mean_rows,
    new_record,
    with_answer,
    with_ask,
    without_ask,
)
from causalfocus.guarantees.terms import (
    OwnDesign,
    Rival,
    Spread,
    Spreads,
    claim_of_effects,
    known_in_words,
)
from causalfocus.guarantees.total_effects import refuted_totals, total_effects_by_coins, total_gaps
from causalfocus.guarantees.verdicts import Interval
from causalfocus.kernels.randomized.records import Bids
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.moments import Moments
from causalfocus.moments.randomized_sums import Intent
from causalfocus.oracles.gaussian import gaussian_estimate
from causalfocus.system.actions import Action
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.sem import LinearSEM

LARGEST_EXACT: Final = 14
"""Variables up to which the guess is that of the exact engine, from all samples; with more it comes
from the coins alone, and no moments are kept."""

MOST_WITH_BIDS: Final = 8
"""Variables up to which directions have bids. With many, rows take so long to have bounds at all
that the bids are for too few rounds."""

JUST_BELOW: Final = 1.0 - 1e-6
"""Of min_effect, from where on an effect has a large share of delta: what is bounded by this is
below min_effect."""
MOST_WEIGHED: Final = 20
"""Variables up to which the evidence takes some hundredths of a second; at fifty it takes two."""


@dataclass(frozen=True)
class RandomizedRule(Guarantee):
    """The rule for one accuracy, resolution and confidence.

    Of the class are used what matters, acyclic, and what is known of the graph. Of a required
    effect is asked how large it is, within epsilon, and neither whether it is there nor its sign.
    """

    name: ClassVar[str] = "randomized"
    exploration: ClassVar[float] = 0.0
    spread: ClassVar[Spread] = Spread(1.1, 1.25, 1.5)
    spreads: ClassVar[Spreads] = OF_RANDOMIZED
    plays_game: ClassVar[bool] = False
    gains_are_divergences: ClassVar[bool] = False
    plans_sets: ClassVar[bool] = True
    settles_pairs: ClassVar[bool] = True
    assumes_noise: ClassVar[bool] = False
    tosses_second_coins: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ends == "game":
            raise InvalidInputError(
                "The randomized rule counts nothing but coins, and with ends='game', or where a "
                "baseline chooses the actions, none is tossed. Leave ends out, or take another "
                "rule, for example rule='gaussian' (--rule gaussian)."
            )
        identified.require_identified(self.actions.names, self.has_coin, self.unknown)
        identified.require_question(self.about, self.scope)
        identified.warn_of_few_at_once(self.has_coin, self.actions.at_once)

    @cached_property
    def unknown(self) -> Bools:
        """(p, p), which direct effects there may be, row and cause."""
        return self.space.unknown_effects(self.actions.names)

    @cached_property
    def known_effects(self) -> Bools:
        """(p, p), which direct effects there are for certain, row and cause."""
        return self.space.known.required_in(self.actions.names)

    @cached_property
    def scope(self) -> Scope:
        """What is asked, of all direct effects that there may be."""
        names = self.actions.names
        direct = self.about.direct(names) & self.unknown
        return Scope(self.unknown, direct, self.about.totals(names))

    @cached_property
    def has_coin(self) -> Bools:
        """(p,), of which variables a coin picks the end."""
        return np.array([span is not None and span[0] < span[1] for span in self.actions.ranges])

    @cached_property
    def demands(self) -> Demands:
        """What a claim has to say of every pair."""
        return Demands(self.accuracies, self.smallest, self.known_effects)

    @cached_property
    def bids(self) -> Bids | None:
        """What directions bet beside their mixture; nothing with many variables: there the pairs
        that are settled last wait for all coins of their rows, and not for their own tests.

        They are for the ranges with which the run began: with others, that were given since, tests
        of rounds in the past would not have been fixed before these.
        """
        first = half_widths_of(self.actions.first_ranges)
        return self.demands.bids(first) if self.p <= MOST_WITH_BIDS else None

    @property
    def allows_loops(self) -> bool:
        return not self.space.acyclic

    @property
    def keeps_moments(self) -> bool:
        return len(self.actions.names) <= LARGEST_EXACT

    @property
    def evidence_is_dear(self) -> bool:
        return len(self.actions.names) > MOST_WEIGHED

    def new_coins(self) -> CoinRecord:
        return new_record(
            self.unknown,
            JUST_BELOW * self.demands.min_effect,
            bids=self.bids,
            asked=self.scope.direct,
            asked_totals=self.scope.totals,
            acyclic=self.space.acyclic,
            at_once=self.actions.at_once,
            needed=self.known_effects,
        )

    def coins_with_ask(self, coins: CoinRecord, intent: Intent) -> CoinRecord:
        return with_ask(coins, intent)

    def coins_with_answer(self, coins: CoinRecord, number: int, row: Floats | None) -> CoinRecord:
        if row is None:
            return without_ask(coins, number, self.threshold)
        return with_answer(coins, number, row, self.threshold)

    def kept_intervals(self, moments: Moments) -> Intervals:
        """What the looks so far have left."""
        return no_intervals(self.unknown) if moments.coins is None else moments.coins.kept

    def estimate(self, moments: Moments) -> LinearSEM:
        """The best guess, moved to where the intervals leave it.

        What is settled is what can be claimed: an effect within epsilon of everything that its
        interval holds, or none. Elsewhere the guess stands as far as its interval allows. Up to
        fourteen variables the guess is the exact engine's, from all samples; with more, that of the
        coins. Where loops are ruled out, effects that would close one with larger or certain ones
        are left out, and a row in which the engine has what cannot be is that of the coins. A
        required effect is always shown (`Demands.settle`).
        """
        guess = self._guess(moments)
        kept, demands = self.kept_intervals(moments), self.demands
        if kept.is_refuted.any():
            return guess
        weights = demands.settle(kept, guess.weights)
        if self.space.acyclic:
            certain = certain_effects(kept) | self.known_effects
            weights = without_loops(weights, self._sizes(guess), certain)
            weights = demands.settle(kept, weights)
        return LinearSEM.from_fit(weights, guess.noise_variances, guess.intercepts, guess.names)

    def _guess(self, moments: Moments) -> LinearSEM:
        coins = moments.coins or self.new_coins()
        guess = coins.guess
        if not self.keeps_moments:
            return LinearSEM.from_fit(guess.weights, guess.noise, guess.constants, moments.names)
        best = gaussian_estimate(moments, self.space)
        if not self.space.acyclic:
            return best
        is_wrong = ((best.weights != 0.0) & ~left_unknown(coins)).any(axis=1)
        return LinearSEM.from_fit(
            np.where(is_wrong[:, None], guess.weights, best.weights),
            np.where(is_wrong, guess.noise, best.noise_variances),
            np.where(is_wrong, guess.constants, best.intercepts),
            moments.names,
        )

    def _sizes(self, guess: LinearSEM) -> Floats:
        """(p, p), how far a coin moves each effect, in units of its noise."""
        by_noise = half_ranges_of(self) / np.sqrt(guess.noise_variances)[:, None]
        found: Floats = np.abs(guess.weights) * by_noise
        return found

    def decide(
        self,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats | None = None,
        *,
        is_due: bool = True,
    ) -> RandomizedDecision:
        del counts
        kept = self.kept_intervals(moments)
        alarm = self.refutation(moments, estimate) if is_due else None
        is_proved = alarm is None and self.is_proved(moments.coins, kept, estimate)
        return RandomizedDecision(
            stop=is_due and (is_proved or alarm is not None),
            rounds=round(moments.n),
            threshold=self.threshold,
            alarm=alarm,
            has_surveyed=is_due,
            rule=self,
            coins=moments.coins,
            estimate=estimate,
        )

    def is_proved(self, coins: CoinRecord | None, kept: Intervals, estimate: LinearSEM) -> bool:
        """Whether the intervals prove what the estimate claims of all that is asked."""
        stands = self.demands.holds(kept, estimate.weights) | ~self.scope.direct
        if not stands.all() or not self.scope.totals.any():
            return bool(stands.all())
        return coins is not None and not total_gaps(self, coins, estimate).any()

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """That no linear row, or no total effect, is left, or no row without a loop, or what a
        guardrail says.
        """
        found = self.alarms(moments, estimate)
        return found[0] if found and found[0].evidence >= self.threshold else None

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        """Rows and total effects that are refuted and the guardrails, the loudest first."""
        del estimate
        kept, names = self.kept_intervals(moments), self.actions.names
        rows = np.flatnonzero(kept.is_refuted)
        bare = None if moments.coins is None else moments.coins.unclosed
        kinds: list[Kind] = ["line" if bare is None or bare.is_refuted[j] else "loop" for j in rows]
        found = [
            Alarm(kind, names[j], None, None, self.threshold)
            for kind, j in zip(kinds, rows, strict=True)
        ]
        if moments.coins is not None:
            found += guard_alarms(moments.coins.guards, kept, names)
            for j, k, kind in refuted_totals(self, moments.coins):
                found.append(Alarm(kind, names[j], names[k], None, self.threshold))
        return tuple(sorted(found, key=lambda alarm: -alarm.evidence))

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per reported effect, the weights that the coins leave, given nothing else."""
        kept, at = self.kept_intervals(moments), {name: j for j, name in enumerate(estimate.names)}
        return tuple(
            Interval(
                cause,
                effect,
                float(kept.low[at[effect], at[cause]]),
                weight,
                float(kept.high[at[effect], at[cause]]),
            )
            for cause, effect, weight in estimate.edges
        )

    def effects(
        self, moments: Moments, decision: Decision, estimate: LinearSEM
    ) -> tuple[Effect, ...]:
        del decision
        kept, asked = self.kept_intervals(moments), self.scope.direct | ~self.unknown
        if self.about.is_everything:
            return effects_by_coins(kept, self.demands, estimate)
        return effects_by_coins(kept, self.demands, estimate, asked)

    def total_effects(self, moments: Moments, estimate: LinearSEM) -> tuple[TotalEffect, ...]:
        return total_effects_by_coins(self, moments.coins or self.new_coins(), estimate)

    def bounds(self, moments: Moments, estimate: LinearSEM) -> EffectBounds:
        del estimate
        coins = moments.coins or self.new_coins()
        direct, totals = coins.kept.with_regions(None), coins.kept_totals.with_regions(None)
        return EffectBounds(direct, totals, acyclic=self.space.acyclic, basis="guaranteed")

    def with_levels(self, moments: Moments, estimate: LinearSEM) -> LinearSEM:
        """Every equation goes through the means of the rounds in which its variable was free."""
        if moments.coins is None:
            return estimate
        return through_means(estimate, mean_rows(moments.coins.sums))

    @property
    def p(self) -> int:
        """The number of variables."""
        return len(self.actions.names)

    def plan(self, moments: Moments, estimate: LinearSEM, course: Course) -> SetPlan:
        return plan_for(self, moments, estimate, course)

    def own_design(self, model: LinearSEM) -> OwnDesign:
        return design_of(self, model)

    def rounds_to_go(self, moments: Moments, estimate: LinearSEM, course: Course) -> float:
        return more_rounds(self, moments, estimate, course)

    def forecast(
        self, model: LinearSEM, share: Callable[[float], dict[Action, float]], start: float = 1.0
    ) -> float:
        """In closed form, along the best design that was found."""
        del share
        design = self.own_design(model)
        return max(start, rounds_for(self, model, design.sets, design.shares))

    def pair_rounds(self, model: LinearSEM) -> Floats:
        design = self.own_design(model)
        return pair_rounds_for(self, model, design.sets, design.shares)

    def rival(self, model: LinearSEM, weights: Floats) -> Rival:
        """The estimate with the entry moved that is settled last."""
        return rival_of(self, model, self.choices.arrays[0], weights)

    def gains(self, estimate: LinearSEM, weights: Floats) -> Floats:
        return self.rival(estimate, weights).gains

    def require(self, model: LinearSEM) -> None:
        """Raise if a system is not as it is known to be, or has a loop where there is none by
        assumption.
        """
        if self.space.acyclic:
            require_no_loops(model, "the randomized rule with acyclic=True")
        self.space.known.require_of(model.weights, model.names)

    def holds(self, estimate: LinearSEM, truth: LinearSEM) -> bool:
        is_asked = self.scope.direct | (self.about.is_everything & ~self.unknown)
        is_shown = (estimate.weights != 0.0) & is_asked
        if (truth.weights[is_shown] == 0.0).any():
            return False
        missed = (np.abs(truth.weights) >= self.demands.min_effect) & is_asked
        if (missed & ~is_shown).any():
            return False
        off = np.abs(estimate.weights - truth.weights)
        return bool((off <= self.demands.epsilon)[is_shown].all())

    def claim_in_words(self) -> str:
        claim = claim_of_effects("direct effect", self.epsilon, self.space)
        if self.about.is_everything:
            return claim
        return f"of {self.about.words}: {claim.replace('direct effect', 'effect')}"

    def assumptions_in_words(self) -> str:
        allowed, assumed = "feedback, ", ""
        if self.space.acyclic:
            allowed, assumed = "", "there is no feedback, if "
        return (
            f"{assumed}effects are linear and add up between the ends that are set, if setting a "
            "variable acts on the others through that variable alone, and if no round is lost "
            f"because of its outcome{known_in_words(self.space)}; hidden common causes, "
            f"{allowed}drift, outliers and settings that miss are allowed"
        )
