"""A certificate for whoever chooses the actions."""

from collections.abc import Iterable
from typing import Any

from causalfocus.arrays import Floats
from causalfocus.baselines.baseline import Baseline
from causalfocus.guarantees.claims import Stopping
from causalfocus.learner.focus import Focus
from causalfocus.learner.protocol import Told
from causalfocus.system.space import ModelClass


class Certified(Focus):
    """A baseline's actions with FOCUS's estimate and certificate.

    The evidence is valid whatever chose the actions, so any baseline can be run to a certificate.
    What it certifies is FOCUS's answer from the same samples; the baseline's own is
    ``learner.estimate``.

    Parameters
    ----------
    learner : the baseline; what it was told before counts too
    epsilon, delta, stopping : see `Focus`

    Examples
    --------
    >>> import causalfocus as cf
    >>> from causalfocus.baselines import Certified, Random
    >>> truth = cf.LinearSEM([[0, 0], [1.0, 0]], 1.0)
    >>> actions = cf.ActionSet({"X1": (-3, 3), "X2": (-3, 3)})
    >>> random = Random(actions, cf.ModelClass(0.5, intercept=False), seed=0)
    >>> learner = Certified(random, epsilon=0.25)
    >>> cf.run(learner, lambda action: truth.sample(action, rng=learner.rounds)[0])
    True
    """

    def __init__(
        self,
        learner: Baseline,
        *,
        epsilon: float | None,
        delta: float = 0.05,
        stopping: Stopping = "resolution",
    ) -> None:
        super().__init__(
            learner.actions,
            learner.space,
            epsilon=epsilon,
            delta=delta,
            stopping=stopping,
            design="uniform",
        )
        self.learner = learner.replayed(())
        for told in learner.log:
            self.tell(told.action, told.sample)

    def _next(self, counts: Floats, t: int) -> int:
        return self.learner._next(counts, t)

    def _learn(self, told: Told) -> None:
        super()._learn(told)
        self.learner.tell(told.action, told.sample)

    def _saved(self) -> tuple[Any, ...]:
        return super()._saved(), self.learner._saved()

    def _restore(self, saved: tuple[Any, ...]) -> None:
        own, learners = saved
        super()._restore(own)
        self.learner._restore(learners)

    def _again(self, space: ModelClass, stopping: Stopping, told: Iterable[Told]) -> "Certified":
        start = type(self.learner)(
            self.actions, space, seed=self.learner.seed, **self.learner._options
        )
        twin = Certified(start, epsilon=self.epsilon, delta=self.delta, stopping=stopping)
        for line in told:
            twin.tell(line.action, line.sample)
        return twin
