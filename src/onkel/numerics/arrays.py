"""Arrays as the learners take them: rows made dense, labels as targets, and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from onkel.annotations import ArrayLike, Matrix

#: what features may be
FLOATS = np.dtype(np.float64), np.dtype(np.float32)
#: the length of vectors up to which BLAS never uses several threads for a dot product
SHORT = 8192

if TYPE_CHECKING:
    import scipy.sparse as sp

    def issparse(X: object) -> TypeGuard[sp.csr_array]:
        """Whether rows are sparse, which SciPy does not tell a checker."""
else:
    from scipy.sparse import issparse as _is_any_sparse

    def issparse(X: object) -> bool:
        """SciPy's answer, which takes long for the many arrays that are not sparse."""
        return type(X) is not np.ndarray and _is_any_sparse(X)


def as_dense(X: Matrix) -> np.ndarray:
    """Rows as a C-contiguous array, CSR or not.

    A read-only array is copied: to the compiler it is another type, for which every loop would be
    compiled anew.
    """
    rows = np.ascontiguousarray(X.toarray() if issparse(X) else X)
    return rows if rows.flags.writeable else rows.copy()


def next_power_of_two(n: int) -> int:
    """The smallest power of two above n ≥ 0."""
    return 1 << n.bit_length()


def inserted(A: np.ndarray, position: int, value: ArrayLike = 0.0) -> np.ndarray:
    """A (..., n) with ``value`` before place ``position`` of its last axis.

    As ``np.insert``, which takes five times as long for a few numbers.
    """
    wider = np.empty((*A.shape[:-1], A.shape[-1] + 1), A.dtype)
    wider[..., :position], wider[..., position] = A[..., :position], value
    wider[..., position + 1 :] = A[..., position:]
    return wider


def with_zero_columns(S: np.ndarray, n: int) -> np.ndarray:
    """Rows (m, d) with n columns of zeros after their own."""
    return np.pad(S, [(0, 0), (0, n)]) if n else S


def end_of_counted(weight: np.ndarray, start: int, n: int) -> int:
    """Where n rows from ``start`` on end that have a weight above 0; the end of all at most."""
    counted = np.flatnonzero(weight[start:] > 0.0) if len(weight) - start >= n else ()
    return start + int(counted[n - 1]) + 1 if len(counted) >= n else len(weight)


def targets_of(y: np.ndarray, n_outputs: int) -> np.ndarray:
    """Targets (n, K) as numbers: y itself, or the indicators of the classes."""
    if n_outputs == 1:
        return y[:, None]
    Y = np.zeros((len(y), n_outputs))
    Y[np.arange(len(y)), y.astype(np.intp)] = 1.0
    return Y


def unmasked(values: Any) -> Any:
    """Values, with NaN, NaT or None for those that a mask of NumPy hides."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    shown, hidden = np.asarray(values.data), np.ma.getmaskarray(values)
    if not hidden.any():
        return shown
    kind = shown.dtype.kind
    out = shown.astype(shown.dtype if kind in "fmM" else np.float64 if kind in "iub" else object)
    out[hidden] = np.nan if kind in "fiub" else "NaT" if kind in "mM" else None
    return out


def as_values(values: object) -> np.ndarray:
    """Values as an array in which each is what it was: object where they are of several kinds.

    NumPy makes text of a whole list where one value is text, of NaN, too. scikit-learn makes floats
    of pandas' own integers and booleans.
    """
    array = np.asarray(unmasked(values))
    if (
        array.dtype.kind == "U"
        and isinstance(values, (list, tuple))
        and not all(isinstance(value, str) for value in values)
    ):
        return np.array(values, dtype=object)
    return array


def decide(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class codes: of two, the second if the score is ≥ 0; of more, the first of the highest."""
    if n_classes <= 1:
        return np.zeros(len(scores), dtype=np.intp)
    if n_classes == 2:
        return (scores[:, 0] >= 0.0).astype(np.intp)
    return np.argmax(scores, axis=1)
