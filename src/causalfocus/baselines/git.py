"""GIT on DCDI: the action whose imagined outcomes would pull hardest at the edges' logits.

After Olko and others, Trust Your Gradient: Gradient-based Intervention Targeting for Causal
Discovery (2023).
"""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines.belief import BeliefLearner
from causalfocus.baselines.dcdi import DcdiFit
from causalfocus.baselines.kernels.gradient_norm import Belief, gradient_norms


class GIT(BeliefLearner):
    """Gradient-based intervention targeting with DCDI as its learner.

    Graphs are drawn from the belief as in AIT; each imagines the outcomes of every action, and the
    score is the mean norm of the gradient of DCDI's loss by the logits. Observing is scored too.
    """

    method = "GIT-DCDI"

    def scores(self, fit: DcdiFit, rng: np.random.Generator) -> Floats:
        models = self.drawn_models(fit, rng)
        centre = self.moments.rows(intercept=self.space.intercept).means
        belief = Belief(fit.belief_weights, fit.belief, fit.belief_variances)
        return gradient_norms(models, belief, centre, self.choices.arrays)
