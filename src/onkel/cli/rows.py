"""Rows that comparisons and the demo learn: held in memory, in seeded orders, generated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.evaluation.prequential import take
from onkel.streams import Block
from onkel.streams.blocks import concat

__all__ = ["generated_stream", "permuted", "read_all"]

_BLOCK_ROWS = 4096


def read_all(
    blocks: Iterable[Any], most_bytes: float, limit: int | None = None
) -> tuple[Any, np.ndarray] | None:
    """All rows (X, y) of a stream, the first ``limit`` at most; None if X takes too many bytes.

    Raises
    ------
    DataError
        If there are no rows, or no targets.
    """
    parts, size = [], 0
    for block in take(blocks, limit):
        values = block.X if isinstance(block.X, np.ndarray) else block.X.data
        size += 2 * values.nbytes  # while they are put together there are two of each
        if size > most_bytes:
            return None
        parts.append(block)
    if not parts:
        raise DataError("there are no rows to learn from")
    rows = concat(parts)
    return rows.X, np.asarray(rows.y)


def permuted(X: Any, y: np.ndarray, seed: int) -> Iterator[Block]:
    """Blocks of copies of the rows; same seed, same order."""
    order = np.random.default_rng(seed).permutation(len(y))
    for start in range(0, len(y), _BLOCK_ROWS):
        chosen = order[start : start + _BLOCK_ROWS]
        yield Block(X[chosen], y[chosen], start)


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
