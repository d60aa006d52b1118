"""FOCUS: ask, tell, and stop with a certificate (Algorithm focus).

tell -> moments -> estimate -> decision -> alternative -> gains -> AdaHedge -> tracking -> ask: one
direction, each step in a module of its own.
"""

import warnings
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from causalfocus.allocation import AdaHedge, forced_action, tracked_action
from causalfocus.arrays import Floats
from causalfocus.errors import AlreadyStoppedError, InvalidInputError, UnidentifiableWarning
from causalfocus.guarantees import (
    Alarm,
    Decision,
    EvidenceRule,
    Interval,
    PaperRule,
    ResolutionRule,
)
from causalfocus.guarantees.claims import ExactClaim, Stopping, claim_of
from causalfocus.guarantees.paper import PaperConstants
from causalfocus.kernels.records import Actions
from causalfocus.learner.advice import advice
from causalfocus.learner.protocol import Told
from causalfocus.learner.recording import Recording
from causalfocus.learner.result import Result
from causalfocus.learner.round import Judge, Rule
from causalfocus.moments.moments import Moments
from causalfocus.planning.complexity import complexity
from causalfocus.system.actions import Action, ActionSet
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

EXPLORATION = 0.5
"""Every action gets this share of sqrt(t) rounds; all of it with the paper's rule. With 2p + 1
actions the paper's share takes a quarter of all rounds at the usual stopping times."""

TIE = 1e-9
"""Gains that differ by less, relatively, are equal; the less taken action comes first."""

Design = Literal["focus", "uniform"]


