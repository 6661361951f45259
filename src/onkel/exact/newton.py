"""The logistic loss by online Newton steps, in the blocks of recursive least squares.

A step is that of least squares for a row with weight h and target f⁺ + (t - p⁺)/h, both known once
the rows before it are learned; see :class:`onkel.rules.LogisticNewton`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.losses import sigmoid
from onkel.numerics.jit import jit

# A row predicted with certainty has no curvature; less than this would be lost in rounding.
_LEAST_CURVATURE = 1e-10


@jit
def _implicit(f, q, t):
    """Solve f⁺ = f + q (t - σ(f⁺)) for f⁺, which lies between f and f + q (t - σ(f)).

    Newton steps, and bisection where a step leaves the bracket or shrinks too slowly.
    """
    end = f + q * (t - sigmoid(f))
    low, high = min(f, end), max(f, end)
    x, last = f, high - low
    for _ in range(100):
        p = sigmoid(x)
        gap = x - f - q * (t - p)
        if gap > 0.0:
            high = x
        else:
            low = x
        new = x - gap / (1.0 + q * p * (1.0 - p))
        if not low <= new <= high or abs(new - x) > 0.5 * last:
            new = 0.5 * (low + high)
        last = abs(new - x)
        x = new
        if last <= 1e-14 * (1.0 + abs(x)):
            break
    return x


@jit
def _learn_in_order(G, F, T, weight, fade, L, v, s, Y):
    """Learn rows in order from G (n, n) = zᵀ P z' and scores F (n, K) at the anchor.

    F becomes the scores before each row. L, v, s (the roots of the weights) and the targets Y are
    outputs.
    """
    for i in range(F.shape[0]):
        # row i of L, and the variance that the rows before it leave
        left = G[i, i]
        for j in range(i):
            c = s[j] * G[i, j]
            for k in range(j):
                c -= L[i, k] * L[j, k]
            L[i, j] = c / L[j, j]
            left -= L[i, j] * L[i, j]
        h = _LEAST_CURVATURE
        q = weight[i] * fade[i] * max(left, 0.0)
        for k in range(F.shape[1]):
            learned = 0.0
            for j in range(i):
                learned += L[i, j] * v[j, k]
            F[i, k] += learned
            Y[i, k] = _implicit(F[i, k], q, T[i, k])
            p = sigmoid(Y[i, k])
            h = max(h, p * (1.0 - p))
        s[i] = math.sqrt(weight[i] * fade[i] * h)
        L[i, i] = math.sqrt(1.0 + s[i] * s[i] * max(left, 0.0))
        for j in range(i):
            L[i, j] *= s[i]
        for k in range(F.shape[1]):
            Y[i, k] += (T[i, k] - sigmoid(Y[i, k])) / h
            v[i, k] = s[i] * (Y[i, k] - F[i, k]) / L[i, i]


class RecursiveNewton(RecursiveLeastSquares):
    """As :class:`RecursiveLeastSquares`; targets are 1 and 0, scores are log-odds."""

    # the logistic loss has at most a quarter of the curvature of least squares
    _share_of_ridge = 0.25

    def is_shared(self, rows: int) -> bool:
        """No: what is summed depends on how the rows are predicted."""
        return False

    def _learn_rows(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        used, n = weight > 0.0, len(Z)
        fade = self.forgetting ** -(self.since.count + np.cumsum(used)).astype(np.float64)
        U, gram = self._transposed(Z)
        L21, G = self.since.products(U, gram)
        F = np.ascontiguousarray(Z @ self.w0 + L21 @ self.since.v)
        L, v, s, goal = np.zeros((n, n)), np.zeros(F.shape), np.zeros(n), np.zeros(F.shape)
        _learn_in_order(np.ascontiguousarray(G), F, _indicators(Y), weight, fade, L, v, s, goal)
        if used.any():
            Z, s = Z[used], s[used, None]
            self.sums.z_sum += Z.T @ (weight * fade)[used]
            rows = self.since.count + len(Z)
            anchor = self._added(Z * s, goal[used] * s, rows)
            new = U[:, used] * s.T, L21[used] * s, L[np.ix_(used, used)], v[used]
            if anchor is None:
                self.since.append(*new)
            self._go_on(anchor, rows)
        return F

    def can_sum(self, weight: np.ndarray) -> bool:
        """No: what a row adds depends on how it was predicted."""
        return False

    def linearized(
        self, F: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As in least squares, linearised at the scores F."""
        slope = _indicators(Y) - expit(F)
        h = np.maximum((expit(F) * expit(-F)).max(axis=1), _LEAST_CURVATURE)
        return weight * h, F + slope / h[:, None], weight[:, None] * slope

    def add_output(self, position: int) -> None:
        """Insert a class that no row so far belonged to.

        Two classes were one output f: each against the other, they become -f and f.
        """
        sums = self.sums
        if sums.b.shape[1] == 1:
            sums.b = np.concatenate([-sums.b, sums.b], axis=1)
        sums.b = np.insert(sums.b, position, -0.5 * sums.z_sum, axis=1)
        self._anchor_at(self.since.count)


def _indicators(Y: np.ndarray) -> np.ndarray:
    """Targets as 1 and 0; with one output they come as ±1."""
    return 0.5 * (Y + 1.0) if Y.shape[1] == 1 else Y
