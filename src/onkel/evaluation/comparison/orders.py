"""Rows held in memory, and the orders in which they are learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.evaluation.prequential import take
from onkel.streams import Block
from onkel.streams.blocks import concat

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
    yield from _chosen(X, y, np.random.default_rng(seed).permutation(len(y)))


def in_order(X: Any, y: np.ndarray) -> Iterator[Block]:
    """Blocks of copies of the rows as they came."""
    yield from _chosen(X, y, np.arange(len(y)))


def _chosen(X: Any, y: np.ndarray, order: np.ndarray) -> Iterator[Block]:
    for start in range(0, len(y), _BLOCK_ROWS):
        chosen = order[start : start + _BLOCK_ROWS]
        yield Block(X[chosen], y[chosen], start)
