"""Sparse rows as dense ones, where a loop or a metric needs them so."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


def as_dense(X: Any) -> np.ndarray:
    """Rows as a C-contiguous array, CSR or not.

    A read-only array is copied: to the compiler it is another type, for which every loop would be
    compiled anew.
    """
    rows = np.ascontiguousarray(X.toarray() if issparse(X) else X)
    return rows if rows.flags.writeable else rows.copy()


def with_zero_columns(S: np.ndarray, n: int) -> np.ndarray:
    """Rows (m, d) with n columns of zeros after their own."""
    return np.pad(S, [(0, 0), (0, n)]) if n else S
