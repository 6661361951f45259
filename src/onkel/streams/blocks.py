"""Blocks of rows; pieces of any size are cut into blocks of equal size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from onkel.errors import DataError
from onkel.numerics.arrays import with_zero_columns


class Block(NamedTuple):
    """Consecutive rows of a stream.

    Attributes
    ----------
    X : ndarray of shape (n, d), C-contiguous, or CSR matrix of shape (n, d)
        Features. May be a view of the source's own memory: do not write to it.
    y : ndarray of shape (n,) or None
        Targets as in the source: str, int, float or bool.
    start : int
        Index of the first row in the stream.
    late : int
        How many of the last columns appeared in mid-stream; rows without them have 0 there.
    groups : ndarray of shape (n,) or None
        The series that each row belongs to, as text or numbers, if a group column was named.
    times : ndarray of shape (n,) or None
        Time of each row in seconds, if a time column was named.
    """

    X: Any
    y: np.ndarray | None
    start: int
    late: int = 0
    groups: np.ndarray | None = None
    times: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


class Piece(NamedTuple):
    """Any number of rows from a source, NaN where a value is missing.

    The last ``late`` columns appeared in mid-stream; later pieces may have more. ``unlabelled`` is
    a mask of the rows without a target, or None if there are none.
    """

    X: Any
    y: np.ndarray | None
    where: str
    late: int = 0
    groups: np.ndarray | None = None
    times: np.ndarray | None = None
    unlabelled: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def after(self, rows: int) -> Piece:
        """The rows after the first ``rows``."""
        return rows_of(self, slice(rows, None))

    def before(self, rows: int) -> Piece:
        """The first ``rows`` rows."""
        return rows_of(self, slice(rows))

    def among(self, rows: np.ndarray) -> Piece:
        """The rows of a mask (n,)."""
        return rows_of(self, rows)


Rows = TypeVar("Rows", Block, Piece)
_BY_ROW = ("y", "groups", "times")


def rows_of(part: Rows, rows: Any) -> Rows:
    """Some rows of a block or piece, by slice, mask or indices; ``start`` stays."""
    held, names = part._asdict(), ("X", *_BY_ROW, "unlabelled")
    chosen = {name: held[name][rows] for name in names if held.get(name) is not None}
    return part._replace(**chosen)


def concat(parts: list[Rows]) -> Rows:
    """Stack rows, with 0 in columns that they lack; a single part is returned without a copy."""
    if len(parts) == 1:
        return parts[0]
    X: Any
    if isinstance(parts[0].X, np.ndarray):
        d = max(p.X.shape[1] for p in parts)
        X = np.concatenate([with_zero_columns(p.X, d - p.X.shape[1]) for p in parts])
    else:
        from scipy.sparse import vstack

        X = vstack([p.X for p in parts], format="csr")
    stacked: dict[str, Any] = {"X": X}
    for name in _BY_ROW:
        columns = [getattr(p, name) for p in parts]
        stacked[name] = None if columns[0] is None else np.concatenate(columns)
    return parts[-1]._replace(**stacked)


def skip(pieces: Iterable[Piece], rows: int) -> Iterator[Piece]:
    """The pieces without the first ``rows`` rows."""
    for piece in pieces:
        n = piece.n_rows
        if rows < n:
            yield piece.after(rows) if rows else piece
        rows = max(rows - n, 0)


def _block(held: list[Piece], start: int) -> Block:
    rows = concat(held)
    return Block(rows.X, rows.y, start, rows.late, rows.groups, rows.times)


def reblock(
    pieces: Iterable[Piece],
    block_rows: int,
    start: int,
    waits: Callable[[], bool] = lambda: False,
) -> Iterator[Block]:
    """Cut ``pieces`` into blocks of ``block_rows``; the rows before an error still come out.

    ``waits`` tells whether the source has nothing more yet; the rows so far then become a block.
    """
    held: list[Piece] = []
    count = 0
    failure: DataError | None = None
    try:
        for piece in pieces:
            n, at = piece.n_rows, 0
            while count + n - at >= block_rows:
                end = at + block_rows - count
                held.append(rows_of(piece, slice(at, end)))
                yield _block(held, start)
                start += block_rows
                held, count, at = [], 0, end
            if at < n:
                held.append(piece.after(at))
                count += n - at
            if count and waits():
                yield _block(held, start)
                start += count
                held, count = [], 0
    except DataError as error:
        failure = error
    if count:
        yield _block(held, start)
    if failure is not None:
        raise failure
