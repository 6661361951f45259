"""Shuffle a stream through a buffer: bounded memory, the same order whatever the block size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.streams.blocks import Piece, concat, rows_of


def shuffled(pieces: Iterable[Piece], size: int, seed: Any) -> Iterator[Piece]:
    """Rows in random order, none moved forward by more than about ``size`` rows.

    The buffer holds ``size`` rows. Each new row replaces a random one, which is handed on; at the
    end the buffer follows in random order. Random numbers are drawn per row, so the order depends
    only on the seed and the size. Memory: three times ``size`` rows.
    """
    rng = np.random.default_rng(seed)
    held: list[Piece] = []
    count = 0
    failure: DataError | None = None
    try:
        for piece in pieces:
            held.append(piece)
            count += piece.n_rows
            # Wait for as many new rows as the buffer holds, so that copying stays cheap.
            if count >= 2 * size:
                rows = concat(held)
                out, stay = _swap(count, size, rng)
                yield rows_of(rows, out)
                held = [rows_of(rows, stay)]
                count = size
    except DataError as error:
        failure = error
    if count:
        rows = concat(held)
        out, stay = _swap(count, min(size, count), rng)
        yield rows_of(rows, np.concatenate([out, stay[rng.permutation(len(stay))]]))
    if failure is not None:
        raise failure


def _swap(count: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of rows handed on and of rows that stay, as ``size..count-1`` come one by one."""
    slots = (rng.random(count - size) * size).astype(np.int64).tolist()
    stay = list(range(size))
    out = []
    for row, slot in enumerate(slots, size):
        out.append(stay[slot])
        stay[slot] = row
    return np.array(out, dtype=np.int64), np.array(stay, dtype=np.int64)
