"""What earlier rounds left of a row, kept as an ellipsoid of seven digits: with proof.

All tests of all times pass at the true row on one event. On it the true row is in every ellipsoid
that was ever found at the same level (`ellipsoid`), so one that was found earlier may be used with
the rounds of now. It matters where the rounds since were unlike: V of every coin is bounded by
sums over all rounds of the row, so many rounds without some coin make what that coin says of its
coefficient weaker, and not only no stronger. What was known of it once is known for good.

**Digits.** The form is kept with a diagonal of 1 and rounded. With F the form and G the rounded
one, (1 + k) F - G positive definite gives y'Gy <= (1 + k) y'Fy: the radius grows by the root of 1 +
k. Each middle is rounded twice, to what is kept and about another centre; e_r has the length 1 in
either form, so the radius grows by the sum of these shifts.

**Coefficients that are zero.** With some coefficients certain to be zero, the true row is in the
section of the ellipsoid in which they are: y'Fy with those parts fixed is a quadratic of the rest.
Its least value is a difference, and so known to a share of what it is a difference of (`LAST`).

**Other units.** A form is kept with a diagonal of about one, and only if its least eigenvalue is
above 1e-6 (`FIRM`). To turn it to other units, or to factor it, moves no entry by more than some
1e-16 for each of at most hundreds of coefficients: y'Fy by less than a share of 1e-7 (`TURNED`).
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import NO_ROW, Ball, no_ball
from causalfocus.kernels.randomized.matrices import dot, factor, solve
from causalfocus.kernels.randomized.records import Singles
from causalfocus.kernels.randomized.row_tests import Row

GROWN = (1e-5, 1e-3, 0.05)
"""How much the square of the radius may grow for the rounding of a form."""

SHIFT = 1e-15
"""Of its size, more than a middle is rounded by."""

FIRM = 1e-6
"""Least eigenvalue of a form that is kept, in units in which its diagonal is one."""

LAST = 1e-6
"""Of what it is a difference of, more than the least value over a section is off by: the condition
of a form that is kept, times the precision of the arithmetic, is below it.
"""

TURNED = 1e-7
"""Share that the radius grows by for the rounding of a form in other units."""


class Region(NamedTuple):
    """All rows b with y' form y <= radius^2, y = (b - middle) / units; of the unknown coefficients
    of a row. An infinite radius says that nothing is known, NO_ROW that there is no row.
    """

    middle: Floats
    units: Floats
    form: Floats
    radius: float


class Regions(NamedTuple):
    """A region of every row: middles (p, p), units (p, p), forms (p, p (p + 1) / 2), their lower
    triangles, and radii (p,). Of row j the coefficients that were unknown at the start count.
    """

    middles: Floats
    units: Floats
    forms: Singles
    radii: Floats

    def copy(self) -> "Regions":
        """The same in arrays of its own."""
        return Regions(self.middles.copy(), self.units.copy(), self.forms.copy(), self.radii.copy())


@kernel
def no_regions(p: int) -> Regions:
    """Return that nothing is known of p rows."""
    forms = np.zeros((p, p * (p + 1) // 2), dtype=np.float32)
    return Regions(np.zeros((p, p)), np.ones((p, p)), forms, np.full(p, math.inf))


@kernel
def no_region(u: int) -> Region:
    """Return that nothing is known of u coefficients."""
    return Region(np.zeros(u), np.ones(u), np.zeros((u, u)), math.inf)


@kernel
def region_at(regions: Regions, j: int, causes: Ints) -> Region:
    """Return the region of row j."""
    u = len(causes)
    middle, units, form = np.empty(u), np.empty(u), np.empty((u, u))
    for r in range(u):
        k = causes[r]
        middle[r], units[r] = regions.middles[j, k], regions.units[j, k]
        for s in range(u):
            row, column = max(k, causes[s]), min(k, causes[s])
            form[r, s] = np.float64(regions.forms[j, row * (row + 1) // 2 + column])
    return Region(middle, units, form, regions.radii[j])


@kernel
def put_region(regions: Regions, j: int, causes: Ints, region: Region) -> None:
    """Write the region of row j."""
    regions.radii[j] = region.radius
    for r in range(len(causes)):
        k = causes[r]
        regions.middles[j, k], regions.units[j, k] = region.middle[r], region.units[r]
        for s in range(r + 1):
            row, column = max(k, causes[s]), min(k, causes[s])
            regions.forms[j, row * (row + 1) // 2 + column] = region.form[r, s]


@kernel
def section(region: Region, is_left: Bools) -> Region:
    """Return the region of those coefficients that are left, where the others are zero."""
    left, out = np.flatnonzero(is_left), np.flatnonzero(~is_left)
    u = len(left)
    middle, units, form = region.middle[left], region.units[left], np.empty((u, u))
    for r in range(u):
        for s in range(u):
            form[r, s] = region.form[left[r], left[s]]
    if math.isinf(region.radius) or region.radius == NO_ROW or len(out) == 0:
        return Region(middle, units, form, region.radius)
    pull, value, upper = np.zeros(u), 0.0, np.empty((u, u))
    fixed = -region.middle[out] / region.units[out]
    for a in range(len(out)):
        for r in range(u):
            pull[r] -= region.form[left[r], out[a]] * fixed[a]
        for b in range(len(out)):
            value += fixed[a] * region.form[out[a], out[b]] * fixed[b]
    if not factor(form, upper):
        return Region(middle, units, form, math.inf)
    at = solve(upper, pull)
    reached = dot(at, pull)
    square = region.radius**2 + reached - value + LAST * (abs(reached) + abs(value))
    radius = math.sqrt(square) if square >= 0.0 else NO_ROW
    return Region(middle + units * at, units, form, radius)


@kernel
def ball_of(region: Region, row: Row, reference: Floats) -> Ball:
    """Return a region about the centre of a row, and in its units; infinite if nothing is known."""
    u, none = len(row.centre), no_ball(row)
    if math.isinf(region.radius):
        return none
    middle, by, shift = np.empty(u), np.empty(u), SHIFT
    for r in range(u):
        by[r] = row.units[r] / region.units[r]
        middle[r] = (region.middle[r] - reference[r]) / row.units[r] - row.centre[r]
        shift += SHIFT * (abs(region.middle[r]) + abs(reference[r])) / region.units[r]
        shift += SHIFT * by[r] * abs(row.centre[r])
    form, upper = region.form * by.reshape(u, 1) * by.reshape(1, u), np.empty((u, u))
    if not (math.isfinite(shift) and np.isfinite(middle).all() and factor(form, upper)):
        return none
    if region.radius == NO_ROW:
        return Ball(middle, form, upper, NO_ROW)
    return Ball(middle, form, upper, region.radius * (1.0 + TURNED) + shift)


@kernel
def region_of(ball: Ball, row: Row, reference: Floats) -> Region:
    """Return an ellipsoid of a row as it is kept; infinite where seven digits do not hold it, or
    where it is too thin.
    """
    u = len(row.centre)
    units, middle, shift = np.empty(u), np.empty(u), 0.0
    for r in range(u):
        units[r] = 1.0 / math.sqrt(ball.form[r, r])
        middle[r] = reference[r] + row.units[r] * (row.centre[r] + ball.middle[r])
        far = abs(reference[r]) + row.units[r] * (abs(row.centre[r]) + abs(ball.middle[r]))
        shift += SHIFT * far / (row.units[r] * units[r])
    exact = ball.form * units.reshape(u, 1) * units.reshape(1, u)
    rounded, upper = exact.astype(np.float32).astype(np.float64), np.empty((u, u))
    if not factor(rounded - FIRM * np.eye(u), upper):
        return Region(middle, row.units * units, rounded, math.inf)
    for more in GROWN:
        if factor((1.0 + more) * exact - rounded, upper):
            radius = ball.radius * math.sqrt(1.0 + more) * (1.0 + 1e-9) + shift
            return Region(middle, row.units * units, rounded, radius)
    return Region(middle, row.units * units, rounded, math.inf)
