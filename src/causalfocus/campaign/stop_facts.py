"""What a stop says, for the log, and what differs if it is found again."""

import math
from typing import Any

from causalfocus.learner.result import Result
from causalfocus.system.sizes import plain_size


def stop_facts(result: Result) -> dict[str, Any]:
    """What a stop says, for the log."""
    return {
        "certified": result.certified,
        "refuted": result.refuted,
        "rounds": result.rounds,
        "delta": result.delta,
        "epsilon": plain_size(result.epsilon),
        "edges": [list(edge) for edge in result.model.edges if edge[:2] in result.claimed],
        **totals_as_facts(result),
    }


def totals_as_facts(result: Result) -> dict[str, Any]:
    """The total effects that were asked for, if any were."""
    rows = [[one.cause, one.effect, one.low, one.estimate, one.high] for one in result.totals]
    finite = [[None if isinstance(x, float) and math.isinf(x) else x for x in row] for row in rows]
    return {"totals": finite} if rows else {}


def contradiction(facts: dict[str, Any], result: Result) -> str | None:
    """What differs between a stop as it was noted and as it is found now; None if nothing does.

    The code may have changed in between: then both are shown, and a person decides.
    """
    now = stop_facts(result)
    is_same = (facts.get("certified"), facts.get("rounds")) == (now["certified"], now["rounds"])
    then, found = ({(c, e): w for c, e, w in of.get("edges", [])} for of in (facts, now))
    is_same = is_same and then.keys() == found.keys()
    if is_same and all(math.isclose(w, found[k], rel_tol=1e-6) for k, w in then.items()):
        return None
    said = "certified" if facts.get("certified") else "refuted"
    finds = "certified" if now["certified"] else "refuted" if now["refuted"] else "not certified"
    return (
        f"The log says: {said} after {facts.get('rounds')} rounds, with {len(then)} effects. This "
        f"version of causalfocus finds from the same samples: {finds} after {now['rounds']} "
        f"rounds, with {len(found)} effects."
    )
