"""Landmarks that follow the rows by online k-means, and the factor of their features.

A row farther from its nearest landmark than a threshold moves it (Si, Kumar & Li 2018, equation 8
and Algorithm 1, lines 4 to 7). Nearer rows move nothing, so a block is looked through at once: its
inner products with all landmarks are one matrix product, and a loop finds the next row that moves
something.

Features are z(x) = Pᵀ κ(S, x). With E = κ(S, S) and its r leading eigenpairs E ≈ U Λ Uᵀ, the factor
is P = U Λ^-½ (m, r), so that Pᵀ E P = I (equation 7). When one landmark moves, one row and one
column of E change (equation 9); the solvers here are those of their Figure 1. What they return may
differ by a rotation of the features, which changes no inner product z·z'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from onkel.numerics.jit import dot, jit, jit_inline
from onkel.numerics.threads import scratch

# The most that rounding may change a kernel value through the products of rows and landmarks.
_ROUNDING = 4e-6


@jit_inline
def _squared_distance(X, t, S, j):
    total = 0.0
    for k in range(X.shape[1]):
        delta = float(X[t, k]) - float(S[j, k])
        total += delta * delta
    return total


@jit_inline
def _highest(P, t, half, lanes):
    """max_j P[t, j] - half[j], in lanes side by side: a plain maximum would not be vectorised."""
    width = lanes.shape[0]
    whole = half.shape[0] - half.shape[0] % width
    for k in range(width):
        lanes[k] = -np.inf
    for a in range(0, whole, width):
        for k in range(width):
            value = P[t, a + k] - half[a + k]
            lanes[k] = value if value > lanes[k] else lanes[k]
    for j in range(whole, half.shape[0]):
        lanes[0] = max(lanes[0], P[t, j] - half[j])
    highest = lanes[0]
    for k in range(1, width):
        highest = max(highest, lanes[k])
    return highest


@jit_inline
def _nearest(P, t, X, S, half, floor):
    """Nearest centroid of row t and its squared distance, in float64.

    The products only say which centroids may be nearest. Distances are computed from the rows
    themselves, because rounding in a matrix product depends on the number of its rows.
    """
    q, least = 0, np.inf
    for j in range(half.shape[0]):
        if P[t, j] - half[j] >= floor:
            squared = _squared_distance(X, t, S, j)
            if squared < least:
                q, least = j, squared
    return q, least


@jit
def next_move(P, X, S, around_X, around_S, t, weight, threshold, marking, density, counts, last,
              clock):  # fmt: skip
    """The first row from t on that moves a centroid, and which: (row, q), or (n, -1).

    ``P`` (n, m): inner products of ``around_X`` and ``around_S``, the rows X and centroids S
    around their middle. ``clock`` counts the rows passed. With ``marking``, ``last`` gets the clock
    of the last row nearest to each centroid; with ``density``, ``counts`` gets the rows' weights.
    Rows of weight 0 are skipped.
    """
    half, lanes = np.empty(S.shape[0], P.dtype), np.empty(16, P.dtype)
    most = 0.0
    for j in range(S.shape[0]):
        squared = dot(around_S, j, around_S, j)
        half[j] = P.dtype.type(0.5) * squared
        most = max(most, float(squared))
    rounding = (2.4e-7 if P.itemsize == 4 else 4.5e-16) * (X.shape[1] + 4)
    for i in range(t, X.shape[0]):
        if weight[i] == 0.0:
            continue
        own = float(dot(around_X, i, around_X, i))
        highest, slack = float(_highest(P, i, half, lanes)), rounding * (own + most)
        # most rows are so near that rounding cannot matter
        if marking or density or own - 2.0 * (highest - slack) >= threshold:
            q, squared = _nearest(P, i, X, S, half, P.dtype.type(highest - slack))
            if squared >= threshold:
                return i, q
            last[q] = clock[0] + 1
            if density:
                counts[q] += weight[i]
        clock[0] += 1
    return X.shape[0], -1


def moved(centroid: np.ndarray, count: float, x: np.ndarray, mass: float) -> np.ndarray:
    """(N u + x)/(N + 1), equation 8, for a row that counts as ``mass`` rows."""
    u = centroid.astype(np.float64)
    return u + (mass / (count + mass)) * (x.astype(np.float64) - u)


class Panel:
    """A block of rows X (n, d) seen by landmarks that move on the way.

    The inner products of all rows and all landmarks are one matrix product; a move recomputes one
    column of it for the later rows. The features of a row are those over the landmarks it meets.
    """

    def __init__(self, owner: Any, X: np.ndarray, weight: np.ndarray) -> None:
        self.map: Any = owner
        self.weight: np.ndarray = weight
        self.X = X
        self.middle: Any = owner.landmarks_.mean(axis=0)
        self.around: Any = X - self.middle
        self.centred: Any = owner.landmarks_ - self.middle
        shape = (len(X), len(self.centred))
        room = scratch("panel", shape, X.dtype)
        self.products: np.ndarray = np.matmul(self.around, self.centred.T, out=room)
        #: rows start to stop meet the same landmarks; the last of them moves ``q``, if not -1
        self.start: int = 0
        self.stop: int = 0
        self.q: int = -1

    @property
    def done(self) -> bool:
        return self.stop == len(self.X)

    def next_rows(self) -> slice:
        """The next rows that meet the same landmarks."""
        m = self.map
        self.start = self.stop
        row, self.q = next_move(
            self.products, self.X, m.landmarks_, self.around, self.centred, self.start,
            self.weight, m.threshold_, m.expire is not None, bool(m.weighted),
            m.counts_, m._last, m._clock,
        )  # fmt: skip
        self.stop = min(row + 1, len(self.X))
        return slice(self.start, self.stop)

    def features(self) -> np.ndarray:
        """Features of these rows; overwrites their products."""
        m, rows = self.map, slice(self.start, self.stop)
        kernel = m._kernel
        if kernel.radial:
            far = self._far(self.around[rows])
            K = kernel.of_products(self.products[rows], self.around[rows], self.centred, m.gamma_)
            if far.any():
                K[far] = kernel.ordered_gram(self.X[rows][far], m.landmarks_, m.gamma_)
        else:
            K = kernel.gram(self.X[rows], m.landmarks_, m.gamma_)
        shape = (len(K), m.n_features_out_)
        return np.matmul(K, m.projection_, out=scratch("features", shape, m.dtype_))

    def _far(self, around: np.ndarray) -> np.ndarray:
        """Rows so far from the middle, or all if a landmark is, that products lose digits.

        The middle is that of the landmarks before the block. So what is lost would depend on
        blocks: the distances of such rows are computed from the rows themselves.
        """
        most = np.einsum("ij,ij->i", self.centred, self.centred).max()
        own = np.einsum("ij,ij->i", around, around)
        return np.asarray(self.map.gamma_ * (own + most) * np.finfo(own.dtype).eps > _ROUNDING)

    def move(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Let the last row move its landmark, if it moves one.

        Returns the features of all landmarks before and after, (B, k) each.
        """
        if self.q < 0:
            return None
        t = self.stop - 1
        moved = self.map.move(self.q, self.X[t], float(self.weight[t]))
        if moved is None:
            return None
        q, before, after = moved
        self.centred[q] = self.map.landmarks_[q] - self.middle
        np.matmul(self.around[self.stop :], self.centred[q], out=self.products[self.stop :, q])
        return before, after


