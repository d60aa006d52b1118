"""What the Bayesian baselines believe before the first sample."""

import math
from dataclasses import dataclass

from causalfocus.baselines.kernels import local_scores
from causalfocus.errors import InvalidInputError

SMALLEST_SHAPE = 0.1


@dataclass(frozen=True)
class Prior:
    """Conjugate, row by row: normal coefficients given the noise, inverse-gamma noise variances.

    The defaults suit effects and noise of about 1; they are in the units of the data.

    Attributes
    ----------
    effect_variance : of a coefficient, in units of the noise variance
    noise_shape, noise_scale : of the inverse gamma
    edge_odds : prior odds of an edge; 1 makes all DAGs equally likely
    constant_variance : of the constant about the node's mean, in units of the noise variance
    """

    effect_variance: float = 1.0
    noise_shape: float = 1.5
    noise_scale: float = 1.5
    edge_odds: float = 1.0
    constant_variance: float = 100.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, int | float) and 0 < value < math.inf):
                raise InvalidInputError(
                    f"{name} of a prior must be a positive, finite number, got {value!r}."
                )
        if self.noise_shape < SMALLEST_SHAPE:
            raise InvalidInputError(
                f"noise_shape of a prior must be {SMALLEST_SHAPE} or more, got "
                f"{self.noise_shape}: below, draws of the noise variance overflow."
            )

    @property
    def as_record(self) -> local_scores.Prior:
        return local_scores.Prior(
            self.effect_variance,
            self.constant_variance,
            self.noise_shape,
            self.noise_scale,
            math.log(self.edge_odds),
        )
