"""The posterior over all DAGs and their parameters, from moments.

Local scores are exact. Up to EXACT_UP_TO nodes so are sums over DAGs, draws and marginals (by
layers); above, draws come by way of orders and are weighted and drawn again.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels import local_scores, ordered_draws
from causalfocus.baselines.kernels.likeliest import likeliest_dag
from causalfocus.baselines.prior import Prior
from causalfocus.baselines.sizes import own_means
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.posterior import layers
from causalfocus.kernels.records import PlainParents
from causalfocus.moments.moments import Moments
from causalfocus.oracles.limits import require_feasible_size

EXACT_UP_TO = 7

CANDIDATES = 16
"""DAGs drawn by way of orders for each that is kept."""

MARGINAL_DRAWS = 4000
"""DAGs from which marginals are estimated where they are not computed."""


@dataclass(frozen=True)
class Ensemble:
    """Models drawn from a posterior, in coordinates about an origin.

    Attributes
    ----------
    parents : (m, p), sets of nodes
    weights : (m, p, p), ``[effect, cause]``
    variances, constants : (m, p)
    origin : (p,)
    """

    parents: Ints
    weights: Floats
    variances: Floats
    constants: Floats
    origin: Floats


class DagPosterior:
    """What data say about graph and parameters, for a conjugate prior.

    Parameters
    ----------
    moments : of the data
    intercept : whether equations have constants
    prior : before the data
    exact : whether to sum over all DAGs; by default if there are no more than seven nodes
    known : of the graph (`plain_parents_of`): DAGs that disagree have no weight; None for nothing

    Examples
    --------
    >>> import causalfocus as cf
    >>> from causalfocus.baselines import DagPosterior
    >>> truth = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0)
    >>> moments = cf.Moments.expected(truth, {cf.OBSERVE: 50, cf.do("X1", 2): 50})
    >>> posterior = DagPosterior(moments, intercept=False)
    >>> bool(posterior.edge_probabilities[1, 0] > 0.99)
    True
    """

    def __init__(
        self,
        moments: Moments,
        *,
        intercept: bool,
        prior: Prior | None = None,
        exact: bool | None = None,
        known: PlainParents | None = None,
    ) -> None:
        self.prior, self.known = prior or Prior(), known
        self.names = moments.names
        p = len(moments.names)
        require_feasible_size(p)
        self.is_exact = p <= EXACT_UP_TO if exact is None else exact
        rows = moments.rows(intercept=intercept)
        self.counts = rows.counts
        if intercept:
            self.origin = own_means(rows)
            self.grams = _with_constant(rows.grams, rows.means - self.origin, rows.counts)
        else:
            self.origin, self.grams = np.zeros(p), rows.grams

    @cached_property
    def log_scores(self) -> Floats:
        """Log marginal likelihood, with the prior odds, of every family: (p, 2^(p - 1)), by mask
        over the other nodes; minus infinity of those that are known not to be.
        """
        found = local_scores.log_scores(self.grams, self.counts, self.prior.as_record)
        if self.known is None:
            return found
        p = len(self.names)
        nodes, masks = np.arange(p)[:, None], np.arange(found.shape[1])
        lower = masks & ((1 << nodes) - 1)
        sets = lower | ((masks ^ lower) << 1)  # the nodes that a mask of the others stands for
        needed, possible = (each[:, None] for each in self.known)
        is_left = (needed & ~sets == 0) & (sets & ~possible == 0)
        return np.where(is_left, found, -np.inf)

    @cached_property
    def likeliest(self) -> Ints:
        """Parents of every node in the most probable DAG, sets of nodes."""
        return likeliest_dag(self.log_scores)

    @cached_property
    def _layers(self) -> tuple[float, Floats, Floats]:
        sums = layers.family_sums(self.log_scores)
        total, ways = layers.ways_on(sums, self.log_scores[:, 0].copy())
        return total, sums, ways

    @cached_property
    def _orders(self) -> tuple[Floats, Floats]:
        within = ordered_draws.sums_within(self.log_scores)
        return within, ordered_draws.order_sums(within)

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood, summed over all DAGs with weight edge_odds per edge."""
        if not self.is_exact:
            raise InvalidInputError(
                f"The sum over all DAGs is for {EXACT_UP_TO} nodes or less; there are "
                f"{len(self.names)}."
            )
        return self._layers[0]

    def draw_graphs(self, n: int, rng: np.random.Generator) -> Ints:
        """DAGs: (n, p) parents, sets of nodes. Independent if the posterior is exact; else some may
        come more than once, as their weights have it.
        """
        p = len(self.names)
        if self.is_exact:
            _, sums, ways = self._layers
            return layers.drawn_graphs(self.log_scores, sums, ways, rng.random((n, 2 * p)))
        candidates, shares = self._weigh(CANDIDATES * n, rng)
        levels = (np.arange(n) + rng.random()) / n
        drawn = np.searchsorted(np.cumsum(shares), levels).clip(max=len(shares) - 1)
        found: Ints = candidates[rng.permutation(drawn)]
        return found

    def _weigh(self, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """DAGs by way of orders, and their weights."""
        p = len(self.names)
        within, found = self._orders
        graphs = ordered_draws.drawn_by_order(
            self.log_scores, within, found, rng.random((n, 2 * p))
        )
        logs = ordered_draws.log_corrections(graphs)
        shares = np.exp(logs - logs.max())
        return graphs, shares / shares.sum()

    @cached_property
    def edge_probabilities(self) -> Floats:
        """``[effect, cause]``; computed if the posterior is exact, else from draws."""
        p = len(self.names)
        if not self.is_exact:
            graphs, shares = self._weigh(MARGINAL_DRAWS, np.random.default_rng(0))
            has_edge = (graphs[:, :, None] >> np.arange(p)) & 1
            found: Floats = np.einsum("m,mtj->tj", shares, has_edge)
            return found
        _, sums, ways = self._layers
        families = layers.family_marginals(self.log_scores, sums, ways)
        masks = np.arange(families.shape[1])
        found = np.zeros((p, p))
        for t in range(p):
            for bit, j in enumerate(j for j in range(p) if j != t):
                found[t, j] = families[t, (masks >> bit) & 1 == 1].sum()
        return found

    def draw_models(self, n: int, rng: np.random.Generator) -> Ensemble:
        """Independent models, graph and parameters."""
        p, q = len(self.names), self.grams.shape[1]
        parents = self.draw_graphs(n, rng)
        shapes = self.prior.noise_shape + 0.5 * self.counts
        noise = rng.standard_normal((n, p, q)), rng.standard_gamma(shapes, (n, p))
        weights, variances, constants = local_scores.drawn_parameters(
            self.grams, self.counts, parents, self.prior.as_record, noise
        )
        return Ensemble(parents, weights, variances, constants, self.origin)


def _with_constant(grams: Floats, means: Floats, counts: Floats) -> Floats:
    """Centred Gram matrices as they are about the origin, the constant as last regressor."""
    p = len(counts)
    found = np.empty((p, p + 1, p + 1))
    found[:, :p, :p] = grams + counts[:, None, None] * means[:, :, None] * means[:, None, :]
    found[:, :p, p] = found[:, p, :p] = counts[:, None] * means
    found[:, p, p] = counts
    return found
