"""The fingerprint of rows, by which a resumed run knows them again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from onkel.annotations import Matrix


class Fingerprint:
    """Hash of rows that does not depend on how they are cut into blocks.

    It covers the column names in order, every feature and every target. A column that appears in
    mid-stream only counts where it is not 0, so the rows before it keep their fingerprint.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.n_rows: int = 0
        self._parts = [hashlib.sha256() for _ in range(3)]
        self._parts[0].update("\x1f".join(names).encode("utf-8", "surrogatepass"))

    def copy(self) -> Fingerprint:
        """An independent copy, to continue from here."""
        other = Fingerprint()
        other.n_rows, other._parts = self.n_rows, [part.copy() for part in self._parts]
        return other

    def update(self, X: Matrix, y: np.ndarray | None, late: int) -> None:
        """Add the rows of X, of shape (n, d), whose last ``late`` columns came in mid-stream."""
        first, others, targets = self._parts
        if isinstance(X, np.ndarray):
            known = X.shape[1] - late
            first.update(np.ascontiguousarray(X[:, :known]).data)
            values = X[:, known:]
            rows, columns = np.nonzero(values)
            values = values[rows, columns]
        else:
            rows, columns, values = np.diff(X.indptr), X.indices, X.data
            first.update(rows.astype(np.int64).data)
            rows = np.repeat(np.arange(len(rows)), rows)
        entries = np.empty((len(values), 3))
        entries[:, 0], entries[:, 1], entries[:, 2] = rows + self.n_rows, columns, values
        others.update(entries.data)
        if y is not None:
            if y.dtype.kind == "U":
                text = "".join(f"{value}\x1f" for value in y)
                targets.update(text.encode("utf-8", "surrogatepass"))
            else:
                # a column of integers may widen to floats
                targets.update(y.astype(np.float64).tobytes())
        self.n_rows += X.shape[0]

    def digest(self) -> str:
        """Number of rows and hash, as text."""
        joint = hashlib.sha256(b"".join(part.digest() for part in self._parts)).hexdigest()
        return f"{self.n_rows}:{joint[:32]}"
