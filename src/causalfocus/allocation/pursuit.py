"""From what rivals still need to one action per round: pursue the one that is furthest from done.

The paper's game plays against expectations and averages over all rounds, so that what it learned
from a wrong estimate early on stays in its allocation for long. Here the data say how far each
rival is from being rejected; the next round goes to the rival that would take longest if all
rounds were its own, and to the action that tells most against it. Rivals come in stages: those of
a later stage are pursued once all of the earlier ones are done. Certificates hold for any choice
of actions, so all of this moves the number of rounds alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Floats

TIE = 1e-9
"""Gains that differ by less, relatively, are equal; the less taken action comes first."""

NOTHING = 1e-12
"""Nats per round below which a divergence is rounding: nothing tells against such a rival."""


@dataclass(frozen=True)
class Stage:
    """Rivals that are pursued together.

    Attributes
    ----------
    deficits : (m,), what each still lacks to be rejected, in nats; not positive where it is done
    gains : (m, k), what one round of every action tells against each, in nats
    """

    deficits: Floats
    gains: Floats

    def __post_init__(self) -> None:
        """A gain without limit comes of numbers that overflow: it tells nothing."""
        finite = np.where(np.isfinite(self.gains), self.gains, 0.0)
        object.__setattr__(self, "gains", finite)

    def rest(self, pending: Floats, costs: Floats) -> Floats:
        """What pursuing each rival alone would still cost, after rounds that are under way; minus
        infinity for what no action tells apart.
        """
        most = (self.gains / costs).max(axis=1)
        left = self.deficits - self.gains @ pending
        return np.where(most > NOTHING, left / np.maximum(most, NOTHING), -np.inf)


def pursued_action(
    stages: Sequence[Stage], pending: Floats, costs: Floats, spent: Floats, *, is_endless: bool
) -> int | None:
    """Index of the action that tells most against the rival that is furthest from done; None if all
    are done, or no action tells anything against those that are not.

    Parameters
    ----------
    stages : the first comes first
    is_endless : whether to go on with the last stage when all are done
    pending : (k,), rounds of each action that are under way and not in the deficits
    costs : (k,), of the actions
    spent : (k,), on each action so far, to break ties
    """
    found: Floats | None = None
    for stage in stages:
        rest = stage.rest(pending, costs)
        furthest = rest.max(initial=-np.inf)
        if furthest > 0.0 or (is_endless and furthest > -np.inf):
            found = stage.gains[int(rest.argmax())] / costs
        if furthest > 0.0:
            break
    if found is None:
        return None
    best = np.flatnonzero(found >= found.max() * (1.0 - TIE))
    return int(best[spent[best].argmin()])
