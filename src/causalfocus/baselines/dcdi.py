"""DCDI for linear-Gaussian systems with perfect, known interventions: a graph by gradient descent.

After Brouillard and others, Differentiable Causal Discovery from Interventional Data (2020). Every
edge has a probability; the masked likelihood, a penalty on edges and the matrix-exponential
constraint are minimised together; in the end probabilities are 0 or 1 and the graph is acyclic.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.checks import require_at_least, require_number
from causalfocus.baselines.kernels import descent, gumbel
from causalfocus.baselines.kernels.acyclicity import acyclicity, is_acyclic
from causalfocus.baselines.kernels.masked_loss import Data, mean_square
from causalfocus.baselines.sizes import own_means, own_scales
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.moments.moments import Moments
from causalfocus.moments.views import RowMoments
from causalfocus.system.actions import single_targets

FIRST_LOGIT = 5.0
"""All edges are likely at the start, as in DCDI."""

JITTER = 0.5
"""How far logits start from each other. Observations alone may favour no direction of an edge, and
equal logits would stay equal."""

KEPT_LOGIT = 2.0
"""A warm start keeps no logit beyond this: no direction is beyond reconsideration."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How DCDI descends. DCDI's own defaults are rate=1e-3, first_mu=1e-8.

    Attributes
    ----------
    rate : of RMSprop
    first_mu, factor : of the quadratic penalty on h, and what it is multiplied with
    window : iterations between two looks at the Lagrangian
    most : iterations in all
    belief_share : the belief is taken when h has fallen to this share of its first value
    """

    rate: float = 3e-3
    first_mu: float = 1e-3
    factor: float = 2.0
    window: int = 100
    most: int = 200_000
    belief_share: float = 0.5

    def __post_init__(self) -> None:
        for name in ("rate", "first_mu", "factor", "belief_share"):
            require_number(name, getattr(self, name), least=1e-12)
        for name in ("window", "most"):
            require_at_least(name, getattr(self, name), 1)

    @property
    def as_record(self) -> descent.Schedule:
        return descent.Schedule(
            self.rate,
            self.first_mu,
            self.factor,
            self.window,
            self.most,
            self.belief_share,
        )


@dataclass(frozen=True, kw_only=True)
class DcdiFit:
    """Where the descent ended, and what it believed on the way. Matrices are ``[effect, cause]``.

    Attributes
    ----------
    probabilities, weights : of the edges, at the end
    belief, belief_weights, belief_variances : before the constraint had decided everything
    parents : of every node in the graph of all edges above one half; sets of nodes, acyclic
    constraint : h at the end
    n_iterations : until then
    """

    probabilities: Floats
    weights: Floats
    belief: Floats
    belief_weights: Floats
    belief_variances: Floats
    parents: Ints
    constraint: float
    n_iterations: int


def edge_penalty(p: int, n: float) -> float:
    """lambda_N = p log(N) / 2N: an edge costs what BIC takes for it.

    DCDI's fixed 0.1 would hide weak edges for ever, however many samples there are.
    """
    return p * math.log(max(n, 2.0)) / (2.0 * max(n, 2.0))


def constraint(probabilities: Floats) -> float:
    """h: 0 if the edges with a positive probability form a DAG, 1 if all have probability 1."""
    return float(acyclicity(np.asarray(probabilities, dtype=np.float64))[0])


def fit_dcdi(
    moments: Moments,
    *,
    intercept: bool,
    schedule: Schedule | None = None,
    penalty: float | None = None,
    start: DcdiFit | None = None,
    rng: np.random.Generator | None = None,
) -> DcdiFit:
    """Descend on the expected objective, the mean over masks in closed form.

    Nothing is random but where the logits start. All variables are scaled to a mean square of 1,
    so that units do not matter.

    Parameters
    ----------
    moments : of the data
    intercept : whether equations have constants
    schedule : of the descent
    penalty : on edges; by default that of `edge_penalty`
    start : an earlier fit to go on from
    rng : for the start; the same as ever by default
    """
    rows = moments.rows(intercept=intercept)
    p = len(moments.names)
    scales = own_scales(rows)
    grams = np.ascontiguousarray(rows.grams / np.multiply.outer(scales, scales))
    weights, logits, ceiling = _start(start, scales, rng)
    edges = edge_penalty(p, moments.n) if penalty is None else penalty
    numbers = (schedule or Schedule()).as_record
    data = Data(grams, rows.counts, max(moments.n, 1.0))
    found = descent.descend(data, weights, logits, ceiling, edges, numbers)
    return _fit(rows, (weights, logits), found, scales)


def fit_dcdi_gumbel(
    log: Sequence[Told],
    moments: Moments,
    *,
    intercept: bool,
    rng: np.random.Generator,
    schedule: Schedule | None = None,
    penalty: float | None = None,
    start: DcdiFit | None = None,
) -> DcdiFit:
    """Descend on DCDI's own objective: batches of samples, a mask drawn for each.

    log : the samples themselves; moments : of the same samples
    """
    if not log:
        raise InvalidInputError("DCDI's sampled objective needs at least one sample.")
    rows = moments.rows(intercept=intercept)
    p = len(moments.names)
    scales = own_scales(rows)
    centre = own_means(rows) if intercept else np.zeros(p)
    values = (np.array([told.sample for told in log]) - centre) / scales
    targets, _ = single_targets([told.effective_action for told in log], moments.names)
    weights, logits, _ = _start(start, scales, rng)
    edges = edge_penalty(p, len(log)) if penalty is None else penalty
    found = gumbel.descend_by_masks(
        gumbel.Samples(values, targets),
        gumbel.Parameters(weights, logits, np.zeros((2, p))),
        edges,
        (schedule or Schedule()).as_record,
        intercept,
        rng,
    )
    return _fit(rows, (weights, logits), found, scales)


def _start(
    start: DcdiFit | None, scales: Floats, rng: np.random.Generator | None
) -> tuple[Floats, Floats, Floats]:
    """Weights in units of the scales; logits and their ceiling, no two alike."""
    p = len(scales)
    weights, logits = np.zeros((p, p)), np.full((p, p), FIRST_LOGIT)
    if start is not None:
        odds = np.clip(start.belief, 1e-6, 1.0 - 1e-6)
        logits = np.clip(np.log(odds / (1.0 - odds)), -KEPT_LOGIT, KEPT_LOGIT)
        weights = start.belief_weights / scales[:, None] * scales
    jitter = JITTER * (rng or np.random.default_rng(0)).uniform(-1.0, 1.0, (p, p))
    return weights, logits + jitter, FIRST_LOGIT + jitter


def _fit(
    rows: RowMoments,
    parameters: tuple[Floats, Floats],
    found: descent.Descent,
    scales: Floats,
) -> DcdiFit:
    weights, logits = parameters
    chance = 1.0 / (1.0 + np.exp(-logits))
    np.fill_diagonal(chance, 0.0)
    own_units = scales[:, None] / scales
    belief, belief_weights = found.belief, found.weights * own_units
    variances = np.ones(len(scales))
    for t in np.flatnonzero(rows.counts > 0):
        square, _ = mean_square(rows.grams[t], int(t), belief_weights[t], belief[t])
        variances[t] = max(square / rows.counts[t], 1e-12 * scales[t] ** 2)
    return DcdiFit(
        probabilities=chance,
        weights=weights * own_units,
        belief=belief,
        belief_weights=belief_weights,
        belief_variances=variances,
        parents=acyclic_parents(chance),
        constraint=found.constraint,
        n_iterations=found.n_iterations,
    )


def acyclic_parents(probabilities: Floats) -> Ints:
    """Edges above one half; of those on cycles the weakest is left out until there is none. Sets of
    nodes.
    """
    kept = np.where(probabilities > 0.5, probabilities, 0.0)
    while not is_acyclic(kept > 0.0):
        leads_to = np.linalg.matrix_power((kept > 0.0) + np.eye(len(kept)), len(kept)) > 0.0
        on_cycle = np.where((kept > 0.0) & leads_to.T, kept, np.inf)
        kept[np.unravel_index(int(on_cycle.argmin()), kept.shape)] = 0.0
    bits = 1 << np.arange(len(kept), dtype=np.int64)
    return (kept > 0.0) @ bits
