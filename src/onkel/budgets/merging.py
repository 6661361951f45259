"""Merging: two stored rows become one point between them (Gaussian kernel)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from onkel._jit import jit, jit_inline
from onkel.budgets.base import Budget, BudgetKind
from onkel.kernels import Gaussian, Kernel

__all__ = ["Merging", "best_partner", "degradation_table", "merge_point"]

# Newton's steps on the merge point stop here, or after so many.
_STEP, _MOST_STEPS = 1e-10, 60
# Squared weights that differ by less than this share are equal.
_EQUAL = 1e-12
# Above this γ‖s_m - s_n‖² two equal weights have a maximum near each end, and none in the middle.
_TWO_MAXIMA = 2.0
# From there on the degradation is above this share of a², its value at D = 2 and a = b.
_BEYOND = 2.0 * (1.0 - math.exp(-0.5 * _TWO_MAXIMA)) ** 2 * (1.0 - 1e-9)
# Cells a side of the table of degradations, and the relative error of interpolating in it.
_GRID, _GRID_ERROR = 64, 5e-3


@jit
def merge_point(a2, ab, b2, D):
    """(h, ‖α_z‖²) of the best z = h s_m + (1 - h) s_n; h in [0, 1].

    With u = κ(s_m, z) = exp(-D (1 - h)²) and v = κ(s_n, z) = exp(-D h²), D = -log κ(s_m, s_n), the
    best coefficients at z are α_z = u α_m + v α_n, and h maximises
    ‖α_z‖² = a2 u² + 2 ab u v + b2 v², where a2 = ‖α_m‖², ab = α_m·α_n > 0, b2 = ‖α_n‖².

    At the maximum h is the mean of the three terms' places 1, 1/2 and 0, weighted by the terms.
    It lies on the heavier side, where that equation has one root: Newton's steps, kept in the
    bracket by bisection. Of two maxima of equal height it is the one near s_m.
    """
    swapped = a2 < b2 * (1.0 - _EQUAL)
    if swapped:
        a2, b2 = b2, a2
    low, high = 0.5, 1.0
    # at equal norms the middle is stationary, and a minimum from D = 1 + ab/a2 on: begin beyond it
    h = 1.0 if D * a2 >= a2 + ab else (a2 + ab) / (a2 + 2.0 * ab + b2)
    for _ in range(_MOST_STEPS):
        r = math.exp(-D * (2.0 * h - 1.0))
        total = a2 + 2.0 * ab * r + b2 * r * r
        mean = (a2 + ab * r) / total
        slope = 1.0 - 4.0 * D * ((a2 + 0.5 * ab * r) / total - mean * mean)
        excess = h - mean
        if excess > 0.0:
            high = h
        else:
            low = h
        following = 0.5 * (low + high)
        if slope > 0.0 and low <= h - excess / slope <= high:
            following = h - excess / slope
        close = abs(following - h) < _STEP
        h = following
        if close:
            break
    r = math.exp(-D * (2.0 * h - 1.0))
    value = math.exp(-2.0 * D * (1.0 - h) ** 2) * (a2 + 2.0 * ab * r + b2 * r * r)
    return (1.0 - h if swapped else h), value


@jit
def _degradation(a2, ab, b2, D):
    """(h, ‖α_m‖² + ‖α_n‖² + 2κ α_m·α_n - ‖α_z‖²): how far f moves when m and n are merged.

    By differences from 1, without which the four terms would cancel.
    """
    h, _ = merge_point(a2, ab, b2, D)
    own = a2 * math.expm1(-2.0 * D * (1.0 - h) ** 2) + b2 * math.expm1(-2.0 * D * h * h)
    return h, -own - 2.0 * ab * math.exp(-D) * math.expm1(2.0 * D * h * (1.0 - h))


@cache
def degradation_table() -> np.ndarray:
    """Degradation over a² D² of parallel coefficients a ≤ b, on a grid of a/b by D in [0, 2]."""
    table = np.empty((_GRID + 1, _GRID + 1))
    for i in range(_GRID + 1):
        b = _GRID / max(i, 0.05)
        for j in range(_GRID + 1):
            D = _TWO_MAXIMA * max(j, 0.1) / _GRID
            table[i, j] = _degradation(1.0, b, b * b, D)[1] / (D * D)
    return table * (1.0 - _GRID_ERROR)


@jit_inline
def _at_least(a2, b2, D, table):
    """A lower bound on the degradation: it is least for coefficients that are parallel."""
    if D >= _TWO_MAXIMA:
        return _BEYOND * a2
    x, y = _GRID * min(math.sqrt(a2 / b2), 1.0), _GRID / _TWO_MAXIMA * D
    i, j = min(int(x), _GRID - 1), min(int(y), _GRID - 1)
    x, y = x - i, y - j
    low = table[i, j] + y * (table[i, j + 1] - table[i, j])
    high = table[i + 1, j] + y * (table[i + 1, j + 1] - table[i + 1, j])
    return a2 * D * D * (low + x * (high - low))


@jit
def best_partner(m, size, A, distances, table):
    """(n, h): the slot whose merge with m, the lightest, degrades f least; n = -1 if none can.

    All n with α_m·α_n > 0 are candidates. The table bounds what each can reach; the most promising
    is looked at first, and then only those that could still be better.
    """
    bounds = np.empty(size)
    a2, first = 0.0, -1
    for k in range(A.shape[0]):
        a2 += A[k, m] * A[k, m]
    for j in range(size):
        ab, b2 = 0.0, 0.0
        for k in range(A.shape[0]):
            ab += A[k, m] * A[k, j]
            b2 += A[k, j] * A[k, j]
        bounds[j] = np.inf
        if ab > 0.0 and j != m:
            bounds[j] = _at_least(a2, b2, distances[m, j], table)
            if first < 0 or bounds[j] < bounds[first]:
                first = j
    n, best, least = -1, 0.0, np.inf
    for i in range(-1, size):
        j = first if i < 0 else i
        if j < 0 or i == first or bounds[j] >= least:
            continue
        ab, b2 = 0.0, 0.0
        for k in range(A.shape[0]):
            ab += A[k, m] * A[k, j]
            b2 += A[k, j] * A[k, j]
        h, degradation = _degradation(a2, ab, b2, float(distances[m, j]))
        if degradation < least:
            n, best, least = j, h, degradation
    return n, best


class Merging(Budget):
    """The lightest row and the partner that suits it best become one point between them.

    Of B + 1 rows the one of the smallest ‖α_m‖ is merged: ``z = h s_m + (1 - h) s_n`` with the
    coefficients ``α_z = α_m κ^((1-h)²) + α_n κ^(h²)``, κ = κ(s_m, s_n), h and n such that f
    changes least. Rows whose coefficients point away from each other are not merged; where no
    partner is left the lightest row is dropped. O(B) a row that is added, for a matrix of B²
    numbers.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, merging. The search over h and n is exact. Gaussian
    kernel only: for others the best z is no point on the line between the two.
    """

    name = "merging"
    kind = BudgetKind.MERGE

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def check_kernel(self, kernel: Kernel) -> None:
        """ValueError with the reason where rows cannot be merged under the kernel."""
        if type(kernel) is not Gaussian:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with budget {self.name!r}: only for "
                "'gaussian' does the best point that stands for two rows lie between them; use "
                "budget 'smallest' or 'transfer'"
            )
