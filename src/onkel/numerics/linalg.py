"""Cholesky factors: one that rounding cannot make fail, and one in blocks for fast solves."""

from __future__ import annotations

from collections.abc import Generator
from itertools import count

import numpy as np
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri, spotrf, spotri

from onkel.numerics.blas import cholesky_lower
from onkel.numerics.in_steps import finished
from onkel.numerics.jit import jit

# Columns of a block, and rows from which on a solve is done by matrix products.
_WIDTH, _FEW_ROWS = 48, 16
# Half of an inverse is copied to the other half in tiles of this size.
_TILE = 32


def cholesky_upper(R: np.ndarray) -> np.ndarray:
    """Upper C with R = Cᵀ C, from the upper triangle of R (m, m).

    Where rounding left R indefinite, a little is added to its diagonal; NaN stay NaN.
    """
    return finished(cholesky_in_steps(R))[0]


def cholesky_in_steps(
    R: np.ndarray, failing: int = 0
) -> Generator[bool, None, tuple[np.ndarray, int]]:
    """As :func:`cholesky_upper`, with the number of failed tries; each yields an unforeseen step.

    The first ``failing`` tries are left out: it is known that they would fail.
    """
    single = R.dtype == np.float32
    potrf = spotrf if single else dpotrf
    jitter = (1e-7 if single else 1e-15) * float(np.trace(R))
    for tries in count():
        if tries > failing:
            yield False
        if tries >= failing:
            C, failed = potrf(_with_more(R, jitter) if tries else R)
            if not failed or not np.isfinite(jitter):
                break
        jitter *= 10.0 if tries else 1.0
    return np.asarray(C), tries


def _with_more(R: np.ndarray, jitter: float) -> np.ndarray:
    """A copy of R with ``jitter`` added to its diagonal."""
    more = R.copy(order="F")
    more.flat[:: len(R) + 1] += jitter
    return more


def inverse_of_factor(C: np.ndarray) -> np.ndarray:
    """(CᵀC)⁻¹ of an upper C, both triangles, in the precision of C."""
    inverse = np.asarray((spotri if C.dtype == np.float32 else dpotri)(C)[0]).T
    _mirror(inverse)
    return inverse


@jit
def _mirror(A):
    """Copy what is below the diagonal to above it, tile by tile: both stay in the cache."""
    n = len(A)
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    A[j, i] = A[i, j]


class BlockFactor:
    """Upper C (m, m) with R = Cᵀ C, in row order, and the inverses of its diagonal blocks."""

    def __init__(self, C: np.ndarray) -> None:
        self.C = np.ascontiguousarray(C)
        self._inverses = [dtrtri(C[part, part])[0] for part in _parts(len(C))]

    @classmethod
    def of(cls, R: np.ndarray) -> BlockFactor:
        """The factor of R, from its upper triangle; where it fails, by :func:`cholesky_upper`."""
        C = np.ascontiguousarray(np.triu(R))
        return cls(C if cholesky_lower(C.T) else cholesky_upper(R))

    def solve(self, B: np.ndarray) -> np.ndarray:
        """R⁻¹ B."""
        return np.asarray(dpotrs(self.C.T, B, lower=1)[0])

    def back(self, B: np.ndarray) -> np.ndarray:
        """C⁻¹ B."""
        if B.shape[1] == 1:
            return np.asarray(dtrsv(self.C.T, B[:, 0], lower=1, trans=1))[:, None]
        return np.asarray(dtrsm(1.0, self.C.T, B, lower=1, trans_a=1))

    def transposed(self, Z: np.ndarray) -> np.ndarray:
        """C⁻ᵀ Zᵀ (m, n) of rows Z (n, m)."""
        if len(Z) == 1:
            # three times as fast as the solver of many
            return np.asarray(dtrsv(self.C.T, Z[0], lower=1))[:, None]
        if len(Z) < _FEW_ROWS:
            return np.ascontiguousarray(dtrsm(1.0, self.C.T, Z.T, lower=1))
        U = np.array(Z.T, order="C")
        for part, inverse in zip(_parts(len(U)), self._inverses, strict=True):
            if part.start:
                U[part] -= self.C[: part.start, part].T @ U[: part.start]
            U[part] = inverse.T @ U[part]
        return U


def _parts(m: int) -> list[slice]:
    return [slice(a, min(a + _WIDTH, m)) for a in range(0, m, _WIDTH)]
