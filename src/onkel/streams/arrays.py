"""Streams of NumPy arrays and SciPy CSR matrices."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.encoding import Encoder
from onkel.columns.failures import count
from onkel.columns.notation import is_missing
from onkel.errors import DataError, NoRowsError
from onkel.numerics.arrays import as_values, unmasked
from onkel.streams.blocks import Block
from onkel.streams.source import Source, piece_rows


class ArraySource(Source):
    """Rows of an array X (n, d), dense or CSR, with y (n,) or None.

    Blocks are views if the dtype allows it.
    """

    def __init__(self, X: Any, y: Any, encoder: Encoder | None) -> None:
        from scipy.sparse import issparse

        super().__init__()
        self.name = "the array"
        self.sparse: bool = bool(issparse(X))
        X = X.tocsr() if self.sparse else np.asarray(unmasked(X))
        if X.ndim != 2:
            raise DataError(f"an array of shape (n, d) is expected, got shape {X.shape}")
        if X.dtype.kind not in "fiub":
            if X.dtype.kind not in "OUS":
                raise DataError(f"an array of numbers is expected, got dtype {X.dtype}")
            try:
                X = X.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(f"an array of numbers is expected: {error}") from None
        if not X.shape[0] or not X.shape[1]:
            kind = DataError if X.shape[0] else NoRowsError
            raise kind(f"has no rows or no columns (shape {X.shape})", source=self.name)
        self.X = X
        self.y: np.ndarray | None = None if y is None else as_target(y, X.shape[0])
        d = int(X.shape[1])
        self.n_rows: int | None = int(X.shape[0])
        self.encoder: Encoder = Encoder(n_vector=d) if encoder is None else encoder
        if self.encoder.n_features != d:
            wanted = self.encoder.n_features
            text = f"has {count(d, 'column')} where the model has {wanted}"
            raise DataError(text, source=self.name)

    def pieces(self, skip: int, dtype: DTypeLike) -> Iterator[Block]:
        n, d = self.X.shape
        step = piece_rows(d)
        for at in range(min(skip, n), n, step):
            X = self.X[at : at + step]
            with np.errstate(over="ignore"):
                X = X.astype(dtype, copy=False)
            if not self.sparse:
                X = np.ascontiguousarray(X)
            y = None if self.y is None else self.y[at : at + step]
            yield Block(X, y, 0, where=self.name)


def as_target(y: Any, n: int | None = None) -> np.ndarray:
    """A target given as an array, checked to have ``n`` values if ``n`` is given.

    Object arrays become text or numbers; with gaps they stay object arrays, a gap being None.
    """
    y = as_values(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or n not in (None, len(y)):
        raise DataError(f"y has shape {y.shape} where ({'n' if n is None else n},) is expected")
    if y.dtype.kind == "O":
        gone = np.array([is_missing(v) for v in y], dtype=bool)
        plain = [float(v) if isinstance(v, Decimal) else v for v in y[~gone].tolist()]
        found = _of_known_type(np.array(plain))
        if not gone.any():
            return found
        y = np.full(len(y), None)
        y[~gone] = found
        return y
    return _of_known_type(y)


def _of_known_type(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind not in "fiubU":
        raise DataError(f"y of dtype {y.dtype} is neither numbers, booleans nor text")
    return y
