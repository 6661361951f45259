"""Arrays as the learners take them: rows made dense, labels of any library, scratch memory."""

from __future__ import annotations

import math
import threading
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


def as_values(values: Any) -> np.ndarray:
    """Values as an array in which each is what it was: object where they are of several kinds.

    NumPy makes text of a whole list where one value is text, of NaN, too. scikit-learn makes floats
    of pandas' own integers and booleans.
    """
    array = np.asarray(values)
    listed = array.dtype.kind == "U" and isinstance(values, (list, tuple))
    if listed and not all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    return array


_local = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An uninitialised C-contiguous array, valid until the next call of the same name."""
    arrays: dict[str, np.ndarray] = _local.__dict__
    last = arrays.get(name)
    if last is not None and last.shape == shape and last.dtype == dtype:
        return last
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = None if last is None else last.base
    if buffer is None or buffer.nbytes < n_bytes:
        buffer = np.empty(n_bytes, np.uint8)
    arrays[name] = buffer[:n_bytes].view(dtype).reshape(shape)
    return arrays[name]
