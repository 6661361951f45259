"""Online k-means with a threshold: which row moves which centroid, and where to.

Si, Kumar & Li 2018, equation 8 and Algorithm 1, lines 4 to 7. Rows nearer to their centroid than
the threshold move nothing, so a block is looked through at once: its inner products with all
centroids are one matrix product, and a loop walks them to the next row that moves something.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import dot, jit, jit_inline


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
