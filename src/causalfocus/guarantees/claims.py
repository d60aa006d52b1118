"""What of a model a claim is about: what was asked for, and nothing else."""

from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.verdicts import Interval
from causalfocus.moments.moments import Moments
from causalfocus.system.sem import LinearSEM


def claimed_effects(rule: Guarantee, estimate: LinearSEM) -> tuple[tuple[str, str], ...]:
    """The direct effects, (cause, effect), that an estimate reports and that are asked for."""
    names = estimate.names
    asked = rule.about.direct(names)
    return tuple(
        (cause, effect)
        for cause, effect, _ in estimate.edges
        if asked[names.index(effect), names.index(cause)]
    )


def asked_totals(rule: Guarantee, moments: Moments, estimate: LinearSEM) -> tuple[Interval, ...]:
    """The total effects that are asked for, with their intervals."""
    if not rule.about.totals(estimate.names).any():
        return ()
    return tuple(
        Interval(one.cause, one.effect, one.low, one.estimate, one.high)
        for one in rule.total_effects(moments, estimate)
        if one.is_asked
    )
