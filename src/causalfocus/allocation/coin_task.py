"""What the design of the randomized rule is asked: which effects, how exactly, with what coins."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.widths import Stand


@dataclass(frozen=True, kw_only=True)
class CoinTask:
    """What is to be settled, and with what coins.

    Attributes
    ----------
    weights : (p, p), the estimate, row the effect and column the cause; loops are allowed
    noise : (p,), the variance of the residual of every row
    half_ranges : (p,), of the coins; 0 for a variable that cannot be set to two ends
    radii : (p, p), the half width at which the effect of the column on the row is settled;
        infinite where nothing is asked. The diagonal is not read
    nats : what a test has to reach, log(N / delta)
    at_once : how many variables may be set in a round
    may_act : (p, p), which effects there may be; None for all. Others are not asked, and need not
        be told from those of their row
    base_cost, costs : a round that sets K costs base_cost + the sum of costs (p,) over K
    """

    weights: Floats
    noise: Floats
    half_ranges: Floats
    radii: Floats
    nats: float
    at_once: int
    base_cost: float = 1.0
    costs: Floats | None = None
    may_act: Bools | None = None

    def __post_init__(self) -> None:
        p = len(self.noise)
        shapes = {"weights": (p, p), "radii": (p, p), "half_ranges": (p,), "noise": (p,)}
        if self.costs is not None:
            shapes["costs"] = (p,)
        for name, shape in shapes.items():
            given = np.array(getattr(self, name), dtype=np.float64)
            if given.shape != shape:
                raise InvalidInputError(
                    f"{name} has shape {given.shape}; for the {p} variables of noise it must have "
                    f"{shape}."
                )
            object.__setattr__(self, name, given)
        may_act = np.ones((p, p), dtype=np.bool_) if self.may_act is None else self.may_act
        if may_act.shape != (p, p) or may_act.dtype != np.bool_:
            raise InvalidInputError(
                f"may_act is a table of {p} by {p} of True and False; got {may_act.tolist()}. "
                f"Leave it out if any effect may be there."
            )
        object.__setattr__(self, "may_act", may_act)
        self._require_numbers()

    def _require_numbers(self) -> None:
        for name in ("weights", "noise", "half_ranges"):
            given = getattr(self, name)
            if not np.isfinite(given).all() or (name != "weights" and (given < 0.0).any()):
                raise InvalidInputError(
                    f"{name} must be finite, and not negative but for weights; got "
                    f"{given.tolist()}. Leave out what is not known yet: 0 for a weight."
                )
        if not (self.radii[~np.eye(self.p, dtype=np.bool_)] > 0.0).all():
            raise InvalidInputError(
                f"radii must be positive, and infinite where nothing is asked; got "
                f"{self.radii.tolist()}."
            )
        if not (math.isfinite(self.nats) and self.nats > 0.0):
            raise InvalidInputError(f"nats must be a positive number, got {self.nats!r}.")
        if self.at_once < 1:
            raise InvalidInputError(f"at_once must be 1 or more, got {self.at_once!r}.")
        costs = self.base_cost + self.costs_of_each
        if not (np.isfinite(costs).all() and (costs > 0.0).all() and self.base_cost >= 0.0):
            raise InvalidInputError(
                f"A round of one variable must have a positive and finite cost, and none less "
                f"than nothing; got base_cost = {self.base_cost!r}, costs = "
                f"{self.costs_of_each.tolist()}."
            )
        if (self.costs_of_each < 0.0).any():
            raise InvalidInputError(
                f"costs must not be negative; got {self.costs_of_each.tolist()}."
            )

    @property
    def p(self) -> int:
        """The number of variables."""
        return len(self.noise)

    @property
    def costs_of_each(self) -> Floats:
        """(p,), what each variable adds to the cost of a round that sets it."""
        return np.zeros(self.p) if self.costs is None else self.costs

    @cached_property
    def regressors(self) -> Bools:
        """(p, p), which effects there may be, row and cause."""
        found: Bools = ~np.eye(self.p, dtype=np.bool_)
        return found if self.may_act is None else found & self.may_act

    @cached_property
    def coins(self) -> Ints:
        """(n,), the variables that have a coin."""
        return np.flatnonzero(self.half_ranges > 0.0)

    @cached_property
    def scales(self) -> Floats:
        """(p, p), the squared half width, in units of the squared radius, of an effect whose coin
        has the half range one and was tossed once; 0 where nothing is asked.
        """
        radii = np.where(self.regressors, self.radii, np.inf)
        found: Floats = 2.0 * self.nats * self.noise[:, None] / radii**2
        return found

    def stand(
        self,
        covered: Floats,
        moved: Floats | None = None,
        *,
        factor: float = 1.0,
        playable: bool = False,
    ) -> Stand:
        """For the kernels.

        Parameters
        ----------
        covered : (p, p), rounds with the column's variable set and the row's free
        moved : (p, p, p), what the coins moved in them; None if that is not known
        factor : by which squared radii are smaller
        playable : without effects of variables that have no coin: these are never settled
        """
        if covered.shape != (self.p, self.p) or not (covered >= 0.0).all():
            raise InvalidInputError(
                f"covered is a table of {self.p} by {self.p} numbers of rounds, not negative; got "
                f"{np.asarray(covered).tolist()}."
            )
        scales = factor * self.scales
        if playable:
            scales = np.where(self.half_ranges > 0.0, scales, 0.0)
        given = np.array(covered, dtype=np.float64)
        before = np.zeros((0, 0, 0)) if moved is None else moved
        return Stand(self.weights, self.half_ranges, scales, given, self.regressors, before)
