"""The rows that the tests of the randomized rule leave, enclosed in a box: with proofs.

**One test.** Fix a row b, and let it be the true row j. Then r_t = r_t(b) is made of what the coins
of round t do not influence. Let F be all that was known when round t was asked for, and all earlier
asked rounds: given F and r_t the coins of the round are fair and independent, and weights w and
centre are known. So, as cosh(x) <= exp(x^2 / 2), for every number l

    E[exp(l r_t sum_i w_i z_i - l^2 r_t^2 sum_i w_i^2 / 2) | F, r_t]
        = prod_i cosh(l w_i r_t) exp(-l^2 w_i^2 r_t^2 / 2)  <=  1,

and exp(l S - l^2 V / 2) is a supermartingale that starts at 1, whatever the law of the r_t. So is
its mean over l ~ N(0, 1 / rho), which is exp(S^2 / (2 (V + rho))) / sqrt(1 + V / rho). It falls
with V, so with an upper bound in place of V it is below a supermartingale. By Ville's inequality

    S^2  <=  (V + rho) (2 h + log(1 + V / rho))                                      (direction)

at all times, except with probability exp(-h). The same with a number l_i for every coin i of a
round, l_i ~ N(0, 1 / rho) independent: sum_i w_i z_i becomes sum_i l_i z_i, the exponents add up,

    sum_i S_i^2 / (V_i + rho)  <=  2 h + sum_i log(1 + V_i / rho)                      (all coins)

at all times, except with probability exp(-h). rho may be any function of b and of what was known
before the first round that is counted: here rho(b) = SCALE * (mean of r(b)^2 over the earlier
rounds). As b goes far, V and rho grow alike, so tests keep their power there, and no unit matters.

**The set is bounded, for all rows.** Take any centre b0 (here where the tests of the coins are
nearest to zero), b = b0 + y, a_i^2 = V_i(b0) + rho(b0), and |y| = (sum_i (P_i . y)^2 / a_i^2)^(1/2)
with P_i = moved. Coordinates are chosen so that this is the usual norm. V_i and rho are quadratic,

    V_i(y) + rho(y) <= a_i^2 (1 + 2 eta |y| + theta |y|^2),
        eta = max_i |slope of i| / a_i^2,  theta = (largest eigenvalue) / min_i a_i^2,

and V_i / rho is at most tau_i over ALL y (see `_largest_ratio`). With R^2 = 2 h + sum_i log(1 +
tau_i) and s = (sum_i S_i(b0)^2 / a_i^2)^(1/2), (all coins) gives for every row b that is left

    | |y| - s |^2  <=  sum_i S_i(b)^2 / a_i^2  <=  R^2 (1 + 2 eta |y| + theta |y|^2),

because S_i(b) = S_i(b0) - P_i . y. If R^2 theta < 1, this bounds |y| by the larger root of a
quadratic equation: a ball that holds every row that is left, near or far. Else nothing is said.

**Smaller and smaller.** Every step takes a set that holds all rows that are left, bounds V and rho
over it, and by the tests with these bounds finds a smaller set that holds them all: first the ball,
then a box. No step assumes what it is to show. Over the set S^2 is bounded by the largest value of
(V + rho)(2 h + log(1 + V / rho)), which rises in V and is convex in rho (its second derivative is
V^2 / (rho^2 (V + rho))): it is attained at the largest V and an end of the range of rho.

**Coefficients.** With |S_k(b0) - L_k . y| <= G_k for every direction k, a coefficient is bounded in
three ways, all of which hold: y = L^-1 (S(b0) - e) with |e_k| <= G_k; by direction k alone, with
what it moves beside its own regressor bounded over the ball or the box; and by the ball.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import cholesky
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.records import Plan, Sums, Tests

SCALE = 64.0
"""rho is that of so many rounds. Twice or half as many make intervals wider by about a percent where
they are of use, after some hundred to some thousand rounds."""

SAFETY = 1e-4
"""Nats that every level is raised by, above the rounding of what is computed."""

STEPS = 4
"""How often ball and box are made smaller."""


class Family(NamedTuple):
    """Tests of one row at a centre, S = distances - moves . y and V <= squares - 2 slopes . y +
    y' grams y; m of them, with u coefficients.
    """

    distances: Floats
    moves: Floats
    squares: Floats
    slopes: Floats


class Scale(NamedTuple):
    """rho of one row, at a centre: value - 2 slope . y + y' form y."""

    value: float
    slope: Floats
    form: Floats


