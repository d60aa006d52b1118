"""FOCUS: ask, tell, and stop with a certificate (Algorithm focus).

tell -> moments -> estimate -> decision -> alternative -> gains -> AdaHedge -> tracking -> ask: one
direction, each step in a module of its own.
"""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from causalfocus.actions import Action, ActionSet, actions_as_arrays
from causalfocus.advice import advice
from causalfocus.allocation import AdaHedge, forced_action, tracked_action
from causalfocus.claims import ExactClaim, ResolutionClaim, Stopping, claim_of
from causalfocus.errors import (
    AlreadyStoppedError,
    InvalidInputError,
    UnidentifiableWarning,
)
from causalfocus.information import complexity
from causalfocus.kernels import population
from causalfocus.learner import Sample, Told
from causalfocus.moments import Moments
from causalfocus.oracles import best_alternative
from causalfocus.sem import LinearSEM
from causalfocus.space import ModelClass
from causalfocus.stopping import (
    Alarm,
    Decision,
    EvidenceDecision,
    EvidenceRule,
    Interval,
    PaperRule,
    ResolutionDecision,
    ResolutionRule,
)
from causalfocus.stopping.paper import PaperConstants

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

JUDGE_SHARE = 100
"""After all alternatives were judged in vain, one more round per so many passes until the next."""

FIRST_CHECK, CHECK_GROWTH = 64, 1.1
"""The assumptions are put to the test at 64 rounds, at a tenth more, and so on; and at the stop."""

EXPLORATION = 0.5
"""Every action gets this share of sqrt(t) rounds; all of it with the paper's rule. With 2p + 1
actions the paper's share takes a quarter of all rounds at the usual stopping times."""

TIE = 1e-9
"""Gains that differ by less, relatively, are equal; the less taken action comes first."""

Design = Literal["focus", "uniform"]


@dataclass(frozen=True)
class Result:
    """What a learner has to say: the certified answer if it has stopped, else the present one.

    Attributes
    ----------
    model : graph, weights (``[effect, cause]``), noise variances and intercepts
    intervals : per edge, the weights that the evidence does not reject at delta, given the graph
    certified : whether the answer carries the guarantee
    refuted : what the data say against the assumptions, in words, if they do: then no answer is
        certified
    rounds : samples when the answer was fixed
    evidence, threshold : in nats
    delta, epsilon : what was asked for
    counts : how often each action was taken up to then
    cost : of these rounds; their number if no costs were given
    """

    model: LinearSEM
    intervals: tuple[Interval, ...]
    certified: bool
    refuted: str | None
    rounds: int
    evidence: float
    threshold: float
    delta: float
    epsilon: float | None
    counts: dict[Action, int]
    cost: float


