"""AIT-DCDI: intervene where graphs drawn from DCDI's belief disagree most about the outcome.

After Scherrer and others, Learning Neural Causal Models with Active Interventions (2021).
"""

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.baselines.belief import BeliefLearner
from causalfocus.baselines.dcdi import DcdiFit
from causalfocus.baselines.kernels.variance_ratio import variance_ratios


class AITDCDI(BeliefLearner):
    """Active intervention targeting on DCDI's belief.

    The score of an intervention is the variance between the graphs' mean outcomes over the
    variance within, in closed form. Observing is for the warm-up alone: without constants all
    graphs predict the same mean.

    The action is drawn softly. AIT takes the best and acts on it many times before the next fit;
    one sample per round, that stays with one node whose effect is too weak to settle.
    """

    method = "AIT-DCDI"

    def scores(self, fit: DcdiFit, rng: np.random.Generator) -> Floats:
        models = self.drawn_models(fit, rng)
        found = variance_ratios(models, self.choices.arrays)
        return np.where(self._is_scored, found, 0.0)

    @property
    def _is_scored(self) -> Bools:
        return self._targets >= 0