class Row(NamedTuple):
    """All that is known of one row, about a centre, in coordinates in which the norm is the usual
    one: y = back @ (coordinates). `units` are those of the coefficients.
    """

    coins: Family
    directions: Family
    scale: Scale
    grams: Floats
    back: Floats
    centre: Floats
    units: Floats
    is_bounded: bool


class Box(NamedTuple):
    """Bounds of the unknown coefficients of a row."""

    low: Floats
    high: Floats


@kernel
def _largest_eigenvalue(matrix: Floats) -> float:
    return np.linalg.eigvalsh(matrix)[-1]


@kernel
def _family(tests: Tests, j: int, used: Ints, causes: Ints, row: Floats, units: Floats) -> Family:
    """Return tests of row j about its reference, in units in which the grams have diagonal 1."""
    m, u = len(used), len(causes)
    distances, squares = np.empty(m), np.empty(m)
    moves, slopes = np.empty((m, u)), np.empty((m, u))
    for a in range(m):
        distances[a] = tests.moved[j, used[a]] @ row
        squares[a] = tests.squares[j, used[a]]
        for r in range(u):
            moves[a, r] = tests.moved[j, used[a], causes[r]] * units[r]
            slopes[a, r] = tests.crossed[j, used[a], causes[r]] * units[r]
    return Family(distances, moves, squares, slopes)


@kernel
def _at(family: Family, grams: Floats, y: Floats) -> Family:
    """Return the same tests about another centre, V rounded upwards."""
    bent = grams @ y
    square = y @ bent
    squares = family.squares.copy()
    for a in range(len(squares)):
        cross = 2.0 * (family.slopes[a] @ y)
        value = squares[a] - cross + square
        squares[a] = max(value, 0.0) + 1e-15 * len(y) * (squares[a] + abs(cross) + square)
    return Family(
        family.distances - family.moves @ y, family.moves, squares, family.slopes - bent
    )


@kernel
def _turned(family: Family, back: Floats) -> Family:
    """Return the same tests in other coordinates."""
    return Family(family.distances, family.moves @ back, family.squares, family.slopes @ back)


@kernel
def _norm_factor(coins: Family, scale: float) -> Floats:
    """Return B with y = B v and |v| the norm of y, (u, u); one by one nan if there is none."""
    u = coins.moves.shape[1]
    weighed = coins.moves / np.sqrt(coins.squares + scale).reshape(len(coins.squares), 1)
    form = weighed.T @ weighed
    lower = np.zeros((u, u))
    if math.isnan(cholesky(form, lower)):
        return np.full((1, 1), math.nan)
    return np.ascontiguousarray(np.linalg.inv(lower).T)


