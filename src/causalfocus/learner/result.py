"""What a learner has to say."""

from dataclasses import dataclass

from causalfocus.guarantees import Interval
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True)
class Result:
    """The certified answer if the learner has stopped, else the present one.

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
