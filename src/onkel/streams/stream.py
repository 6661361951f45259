"""A stream: rows of any source, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .blocks import Block, Piece, reblock, skip
from .encoding import Encoder
from .missing import clean
from .shuffle import shuffled
from .sources import Source

__all__ = ["Stream"]


class Stream:
    """Rows in blocks; made by :func:`onkel.streams.open_stream`.

    Iterate over it to get :class:`Block` after :class:`Block`. Files, arrays and tables can be
    iterated over again; pipes, readers and iterators only once.

    Attributes
    ----------
    encoder : Encoder
        How columns became features; save it with the model.
    n_rows : int or None
        Rows of the source, where known beforehand (skipped and dropped ones included).
    source : str
        What the rows come from, for messages and reports.
    block_rows : int
    target : str or None
        Name of the target column, if there is one.
    """

    def __init__(
        self,
        source: Source,
        encoder: Encoder,
        *,
        target: str | None,
        missing: str,
        block_rows: int,
        shuffle: int,
        random_state: Any,
        skip_rows: int,
        dtype: Any,
    ) -> None:
        self._source = source
        self.encoder = encoder
        self.target = target
        self.missing, self.block_rows = missing, block_rows
        self.shuffle, self.random_state = shuffle, random_state
        self.skip_rows, self.dtype = skip_rows, np.dtype(dtype)
        self.source = source.name
        self.n_rows = source.n_rows
        self._given = 0

    @property
    def n_features(self) -> int:
        """Number of features of each row."""
        return self.encoder.n_features

    def __iter__(self) -> Iterator[Block]:
        self._given = self.skip_rows
        for block in reblock(self._pieces(), self.block_rows, self.skip_rows):
            self._given += block.n_rows
            yield block

    def _pieces(self) -> Iterator[Piece]:
        # Rows can be skipped unread only where nothing later depends on them.
        early = not self.shuffle and self.missing in ("error", "zero")
        raw = self.skip_rows if early else 0
        if self.skip_rows and self.missing == "mean":
            # The skipped rows are read again: their means must not count twice.
            self.encoder.means = self.encoder.counts = None
        pieces = clean(self._source.pieces(raw, self.dtype), self.missing, self.encoder, raw)
        if self.shuffle:
            pieces = shuffled(pieces, self.shuffle, self.random_state)
        return pieces if early else skip(pieces, self.skip_rows)

    def progress(self) -> float | None:
        """Fraction of the source handed out, from 0 to 1; None if its size is unknown."""
        if self.n_rows:
            return min(self._given / self.n_rows, 1.0)
        return self._source.progress()

    def __repr__(self) -> str:
        rows = "unknown number of" if self.n_rows is None else self.n_rows
        return f"<Stream of {rows} rows, {self.n_features} features, from {self.source}>"
