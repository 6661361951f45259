"""The default's cells of one and of two columns."""

from __future__ import annotations

import numpy as np

from onkel.default.cell_loops import share
from onkel.default.cells import PairCells
from onkel.export.functions import pick
from onkel.export.graph import Value


def correction(cells: PairCells, X: Value) -> Value | None:
    """a·s(x), (n, K); None where it is 0 for every row."""
    bins, a = cells.bins, float(share(cells.sums))
    if not len(bins.pairs) or a == 0.0:
        return None
    m = len(bins.columns)
    values = X.columns(bins.columns).to(np.float64).shaped(-1, m, 1)
    # ends that are infinite are above every value
    B = (values > bins.edges[None]).to(np.int64).sum(axis=2)
    first, second, offset, stride = bins.pairs.T
    at = B.columns(first) * stride + B.columns(second) + offset
    return pick(cells.W * a, at).sum(axis=1)
