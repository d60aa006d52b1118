"""Whom the rules that mix martingales pursue: the most probable other graph, pairs of variables."""

from typing import Final

import numpy as np

from causalfocus.allocation.pursuit import Stage
from causalfocus.arrays import Floats
from causalfocus.guarantees.lags import Lags
from causalfocus.kernels.evidence import pairs
from causalfocus.kernels.exact.runner_up import runner_up
from causalfocus.kernels.records import Limits, PlainParents, PlainSettings, PlainUnits
from causalfocus.moments.views import RowMoments
from causalfocus.oracles.for_kernels import plain_model_of, plain_rows_of
from causalfocus.system.sem import LinearSEM

HOPELESS: Final = -8.0
"""Evidence on a pair, in nats, below which no more rounds are planned for it. Chance alone hardly
leaves a pair of a system of the class there. Where the class is wrong, an effect beyond its bounds
say, every round makes it less, and a plan for it would starve what the refutation waits for."""


def other_graph(
    rows: RowMoments,
    means: Floats,
    estimate: LinearSEM,
    actions: PlainSettings,
    limits: Limits,
    units: PlainUnits,
    known: PlainParents,
    log_odds: float,
    *,
    intercept: bool,
) -> Stage:
    """The most probable graph but the estimate's, until the odds against it are high enough.

    Parameters
    ----------
    rows : of the data, in the units of the rows
    means : of all nodes over the samples of each row
    estimate : whose graph stands against all others
    actions : what can be chosen, as the kernels take it
    limits, units : the class in which graphs are probable, and the units of the rows
    known : of the graph beforehand
    log_odds : that are high enough
    intercept : whether equations have constants
    """
    found = runner_up(
        plain_rows_of(rows),
        means,
        limits,
        plain_model_of(estimate),
        actions,
        intercept,
        units,
        known,
    )
    return Stage(np.array([log_odds - found.log_odds]), found.gains[None, :])


def every_pair(
    rows: RowMoments,
    means: Floats,
    estimate: LinearSEM,
    actions: PlainSettings,
    units: PlainUnits,
    scale: pairs.PlainPairScale,
    known: PlainParents,
    level: float,
    lags: Lags | None,
) -> Stage:
    """All pairs of an effect and a possible cause, until the certificate is about to have the
    evidence that it asks for on each.

    Parameters
    ----------
    rows : of the data, in the units of the rows
    means : of all nodes over the samples of each row
    estimate : what would be claimed
    actions : what can be chosen, as the kernels take it
    units : of the rows
    scale : what the rule asks of pairs
    known : of the graph beforehand; pairs of which nothing is asked are left out
    level : evidence that is high enough, what the shares of the mixture cost included
    lags : what the certificate said of the pairs when it was last looked at
    """
    effects, _ = units
    weights = estimate.weights / effects
    weights.setflags(write=False)
    found = pairs.pair_evidence(plain_rows_of(rows), weights, scale, known)
    # In (u.x)^2 over the noise variance the own unit of a row cancels; that of each cause does not.
    found = found._replace(directions=found.directions * effects[found.effects])
    gains = pairs.pair_gains(found, plain_model_of(estimate), means, actions)
    evidence = found.evidence
    if lags is not None:
        evidence = evidence + lags.edges[found.effects, found.causes]
    return Stage(np.where(evidence < HOPELESS, -np.inf, level - evidence), gains)


def with_graphs(stage: Stage, lags: Lags, level: float, counts: Floats) -> Stage:
    """The same, and besides the rivals that lagged behind when all were last looked at.

    level : evidence that is high enough against these
    counts : (k,), how often each choice was taken
    """
    deficits = np.concatenate([stage.deficits, level - lags.evidence(counts)])
    return Stage(deficits, np.vstack([stage.gains, lags.gains]))
