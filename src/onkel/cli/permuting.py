"""Rows in memory, and in seeded orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.evaluation.prequential import take
from onkel.streams import Block
from onkel.streams.blocks import concat

__all__ = ["permuted", "read_all"]

_BLOCK_ROWS = 4096


def read_all(
    blocks: Iterable[Any], most_bytes: float, limit: int | None = None
) -> tuple[Any, np.ndarray] | None:
    """All rows of a stream in memory, or None if they are too many.

    Parameters
    ----------
    blocks : iterable of Block
        The stream.
    most_bytes : float
        For the features.
    limit : int, optional
        Read so many rows only.

    Returns
    -------
    (X, y) or None
        X as an array or CSR matrix.

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
        parts.append((block.X, block.y))
    if not parts:
        raise DataError("there are no rows to learn from")
    X, y = concat(parts)
    return X, np.asarray(y)


def permuted(X: Any, y: np.ndarray, seed: int) -> Iterator[Block]:
    """Rows in a seeded order, in blocks.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    y : ndarray of shape (n,)
        Targets.
    seed : int
        Same seed, same order.

    Yields
    ------
    Block
        Copies of the rows.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    for start in range(0, len(y), _BLOCK_ROWS):
        chosen = order[start : start + _BLOCK_ROWS]
        yield Block(X[chosen], y[chosen], start)
