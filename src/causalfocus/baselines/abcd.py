"""ABCD: the action whose outcome is expected to tell most about the graph.

After Agrawal and others, ABCD-Strategy: Budgeted Experimental Design for Targeted Causal Structure
Discovery (2019), with the exact posterior, one sample per round.
"""

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.cbed import CBED
from causalfocus.baselines.kernels import graph_gain
from causalfocus.baselines.kernels.records import Models
from causalfocus.baselines.posterior import Ensemble


class ABCD(CBED):
    """CBED's cousin that does not care about parameters: the fall of the graph's entropy.

    Outcomes are judged by their densities given each graph alone. Parameters as for CBED.
    """

    method = "ABCD"

    def _gains(self, ensemble: Ensemble, scored: Ints, noise: Floats) -> Floats:
        posterior = self.posterior
        families, used = graph_gain.distinct_families(ensemble.parents)
        found = graph_gain.predictions(
            posterior.grams, posterior.counts, families, self.prior.as_record
        )
        models = Models(ensemble.weights, ensemble.variances, ensemble.constants)
        targets, values = self._about(ensemble.origin, scored)
        return graph_gain.graph_gains(models, found, used, targets, values, noise)
