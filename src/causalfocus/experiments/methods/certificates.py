"""What a run on to its certificate gives: stopping times, wrong claims, the system's complexity."""

from causalfocus.experiments.replicate import Certificates
from causalfocus.experiments.specification import Specification
from causalfocus.experiments.stops import Stops
from causalfocus.guarantees import guarantee_of
from causalfocus.learner.focus import Focus
from causalfocus.planning.complexity import complexity
from causalfocus.system.action_set import ActionSet
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS


class CertificateWatch:
    """Watches a learner's decisions until it has stopped for every delta, or was refuted."""

    def __init__(self, specification: Specification, actions: ActionSet, truth: LinearSEM) -> None:
        self.specification, self.actions, self.truth = specification, actions, truth
        self.stops = Stops(specification.deltas)
        self.refuted: int | None = None

    def see(self, learner: Focus) -> None:
        """Take in the decision after a round."""
        self.stops.see(learner.decision, learner.estimate)
        if self.refuted is None and learner.is_refuted:
            self.refuted = learner.rounds
        if learner.has_stopped:
            learner.continue_after_stop()

    @property
    def is_done(self) -> bool:
        return self.stops.are_all or self.refuted is not None

    def summary(self) -> Certificates:
        """What came of it."""
        epsilon, stops = self.specification.epsilon, self.stops
        rule = guarantee_of("class", self.actions, PAPER_CLASS, epsilon=epsilon)
        missing = [None] * (len(stops.deltas) - len(stops.rounds))
        wrong = [not rule.holds(model, self.truth) for model in stops.models]
        found = complexity(
            self.truth, self.actions, PAPER_CLASS, epsilon=epsilon, rule="class", ends="game"
        )
        return Certificates(
            stops=(*stops.rounds, *missing),
            wrong=(*wrong, *missing),
            refuted=self.refuted,
            complexity=found.value,
        )


def watch_for(
    specification: Specification, actions: ActionSet, truth: LinearSEM
) -> CertificateWatch:
    return CertificateWatch(specification, actions, truth)