def leading(E: np.ndarray, rank: int) -> np.ndarray:
    """U Λ^-½ of the ``rank`` leading eigenpairs, largest first."""
    values, vectors = np.linalg.eigh(E)
    return _scaled(values[::-1][:rank], vectors[:, ::-1][:, :rank])


def _scaled(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.asfortranarray(vectors / np.sqrt(values))


def randomized(E: np.ndarray, q: int, P: np.ndarray, n_iter: int) -> np.ndarray:
    """Q ← E Q, ``n_iter`` times from the last factor (equation 10); O(m² r).

    P's columns stay close to E's eigenvectors: at unit length one step leaves them well
    conditioned, and two may not. So Gram-Schmidt follows each step, in the order of the
    eigenvalues; the last makes Pᵀ E P = I.
    """
    Q = P
    for left in range(n_iter, 0, -1):
        Q = E @ Q
        Q /= np.sqrt(np.einsum("ij,ij->j", Q, Q))
        L, failed = dpotrf(Q.T @ (Q if left > 1 else E @ Q), lower=1)
        if not failed:
            Qt, failed = dtrtrs(L, Q.T, lower=1)
        if failed:
            return leading(E, P.shape[1])
        Q = np.ascontiguousarray(Qt).T
    return Q


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
    # all eigenpairs of E, O(m³)
    "scratch": lambda E, q, P, n_iter: leading(E, P.shape[1]),
}
