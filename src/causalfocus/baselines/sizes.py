"""Where a node's values lie and how far they spread, also of one that was set in every sample."""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.moments.views import RowMoments


def own_means(rows: RowMoments) -> Floats:
    """Means of all nodes over their own samples; of a node that was set in all, over those of the
    node with most.
    """
    fullest = int(rows.counts.argmax())
    return np.where(rows.counts > 0.0, rows.means.diagonal(), rows.means[fullest])


def own_scales(rows: RowMoments) -> Floats:
    """Root mean squares, likewise; 1 where there is nothing."""
    fullest = int(rows.counts.argmax())
    n = np.where(rows.counts > 0.0, rows.counts, max(rows.counts[fullest], 1.0))
    own = np.einsum("jjj->j", rows.grams)
    squares = np.where(rows.counts > 0.0, own, rows.grams[fullest].diagonal()) / n
    return np.where(squares > 0.0, np.sqrt(squares), 1.0)
