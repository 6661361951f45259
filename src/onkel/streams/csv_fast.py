"""The fast path of CSV: chunks that hold nothing but plain numbers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa

from .encoding import Encoder
from .lines import Chunk

__all__ = ["FastNumbers"]

# Give up on a file after so many chunks in a row that are not plain numbers.
_PATIENCE = 3


class FastNumbers:
    """Parses chunks of plain numbers; says None to all others, which pyarrow then parses.

    Parameters
    ----------
    encoder : Encoder
    target : str or None
    types : dict
        Types of the columns; a whole-number target widens to float64 in it.
    """

    def __init__(self, encoder: Encoder, target: str | None, types: dict[str, Any]) -> None:
        self.encoder, self.target, self.types = encoder, target, types
        numeric = (pa.int64(), pa.float64())
        self.usable = all(c.kind == "number" for c in encoder.columns) and (
            target is None or types.get(target) in numeric
        )
        self.failed = 0
        # Without the compiler the loop is far slower than pyarrow.
        self.usable = self.usable and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("0", "")

    def parse(
        self, chunk: Chunk, names: list[str], delimiter: str, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray | None] | None:
        """Features and target of a chunk, or None."""
        if not self.usable or self.failed >= _PATIENCE:
            return None
        from ._csv_loop import POWERS, parse_numbers

        at = {c.name: j for j, c in enumerate(self.encoder.columns)}
        if self.target is not None:
            at[self.target] = -1
        place = np.array([at.get(n, -2) for n in names], dtype=np.int64)
        rows = chunk.n_lines
        X = np.empty((rows, self.encoder.n_features), dtype=dtype)
        X[:, [j for name, j in at.items() if j >= 0 and name not in names]] = np.nan
        y = np.empty(rows if self.target is not None else 0)
        exact = np.dtype(dtype) == np.float64
        # The loop reads eight bytes at a time, up to a line end.
        buf = np.frombuffer(chunk.data + b"\n" * 16, np.uint8)
        end = len(chunk.data)
        with np.errstate(over="ignore"):
            n = parse_numbers(buf, end, ord(delimiter), place, POWERS, exact, X, y)
        if n < 0:
            self.failed += 1
            return None
        self.failed = 0
        return X[:n], None if self.target is None else self._labels(y[:n])

    def _labels(self, y: np.ndarray) -> np.ndarray:
        """The target as int64 while it is whole."""
        if self.types[str(self.target)] != pa.int64():
            return y
        if (y == np.floor(y)).all():
            return y.astype(np.int64)
        self.types[str(self.target)] = pa.float64()
        return y
