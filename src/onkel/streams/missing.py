"""Refuse, fill or drop missing and infinite values, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.encoding import Encoder
from onkel.errors import DataError
from onkel.streams.blocks import Block, rows_of


class GapMeans:
    """The means that fill gaps, of the rows read so far; those of the encoder come after.

    Rows are read ahead. The encoder's means, which are saved with the model, learn a block when the
    model does (:meth:`learn`), and no rows that it does not learn. ``learns``: whether means learn.
    """

    def __init__(self, encoder: Encoder, learns: bool) -> None:
        self.encoder: Encoder = encoder
        self.learns: bool = learns
        means, counts = encoder.widened_means()
        self._means, self._counts = means.copy(), counts.copy()
        #: rows of the stream that the encoder's means know, and these means
        self._n_known: int = 0
        self._known: np.ndarray | None = None

    def filled(self, piece: Block, learn: bool) -> Block:
        """The rows without gaps; the means of the rows read learn them before, if they should."""
        more = (0, self.encoder.n_features - len(self._means))
        if more[1]:
            self._means, self._counts = np.pad(self._means, more), np.pad(self._counts, more)
        X, given = piece.X.copy(), piece.X
        gone = np.isnan(_values(X))
        if learn and self.learns and not self.encoder.fixed:
            _fill_and_learn(X, self._means, self._counts)
        elif isinstance(X, np.ndarray):
            np.copyto(X, self._means[: X.shape[1]], where=gone, casting="same_kind")
        else:
            X.data[gone] = self._means[X.indices[gone]]
        if not self.learns:
            return piece._replace(X=X)
        if not learn:
            # nothing but gaps
            given = given.copy()
            _values(given)[...] = np.nan
        return piece._replace(X=X, unfilled=given if gone.any() or not learn else None, means=self)

    def learn(self, block: Block, n: int, encoder: object = None) -> None:
        """Let the encoder's means know the first n rows of a block, unless they do.

        ``encoder``: that of the model that learned them. A copied model has another one, whose
        means stay as they are.
        """
        new = block.start + n - self._n_known
        if encoder in (None, self.encoder) and new > 0:
            self.pass_by(rows_of(block, slice(max(n - new, 0), n)))
            self._n_known = block.start + n

    def pass_by(self, rows: Block) -> None:
        """Let the encoder's means know the next rows."""
        if self.learns and not self.encoder.fixed:
            means, counts = (own.copy() for own in self.encoder.widened_means())
            X = rows.X if rows.unfilled is None else rows.unfilled
            _fill_and_learn(X.copy(), means, counts)
            self.encoder.means, self.encoder.counts, self._known = means, counts, means
        self._n_known += rows.n_rows

    def end(self) -> None:
        """All rows are known: the encoder's means are those by which they were filled.

        Sums of blocks are rounded in another order than those of pieces.
        """
        if self._known is not None and self.encoder.means is self._known:
            self.encoder.means, self.encoder.counts = self._means, self._counts


def clean(
    pieces: Iterable[Block],
    policy: str,
    encoder: Encoder,
    means: GapMeans | None,
    first_row: int,
    learn: bool,
    every_row: bool,
    count: Callable[[Block], None],
) -> Iterator[Block]:
    """Pieces without NaN, up to the first row that is refused; ``count`` gets their good rows.

    Infinite values are always an error, gaps only if the policy is ``"error"``. ``"mean"`` and
    ``"auto"`` fill with the running ``means`` of the column over the rows before.
    ``"skip"`` drops the row. With ``learn``, rows without a target are dropped, too, whatever they
    hold, unless ``every_row`` is asked for; without, their target is NaN or None.
    """
    row = first_row
    for piece in pieces:
        n = piece.n_rows
        good, failure = _check(piece, policy, encoder, row, learn and not every_row)
        part = rows_of(piece, slice(good)) if good < n else piece
        if part.y is not None and part.y.dtype.kind == "O":
            # targets without gaps, as numbers or text
            part = part._replace(y=np.array(part.y.tolist()))
        count(part)
        for own, learned in _parts(part, learn, every_row):
            repaired = _repaired(own, policy, means, learned)
            if repaired.n_rows:
                yield repaired
        if failure is not None:
            raise failure
        row += n


