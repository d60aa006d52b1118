"""FOCUS: ask, tell, and stop with a certificate (Algorithm focus). The way of a round: `round`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from causalfocus.allocation.latitude import Latitude
from causalfocus.arrays import Floats
from causalfocus.errors import AlreadyStoppedError, InvalidInputError
from causalfocus.guarantees import (
    DEFAULT_RULE,
    RULES,
    Alarm,
    Decision,
    Guarantee,
    Rule,
    Verdict,
    guarantee_of,
)
from causalfocus.guarantees.budget import checked_budget, require_budget
from causalfocus.guarantees.designs import design_for
from causalfocus.guarantees.losses import loss_alarms
from causalfocus.guarantees.verdicts import verdicts_on
from causalfocus.learner.asking import Ask
from causalfocus.learner.consequences import Consequences, HasConsequences
from causalfocus.learner.effects import AnyEffect, Effects, TotalEffects
from causalfocus.learner.intent import intent_of
from causalfocus.learner.protocol import Told
from causalfocus.learner.recording import Recording
from causalfocus.learner.result import Result, consequences_of, refutation_in_words
from causalfocus.learner.round import Design, FocusState, Rounds
from causalfocus.learner.state import Asks
from causalfocus.learner.unsettable import warn_of_unsettable
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.moments import Moments
from causalfocus.oracles.beliefs import edge_probabilities
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.choices import Choices, Ends
from causalfocus.system.question import About, Question
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass

DOUBT_GAP = 1e-3
ROUGH_DOUBT_GAP = 0.5
"""Accuracy to which the game is solved to see whether anything can be told apart; the rough one
where sets of variables are made on demand. Only whether the value is zero matters."""


class Focus(Recording[FocusState], HasConsequences):
    """Learns a causal graph and its weights by choosing interventions, and knows when to stop.

    With probability at least 1 - delta what is certified is right: every reported effect is there
    and within epsilon of its weight, and every effect of size min_effect or more is reported.
    By default this rests on the coins that pick the ends of the ranges, on effects that are linear
    and add up, and on settings that act through their own variable alone. Hidden common causes,
    feedback and any noise are allowed.

    Parameters
    ----------
    actions : what can be done, and what it costs: the design aims at information per cost
    space : min_effect, the smallest effect that matters, and which variables drive nothing: by
        default every other one needs a range of two values. Whether equations have constants, and
        the other bounds, are for the rules that assume something of them
    epsilon : accuracy of the weights, at most half of min_effect and that if left out; "graph"
        asks for the graph alone. By (cause, effect) or as a table where it differs
    delta : how often what is certified may be wrong
    rule : "randomized", as above, with verdicts on every pair at any moment, see `effects`; set
        several variables at once where you can: it then takes far fewer rounds. "gaussian": the
        same claim for linear, Gaussian, acyclic systems without hidden common causes, in fewer
        rounds, and with variables that cannot be set and are no outcomes. "class": the paper's
        definition, the whole graph is right and every weight within epsilon, if the system belongs
        to the class: no effect is smaller than min_effect or beyond the other bounds. "paper": the
        same with the paper's own threshold, for comparison; it does not fire at any feasible number
        of samples and says so. Or a class of your own that is a `Guarantee`
    design : "focus" chooses actions as in the paper; "uniform" takes them in turn, for comparison
    ends : "coin": the design chooses which variables to set, and a fair coin for each the end of
        its range, so that both ends are balanced. "game": the design chooses the ends too, as in
        the paper. By default the coin, and the game under the paper's rule
    seed : of the coins; one is drawn if there is none, see `seed`
    about : what is asked, if not all direct effects: the name of a variable, for those on it; a
        pair (cause, effect); `cf.total(cause, effect)`; or a list of these. Design, claim and stop
        follow, and fewer rounds are needed; all other effects have intervals all the same. For the
        randomized rule
    budget : how many rounds there will be. The design settles what it can within them, and nothing
        is asked for after them but by `continue_after_stop`; claims and intervals are the same
    """

    def __init__(
        self,
        actions: ActionSet,
        space: ModelClass,
        *,
        epsilon: Accuracy | None = None,
        delta: float = 0.05,
        rule: Rule = DEFAULT_RULE,
        design: Design = "focus",
        ends: Ends | None = None,
        seed: int | None = None,
        about: About | Question | None = None,
        budget: int | None = None,
    ) -> None:
        if design not in ("focus", "uniform"):
            raise InvalidInputError(f"design must be 'focus' or 'uniform', got {design!r}.")
        self.rule, self.design = rule, design
        self.guarantee: Guarantee = guarantee_of(
            rule, actions, space, epsilon=epsilon, delta=delta, ends=ends, about=about
        )
        if self.guarantee.gains_are_divergences:
            warn_of_unsettable(actions)
        choices = self.guarantee.choices
        if design == "uniform" and not choices.is_whole:
            raise InvalidInputError(
                f"design='uniform' takes all actions in turn, and there are {len(actions):,}. "
                f"Allow fewer at once, for example at_once=2, or take design='focus'."
            )
        self._keeps_moments = self.guarantee.keeps_moments
        super().__init__(choices, seed)
        self.budget = checked_budget(budget)
        self._rounds = Rounds(self.guarantee, design, self.budget)
        blank = self._blank_state().change(coins=self.guarantee.new_coins())
        self._state = self._rounds.start(blank)

    @property
    def space(self) -> ModelClass:
        """What matters, and what is assumed by the rules that assume something."""
        return self.guarantee.space

    @property
    def epsilon(self) -> Accuracy | None:
        """Accuracy of the weights; "graph" for the graph alone, None for half of what matters of
        each pair.
        """
        return self.guarantee.epsilon

    @property
    def delta(self) -> float:
        """How often what is certified may be wrong."""
        return self.guarantee.delta

    @property
    def choices(self) -> Choices:
        """What the next action is chosen from: all sets of variables, or, where there are too many
        to list, those that were made by now.
        """
        return self._state.standing.choices

    @property
    def allocation(self) -> dict[Action, float]:
        """How the next rounds will be shared out over the actions: shares of the cost."""
        return self.choices.spread(self._rounds.allocation(self._state))

    @property
    def estimate(self) -> LinearSEM:
        """The model that the rule shows after all samples so far."""
        return self._state.standing.estimate

    @property
    def decision(self) -> Decision:
        """The rule's decision on all samples so far; the first stop is kept in `result`."""
        return self._state.standing.decision

    @property
    def has_stopped(self) -> bool:
        """Whether there is a certificate, or the assumptions are refuted."""
        return self._state.stop is not None

    @property
    def is_refuted(self) -> bool:
        stop = self._state.stop
        return stop is not None and not stop.certified

    @property
    def continued_at(self) -> tuple[int, ...]:
        """Rounds at which someone chose to go on after the stop."""
        return self._state.continued

    def _require_asking(self, ahead: int = 1) -> None:
        stop, continued = self._state.stop, self._state.continued
        end = self.budget if stop is None else stop.rounds
        if end is None or max(continued, default=-1) >= end:
            return
        if stop is None:
            require_budget(end, self.rounds, ahead)
            return
        if not stop.certified:
            raise AlreadyStoppedError(
                f"{stop.refuted} More samples can be asked for after continue_after_stop(), but "
                f"this learner will certify nothing."
            )
        raise AlreadyStoppedError(
            f"The result was certified after {stop.rounds} rounds; see result(). More samples do "
            f"no harm to it: call continue_after_stop() to go on asking."
        )

    def next_index(self, counts: Floats, t: int, latitude: Latitude | None = None) -> int:
        return self._rounds.next_index(self._state, counts, t, latitude)

    def continue_after_stop(self) -> None:
        """Allow asking after the stop. The certificate stays as it is, and this is recorded."""
        self._state = self._state.change(continued=(*self._state.continued, self.rounds))

    def after(self, told: Told) -> FocusState:
        cost = 1.0
        if self.actions.prices or self.actions.change_costs:
            at = self.choices.index(told.action)
            cost = 1.0 if at is None else float(self.choices.relative_costs[at])
        return self._rounds.learn(self._write_down(told), cost)

    def _coins_of(self, asks: Asks, more: Sequence[Ask] = ()) -> CoinRecord | None:
        coins = self._state.coins
        if coins is None:
            return None
        for ask in more:
            coins = self.guarantee.coins_with_ask(coins, intent_of(ask, self.seed, self.names))
        gone = {ask.number for ask in (*self.pending, *more)} - {ask.number for ask in asks.pending}
        for number in sorted(gone):
            coins = self.guarantee.coins_with_answer(coins, number, None)
        return coins

    def _coins_after(self, told: Told) -> CoinRecord | None:
        """By intention: a round counts by what was asked for, whatever was achieved; one that was
        withdrawn, or of which a value is missing, does not count. Nor does one in which something
        was set that nobody had asked for: its value is no longer what its causes make it, and
        may be that of the coin.
        """
        coins = self._state.coins
        if coins is None or told.ask is None:
            return coins
        is_other = told.asked is not None and not (
            set(told.effective_action.targets) <= set(told.asked.action.targets)
        )
        row = None if told.withdrawn or not told.is_complete or is_other else told.sample
        return self.guarantee.coins_with_answer(coins, told.ask, row)

    def effects(self) -> Effects:
        """On every pair of variables: estimate, interval, verdict, and what it waits for. Under the
        randomized rule all of it is right at the same time, at any moment, except with probability
        delta; under the others verdicts come with the certificate. Once the assumptions were
        refuted all pairs are open for ever: what an interval holds was proved by them.
        """
        rows = self.guarantee.effects(self.moments, self.decision, self.estimate)
        return Effects(self._open_if_refuted(rows), self.rounds)

    def total_effects(self) -> TotalEffects:
        """On every pair of variables: what the cause, set alone, does to the effect along all
        ways. Under the randomized rule, together with `effects`, all of it is right at the same
        time, at any moment, except with probability delta; the other rules have no such intervals
        and say so. What counts are rounds in which one variable alone was set.
        """
        rows = self.guarantee.total_effects(self.moments, self.estimate)
        return TotalEffects(self._open_if_refuted(rows), self.rounds)

    @property
    def consequences(self) -> Consequences:
        """What follows from all samples so far: see `predict`, `change` and `settings_for`."""
        return consequences_of(
            self.guarantee, self.moments, self.estimate, is_refuted=self.is_refuted
        )

    def _open_if_refuted(self, rows: tuple[AnyEffect, ...]) -> tuple[AnyEffect, ...]:
        if not self.is_refuted:
            return rows
        return tuple(
            replace(one, verdict="open", is_settled=False, waits_for=math.inf) for one in rows
        )

    def rounds_to_go(self) -> float | None:
        """Rounds to the stop that are foretold if the system is as it is estimated; None if the
        rule foretells from the start alone.
        """
        return self._rounds.rounds_to_go(self._state)

    def result(self) -> Result:
        """What was certified once there is a certificate, or the refutation; until then the present
        estimate.
        """
        return self._state.stop or self._rounds.result(self._state, has_stopped=False)

    def verdicts(self) -> tuple[Verdict, ...]:
        """On every pair of variables, what is certain of a direct effect: from the first stop on
        what was certified, and nothing for ever if the assumptions were refuted.
        """
        stop = self._state.stop
        is_claimed = self.guarantee.about.is_everything
        if stop is not None and (is_claimed or not stop.certified):
            return verdicts_on(stop.model, is_certified=stop.certified)
        return self.guarantee.verdicts(self.decision, self.estimate)

    def edge_probabilities(self) -> dict[tuple[str, str], float]:
        """How probable every edge is, by (cause, effect): a belief beside the guess that certifies
        nothing. See `cf.edge_probabilities`.
        """
        found = edge_probabilities(self.moments, self.space)
        return {
            (cause, effect): float(found[j, k])
            for j, effect in enumerate(self.names)
            for k, cause in enumerate(self.names)
            if j != k
        }

    def alarms(self, moments: Moments | None = None) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; none under the paper's own rule.
        Behind them, if values were missing, whether that depends on the action: see
        `guarantees.losses`.

        moments : of other data, for the same question there
        """
        if moments is None:
            own = self.guarantee.alarms(self.moments, self.estimate)
            spans = [span for span in self.actions.ranges if span is not None]
            n_groups = 1 + sum(len(set(span)) for span in spans) + len(self.choices.middles)
            return own + loss_alarms(self._state.tallies, self._state.losses, n_groups)
        return self.guarantee.alarms(moments, self.guarantee.estimate(moments))

    def why_refuted(self) -> str | None:
        """What the data say against the assumptions and what to do, if the present decision is
        that they are refuted.
        """
        return refutation_in_words(self.guarantee, self.moments, self.decision)

    def indistinguishable(self) -> str | None:
        """What no action can tell from the present estimate, in words; None if there is nothing.

        While there is something, no number of rounds leads to a certificate of this estimate.
        """
        if len(self.names) == 1 or not self.guarantee.speaks_of(self.estimate):
            return None
        gap = DOUBT_GAP if self.choices.is_whole else ROUGH_DOUBT_GAP
        game = design_for(self._state.standing.rule, self.estimate, gap)
        if game.solution.value > 0.0 or not game.is_exhaustive:
            return None
        return game.solution.binding_responses()[0].response.changes

    def state_from(self, stored: Mapping[str, Any]) -> FocusState:
        """A state from its fields, but for the standing, which follows from the others.

        stored : by name, as `parts.stored_values` gives them
        """
        moments = Moments.from_state(self.names, stored["moments"], stored["coins"])
        rule, columns = self.guarantee, stored["columns"]
        if columns != rule.choices.columns:
            rule = rule.on(replace(rule.choices, columns=columns))
        standing = self._rounds.stand(moments, stored["counts"], stored["before"], rule)
        stop = stored["stop"] and replace(stored["stop"], actions=self.actions)
        return FocusState(**{**stored, "stop": stop}, standing=standing)

    def replay(self, log: Iterable[Told] | None = None) -> "Focus":
        """A learner of the same specification that was told the same, or another log."""
        twin = self._again(self.space, self.rule, log)
        if log is None:
            twin.adopt(twin.state.change(continued=self._state.continued))
        return twin

    def with_space(self, space: ModelClass) -> "Focus":
        """A learner under another class that was told the same: all evidence is computed anew. A
        class that is chosen after looking errs on its own: both together by at most the sum.
        """
        return self._again(space, self.rule, None)

    def with_rule(self, rule: Rule) -> "Focus":
        """A learner under another rule that was told the same. This one stays as it is."""
        return self._again(self.space, rule, None)

    def _again(self, space: ModelClass, rule: Rule, log: Iterable[Told] | None) -> "Focus":
        twin = self._twin(space, rule)
        asks = self._state.asks if log is None else Asks()
        lines = tuple(self.log if log is None else log)
        for _ in twin.take_again(lines, asks.pending, asks.given_up):
            pass
        if log is None:
            twin.adopt(twin.state.change(asks=self._state.asks))
        return twin

    @staticmethod
    def _claims_all(rule: Rule) -> bool:
        """Whether a rule claims all direct effects, whatever is asked."""
        kind = RULES[rule] if isinstance(rule, str) else rule
        return not kind.takes_questions

    def _twin(self, space: ModelClass, rule: Rule) -> "Focus":
        """One that was told nothing yet."""
        asked: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        return Focus(
            self.actions,
            space,
            rule=rule,
            design=self.design,
            ends=self.guarantee.ends,
            seed=self.seed,
            about=None if self._claims_all(rule) else self.guarantee.about,
            budget=self.budget,
            **asked,
        )
