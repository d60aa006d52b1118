"""What a learner makes of its data after a round: the estimate, the decision, and what to aim at.

To judge all alternatives is dear, and so is testing the assumptions; both are done on a schedule.
The evidence holds on any.
"""

import math
from dataclasses import dataclass, replace

from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees import (
    Decision,
    EvidenceDecision,
    EvidenceRule,
    PaperRule,
    ResolutionDecision,
    ResolutionRule,
)
from causalfocus.guarantees.claims import Claim, ExactClaim, ResolutionClaim
from causalfocus.kernels.records import Model, Parameters
from causalfocus.kernels.sums import population
from causalfocus.moments.moments import Moments
from causalfocus.oracles import best_alternative
from causalfocus.system.actions import ActionSet
from causalfocus.system.sem import LinearSEM

Rule = ResolutionRule | EvidenceRule | PaperRule

JUDGE_SHARE = 100
"""After all alternatives were judged in vain, one more round per so many passes until the next."""

FIRST_CHECK, CHECK_GROWTH = 64, 1.2
"""The assumptions are put to the test at 64 rounds, at a fifth more, and so on; and at the stop."""


@dataclass(frozen=True)
class Judgement:
    """The state of affairs after some rounds.

    Attributes
    ----------
    estimate : what would be reported
    decision : of the rule
    aim : gains per unit of cost against the alternative that keeps the evidence from rising, until
        all are judged again; None if none does
    next_look, next_check : rounds from which on all alternatives are judged, and the assumptions
        put to the test
    """

    estimate: LinearSEM
    decision: Decision
    aim: Floats | None = None
    next_look: int = 0
    next_check: int = FIRST_CHECK


@dataclass(frozen=True)
class Judge:
    """Applies a rule after every round.

    Attributes
    ----------
    claim, rule : what is claimed and when
    actions : what can be done
    targets, values, costs : of the actions, costs in units of the cheapest
    has_aim : whether to look for what keeps the evidence from rising
    """

    claim: Claim
    rule: Rule
    actions: ActionSet
    targets: Ints
    values: Floats
    costs: Floats
    has_aim: bool

    def judged(self, moments: Moments, counts: Floats, before: Judgement | None) -> Judgement:
        """After one more round; `before` is what the last one gave.

        counts : how often each action was taken, for the paper's rule
        """
        estimate, rounds = self.claim.estimate(moments), round(moments.n)
        if isinstance(self.rule, PaperRule):
            return Judgement(estimate, self._by_the_paper(self.rule, estimate, counts, rounds))
        next_look, next_check = 0, FIRST_CHECK
        aim = None
        if before is not None:
            next_look, next_check, aim = before.next_look, before.next_check, before.aim
        is_due = rounds >= next_look
        decision = self.rule.decide(moments, estimate, judge_graph=is_due)
        if is_due and self.has_aim:
            aim = self._aim(moments, decision)
        if decision.verdict is not None:
            next_look = rounds + max(1, rounds // JUDGE_SHARE)
        if not decision.stop and rounds >= next_check:
            next_check = max(FIRST_CHECK, math.ceil(rounds * CHECK_GROWTH))
            alarm = self.rule.refutation(moments, estimate)
            if alarm is not None:
                decision = replace(decision, stop=True, alarm=alarm)
        return Judgement(estimate, decision, aim, next_look, next_check)

    def _by_the_paper(
        self, rule: PaperRule, estimate: LinearSEM, counts: Floats, rounds: int
    ) -> Decision:
        taken = {action: float(n) for action, n in zip(self.actions, counts, strict=True)}
        found = best_alternative(
            estimate, taken, self.claim.space, epsilon=self.claim.epsilon or math.nan
        )
        return rule.decide(found.value, estimate, rounds)

    def _aim(
        self, moments: Moments, decision: EvidenceDecision | ResolutionDecision
    ) -> Floats | None:
        """What to go for until the next look: the alternative that lags behind the others.

        The game plays against expectations, in which a graph with a superfluous edge is far away;
        the data at hand may happen to favour one, and then all waits for it. The evidence is valid
        for any choice of actions, so this moves the number of rounds alone.
        """
        rival = self._rival(moments, decision)
        if rival is None:
            return None
        model = decision.estimate
        gains = population.divergences(
            Model(model.weights, model.noise_variances, model.intercepts, model.order),
            Parameters(rival.weights, rival.noise_variances, rival.intercepts),
            self.targets,
            self.values,
        )
        return gains / self.costs

    def _rival(
        self, moments: Moments, decision: EvidenceDecision | ResolutionDecision
    ) -> LinearSEM | None:
        if decision.verdict is None or decision.verdict.rival is None:
            return None
        claim, model = self.claim, decision.estimate
        if isinstance(claim, ResolutionClaim) and isinstance(decision, ResolutionDecision):
            return claim.rival(moments, model, decision.verdict.rival)
        if isinstance(claim, ExactClaim) and isinstance(decision, EvidenceDecision):
            return claim.rival(moments, model, decision.verdict.rival)
        return None
