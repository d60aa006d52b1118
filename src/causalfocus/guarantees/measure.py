"""The evidence for an answer, from data that anyone collected."""

from typing import Literal

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.class_ import EvidenceRule
from causalfocus.guarantees.gaussian import ResolutionRule
from causalfocus.moments.moments import Moments
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def evidence(
    moments: Moments,
    estimate: LinearSEM,
    space: ModelClass,
    *,
    epsilon: float | None,
    stopping: Literal["resolution", "evidence"] = "resolution",
) -> float:
    """e_t: how strongly the data reject every system that would make an answer wrong, in nats.

    Parameters
    ----------
    moments : of the data, in the order of their collection
    estimate : the answer that is judged
    space : the model class
    epsilon : accuracy of the weights; None for the graph alone
    stopping : the rule, and with it what is claimed and what is assumed
    """
    radius = None if epsilon is None else space.checked_epsilon(epsilon)
    if stopping == "resolution":
        return ResolutionRule(space, radius, delta=0.05).decide(moments, estimate).evidence
    if stopping == "evidence":
        return EvidenceRule(space, radius, delta=0.05).decide(moments, estimate).evidence
    raise InvalidInputError(f"stopping must be 'resolution' or 'evidence', got {stopping!r}.")
