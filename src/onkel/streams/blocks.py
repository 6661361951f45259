"""Blocks of rows, and cutting pieces of any size into blocks of exactly the same size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from onkel.errors import DataError
from onkel.numerics.dense import with_zero_columns

__all__ = ["Block", "Piece", "concat", "reblock", "skip"]


class Block(NamedTuple):
    """Consecutive rows of a stream.

    Attributes
    ----------
    X : ndarray of shape (n, d), C-contiguous, or CSR matrix of shape (n, d)
        Features. May be a view of the source's own memory: read it, do not write to it.
    y : ndarray of shape (n,) or None
        Targets as they stand in the source: str, int, float or bool.
    start : int
        Index in the stream of the first row.
    late : int
        How many of the columns, the last ones, came in mid-stream; rows without them have 0 there.
    """

    X: Any
    y: np.ndarray | None
    start: int
    late: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


class Piece(NamedTuple):
    """Rows as a source hands them over: any number of them, NaN where a value is missing.

    The last ``late`` columns came in mid-stream: later pieces may have more. ``unlabelled``: rows
    without a target, if there are any.
    """

    X: Any
    y: np.ndarray | None
    where: str
    late: int = 0
    unlabelled: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def before(self, rows: int) -> Piece:
        """The first ``rows`` rows."""
        return self._cut(slice(0, rows))

    def after(self, rows: int) -> Piece:
        """The rows after the first ``rows``."""
        return self._cut(slice(rows, None))

    def _cut(self, rows: slice) -> Piece:
        y, unlabelled = (None if v is None else v[rows] for v in (self.y, self.unlabelled))
        return self._replace(X=self.X[rows], y=y, unlabelled=unlabelled)


def concat(parts: list[tuple[Any, np.ndarray | None]]) -> tuple[Any, np.ndarray | None]:
    """Stack rows, with zeros where they lack columns; a single part is handed on without a copy."""
    if len(parts) == 1:
        return parts[0]
    X: Any
    if isinstance(parts[0][0], np.ndarray):
        d = max(p[0].shape[1] for p in parts)
        X = np.concatenate([with_zero_columns(p[0], d - p[0].shape[1]) for p in parts])
    else:
        from scipy.sparse import vstack

        X = vstack([p[0] for p in parts], format="csr")
    ys = [p[1] for p in parts if p[1] is not None]
    return X, np.concatenate(ys) if ys else None


def skip(pieces: Iterable[Piece], rows: int) -> Iterator[Piece]:
    """Leave out the first ``rows`` rows."""
    for piece in pieces:
        n = piece.n_rows
        if rows < n:
            yield piece.after(rows) if rows else piece
        rows = max(rows - n, 0)


def reblock(
    pieces: Iterable[Piece],
    block_rows: int,
    start: int,
    waits: Callable[[], bool] = lambda: False,
) -> Iterator[Block]:
    """Cut ``pieces`` into blocks of ``block_rows``; before an error, give what stands.

    ``waits``: whether the source has nothing more yet; what there is becomes a block then.
    """
    held: list[tuple[Any, np.ndarray | None]] = []
    count = late = 0
    failure: DataError | None = None
    try:
        for piece in pieces:
            X, y, late = piece.X, piece.y, piece.late
            n, at = X.shape[0], 0
            while count + n - at >= block_rows:
                end = at + block_rows - count
                held.append((X[at:end], None if y is None else y[at:end]))
                yield Block(*concat(held), start, late)
                start += block_rows
                held, count, at = [], 0, end
            if at < n:
                held.append((X[at:], None if y is None else y[at:]))
                count += n - at
            if count and waits():
                yield Block(*concat(held), start, late)
                start += count
                held, count = [], 0
    except DataError as error:
        failure = error
    if count:
        yield Block(*concat(held), start, late)
    if failure is not None:
        raise failure
