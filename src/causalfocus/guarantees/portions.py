"""How delta is shared out: by what is asked, by rows, and by kinds of tests.

The guardrails have a twentieth of delta, and where loops are ruled out so have the tests of
descent. If all direct effects are asked for, the total effects have a twentieth as well, and the
rows the rest. If a question names some effects (`system.question`), their rows, or their total
effects, have most of the rest, and all others a small part each: so everything that is not asked
has intervals and verdicts all the same, wider ones, and all of them together are right except with
probability delta. What is asked is fixed before the first round, as every share must be: another
question, chosen after looking, is another run with a delta of its own.

In a row three tests of all its coins have an eighteenth of what the row has, the aims another, and
the directions the rest, shared among them as is told in `kernels.randomized.box`. The rows of a
portion are equal but for the number of their unknown coefficients, by which the directions go.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.randomized.ellipsoid import Nats
from causalfocus.kernels.randomized.records import N_AIMS

SHARE_OF_ALL_COINS: Final = 0.05
"""Of delta, for the tests of all coins, if all direct effects are asked for."""

SHARE_OF_AIMS: Final = 0.05
"""Of delta, for the aims."""

SHARE_OF_GUARDS: Final = 0.05
"""Of delta, for all alarms of the `guardrails` together."""

SHARE_OF_TOTALS: Final = 0.05
"""Of delta, for the tests of all total effects together. Every direction pays log(0.85 / 0.8), 0.06
nats, for it: about half a percent of its half width."""

SHARE_OF_DESCENTS: Final = 0.05
"""Of delta, for the tests of descent together, where loops are ruled out (`closure`)."""

SHARE_OF_ROWS: Final = 1.0 - SHARE_OF_GUARDS - SHARE_OF_TOTALS
"""Of delta, for all tests of rows, if all direct effects are asked for and there may be loops."""


class Scope(NamedTuple):
    """What is asked of a run: which direct effects there may be, those of them that are asked for,
    and the total effects that are, (p, p) each.
    """

    unknown: Bools
    direct: Bools
    totals: Bools

    @property
    def is_everything(self) -> bool:
        """Whether all direct effects are asked for, and nothing else."""
        return not self.totals.any() and bool((self.direct | ~self.unknown).all())

    @property
    def rows(self) -> Bools:
        """(p,), of which some direct effect is asked for."""
        found: Bools = np.any(self.direct & self.unknown, axis=1)
        return found


class Money(NamedTuple):
    """Shares of delta: of rows and total effects that are asked for, and of all others."""

    rows: float
    totals: float
    other_rows: float
    other_totals: float


class Portion(NamedTuple):
    """Some rows (p,), and what their tests need on top of log(1 / delta)."""

    rows: Bools
    own: Nats


MONEY: Final = {
    (True, False): Money(0.85, 0.0, 0.06, 0.04),
    (False, True): Money(0.0, 0.75, 0.12, 0.03),
    (True, True): Money(0.46, 0.36, 0.05, 0.03),
}
"""By whether direct and whether total effects are asked for. Guardrails and descents have the
rest."""


def scope_of_all(unknown: Bools) -> Scope:
    """All direct effects that there may be."""
    return Scope(unknown, unknown, np.zeros_like(unknown))


def money_of(scope: Scope) -> Money:
    """Which shares of delta a question gives."""
    if scope.is_everything:
        return Money(SHARE_OF_ROWS, 0.0, 0.0, SHARE_OF_TOTALS)
    return MONEY[bool(scope.rows.any()), bool(scope.totals.any())]


def own_nats(unknown: Bools, acyclic: bool = False, share: float = SHARE_OF_ROWS) -> Nats:
    """Return what a test needs on top of log(1 / delta), in nats; a direction, for equal shares.

    unknown : (n, p), the direct effects that there may be, of the rows that share
    acyclic : whether loops are ruled out, and directions leave a share to the tests of descent
    share : of delta, for all tests of these rows
    """
    n_rows = max(int(unknown.any(axis=1).sum()), 1)
    n_pairs = max(int(unknown.sum()), 1)
    part = share / SHARE_OF_ROWS
    of_directions = 1.0 - (SHARE_OF_ALL_COINS + SHARE_OF_AIMS + SHARE_OF_GUARDS + SHARE_OF_TOTALS)
    if acyclic:
        of_directions -= SHARE_OF_DESCENTS
    return Nats(
        all_coins=math.log(3 * n_rows / (part * SHARE_OF_ALL_COINS)),
        aim=math.log(N_AIMS * n_rows / (part * SHARE_OF_AIMS)),
        direction=math.log(n_pairs / (part * of_directions)),
    )


def portions_of(scope: Scope, acyclic: bool = False) -> tuple[Portion, ...]:
    """The rows with what their tests need: those of which something is asked, and the others."""
    everyone = np.ones(len(scope.unknown), dtype=np.bool_)
    if scope.is_everything:
        return (Portion(everyone, own_nats(scope.unknown, acyclic)),)
    money, rows = money_of(scope), scope.rows
    parts = ((rows, money.rows), (~rows, money.other_rows))
    return tuple(
        Portion(of, own_nats(scope.unknown[of], acyclic, share))
        for of, share in parts
        if scope.unknown[of].any()
    )


def pairs_on_a_way(may_be: Bools) -> Bools:
    """Return which pairs (p, p) some way leads along, from the cause to another variable.

    may_be : (p, p), which direct effects there may be, row and cause
    """
    found = np.array(may_be, dtype=np.bool_)
    for between in range(len(found)):
        found |= np.outer(found[:, between], found[between])
    np.fill_diagonal(found, val=False)
    return found


def total_nats(scope: Scope) -> Floats:
    """(p, p), what the tests of total effects need on top of log(1 / delta), in nats."""
    money, ways = money_of(scope), pairs_on_a_way(scope.unknown)
    asked = scope.totals & ways
    others = math.log(max(int((ways & ~asked).sum()), 1) / money.other_totals)
    found = np.full(ways.shape, others)
    if asked.any():
        found[asked] = math.log(int(asked.sum()) / money.totals)
    return found
