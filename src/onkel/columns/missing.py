"""Missing and infinite values: refused, filled or dropped, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from onkel.columns.encoding import Encoder
from onkel.errors import DataError

__all__ = ["POLICIES", "clean"]

POLICIES = ("error", "zero", "mean", "skip")


def clean(pieces: Iterable[Any], policy: str, encoder: Encoder, first_row: int) -> Iterator[Any]:
    """Pieces (``onkel.streams.blocks.Piece``) without NaN or inf.

    Infinite values are always an error. ``"mean"`` fills with the running mean of the column over
    the rows before (kept in the encoder, so a saved model fills a new file with what it learned).
    ``"skip"`` drops the row.
    """
    row = first_row
    if policy == "mean" and encoder.means is None:
        encoder.means = np.zeros(encoder.n_features)
        encoder.counts = np.zeros(encoder.n_features)
    for piece in pieces:
        X, y, n = piece.X, piece.y, piece.n_rows
        good, failure = _check(X, y, piece.where, policy, encoder, row)
        if good < n:
            piece = piece.before(good)
        piece = _repaired(piece, policy, encoder)
        if piece.n_rows:
            yield piece
        if failure is not None:
            raise failure
        row += n


def _values(X: Any) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.data


def _check(
    X: Any, y: Any, where: str, policy: str, encoder: Encoder, row: int
) -> tuple[int, DataError | None]:
    """Number of rows before the first bad one, and what is wrong with that."""
    good, failure = X.shape[0], None
    finite = np.isfinite(_values(X))
    if not finite.all():
        bad = ~finite if policy == "error" else np.isinf(_values(X))
        if bad.any():
            k = int(np.argmax(bad))
            good, j = _position(X, k)
            failure = _refusal(_values(X).flat[k], encoder.column_of(j), where, row + good)
    if y is not None and y.dtype.kind == "f" and not np.isfinite(y[:good]).all():
        good = int(np.argmin(np.isfinite(y)))
        failure = DataError(
            f"the target is {y[good]}; every row needs a finite one",
            source=where,
            row=row + good,
            column=encoder.target,
            value=float(y[good]),
        )
    return good, failure


def _position(X: Any, k: int) -> tuple[int, int]:
    """Row and feature of the k-th value."""
    if isinstance(X, np.ndarray):
        return k // X.shape[1], k % X.shape[1]
    return int(np.searchsorted(X.indptr, k, side="right")) - 1, int(X.indices[k])


def _refusal(value: Any, column: str | int, where: str, row: int) -> DataError:
    if np.isnan(value):
        text = (
            "the value is missing (NaN); fill or drop such rows with missing='zero', 'mean' or "
            "'skip' (--missing on the command line)"
        )
    else:
        text = f"the value is infinite or too large for the dtype ({value}); it must be finite"
    return DataError(text, source=where, row=row, column=column, value=float(value))


def _repaired(piece: Any, policy: str, encoder: Encoder) -> Any:
    X = piece.X
    gone = np.isnan(_values(X)) if policy != "error" else None
    if policy == "mean":
        return piece._replace(X=_filled(X, encoder))
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
    return piece.among(keep)


def _filled(X: Any, encoder: Encoder) -> Any:
    from onkel.columns.running import fill_means, fill_means_sparse

    X = X.copy()
    if isinstance(X, np.ndarray):
        fill_means(X, encoder.means, encoder.counts)
    else:
        fill_means_sparse(X.indptr, X.indices, X.data, encoder.means, encoder.counts)
    return X
