"""Blocks of rows: cut from pieces, shuffled, and given groups and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from onkel.annotations import ArrayLike, Matrix
from onkel.columns.failures import count
from onkel.errors import DataError
from onkel.numerics.arrays import with_zero_columns


class Means(Protocol):
    """Means that filled the gaps of a block."""

    def learn(self, block: Block, n: int, encoder: object = None) -> None:
        """Let the means of the encoder know the first n rows of a block, unless they do."""


class Block(NamedTuple):
    """Consecutive rows of a stream."""

    #: features (n, d), C-contiguous or CSR; maybe the source's own memory: do not write to them
    X: Matrix
    #: targets (n,) as in the source: str, int, float or bool
    y: np.ndarray | None
    #: index of the first row in the stream
    start: int
    #: how many of the last columns appeared in mid-stream; rows without them have 0 there
    late: int = 0
    #: the series that each row belongs to (n,), as text or numbers, if a group column was named
    groups: np.ndarray | None = None
    #: time of each row (n,) in seconds, if a time column was named
    times: np.ndarray | None = None
    #: the file or table that the last row comes from
    where: str = ""
    #: which rows (n,) have no target, until they are left out; None if all have one
    unlabelled: np.ndarray | None = None
    #: the features with NaN where means have filled gaps (n, d); None: as X
    unfilled: Matrix | None = None
    #: what the encoder's means learn the rows by, once a model has learned them
    means: Means | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


_BY_ROW = ("y", "groups", "times")


def rows_of(part: Block, rows: slice | np.ndarray) -> Block:
    """Some rows of a block, by slice, mask or indices; ``start`` stays."""
    held = {name: getattr(part, name) for name in ("X", *_BY_ROW, "unlabelled", "unfilled")}
    return part._replace(**{name: v[rows] for name, v in held.items() if v is not None})


def concat(parts: list[Block]) -> Block:
    """Stack rows, with 0 in columns that they lack; a single part is returned without a copy."""
    if len(parts) == 1:
        return parts[0]
    stacked: dict[str, Any] = {"X": _stacked([p.X for p in parts])}
    if any(p.unfilled is not None for p in parts):
        given = [p.X if p.unfilled is None else p.unfilled for p in parts]
        stacked["unfilled"] = _stacked(given)
    for name in _BY_ROW:
        columns = [getattr(p, name) for p in parts]
        stacked[name] = None if columns[0] is None else np.concatenate(columns)
    return parts[-1]._replace(**stacked)


def _stacked(parts: list[Matrix]) -> Matrix:
    if isinstance(parts[0], np.ndarray):
        d = max(X.shape[1] for X in parts)
        return np.concatenate([with_zero_columns(X, d - X.shape[1]) for X in parts])
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def skip(
    pieces: Iterable[Block], rows: int, pass_by: Callable[[Block], None] = lambda _: None
) -> Iterator[Block]:
    """The pieces without the first ``rows`` rows, which ``pass_by`` gets."""
    for piece in pieces:
        n = piece.n_rows
        if rows:
            pass_by(rows_of(piece, slice(rows)))
        if rows < n:
            yield rows_of(piece, slice(rows, None)) if rows else piece
        rows = max(rows - n, 0)


def reblock(
    pieces: Iterable[Block], block_rows: int, start: int, waits: Callable[[], bool]
) -> Iterator[Block]:
    """Cut ``pieces`` into blocks of ``block_rows``; the rows before an error still come out.

    ``waits`` tells whether the source has nothing more yet; the rows so far then become a block.
    """
    held: list[Block] = []
    count = 0
    failure: DataError | None = None
    try:
        for piece in pieces:
            n, at = piece.n_rows, 0
            while count + n - at >= block_rows:
                end = at + block_rows - count
                held.append(rows_of(piece, slice(at, end)))
                yield concat(held)._replace(start=start)
                start += block_rows
                held, count, at = [], 0, end
            if at < n:
                held.append(rows_of(piece, slice(at, None)))
                count += n - at
            if count and waits():
                yield concat(held)._replace(start=start)
                start += count
                held, count = [], 0
    except DataError as error:
        failure = error
    if count:
        yield concat(held)._replace(start=start)
    if failure is not None:
        raise failure


def shuffled(pieces: Iterable[Block], size: int, seed: int | None) -> Iterator[Block]:
    """Rows in random order, none moved forward by more than about ``size`` rows.

    The buffer holds ``size`` rows. Each new row replaces a random one, which is handed on; at the
    end the buffer follows in random order. Random numbers are drawn per row, so the order depends
    only on the seed and the size. Memory: three times ``size`` rows.
    """
    rng = np.random.default_rng(seed)
    held: list[Block] = []
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


def beside(
    blocks: Iterable[Block | tuple[Matrix, np.ndarray]],
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> Iterator[Block]:
    """Add groups (n,) and times (n,) to the rows of blocks or of pairs (X, y).

    DataError if there are fewer of them than rows, or a time is missing.
    """
    columns = {"groups": groups, "times": None if times is None else _seconds(times)}
    given = {name: np.asarray(v) for name, v in columns.items() if v is not None}
    start = 0
    for part in blocks:
        block = part if isinstance(part, Block) else Block(part[0], part[1], start)
        end = start + block.n_rows
        for name, values in given.items():
            if len(values) < end:
                there = count(len(values), "value")
                raise DataError(f"{name} has {there}; every row needs one", row=len(values))
        rows: dict[str, Any] = {name: values[start:end] for name, values in given.items()}
        yield block._replace(**rows)
        start = end


def _seconds(times: ArrayLike) -> np.ndarray:
    """Times as seconds since 1970; numbers are taken as seconds."""
    values = np.asarray(times)
    if values.dtype.kind in "OM":
        values = np.array(values, dtype="datetime64[ns]")
        gone = np.isnat(values)
        values = values.astype(np.int64) / 1e9
    else:
        values = values.astype(np.float64)
        gone = ~np.isfinite(values)
    if gone.any():
        row = int(np.argmax(gone))
        raise DataError("the time is missing; every row needs one", row=row, column="time")
    return values
