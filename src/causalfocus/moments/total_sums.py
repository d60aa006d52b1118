"""What counts for total effects: rounds in which one variable alone was set, by a coin of its own.

The total effect of k on j is what x_j does per unit of x_k while k alone is set and all else is
free: with A the direct effects, T = (I - A_rest)^-1 A_rest,k over the rows and columns of all
variables but k, entry j.

**What is assumed.** What the randomized rule assumes of the rows of all variables but k, in those
rounds: x_i = sum_l A_il x_l + u_i, where u_i is anything that the coin of k does not influence;
that what runs round feedback among them dies away; and that setting k acts on them through x_k
alone. Then, solved for them,

    x_j  =  T_jk x_k  +  [(I - A_rest)^-1 u]_j,

whatever x_k is and however it came about. The row of k is not used. So it does not matter whether
the setting worked: where it misses or fails, x_k is another value, of its natural law or of a mix
of both; where it fails, the loops through k are closed, and still these rows hold. In all cases the
last part, x_j - T_jk x_k, is made of what the coin of k does not influence. A setting that failed
moves x_k less, and makes the coin a weaker instrument, nothing else. The value that was achieved
must be recorded, and errors of measurement must not depend on the coin, as for direct effects.

**Which rounds.** Those in which k alone was asked to be set and its coin was tossed for this ask;
by intention, as in `randomized_sums`. Where another variable is held by an older coin, of a block,
the loops through that one are cut as well, and what k does is another effect.

**In the order of asking.** Rounds come as they do to all sums by coins: each once it and all that
were asked for before it are answered or given up. Let F_n be all that is known of the first n asks,
outcomes included, and which variables ask n + 1 sets. Nothing of that depends on a coin of ask n +
1 (rounds of a batch do not disturb each other, none is lost for its outcome). So given F_n and x_j
- T_jk x_k its coin is fair; and centres, anchors, scales and the round from which on rounds count
may be anything that F_n says (`kernels.randomized.totals`). The centre of a round is the mean of
all earlier ones of its cause: what it is off adds to V a part that grows with the logarithm of the
rounds alone.

Twelve arrays of p^2 numbers, whatever p.
"""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.randomized.totals import Totals, add_alone
from causalfocus.moments.randomized_sums import Intent


def no_totals(p: int) -> Totals:
    """Return sums of no rounds, of p variables."""
    return Totals(np.zeros(p), *(np.zeros((p, p)) for _ in Totals._fields[1:]))


def with_round(totals: Totals, intent: Intent, row: Floats | None) -> Totals:
    """Return the sums with one more round, the next in the order of asking.

    intent : what was asked for
    row : (p,), what came of it; None if it was lost or given up
    """
    if row is None or np.count_nonzero(intent.asked) != 1:
        return totals
    k = int(intent.asked.argmax())
    if intent.signs[k] == 0.0:
        return totals
    sums = Totals(*(array.copy() for array in totals))
    add_alone(sums, k, float(intent.signs[k]), np.asarray(row, dtype=np.float64))
    return sums