class Focus:
    """Learns a causal graph and its weights by choosing interventions, and knows when to stop.

    With probability at least 1 - delta the certified answer is right: every reported effect is
    there and within epsilon of its weight, and every effect of size min_effect or more is reported.
    Assumed are a linear, Gaussian, acyclic system and perfect interventions, and nothing of the
    sizes of effects and noise.

    Parameters
    ----------
    actions : what can be done, and what it costs: the design aims at information per cost
    space : min_effect, the smallest effect that matters, and whether equations have constants;
        the other bounds are for the class rules
    epsilon : accuracy of the weights, at most min_effect / 2; None asks for the graph alone
    delta : how often the answer may be wrong
    stopping : "resolution", as above. "evidence": the paper's definition, the whole graph is right
        and every weight within epsilon, if the system belongs to the class: no effect is smaller
        than min_effect or beyond the other bounds. "paper": the same with the paper's own rule, for
        comparison; it does not fire at any feasible number of samples and says so
    design : "focus" chooses actions as in the paper; "uniform" takes them in turn, for comparison
    """

    def __init__(
        self,
        actions: ActionSet,
        space: ModelClass,
        *,
        epsilon: float | None,
        delta: float = 0.05,
        stopping: Stopping = "resolution",
        design: Design = "focus",
    ) -> None:
        if not (isinstance(delta, int | float) and 0 < delta < 1):
            raise InvalidInputError(f"delta is a probability between 0 and 1, got {delta!r}.")
        self.actions = actions
        self.space = space
        _warn_of_unsettable(actions)
        self.claim = claim_of(stopping, space, epsilon)
        self.epsilon = self.claim.epsilon
        self.delta = float(delta)
        self.stopping = stopping
        self.design = self._checked_design(design)
        self._rule = self._rule_of(stopping)
        self._moments = Moments(actions.names)
        self._targets, self._values = actions_as_arrays(actions, actions.names)
        self._index = {action: i for i, action in enumerate(actions)}
        self._costs = np.array(actions.costs) / min(actions.costs)  # exactly 1 where they are equal
        self._counts = np.zeros(len(actions))
        self._cumulative = np.zeros(len(actions))
        self._hedge = AdaHedge(len(actions))
        self._log: list[Told] = []
        self._continued: list[int] = []
        self._next_judgement = 0
        self._next_check = FIRST_CHECK
        self._rival_gains: Floats | None = None
        self._estimate = self.claim.estimate(self._moments)
        self._decision = self._decide()
        self._certificate: Result | None = None
        self._refutation: Result | None = None
        self._conclude()

    def _rule_of(self, stopping: Stopping) -> ResolutionRule | EvidenceRule | PaperRule:
        if stopping == "resolution":
            return ResolutionRule(self.space, self.epsilon, self.delta)
        if stopping == "evidence":
            return EvidenceRule(self.space, self.epsilon, self.delta)
        if self.epsilon is None:
            raise InvalidInputError("The paper's rule needs an epsilon.")
        reach = max((abs(v) for ends in self.actions.ranges if ends for v in ends), default=0.0)
        return PaperRule(PaperConstants(len(self.names), self.space, reach), self.delta)

    @staticmethod
    def _checked_design(design: Design) -> Design:
        if design not in ("focus", "uniform"):
            raise InvalidInputError(f"design must be 'focus' or 'uniform', got {design!r}.")
        return design

    @property
    def names(self) -> tuple[str, ...]:
        return self.actions.names

    @property
    def log(self) -> Sequence[Told]:
        """All that was told, in order."""
        return tuple(self._log)

    @property
    def rounds(self) -> int:
        return len(self._log)

    @property
    def counts(self) -> dict[Action, int]:
        """How often each action of the set was taken."""
        return {action: int(n) for action, n in zip(self.actions, self._counts, strict=True)}

    @property
    def cost(self) -> float:
        """What the rounds so far have cost; actions that are not in the set are not counted."""
        return float(self._counts @ np.array(self.actions.costs))

    @property
    def allocation(self) -> dict[Action, float]:
        """The present weights of the actions, alpha_t: shares of the cost."""
        return dict(zip(self.actions, self._hedge.weights.tolist(), strict=True))

    @property
    def estimate(self) -> LinearSEM:
        """The joint maximum-likelihood estimate from all samples so far."""
        return self._estimate

    @property
    def decision(self) -> Decision:
        """The rule's decision on all samples so far; the first stop is kept in `result`."""
        return self._decision

    @property
    def has_stopped(self) -> bool:
        """Whether there is a certificate, or the assumptions are refuted."""
        return self._certificate is not None or self._refutation is not None

    @property
    def is_refuted(self) -> bool:
        return self._refutation is not None

    @property
    def continued_at(self) -> tuple[int, ...]:
        """Rounds at which someone chose to go on after the stop."""
        return tuple(self._continued)

    def ask(self) -> Action:
        """The action to perform next; the same until something is told."""
        return self.ask_batch(1)[0]

    def ask_batch(self, n: int) -> list[Action]:
        """The next n actions, as tracking would take them if nothing were learned in between."""
        if n < 1:
            raise InvalidInputError(f"A batch has at least one action, got n = {n}.")
        if self.has_stopped and not (self._continued and self._continued[-1] >= self._stopped_at):
            if self._refutation is not None:
                raise AlreadyStoppedError(
                    f"{self._refutation.refuted} More samples can be asked for after "
                    f"continue_after_stop(), but this learner will certify nothing."
                )
            raise AlreadyStoppedError(
                f"The answer was certified after {self._stopped_at} rounds; see result(). More "
                f"samples do no harm to it: call continue_after_stop() to go on asking."
            )
        counts, taken = self._counts.copy(), []
        for i in range(n):
            chosen = self._next(counts, self.rounds + i)
            counts[chosen] += 1
            taken.append(self.actions[chosen])
        return taken

    def _next(self, counts: Floats, t: int) -> int:
        """Tracking of the game's allocation; while a rival graph lags, the action against it.

        All in units of the cheapest action's cost, which are rounds if costs are equal.
        """
        if self.design == "uniform":
            return int(counts.argmin())
        spent = counts * self._costs
        total = t + float((spent - counts).sum())
        if self._rival_gains is None:
            return tracked_action(spent, self._cumulative, total, self._exploration)
        forced = forced_action(spent, total, self._exploration)
        if forced is not None:
            return forced
        most = float(self._rival_gains.max())
        best = np.flatnonzero(self._rival_gains >= most - TIE * abs(most))
        return int(best[spent[best].argmin()])

    def continue_after_stop(self) -> None:
        """Allow asking after the stop. The certificate stays as it is, and this is recorded."""
        self._continued.append(self.rounds)

    def tell(self, action: Action, sample: Sample) -> None:
        """Take in one sample, asked for or not: a mapping from name to value, or p numbers."""
        rounds, counts = self.rounds, self._counts.copy()
        sums = self._moments._snapshot()
        before = (
            self._estimate,
            self._decision,
            self._next_judgement,
            self._next_check,
            self._rival_gains,
            self._certificate,
            self._refutation,
        )
        row = self._moments._take(action, sample)
        row.setflags(write=False)
        at = self._index.get(action)
        try:
            if at is not None:
                self._counts[at] += 1
            self._log.append(Told(action, row))
            self._learn(1.0 if at is None else self._costs[at])
        except BaseException:  # a sample is taken in whole or not at all
            del self._log[rounds:]
            self._counts[:] = counts
            self._moments._restore(sums)
            (
                self._estimate,
                self._decision,
                self._next_judgement,
                self._next_check,
                self._rival_gains,
                self._certificate,
                self._refutation,
            ) = before
            raise

    def _learn(self, cost: float) -> None:
        self._estimate = self.claim.estimate(self._moments)
        self._decision = self._decide()
        gains = self._gains() if self.design == "focus" else None
        self._conclude()
        if gains is not None:
            self._cumulative += self._hedge.weights * cost
            self._hedge.update(gains)

    def _conclude(self) -> None:
        """Keep the first stop. What was refuted once is never certified."""
        if not self._decision.stop or self.has_stopped:
            return
        if self._decision.alarm is None:
            self._certificate = self._result(certified=True)
        else:
            self._refutation = self._result(certified=False, refuted=self.why_refuted())

    def alarms(self, moments: Moments | None = None) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; none under the paper's own rule.

        moments : of other data, for the same question there
        """
        if isinstance(self._rule, PaperRule):
            return ()
        if moments is None:
            return self._rule.alarms(self._moments, self._estimate)
        return self._rule.alarms(moments, self.claim.estimate(moments))

    def why_refuted(self) -> str | None:
        """What the data say against the assumptions and what to do, if the present decision is
        that they are refuted.
        """
        alarm = self._decision.alarm
        if alarm is None:
            return None
        step = advice(alarm, self._moments, self.space, self.epsilon, self.delta, self.stopping)
        return f"{self._decision.reason} {step}"

    def _gains(self) -> Floats:
        """Divergences of the best response per unit of cost; none where a sample fits perfectly, or
        for a single node.
        """
        weights = self._hedge.weights / self._costs
        gains = self.claim.gains(self._estimate, (self._targets, self._values, weights))
        return gains / self._costs if np.isfinite(gains).all() else np.zeros(len(gains))

    @property
    def _exploration(self) -> float:
        return 1.0 if isinstance(self._rule, PaperRule) else EXPLORATION

    def _decide(self) -> Decision:
        if isinstance(self._rule, PaperRule):
            found = best_alternative(
                self._estimate, self.counts, self.space, epsilon=self.epsilon or math.nan
            )
            return self._rule.decide(found.value, self._estimate, self.rounds)
        due = self.rounds >= self._next_judgement
        decision = self._rule.decide(self._moments, self._estimate, judge_graph=due)
        if decision.verdict is not None:
            self._next_judgement = self.rounds + max(1, self.rounds // JUDGE_SHARE)
        if due and self.design == "focus":
            self._aim_at(decision)
        if not decision.stop and self.rounds >= self._next_check:
            self._next_check = max(FIRST_CHECK, math.ceil(self.rounds * CHECK_GROWTH))
            alarm = self._rule.refutation(self._moments, self._estimate)
            if alarm is not None:
                return replace(decision, stop=True, alarm=alarm)
        return decision

    def _aim_at(self, decision: EvidenceDecision | ResolutionDecision) -> None:
        """Until the next judgement, go for what keeps the evidence from rising.

        The game plays against expectations, in which a graph with a superfluous edge is far away;
        the data at hand may happen to favour one, and then all waits for it. The evidence is valid
        for any choice of actions, so this moves the number of rounds alone.
        """
        self._rival_gains = None
        rival = self._rival(decision)
        if rival is not None:
            model = self._estimate
            gains = population.divergences(
                (model.weights, model.noise_variances, model.intercepts, model.order),
                (rival.weights, rival.noise_variances, rival.intercepts),
                self._targets,
                self._values,
            )
            self._rival_gains = gains / self._costs

    def _rival(self, decision: EvidenceDecision | ResolutionDecision) -> LinearSEM | None:
        if decision.verdict is None or decision.verdict.rival is None:
            return None
        claim, moments, model = self.claim, self._moments, self._estimate
        if isinstance(claim, ResolutionClaim) and isinstance(decision, ResolutionDecision):
            return claim.rival(moments, model, decision.verdict.rival)
        if isinstance(claim, ExactClaim) and isinstance(decision, EvidenceDecision):
            return claim.rival(moments, model, decision.verdict.rival)
        return None

    @property
    def _stopped_at(self) -> int:
        stopped = self._certificate or self._refutation
        return -1 if stopped is None else stopped.rounds

    def result(self) -> Result:
        """The certified answer once there is one, or the refutation; until then the present
        estimate.
        """
        return self._certificate or self._refutation or self._result(certified=False)

    def _result(self, *, certified: bool, refuted: str | None = None) -> Result:
        intervals: tuple[Interval, ...] = ()
        if not isinstance(self._rule, PaperRule):
            intervals = self._rule.intervals(self._moments, self._estimate)
        return Result(
            self._estimate,
            intervals,
            certified,
            refuted,
            self.rounds,
            self._decision.evidence,
            self._decision.threshold,
            self.delta,
            self.epsilon,
            self.counts,
            self.cost,
        )

    def indistinguishable(self) -> str | None:
        """What no action can tell from the present estimate, in words; None if there is nothing.

        While there is something, no number of rounds leads to a certificate of this estimate.
        """
        if len(self.names) == 1:
            return None
        if isinstance(self.claim, ExactClaim) and not self.space.contains(self._estimate):
            return None
        found = complexity(
            self._estimate,
            self.actions,
            self.space,
            epsilon=self.epsilon,
            stopping=self.stopping,
        )
        return None if found.is_identifiable else found.rivals[0].changes

    def replayed(self, told: Iterable[Told] | None = None) -> "Focus":
        """A learner of the same specification that was told the same, or another log."""
        return self._again(self.space, self.stopping, self._log if told is None else told)

    def with_space(self, space: ModelClass) -> "Focus":
        """A learner under another class that was told the same: the log is the truth, and all
        evidence is computed anew. This one stays as it is.
        """
        return self._again(space, self.stopping, self._log)

    def with_stopping(self, stopping: Stopping) -> "Focus":
        """A learner under another rule that was told the same. This one stays as it is."""
        return self._again(self.space, stopping, self._log)

    def _again(self, space: ModelClass, stopping: Stopping, told: Iterable[Told]) -> "Focus":
        twin = Focus(
            self.actions,
            space,
            epsilon=self.epsilon,
            delta=self.delta,
            stopping=stopping,
            design=self.design,
        )
        for line in told:
            twin.tell(line.action, line.sample)
        return twin


def _warn_of_unsettable(actions: ActionSet) -> None:
    """Between two nodes that nobody can set, the direction may show under no action at all."""
    unsettable = actions.unsettable
    if len(unsettable) < 2:
        return
    pairs = [f"{a} and {b}" for i, a in enumerate(unsettable) for b in unsettable[i + 1 :]]
    shown = "; ".join(pairs[:6]) + ("; ..." if len(pairs) > 6 else "")
    warnings.warn(
        f"No action sets {', '.join(unsettable)}. An edge between two of them ({shown}) looks the "
        f"same in both directions unless another variable that can be set, or a second cause, "
        f"tells them apart: such an edge may never be certified. Make one of each pair settable, "
        f"or check with cf.complexity on a model you think likely.",
        UnidentifiableWarning,
        stacklevel=3,
    )
