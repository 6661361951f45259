"""The default learner's cells of one and of two columns."""

from __future__ import annotations

import numpy as np

from onkel.default.bins import PairBins
from onkel.default.cell_loops import share
from onkel.default.cells import PairCells
from onkel.export.functions import pick
from onkel.export.graph import Value

# Numbers looked up at once for each row: a graph computes all rows together.
_AT_ONCE = 256


def correction(cells: PairCells, X: Value) -> Value | None:
    """a·s(x), (n, K); None where it is 0 for every row."""
    bins, a = cells.bins, float(share(cells.sums))
    if not len(bins.pairs) or a == 0.0:
        return None
    B, W = _bins(bins, X), cells.W * a
    first, second, offset, stride = bins.pairs.T
    at = B.columns(first) * stride + B.columns(second) + offset
    total: Value | None = None
    step = max(_AT_ONCE // W.shape[1], 1)
    table = X.graph.constant(W)
    for start in range(0, len(first), step):
        some = at.span(start, min(start + step, len(first)))
        part = X.graph.node("Gather", table, some, axis=0).sum(axis=1)
        total = part if total is None else total + part
    return total


def _bins(bins: PairBins, X: Value) -> Value:
    """The bins (n, m) of rows X (n, d): find the block of bins first, then the bin in it."""
    m, n_bins = len(bins.columns), bins.edges.shape[1] + 1
    values = X.columns(bins.columns).to(np.float64).shaped(-1, m, 1)
    size = 2 ** (n_bins.bit_length() // 2)
    # an infinite end is above every value
    ends = np.pad(bins.edges, ((0, 0), (0, 1)), constant_values=np.inf).reshape(m, -1, size)
    n_blocks = ends.shape[1]
    if n_blocks == 1:
        return (values > ends[:, 0]).to(np.int64).sum(axis=2)
    block = (values > ends[:, :-1, -1]).to(np.int64).sum(axis=2)
    own = pick(ends.reshape(-1, size), block + n_blocks * np.arange(m))
    return block * size + (values > own).to(np.int64).sum(axis=2)
