"""A Cholesky factor that rounding cannot stop, and a solve with it that is mostly products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dtrtri

__all__ = ["TransposedSolve", "cholesky_upper"]

# Columns of a triangular solve at a time, for so many rows or more.
_SOLVED, _FEW_ROWS = 64, 16


def cholesky_upper(R: np.ndarray) -> np.ndarray:
    """Upper C with R = Cᵀ C, from the upper triangle of R (m, m).

    Where rounding left R indefinite, a little is added to its diagonal; NaN stay NaN.
    """
    C, failed = dpotrf(R)
    jitter = 1e-15 * float(np.trace(R))
    while failed and np.isfinite(jitter):
        jittered = R.copy(order="F")
        jittered.flat[:: len(R) + 1] += jitter
        C, failed = dpotrf(jittered)
        jitter *= 10.0
    return np.asarray(C)


class TransposedSolve:
    """Z ↦ (C⁻ᵀ Zᵀ), of an upper C (m, m); for blocks of rows it is made of matrix products."""

    def __init__(self, C: np.ndarray) -> None:
        self.factor = C
        self._parts: list[tuple[slice, np.ndarray, np.ndarray]] = []

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """U (m, n), in column order, of rows Z (n, m)."""
        if len(Z) < _FEW_ROWS:
            return np.asarray(dtrsm(1.0, self.factor, Z.T, trans_a=1))
        if not self._parts:
            self._parts = list(self._split())
        U = np.empty_like(Z)
        for part, above, inverse in self._parts:
            rest = Z[:, part] - U[:, : part.start] @ above if part.start else Z[:, part]
            np.matmul(rest, inverse, out=U[:, part])
        return U.T

    def _split(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Columns of C in parts: what stands above the diagonal block, and the block's inverse."""
        for a in range(0, len(self.factor), _SOLVED):
            part = slice(a, a + _SOLVED)
            inverse = np.triu(dtrtri(self.factor[part, part])[0])
            yield part, np.ascontiguousarray(self.factor[:a, part]), np.ascontiguousarray(inverse)
