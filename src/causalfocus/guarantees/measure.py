"""The evidence for a model, from data that anyone collected."""

from causalfocus.guarantees.rules import Rule, guarantee_of
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass


def evidence(
    moments: Moments,
    estimate: LinearSEM,
    space: ModelClass,
    *,
    epsilon: Accuracy | None = None,
    rule: Rule = "gaussian",
) -> float:
    """e_t: how strongly the data reject every system that would make a claim wrong, in nats.

    Parameters
    ----------
    moments : of the data, in the order of their collection
    estimate : the model that is claimed
    space : the model class
    epsilon : accuracy of the weights; half of min_effect if left out, "graph" for the graph alone
    rule : with it what is claimed and what is assumed. Moments know no coins and no order, so the
        randomized rule and the paper's have nothing to say here
    """
    nothing_to_set = ActionSet(dict.fromkeys(moments.names))
    guarantee = guarantee_of(rule, nothing_to_set, space, epsilon=epsilon)
    return guarantee.decide(moments, estimate).evidence
