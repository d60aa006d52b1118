"""A certificate for whoever chooses the actions."""

from dataclasses import replace
from typing import Any

from causalfocus.allocation.latitude import Latitude
from causalfocus.arrays import Floats
from causalfocus.baselines.baseline import Baseline
from causalfocus.guarantees import Rule
from causalfocus.learner.focus import Focus
from causalfocus.learner.protocol import Told
from causalfocus.learner.round import FocusState
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass


class Certified(Focus):
    """A baseline's actions with FOCUS's estimate and certificate.

    The evidence is valid whatever chose the actions, so any baseline can be run to a certificate:
    of the gaussian rule unless you say otherwise. What it certifies is FOCUS's estimate from the
    same samples; the baseline's own is ``learner.estimate``.

    Parameters
    ----------
    learner : the baseline; what it was told before counts too
    epsilon, delta : see `Focus`
    rule : "gaussian", "class", "paper" or your own. The default elsewhere, "randomized", counts
        nothing but coins, and a baseline tosses none: it picks the values that it sets

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
        learner: Baseline[Any],
        *,
        epsilon: Accuracy | None = None,
        delta: float = 0.05,
        rule: Rule = "gaussian",
    ) -> None:
        super().__init__(
            learner.actions,
            learner.space,
            epsilon=epsilon,
            delta=delta,
            rule=rule,
            design="uniform",
            ends="game",
        )
        self._chooser = learner.twin()
        self._state = self._state.change(chooser=self._chooser.state)
        for told in learner.log:
            self.take(replace(told, ask=None))

    @property
    def learner(self) -> Baseline[Any]:
        """The baseline, told the same."""
        chosen_by = self._state.chooser
        if chosen_by is not None and chosen_by is not self._chooser.state:
            self._chooser.restore(chosen_by, self._log)
        return self._chooser

    def next_index(self, counts: Floats, t: int, latitude: Latitude | None = None) -> int:
        return self.learner.next_index(counts, t, latitude)

    def after(self, told: Told) -> FocusState:
        chosen_by = self.learner.after(replace(told, ask=None))
        return super().after(told).change(chooser=chosen_by)

    def _twin(self, space: ModelClass, rule: Rule) -> "Certified":
        start = self.learner.twin(space)
        return Certified(start, epsilon=self.epsilon, delta=self.delta, rule=rule)