class Focus(Recording):
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
        super().__init__(actions)
        self.space = space
        _warn_of_unsettable(actions)
        self.claim = claim_of(stopping, space, epsilon)
        self.epsilon = self.claim.epsilon
        self.delta = float(delta)
        self.stopping = stopping
        self.design = self._checked_design(design)
        self._costs = np.array(actions.costs) / min(actions.costs)  # exactly 1 where they are equal
        self._cumulative = np.zeros(len(actions))
        self._hedge = AdaHedge(len(actions))
        self._continued: list[int] = []
        self._judge = Judge(
            self.claim,
            self._rule_of(stopping),
            actions,
            self._targets,
            self._values,
            self._costs,
            has_aim=design == "focus",
        )
        self._now = self._judge.judged(self._moments, self._counts, None)
        self._stop: Result | None = None
        self._conclude()

    def _rule_of(self, stopping: Stopping) -> Rule:
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
    def allocation(self) -> dict[Action, float]:
        """The present weights of the actions, alpha_t: shares of the cost."""
        return dict(zip(self.actions, self._hedge.weights.tolist(), strict=True))

    @property
    def estimate(self) -> LinearSEM:
        """The joint maximum-likelihood estimate from all samples so far."""
        return self._now.estimate

    @property
    def decision(self) -> Decision:
        """The rule's decision on all samples so far; the first stop is kept in `result`."""
        return self._now.decision

    @property
    def has_stopped(self) -> bool:
        """Whether there is a certificate, or the assumptions are refuted."""
        return self._stop is not None

    @property
    def is_refuted(self) -> bool:
        return self._stop is not None and not self._stop.certified

    @property
    def continued_at(self) -> tuple[int, ...]:
        """Rounds at which someone chose to go on after the stop."""
        return tuple(self._continued)

    def _require_asking(self) -> None:
        stop = self._stop
        if stop is not None and not (self._continued and self._continued[-1] >= stop.rounds):
            if not stop.certified:
                raise AlreadyStoppedError(
                    f"{stop.refuted} More samples can be asked for after "
                    f"continue_after_stop(), but this learner will certify nothing."
                )
            raise AlreadyStoppedError(
                f"The answer was certified after {stop.rounds} rounds; see result(). More "
                f"samples do no harm to it: call continue_after_stop() to go on asking."
            )

    def _next(self, counts: Floats, t: int) -> int:
        """Tracking of the game's allocation; while an alternative lags, the action against it.

        All in units of the cheapest action's cost, which are rounds if costs are equal.
        """
        if self.design == "uniform":
            return int(counts.argmin())
        spent = counts * self._costs
        total = t + float((spent - counts).sum())
        aim = self._now.aim
        if aim is None:
            return tracked_action(spent, self._cumulative, total, self._exploration)
        forced = forced_action(spent, total, self._exploration)
        if forced is not None:
            return forced
        most = float(aim.max())
        best = np.flatnonzero(aim >= most - TIE * abs(most))
        return int(best[spent[best].argmin()])

    def continue_after_stop(self) -> None:
        """Allow asking after the stop. The certificate stays as it is, and this is recorded."""
        self._continued.append(self.rounds)

    def _learn(self, told: Told) -> None:
        at = self._index.get(told.action)
        self._now = self._judge.judged(self._moments, self._counts, self._now)
        gains = self._gains() if self.design == "focus" else None
        self._conclude()
        if gains is not None:
            self._cumulative += self._hedge.weights * (1.0 if at is None else self._costs[at])
            self._hedge.update(gains)

    def _saved(self) -> tuple[Any, ...]:
        game = self._cumulative.copy(), self._hedge.copy()
        return super()._saved(), self._now, self._stop, game

    def _restore(self, saved: tuple[Any, ...]) -> None:
        recorded, self._now, self._stop, (self._cumulative, self._hedge) = saved
        super()._restore(recorded)

    def _conclude(self) -> None:
        """Keep the first stop. What was refuted once is never certified."""
        if self._now.decision.stop and not self.has_stopped:
            self._stop = self._result(has_stopped=True)

    def alarms(self, moments: Moments | None = None) -> tuple[Alarm, ...]:
        """Evidence against the assumptions, the loudest first; none under the paper's own rule.

        moments : of other data, for the same question there
        """
        rule = self._judge.rule
        if isinstance(rule, PaperRule):
            return ()
        if moments is None:
            return rule.alarms(self._moments, self.estimate)
        return rule.alarms(moments, self.claim.estimate(moments))

    def why_refuted(self) -> str | None:
        """What the data say against the assumptions and what to do, if the present decision is
        that they are refuted.
        """
        alarm = self.decision.alarm
        if alarm is None:
            return None
        step = advice(alarm, self._moments, self.space, self.epsilon, self.delta, self.stopping)
        return f"{self.decision.reason} {step}"

    def _gains(self) -> Floats:
        """Divergences of the best response per unit of cost; none where a sample fits perfectly, or
        for a single node.

        Without a lower bound on the noise, the divergences from a nearly perfect fit know no limit,
        and AdaHedge never forgets them. So it waits until every row has twice as many samples as it
        could have coefficients.
        """
        counts = self._moments.rows(intercept=self.space.intercept).counts
        if not self.claim.bounds_noise and counts.min() < 2 * (len(self.names) + 1):
            return np.zeros(len(self.actions))
        weights = self._hedge.weights / self._costs
        gains = self.claim.gains(self.estimate, Actions(self._targets, self._values, weights))
        return gains / self._costs if np.isfinite(gains).all() else np.zeros(len(gains))

    @property
    def _exploration(self) -> float:
        return 1.0 if isinstance(self._judge.rule, PaperRule) else EXPLORATION

    def result(self) -> Result:
        """The certified answer once there is one, or the refutation; until then the present
        estimate.
        """
        return self._stop or self._result(has_stopped=False)

    def _result(self, *, has_stopped: bool) -> Result:
        intervals: tuple[Interval, ...] = ()
        if not isinstance(self._judge.rule, PaperRule):
            intervals = self._judge.rule.intervals(self._moments, self.estimate)
        return Result(
            self.estimate,
            intervals,
            has_stopped and not self.decision.refuted,
            self.why_refuted() if has_stopped else None,
            self.rounds,
            self.decision.evidence,
            self.decision.threshold,
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
        if isinstance(self.claim, ExactClaim) and not self.space.contains(self.estimate):
            return None
        found = complexity(
            self.estimate,
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
