"""Running a learner against a system until it stops."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from causalfocus.errors import InvalidInputError, UnidentifiableWarning
from causalfocus.learner.protocol import KnowsItsLimits, Learner, Sample
from causalfocus.system.actions import Action

System = Callable[[Action], Sample]

FIRST_DOUBT = 1000
"""Rounds after which, and after twice as many, and so on, a run asks whether it can end at all."""


@dataclass(frozen=True)
class Round:
    """What a callback sees after every round."""

    number: int
    action: Action
    learner: Learner


def run(
    learner: Learner,
    system: System,
    *,
    max_rounds: int | None = None,
    on_round: Callable[[Round], None] | None = None,
) -> bool:
    """Ask, act and tell until the learner stops: True if it has a certificate, False if the rounds
    ran out or the data refuted its assumptions (see its decision).

    A run that cannot end, because another system looks the same under every action, is given up
    with a warning that says which; call it again to go on all the same.

    Parameters
    ----------
    learner : FOCUS or a baseline; it keeps all that was told, so an interrupted run can go on
    system : performs an action and returns the sample, a mapping or p numbers
    max_rounds : of this call; None for no bound, which only a learner with a rule may have
    on_round : called after every round, for progress

    Examples
    --------
    >>> import causalfocus as cf
    >>> truth = cf.LinearSEM([[0, 0], [1.0, 0]], 1.0)
    >>> actions = cf.ActionSet({"X1": (-3, 3), "X2": (-3, 3)})
    >>> learner = cf.Focus(actions, cf.ModelClass(0.5, intercept=False), epsilon=0.25)
    >>> cf.run(learner, lambda action: truth.sample(action, rng=len(learner.log))[0])
    True
    >>> [edge[:2] for edge in learner.result().model.edges]
    [('X1', 'X2')]
    """
    if max_rounds is not None and max_rounds < 0:
        raise InvalidInputError(f"max_rounds must be 0 or more, got {max_rounds}.")
    if max_rounds is None and not learner.decision.can_stop:
        raise InvalidInputError(
            f"This run would never end: {learner.decision.reason} Or give max_rounds."
        )
    start, n = len(learner.log), 0
    next_doubt = FIRST_DOUBT
    budget = getattr(learner, "budget", None)
    if budget is not None:
        left = max(budget - start, 0)
        max_rounds = left if max_rounds is None else min(left, max_rounds)
    while not learner.decision.stop and (max_rounds is None or n < max_rounds):
        action = learner.ask()
        learner.tell(action, system(action))
        n += 1
        if on_round is not None:
            on_round(Round(start + n, action, learner))
        if n >= next_doubt and isinstance(learner, KnowsItsLimits):
            twin = learner.indistinguishable()
            if twin is not None:
                warnings.warn(
                    f"Given up after {n} rounds: no action can tell the present estimate from the "
                    f"same system {twin}, so it can never be certified. Make a node at that edge "
                    f"settable, or ask for less.",
                    UnidentifiableWarning,
                    stacklevel=2,
                )
                return False
            next_doubt *= 2
    return learner.decision.stop and not learner.decision.refuted