def _parts(piece: Block, learn: bool, every_row: bool) -> Iterator[tuple[Block, bool]]:
    """The rows of a piece that stay, and whether the means learn from them."""
    gone = piece.unlabelled
    if gone is None:
        yield piece, learn
    elif learn and not every_row:
        yield rows_of(piece, ~gone)._replace(unlabelled=None), True
    else:
        # labels keep their types; numbers that are only predicted are floats
        assert piece.y is not None
        plain = not learn and piece.y.dtype.kind not in "Ub"
        y = piece.y.astype(np.float64 if plain else object)
        y[gone] = None
        piece = piece._replace(y=y, unlabelled=None)
        # the rows before a row without a target are learned before it
        ends = [*(np.flatnonzero(np.diff(gone)) + 1), len(gone)] if learn else [len(gone)]
        start = 0
        for end in ends:
            yield rows_of(piece, slice(start, end)), learn and not gone[start]
            start = end


def _values(X: Matrix) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.data


def _check(
    piece: Block, policy: str, encoder: Encoder, row: int, drops: bool
) -> tuple[int, DataError | None]:
    """Number of rows before the first bad one, and its error."""
    X, y, where = piece.X, piece.y, piece.where
    good, failure = X.shape[0], None
    finite = np.isfinite(_values(X))
    if not finite.all():
        bad = ~finite if policy == "error" else np.isinf(_values(X))
        if drops and piece.unlabelled is not None:
            # a row that will be dropped may hold anything
            bad &= ~_of_rows(piece.unlabelled, X)
        if bad.any():
            k = int(np.argmax(bad))
            good, j = _position(X, k)
            failure = _refusal(_values(X).flat[k], encoder.column_of(j), where, row + good)
    fine = _present(y)
    if piece.unlabelled is not None and len(fine):
        fine |= piece.unlabelled
    if y is not None and not fine[:good].all():
        good = int(np.argmin(fine))
        value = y[good]
        what = f"{value}; every row needs a finite one"
        failure = DataError(
            f"the target is {'missing; every row needs one' if value is None else what}",
            source=where,
            row=row + good,
            column=encoder.target,
            value=None if value is None else float(value),
        )
    return good, failure


def _present(y: np.ndarray | None) -> np.ndarray:
    """Mask of targets that are present and finite; empty unless y is float or object."""
    if y is None or y.dtype.kind not in "fO":
        return np.ones(0, dtype=bool)
    return np.isfinite(y) if y.dtype.kind == "f" else np.array([value is not None for value in y])


def _of_rows(flags: np.ndarray, X: Matrix) -> np.ndarray:
    """Each row's flag, for each of its values."""
    if isinstance(X, np.ndarray):
        return np.broadcast_to(flags[:, None], X.shape)
    return np.asarray(np.repeat(flags, np.diff(X.indptr)))


def _position(X: Matrix, k: int) -> tuple[int, int]:
    """Row and feature of the k-th value."""
    if isinstance(X, np.ndarray):
        return k // X.shape[1], k % X.shape[1]
    return int(np.searchsorted(X.indptr, k, side="right")) - 1, int(X.indices[k])


def _refusal(value: np.floating[Any], column: str | int, where: str, row: int) -> DataError:
    if np.isnan(value):
        text = (
            "the value is missing (NaN); fill or drop such rows with missing='zero', 'mean' or "
            "'skip' (--missing on the command line)"
        )
    elif value.dtype == np.float32:
        text = (
            "the value is infinite, or too large for float32 (3.4e+38); it must be finite. "
            "dtype='float64' (--dtype float64) holds larger ones"
        )
    else:
        text = "the value is infinite; it must be finite"
    return DataError(text, source=where, row=row, column=column, value=float(value))


def _repaired(piece: Block, policy: str, means: GapMeans | None, learn: bool) -> Block:
    X = piece.X
    if means is not None:
        return means.filled(piece, learn)
    gone = np.isnan(_values(X)) if policy != "error" else None
    if gone is None or not gone.any():
        return piece
    if policy == "zero":
        if isinstance(X, np.ndarray):
            return piece._replace(X=np.where(gone, X.dtype.type(0), X))
        X = X.copy()
        X.data[gone] = 0
        return piece._replace(X=X)
    if isinstance(X, np.ndarray):
        keep = ~gone.any(axis=1)
    else:
        keep = np.ones(X.shape[0], dtype=bool)
        keep[np.searchsorted(X.indptr, np.flatnonzero(gone), side="right") - 1] = False
    return rows_of(piece, keep)


def _fill_and_learn(X: Matrix, means: np.ndarray, counts: np.ndarray) -> None:
    """Fill gaps by the means of the rows before, row by row, in place."""
    from onkel.columns.running import fill_means, fill_means_sparse

    if isinstance(X, np.ndarray):
        fill_means(X, means, counts)
    else:
        fill_means_sparse(X.indptr, X.indices, X.data, means, counts)
