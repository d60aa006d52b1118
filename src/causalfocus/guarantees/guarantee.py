"""What a rule is: the one protocol behind which every guarantee stands.

A rule says what is assumed of a system, what is claimed of it, and when the data are sufficient for
the claim. It is one frozen object that knows the actions, what matters (`ModelClass`), the accuracy
epsilon and how often it may be wrong, delta. Learners, plans, campaigns and pages know this
protocol and never the kind. A new rule is one module here, one line in `rules.RULES`, and one line
in the conformance suite, tests/guarantees/test_every_rule.py, which every rule must pass.

The contract:

- All methods are pure: the same arguments give the same result, to the bit, and nothing that is
  given is written to.
- `decide` may be called after any number of samples, on any schedule, with any estimate and any
  choice of actions that did not see its own outcomes. Whenever it says stop without an alarm, the
  claim is wrong with probability at most delta over ALL calls together. This is the guarantee;
  everything else moves the number of rounds alone.
- `estimate`, `gains`, `stages`, `lags` and a decision's own `rival` may be anything: a bad choice
  costs rounds and never the guarantee.
- `refutation` says that no system of the kind that is assumed fits; its false alarms share delta
  with the wrong claims.
- With `is_due` False, `decide` may leave out what is dear: it then does not stop.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from causalfocus.allocation.pursuit import Stage
from causalfocus.allocation.set_plan import Course, SetPlan
from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.changes import EffectBounds, bounds_given_graph
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.effects import Effect, TotalEffect, effects_by_verdicts
from causalfocus.guarantees.expected_stop import rounds_on_average
from causalfocus.guarantees.lags import Lags, lags_from
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.terms import OwnDesign, Rival, Spread, Spreads, Step
from causalfocus.guarantees.verdicts import Interval, Verdict, verdicts_on
from causalfocus.kernels.records import PlainParents, PlainSettings
from causalfocus.kernels.sums import population
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.moments import Moments
from causalfocus.moments.randomized_sums import Intent
from causalfocus.oracles.for_kernels import model_of, parameters_of, plain_parents_of
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.choices import Choices, Ends
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.question import EVERYTHING, Question
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass


@dataclass(frozen=True)
class Guarantee(ABC):
    """A rule for one set of actions, accuracy and confidence.

    Attributes
    ----------
    actions : what can be done
    space : what matters, and what is assumed by the rules that assume something
    epsilon : accuracy of the weights: a number, numbers by pair, None for half of what matters of
        each pair, or "graph" for the graph alone
    delta : how often the claim may be wrong
    ends : who picks the ends of the ranges; None for what the rule does by itself
    about : which effects are asked for; the claim is of these
    """

    actions: ActionSet
    space: ModelClass
    epsilon: Accuracy | None
    delta: float
    ends: Ends | None = None
    _: KW_ONLY
    about: Question = EVERYTHING

    name: ClassVar[str]
    """What `rule=` is given."""

    exploration: ClassVar[float] = 0.5
    """Every action gets this share of sqrt(t) rounds; all of it with the paper's rule. With 2p + 1
    actions the paper's share takes a quarter of all rounds at the usual stopping times."""

    spread: ClassVar[Spread] = Spread(1.0, 1.0, 1.0)
    """How runs differ from the forecast."""

    spreads: ClassVar[Spreads] = Spreads((0.5,), (0.5,), (1.0,), (2.0,))
    """How runs differ from what is foretold on their way."""

    plays_game: ClassVar[bool] = True
    """Whether the paper's game chooses the actions when all rivals in `stages` are done; else the
    last stage goes on."""

    gains_are_divergences: ClassVar[bool] = True
    """Whether a round tells the divergence of a rival; a rule by coins learns less, from the part
    that follows a coin alone."""

    plans_sets: ClassVar[bool] = False
    """Whether `plan` says which variables to set; then nothing is pursued and no game is played."""

    settles_pairs: ClassVar[bool] = False
    """Whether pairs are settled one by one, each for good: then verdicts are shown first."""

    assumes_noise: ClassVar[bool] = True
    """Whether the noise is taken for Gaussian and the intervals for those of the right graph."""

    tosses_coins: ClassVar[bool] = True
    """Whether a fair coin picks the ends of the ranges, unless the user asks for the game to."""

    tosses_second_coins: ClassVar[bool] = False
    """Whether a second coin now and then picks the middle of a range or an end."""

    has_forecast: ClassVar[bool] = True
    """Whether the rounds to a stop can be foretold."""

    takes_questions: ClassVar[bool] = False
    """Whether less may be asked for than all direct effects, or total ones."""

    def __post_init__(self) -> None:
        if not self.takes_questions:
            self.about.require_everything(self.name)
        if not (isinstance(self.delta, int | float) and 0 < self.delta < 1):
            raise InvalidInputError(f"delta is a probability between 0 and 1, got {self.delta!r}.")
        object.__setattr__(self, "delta", float(self.delta))
        self.space.known.require_names(self.actions.names)
        if not self.allows_loops:
            why = f"the {self.name} rule knows systems without feedback alone"
            self.space.known.require_no_loop(why)

    @cached_property
    def smallest(self) -> Floats:
        """(p, p), row the effect and column the cause: which effects just matter."""
        return self.space.smallest(self.actions.names)

    @cached_property
    def accuracies(self) -> Floats:
        """(p, p), as `smallest`: how far weights may be off; infinite for the graph alone."""
        return self.space.accuracies(self.epsilon, self.actions.names)

    def known_of(self, model: LinearSEM) -> PlainParents:
        """The parents that every node of a model must and may have, for the kernels."""
        return plain_parents_of(self.space, model.names, allows_loops=self.allows_loops)

    @cached_property
    def threshold(self) -> float:
        """What the evidence must reach, in nats."""
        return math.log(1.0 / self.delta)

    @property
    def keeps_moments(self) -> bool:
        """Whether the rule reads the moments of the samples; else they are only counted."""
        return True

    @property
    def evidence_is_dear(self) -> bool:
        """Whether the evidence takes too long to weigh it whenever somebody looks."""
        return False

    @property
    def has_lower_bound(self) -> bool:
        """Whether Theorem lower_bound speaks of the claim."""
        return False

    @property
    def allows_loops(self) -> bool:
        """Whether the system may have feedback."""
        return False

    @property
    def bounds_noise(self) -> bool:
        """Whether a range of the noise variances is assumed, which bounds all divergences."""
        return False

    @cached_property
    def choices(self) -> Choices:
        """What a design chooses between."""
        ends = self.ends or ("coin" if self.tosses_coins else "game")
        return Choices(self.actions, ends, is_probed=self.tosses_second_coins)

    def on(self, choices: Choices) -> Self:
        """The same rule with other choices of the same actions.

        What a design chooses between is no part of what is assumed or claimed: evidence, threshold
        and claim are the same, whatever the choices are and were, as long as they are made from the
        past alone. So choices are not a field, and rules that differ in them alone are equal.
        """
        rule = copy.copy(self)
        vars(rule)["choices"] = choices
        return rule

    @property
    def settings(self) -> PlainSettings:
        """The choices as the kernels take them."""
        return self.choices.arrays

    def new_coins(self) -> CoinRecord | None:
        """What a rule by coins remembers before the first ask; None if it is none. It comes back
        with the moments, as `Moments.coins`.
        """
        return None

    def coins_with_ask(self, coins: CoinRecord, intent: Intent) -> CoinRecord:
        """The record with one more ask, of which nothing came yet."""
        del intent
        return coins

    def coins_with_answer(self, coins: CoinRecord, number: int, row: Floats | None) -> CoinRecord:
        """The record with what came of an ask; None if nothing will that counts."""
        del number, row
        return coins

    def plan(self, moments: Moments, estimate: LinearSEM, course: Course) -> SetPlan | None:
        """Which variables to set in the rounds to come, and how often, by what is known now; None
        of a rule that makes no plans.
        """
        del moments, estimate, course
        return None

    def own_design(self, model: LinearSEM) -> OwnDesign | None:
        """The best design for a known system, of a rule that plans; None of one that does not."""
        del model
        return None

    def rounds_to_go(self, moments: Moments, estimate: LinearSEM, course: Course) -> float | None:
        """Rounds to the stop if the system is as it is estimated, from what is known already and
        along the present plan; None of a rule that foretells from the start alone.
        """
        del moments, estimate, course
        return None

    def pair_rounds(self, model: LinearSEM) -> Floats | None:
        """(p, p), rounds foretold for every pair of a known system; None if all come at once."""
        del model
        return None

    @abstractmethod
    def estimate(self, moments: Moments) -> LinearSEM:
        """The model to show after these data."""

    @abstractmethod
    def gains(self, estimate: LinearSEM, weights: Floats) -> Floats:
        """The divergence, under every choice, of the closest system that breaks the claim.

        weights : (k,), how often each choice is taken
        """

    def stages(
        self, moments: Moments, estimate: LinearSEM, lags: Lags | None, counts: Floats
    ) -> tuple[Stage, ...]:
        """Whom to pursue after these data: what rivals lack to be rejected, and what every choice
        tells against them, the most urgent first.

        lags : what the last look at all rivals found
        counts : (k,), how often each choice was taken
        """
        del moments, estimate, counts
        return () if lags is None else (Stage(np.ones(len(lags.gains)), lags.gains),)

    def lags(self, decision: Decision, estimate: LinearSEM, counts: Floats) -> Lags | None:
        """What a decision on an estimate found where the evidence lags behind, for the rounds until
        all rivals are looked at again; None if nothing lags.

        The game plays against expectations, in which a graph with a superfluous edge is far away;
        the data at hand may happen to favour one, and then all waits for it.
        """
        gains = np.array([self.divergences(estimate, rival) for rival, _ in decision.laggards])
        return lags_from(decision, estimate, counts, gains)

    def divergences(self, estimate: LinearSEM, rival: LinearSEM) -> Floats:
        """What one round of every choice tells against a rival, if the estimate is right."""
        return population.divergences(model_of(estimate), parameters_of(rival), *self.settings)

    @abstractmethod
    def rival(self, model: LinearSEM, weights: Floats) -> Rival:
        """The same for a system that is known, with the rival itself."""

    @abstractmethod
    def decide(
        self,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats | None = None,
        *,
        is_due: bool = True,
    ) -> Decision:
        """Apply the rule to the data so far; the estimate may be any model, or any without loops.

        Parameters
        ----------
        moments : of the data, in the order of their collection
        estimate : what would be claimed
        counts : (k,), how often each choice was taken, for rules that need to know
        is_due : whether to do what is dear
        """

    @abstractmethod
    def holds(self, estimate: LinearSEM, truth: LinearSEM) -> bool:
        """Whether the claim that an estimate makes is right about a system."""

    @abstractmethod
    def claim_in_words(self) -> str:
        """What a certificate says."""

    @abstractmethod
    def assumptions_in_words(self) -> str:
        """What the claim rests on, as the end of a sentence that says "if"."""

    def require(self, model: LinearSEM) -> None:
        """Raise if the claim says nothing of such a system."""
        if not self.allows_loops:
            require_no_loops(model, f"the {self.name} rule")

    def speaks_of(self, model: LinearSEM) -> bool:
        """Whether the claim says something of such a system."""
        try:
            self.require(model)
        except InvalidInputError:
            return False
        return True

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first."""
        del moments, estimate
        return ()

    def refutation(self, moments: Moments, estimate: LinearSEM) -> Alarm | None:
        """The alarm by which no system of the kind that is assumed fits; None if some may."""
        del moments, estimate
        return None

    def intervals(self, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
        """Per edge of the estimate, the weights that the evidence does not reject at delta."""
        del moments, estimate
        return ()

    def bounds(self, moments: Moments, estimate: LinearSEM) -> EffectBounds:
        """What the evidence leaves of all effects at once, and what that rests on."""
        return bounds_given_graph(self.intervals(moments, estimate), estimate)

    def with_levels(self, moments: Moments, estimate: LinearSEM) -> LinearSEM:
        """The estimate with the constants that its effects ask for, from which levels are told."""
        del moments
        return estimate

    def effects(
        self, moments: Moments, decision: Decision, estimate: LinearSEM
    ) -> tuple[Effect, ...]:
        """On every pair of variables: estimate, interval, verdict, and what it waits for."""
        verdicts, n = self.verdicts(decision, estimate), decision.rounds
        intervals, known = self.intervals(moments, estimate), self.space.known
        demands = Demands(self.accuracies, self.smallest, known.required_in(estimate.names))
        possible = known.possible(estimate.names, acyclic=not self.allows_loops)
        return effects_by_verdicts(verdicts, intervals, estimate, n, demands, possible)

    def total_effects(self, moments: Moments, estimate: LinearSEM) -> tuple[TotalEffect, ...]:
        """On every pair of variables: what is certain of its total effect."""
        del moments, estimate
        raise InvalidInputError(
            f"The {self.name} rule has no intervals of total effects; the randomized rule has. "
            f"Take learner.with_rule('randomized'), which is told the same, or "
            f"learner.estimate.total_effects(): those of the estimate, of which nothing is certain."
        )

    def verdicts(self, decision: Decision, estimate: LinearSEM) -> tuple[Verdict, ...]:
        """On every pair of variables, what a decision on an estimate says of a direct effect."""
        if decision.verdicts is not None:
            return decision.verdicts
        return verdicts_on(estimate, is_certified=decision.stop and not decision.refuted)

    def wider_steps(self, moments: Moments) -> Iterator[Step]:
        """Wider assumptions, from narrow to wide, for someone whose own are refuted."""
        del moments
        return iter(())

    def expected_estimate(self, model: LinearSEM, moments: Moments) -> LinearSEM:
        """What would be claimed of a known system on its expected moments."""
        del model
        return self.estimate(moments)

    def forecast(
        self, model: LinearSEM, share: Callable[[float], dict[Action, float]], start: float = 1.0
    ) -> float:
        """The number of rounds at which the rule stops on the moments that a system gives on
        average, to a thousandth; infinity if it never does.

        model : the system
        share : the part of each action in so many rounds
        start : a number of rounds at which it does not stop yet, or 1
        """
        return rounds_on_average(self, model, share, start)