@kernel
def row_of_tests(sums: Sums, plan: Plan, j: int, causes: Ints, coins: Ints) -> Row:
    """Return all that is known of row j about a centre near the middle of what the tests leave.

    causes : the unknown coefficients, one at least
    coins : the variables whose coins were tossed while j was free
    """
    u = len(causes)
    row = -plan.references[j]
    row[j] = 1.0
    units, grams, form = np.zeros(u), np.empty((u, u)), np.empty((u, u))
    bent = plan.first[j] @ row
    slope = np.empty(u)
    for r in range(u):
        size = sums.pool.grams[j, causes[r], causes[r]]
        units[r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for r in range(u):
        slope[r] = SCALE * bent[causes[r]] * units[r]
        for s in range(u):
            both = units[r] * units[s]
            grams[r, s] = sums.pool.grams[j, causes[r], causes[s]] * both
            form[r, s] = SCALE * plan.first[j, causes[r], causes[s]] * both
    scale = Scale(SCALE * (row @ bent), slope, form)
    single = _family(sums.coins, j, coins, causes, row, units)
    aimed = _family(sums.directions, j, causes, causes, row, units)
    none = Row(single, aimed, scale, grams, grams, slope, units, False)
    if len(coins) < u or not plan.is_begun[j] or not (units > 0.0).all() or not scale.value > 0.0:
        return none
    back = _norm_factor(single, scale.value)
    if math.isnan(back[0, 0]):
        return none
    weights = single.squares + scale.value
    centre = back @ (back.T @ (single.moves.T @ (single.distances / weights)))
    value = scale.value - 2.0 * (scale.slope @ centre) + centre @ (scale.form @ centre)
    if not value > 0.0:
        return none
    single, aimed = _at(single, grams, centre), _at(aimed, grams, centre)
    back = _norm_factor(single, value)
    if math.isnan(back[0, 0]):
        return none
    turned = Scale(value, back.T @ (scale.slope - scale.form @ centre), back.T @ form @ back)
    return Row(
        _turned(single, back),
        _turned(aimed, back),
        turned,
        back.T @ grams @ back,
        back,
        centre,
        units,
        True,
    )


@kernel
def _lengths(vectors: Floats) -> Floats:
    return np.sqrt((vectors * vectors).sum(axis=1))


@kernel
def _largest_ratio(row: Row) -> tuple[Floats, float]:
    """Return upper bounds of V_i / rho over all rows, for every coin, and the least rho of all; the
    latter is not positive if rho is not bounded away from zero.

    rho = least + |z|^2 with z = C (y - y1), C'C its form and y1 where it is least. There V_i = v + 2
    g . (y - y1) + (y - y1)' grams (y - y1) <= v + 2 c |z| + k |z|^2, c the length of C^-T g and k
    the largest eigenvalue of C^-T grams C^-1. So the ratio is at most that of two quadratic forms in
    (1, |z|), which is at most the larger eigenvalue of [[v / least, c / sqrt(least)], [., k]].
    """
    u, m = len(row.centre), len(row.coins.squares)
    found = np.full(m, math.inf)
    lower = np.zeros((u, u))
    if math.isnan(cholesky(row.scale.form, lower)):
        return found, 0.0
    inverse = np.linalg.inv(lower)
    at = inverse.T @ (inverse @ row.scale.slope)
    least = row.scale.value - row.scale.slope @ at
    if not least > 1e-9 * row.scale.value:
        return found, 0.0
    least *= 1.0 - 1e-6
    there = _at(row.coins, row.grams, at)
    slopes = _lengths(there.slopes @ inverse.T)
    most = _largest_eigenvalue(inverse @ row.grams @ inverse.T)
    for i in range(m):
        v, c = there.squares[i] / least, slopes[i] / math.sqrt(least)
        found[i] = 0.5 * (v + most) + math.sqrt(0.25 * (v - most) ** 2 + c * c)
    return found, least


@kernel
def _root(distance: float, bound: float, eta: float, theta: float) -> float:
    """Return the largest x with (x - distance)^2 <= bound (1 + 2 eta x + theta x^2); infinity if
    there is none.
    """
    lead = 1.0 - bound * theta
    if not lead > 0.0:
        return math.inf
    half = distance + bound * eta
    return (half + math.sqrt(max(half * half - lead * (distance**2 - bound), 0.0))) / lead


@kernel
def radius_of_ball(row: Row, h: float) -> float:
    """Return the radius of a ball about the centre that holds all rows that the coins leave at a
    level of h nats; infinity if they do not bound them.
    """
    coins, scale = row.coins, row.scale
    ratios, least = _largest_ratio(row)
    if not least > 0.0:
        return math.inf
    sizes = coins.squares + scale.value
    distance = math.sqrt((coins.distances**2 / sizes).sum())
    slopes, own = _lengths(coins.slopes), math.sqrt(scale.slope @ scale.slope)
    eta = (_lengths(coins.slopes + scale.slope) / sizes).max()
    most, most_scale = _largest_eigenvalue(row.grams), _largest_eigenvalue(scale.form)
    theta = _largest_eigenvalue(row.grams + scale.form) / sizes.min()
    bound = 2.0 * h + np.log1p(ratios).sum()
    radius = _root(distance, bound, eta, theta)
    for _ in range(STEPS):
        if math.isinf(radius):
            return radius
        squares = coins.squares + 2.0 * slopes * radius + most * radius**2
        low = max(least, scale.value - 2.0 * own * radius)
        high = scale.value + 2.0 * own * radius + most_scale * radius**2
        bound = 2.0 * h + np.log1p(np.minimum(ratios, squares / low)).sum()
        at_most = distance + math.sqrt(bound * ((squares + high) / sizes).max())
        radius = min(radius, at_most, _root(distance, bound, eta, theta))
    return radius * (1.0 + 1e-9)


@kernel
def _over_box(slope: Floats, box: Box) -> float:
    """Return the largest value of slope . y over a box."""
    total = 0.0
    for r in range(len(slope)):
        if slope[r] != 0.0:
            total += max(slope[r] * box.low[r], slope[r] * box.high[r])
    return total


@kernel
def _sup(slope: Floats, turned: Floats, radius: float, box: Box) -> float:
    """Return a bound of slope . y over ball and box."""
    return min(math.sqrt(turned @ turned) * radius, _over_box(slope, box))


@kernel
def largest_distance(v: float, low: float, high: float, h: float) -> float:
    """Return the largest S that a test leaves where V <= v and low <= rho <= high."""
    at_low = (v + low) * (2.0 * h + math.log1p(v / low))
    at_high = (v + high) * (2.0 * h + math.log1p(v / high))
    return math.sqrt(max(at_low, at_high))


@kernel
def _distances(row: Row, plain: Family, radius: float, box: Box, h: float) -> Floats:
    """Return the largest |S| of every direction over ball and box."""
    u = len(row.centre)
    scale, aimed = row.scale, row.directions
    forth = np.linalg.inv(row.back)
    widths = np.maximum(np.abs(box.low), np.abs(box.high))
    grams = np.abs(forth.T @ row.grams @ forth)
    form = np.abs(forth.T @ scale.form @ forth)
    bent = min(_largest_eigenvalue(row.grams) * radius**2, widths @ (grams @ widths))
    bent_scale = min(_largest_eigenvalue(scale.form) * radius**2, widths @ (form @ widths))
    slope = forth.T @ scale.slope
    high = scale.value + 2.0 * _sup(-slope, scale.slope, radius, box) + bent_scale
    low = max(_largest_ratio(row)[1], scale.value - 2.0 * _sup(slope, scale.slope, radius, box))
    found = np.empty(u)
    for k in range(u):
        most = 2.0 * _sup(-plain.slopes[k], aimed.slopes[k], radius, box)
        found[k] = largest_distance(aimed.squares[k] + most + bent, low, high, h)
    return found


@kernel
def _shrink(box: Box, r: int, low: float, high: float) -> None:
    """Cut a box, in place; a little room is left for rounding."""
    slack = 1e-9 * (high - low)
    if low - slack > box.low[r]:
        box.low[r] = low - slack
    if high + slack < box.high[r]:
        box.high[r] = high + slack


@kernel
def _by_inverse(plain: Family, distances: Floats, box: Box) -> None:
    """Cut a box by all directions together, where they are far from dependent."""
    u = len(distances)
    lengths = np.sqrt((plain.moves**2).sum(axis=1))
    if not (lengths > 0.0).all() or np.linalg.cond(plain.moves / lengths.reshape(u, 1)) > 1e8:
        return
    inverse = np.linalg.inv(plain.moves)
    middle, half = inverse @ plain.distances, np.abs(inverse) @ distances
    for r in range(u):
        _shrink(box, r, middle[r] - half[r], middle[r] + half[r])


@kernel
def _by_one(row: Row, plain: Family, distances: Floats, radius: float, box: Box) -> None:
    """Cut a box by each direction alone."""
    for k in range(len(distances)):
        own = plain.moves[k, k]
        if own == 0.0:
            continue
        rest = plain.moves[k].copy()
        rest[k] = 0.0
        turned = row.back.T @ rest
        highest = distances[k] + plain.distances[k] + _sup(-rest, -turned, radius, box)
        lowest = plain.distances[k] - distances[k] - _sup(rest, turned, radius, box)
        one, other = lowest / own, highest / own
        _shrink(box, k, min(one, other), max(one, other))


@kernel
def bound_row(
    sums: Sums, plan: Plan, j: int, causes: Ints, coins: Ints, level: float, own: Floats
) -> Box:
    """Return bounds of the unknown coefficients of row j over all rows that no test rejects at a
    level in nats; infinite where there are none. If some low is above its high, no row is left.

    own : nats on top of the level, for the test of all coins and for each direction: their shares
        of the error probability
    """
    u = len(causes)
    nothing = Box(np.full(u, -math.inf), np.full(u, math.inf))
    row = row_of_tests(sums, plan, j, causes, coins)
    if not row.is_bounded:
        return nothing
    radius = radius_of_ball(row, level + own[0] + SAFETY)
    if math.isinf(radius):
        return nothing
    plain = _turned(row.directions, np.linalg.inv(row.back))
    half = radius * _lengths(row.back)
    box = Box(-half, half.copy())
    for _ in range(STEPS):
        distances = _distances(row, plain, radius, box, level + own[1] + SAFETY)
        _by_inverse(plain, distances, box)
        _by_one(row, plain, distances, radius, box)
        if (box.low > box.high).any():
            break
    reference = np.empty(u)
    for r in range(u):
        reference[r] = plan.references[j, causes[r]]
    return Box(
        reference + row.units * (row.centre + box.low),
        reference + row.units * (row.centre + box.high),
    )
