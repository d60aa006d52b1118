"""The paper's own stopping rule, with every constant of its appendix, in logarithms.

Implements Eqs. explicit_mean_constants to fully_explicit_concentration_function and
Eq. focus_stopping_rule. The rule is valid and needs more samples than anyone has: its forecast
says how many.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.bounded import BoundedClaim
from causalfocus.guarantees.decision import Decision
from causalfocus.moments.moments import Moments
from causalfocus.oracles.alternative import best_alternative
from causalfocus.system.actions import Action
from causalfocus.system.feedback import require_no_loops
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import GRAPH
from causalfocus.system.space import ModelClass


@dataclass(frozen=True)
class PaperConstants:
    """The constants of the tail function: p nodes, a bounded class, |u| <= max_intervention."""

    p: int
    space: ModelClass
    max_intervention: float

    def __post_init__(self) -> None:
        if self.space.max_effect is None or self.space.noise_variance is None:
            raise InvalidInputError(
                "The paper's rule needs max_effect and a noise_variance range: its constants are "
                "computed from them. Give both, or use rule='class', which needs neither."
            )

    @cached_property
    def norm_bound(self) -> float:
        """G_p, a bound on the norm of (I - A)^-1."""
        return math.fsum((self.p * self.space.effect_limit) ** k for k in range(self.p))

    @cached_property
    def mean_bound(self) -> float:
        """B_mu."""
        reach = self.space.effect_limit * self.max_intervention
        return self.norm_bound * math.sqrt(self.p) * reach

    @cached_property
    def covariance_bounds(self) -> tuple[float, float]:
        """v_- and v_+."""
        low, high = self.space.variance_limits
        return low / (1 + self.p * self.space.effect_limit) ** 2, self.norm_bound**2 * high

    @cached_property
    def rate(self) -> float:
        """kappa_B. The ratio h/g falls as r grows, so its minimum is at kappa_V (see the tests)."""
        low, high = self.covariance_bounds
        ratio = high / low
        h = 0.5 * (math.log1p(ratio) - math.log(2.0) - 0.5 * math.log(ratio))
        g = 0.5 * (ratio - 1 - math.log(ratio))
        return min(low / (4 * high), h / g)

    @cached_property
    def covering_dimension(self) -> int:
        """q."""
        p = self.p
        return p + p * (p + 1) // 2 + 2 * p * (p - 1 + p * (p - 1) // 2)

    def log_covering(self, zeta: float) -> float:
        """log N(zeta)."""
        _, high = self.covariance_bounds
        total = 0.0
        for d, n_actions in ((self.p, 1), (self.p - 1, 2 * self.p)):
            s = d * (d + 1) / 2
            means = d * math.log1p(8 * self.mean_bound / zeta)
            covariances = s * math.log1p(8 * math.sqrt(d) * high / zeta)
            total += n_actions * (means + covariances)
        return total

    def log_tail(self, t: float, x: float) -> float:
        """log f_t(x) without the truncation at one."""
        low, high = self.covariance_bounds
        z = self.rate * x + 2 * math.log(t + 1)
        radius = self.mean_bound + math.sqrt(high) * (math.sqrt(self.p) + math.sqrt(2 * z))
        reach = radius + self.mean_bound
        likelihood = reach / low + 0.5 * (math.sqrt(self.p) / low + reach**2 / low**2)
        kl = (2 * self.mean_bound + math.sqrt(self.p)) / low
        scale = 0.5 * likelihood + self.rate * kl
        zeta = min(1.0, self.covering_dimension / (t * scale))
        exponent = self.covering_dimension + self.log_covering(zeta)
        return exponent + math.log1p(math.exp(-exponent)) - self.rate * x


def paper_log_tail(
    t: float, x: float, *, p: int, space: ModelClass, max_intervention: float
) -> float:
    """log f_t(x) of the paper, untruncated: the tail of the accumulated KL divergence.

    Parameters
    ----------
    t : number of samples
    x : accumulated divergence, d_t
    p : number of nodes
    space : a class with max_effect and noise_variance
    max_intervention : largest size of a value that can be set, C_max
    """
    return PaperConstants(p, space, max_intervention).log_tail(t, x)


@dataclass(frozen=True, kw_only=True)
class PaperDecision(Decision):
    """A decision of the paper's rule.

    Attributes
    ----------
    statistic : d_t
    log_tail : log f_t(d_t), untruncated
    forecast : the t at which the rule could fire if d_t / t stayed as it is; infinity without data
    estimate : what is claimed
    """

    statistic: float
    log_tail: float
    forecast: float
    estimate: LinearSEM = field(repr=False)

    @property
    def evidence(self) -> float:
        """-log(pi^2 t^2 / 6 f_t(d_t)), which must exceed log(1/delta)."""
        if self.rounds == 0:
            return -math.inf
        return -(math.log(math.pi**2 / 6) + 2 * math.log(self.rounds) + min(self.log_tail, 0.0))

    @property
    def reason(self) -> str:
        if self.stop:
            return "The paper's rule is satisfied."
        return (
            f"The paper's rule could fire after about {self.forecast:.1e} samples at the present "
            f"rate of information; use rule='class'."
        )


@dataclass(frozen=True)
class PaperRule(BoundedClaim):
    """Eq. focus_stopping_rule."""

    name: ClassVar[str] = "paper"
    exploration: ClassVar[float] = 1.0
    tosses_coins: ClassVar[bool] = False

    has_forecast: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.space.require_uniform("The paper's rule")
        if self.epsilon != GRAPH and not isinstance(self.epsilon, float):
            raise InvalidInputError(
                f"The paper's rule knows one epsilon for all pairs, got {self.epsilon!r}."
            )
        if self.actions.at_once > 1:
            raise InvalidInputError(
                f"The paper's rule knows actions that set one variable; these set up to "
                f"{self.actions.at_once} at once. Use at_once=1, or rule='class'."
            )
        if self.ends == "coin":
            raise InvalidInputError(
                "Under the paper's rule the game chooses the ends of the ranges: leave ends out."
            )

    @cached_property
    def constants(self) -> PaperConstants:
        """Computed, and so checked, at the first decision: before the first sample."""
        if self.accuracy is None:
            raise InvalidInputError("The paper's rule needs an epsilon.")
        if len(self.actions.names) == 1:
            raise InvalidInputError("The paper's rule needs two variables or more.")
        ends = (abs(value) for span in self.actions.ranges if span for value in span)
        return PaperConstants(len(self.actions.names), self.space, max(ends, default=0.0))

    def decide(
        self,
        moments: Moments,
        estimate: LinearSEM,
        counts: Floats | None = None,
        *,
        is_due: bool = True,
    ) -> PaperDecision:
        """Apply the rule to d_t, which depends on how often each action was taken."""
        self.constants  # noqa: B018 - whatever is wrong with them is said before anything else
        if counts is None:
            raise InvalidInputError(
                "The paper's rule cannot be applied to sums alone: it needs to know how often each "
                "action was taken."
            )
        require_no_loops(estimate, f"the {self.name} rule")
        taken = {action: float(n) for action, n in zip(self.actions, counts, strict=True)}
        found = best_alternative(estimate, taken, self.space, epsilon=self.accuracy or math.nan)
        decision = self.decide_on(found.value, estimate, round(moments.n))
        return decision if is_due else replace(decision, stop=False)

    def decide_on(self, statistic: float, estimate: LinearSEM, rounds: int) -> PaperDecision:
        """Apply the rule to a statistic d_t after so many rounds."""
        tail, stop, forecast = 0.0, False, math.inf
        if rounds > 0:
            tail = self.constants.log_tail(rounds, statistic)
            log_sum = math.log(math.pi**2 / 6) + 2 * math.log(rounds) + min(tail, 0.0)
            stop, forecast = log_sum < -self.threshold, self.first_firing(statistic / rounds)
        return PaperDecision(
            stop=stop,
            rounds=rounds,
            threshold=self.threshold,
            alarm=None,
            statistic=statistic if rounds > 0 else 0.0,
            log_tail=tail,
            forecast=forecast,
            estimate=estimate,
        )

    def forecast(
        self, model: LinearSEM, share: Callable[[float], dict[Action, float]], start: float = 1.0
    ) -> float:
        del model, share, start
        raise InvalidInputError("The paper's own rule stops at no feasible number of rounds.")

    def first_firing(self, rate: float) -> float:
        """Smallest t at which the rule fires if d_t = rate * t, to three digits."""
        if rate <= 0.0:
            return math.inf

        def fires(log_t: float) -> bool:
            t = math.exp(log_t)
            tail = self.constants.log_tail(t, rate * t)
            return math.log(math.pi**2 / 6) + 2 * log_t + tail < -self.threshold

        low, high = 0.0, 1.0
        while not fires(high):
            low, high = high, high * 2
            if high > 600:
                return math.inf
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if fires(middle) else (middle, high)
        return math.exp(high)
