"""What a look at all rivals leaves for the rounds until the next one."""

from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.decision import Decision
from causalfocus.system.sem import LinearSEM


@dataclass(frozen=True)
class Lags:
    """Where the evidence lags behind.

    Attributes
    ----------
    edges : (p, p), for every pair (effect, cause) the evidence that the certificate has on it, less
        what a quick look takes it to be; zero where the certificate says nothing of the pair
    start : (r,), evidence against rivals that lag, less what the rounds so far would tell
    gains : (r, k), what one round of every action tells against each
    """

    edges: Floats
    start: Floats
    gains: Floats

    def evidence(self, counts: Floats) -> Floats:
        """Against the rivals after some rounds of each action."""
        found: Floats = self.start + self.gains @ counts
        return found


def lags_from(
    decision: Decision, estimate: LinearSEM, counts: Floats, gains: Floats
) -> Lags | None:
    """What a decision says of rivals that lag; None if none does.

    gains : (r, k), what one round of every choice tells against each of the laggards
    """
    laggards, edges = decision.laggards, decision.edge_lags
    if not laggards and edges is None:
        return None
    gains = gains.reshape(len(laggards), len(counts))
    evidence = np.array([reached for _, reached in laggards])
    none = np.zeros((estimate.p, estimate.p))
    return Lags(none if edges is None else edges, evidence - gains @ counts, gains)
