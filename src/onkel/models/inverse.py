"""The inverse (κ(S, S) + λ I)⁻¹ of a support set, kept in float64 while rows come and go.

It grows by a row and a column, and exchanges them by two rank-one updates.
"""

from __future__ import annotations

import numpy as np

from onkel._jit import jit, jit_inline
from onkel.budgets.base import DIAGONAL

__all__ = ["anew", "column", "coordinates", "exchange", "extend", "ridge"]


@jit_inline
def ridge(q, rounding):
    """λ of a row with κ(x, x) = q."""
    return rounding * q + 1e-12


@jit_inline
def coordinates(panel, t, q, size, inverse, d, u, rounding):
    """d = (K + λI)⁻¹ k of row t; returns ‖δ‖² = q + λ - kᵀd. ``u`` is scratch."""
    added = ridge(q, rounding)
    delta2 = q + added
    for j in range(size):
        u[j] = panel[t, j]
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += inverse[i, j] * u[j]
        d[i] = total
        delta2 -= total * u[i]
    return max(delta2, added)


@jit_inline
def extend(inverse, d, delta2, size):
    """The inverse with one more row: + [d; -1][d; -1]ᵀ/‖δ‖²."""
    d[size] = -1.0
    for j in range(size + 1):
        inverse[size, j] = 0.0
        inverse[j, size] = 0.0
    for i in range(size + 1):
        share = d[i] / delta2
        for j in range(size + 1):
            inverse[i, j] += share * d[j]


@jit_inline
def column(inverse, d, delta2, r, size, u):
    """Column r of the inverse with one more row, which stands last."""
    for i in range(size):
        u[i] = inverse[i, r] + d[i] * d[r] / delta2
    u[size] = -d[r] / delta2


@jit_inline
def exchange(inverse, d, u, delta2, r, size):
    """The inverse with the new row in slot r: + [d; -1][d; -1]ᵀ/‖δ‖² - u uᵀ/u_r."""
    pivot = u[r]
    d[r], u[r] = -1.0, u[size]
    for j in range(size):
        inverse[r, j] = 0.0
        inverse[j, r] = 0.0
    for i in range(size):
        more, less = d[i] / delta2, u[i] / pivot
        for j in range(size):
            inverse[i, j] += more * d[j] - less * u[j]


@jit
def anew(gram, info, size, inverse, rounding):
    """(K + λI)⁻¹ from the kernel matrix."""
    K = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            K[i, j] = gram[i, j]
        K[i, i] += ridge(info[DIAGONAL, i], rounding)
    K = np.linalg.inv(K)
    for i in range(size):
        for j in range(size):
            inverse[i, j] = 0.5 * (K[i, j] + K[j, i])
