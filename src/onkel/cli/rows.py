"""Rows that the demo generates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onkel.streams import Block

_BLOCK_ROWS = 4096


def generated_stream(n_rows: int, seed: int = 0, *, n_features: int = 10) -> Iterator[Block]:
    """Two classes whose border is a wavy surface through the first three features.

    ``y = x_0·x_1 + sin(2·x_2) > 0`` with standard normal x: a linear function of x says next to
    nothing about y, and the features from the fourth on nothing at all.
    """
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, _BLOCK_ROWS):
        n = min(_BLOCK_ROWS, n_rows - start)
        X = rng.standard_normal((n, n_features), dtype=np.float32)
        yield Block(X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) > 0, start)
