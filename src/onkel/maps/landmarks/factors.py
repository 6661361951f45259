"""The factor P (m, r) of Nyström features, Pᵀ E P = I, kept while landmarks move.

z(x) = Pᵀ κ(S, x) with E = κ(S, S). With the r leading eigenpairs E ≈ U Λ Uᵀ, P = U Λ^-½ (Si, Kumar
& Li 2018, equation 7). When one landmark moves, one row and one column of E change (equation 9);
these are the solvers of their Figure 1. What they return may differ by a rotation of the features,
which changes no inner product z·z'.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs


def leading(E: np.ndarray, rank: int) -> np.ndarray:
    """U Λ^-½ of the ``rank`` leading eigenpairs, largest first."""
    values, vectors = np.linalg.eigh(E)
    return _scaled(values[::-1][:rank], vectors[:, ::-1][:, :rank])


def _scaled(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.asfortranarray(vectors / np.sqrt(values))


def _scratch(E: np.ndarray, q: int, P: np.ndarray, n_iter: int) -> np.ndarray:
    """From scratch: all eigenpairs of E, O(m³)."""
    return leading(E, P.shape[1])


def randomized(E: np.ndarray, q: int, P: np.ndarray, n_iter: int) -> np.ndarray:
    """Q ← E Q, ``n_iter`` times from the last factor (equation 10); O(m² r).

    Nothing is orthogonalised on the way: P's columns stay close to E's eigenvectors; at unit length
    they are well conditioned. The Cholesky factor of Qᵀ E Q, which makes Pᵀ E P = I, is
    Gram-Schmidt in the order of the eigenvalues.
    """
    Q = P
    for _ in range(n_iter):
        Q = E @ Q
        Q /= np.sqrt(np.einsum("ij,ij->j", Q, Q))
    L, failed = dpotrf(Q.T @ (E @ Q), lower=1)
    if not failed:
        Qt, failed = dtrtrs(L, Q.T, lower=1)
    return leading(E, P.shape[1]) if failed else np.ascontiguousarray(Qt).T


def rank_two(E: np.ndarray, q: int, P: np.ndarray, n_iter: int) -> np.ndarray:
    """The last factor's U Λ Uᵀ with row and column q taken from E: a rank-2 update, O(m r²).

    In the span of U and of the two vectors of equation 9 the update is exact; of its r + 2
    eigenpairs the r leading ones stay (Brand 2006). Entries of E other than in row and column q
    are those of the last factor.
    """
    m, r = P.shape
    lengths = np.einsum("ij,ij->j", P, P)
    U, values = P / np.sqrt(lengths), 1.0 / lengths
    b = E[:, q] - (U * values) @ U[q]
    b[q] *= 0.5
    sides = np.stack([np.eye(m)[q], b], axis=1)
    along = U.T @ sides
    beside, R = np.linalg.qr(sides - U @ along)
    ends = np.concatenate([along, R])
    core = ends @ np.array([[0.0, 1.0], [1.0, 0.0]]) @ ends.T
    core.flat[: r * (r + 3) : r + 3] += values
    values, vectors = np.linalg.eigh(core)
    values, vectors = values[::-1][:r], vectors[:, ::-1][:, :r]
    if values[-1] <= 0.0:
        return leading(E, r)
    return _scaled(values, np.concatenate([U, beside], axis=1) @ vectors)


SOLVERS: dict[str, Callable[[np.ndarray, int, np.ndarray, int], np.ndarray]] = {
    "randomized": randomized,
    "rank_two": rank_two,
    "scratch": _scratch,
}
