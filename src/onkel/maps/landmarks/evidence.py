"""The evidence of landmarks and widths, how well a Gaussian process over them explains rows.

With features K = κ(X, S), κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²), and penalty λ K₀ the targets Y (n, C)
have, up to constants and with the noise σ² profiled out, -2 log evidence

    E(S, w) = n C log(J/(n C)) + C (log|H| - log|λ K₀|),
    H = Kᵀ K + λ K₀,   α = H⁻¹ Kᵀ Y,   J = ‖Y - K α‖² + λ tr(αᵀ K₀ α).

K₀ is κ(S, S), the norm of the kernel's own space. Where every landmark has widths of its own, there
is no such space, and K₀ is the identity. α minimises J for given S and w, so J is differentiated
at fixed α (variable projection; :mod:`onkel.maps.landmarks.gradient`).

λ is not learned this way: with landmarks fitted to the targets the evidence prefers λ near 0, which
predicts later rows worse (see :mod:`onkel.maps.landmarks.search`).

Source: Seeger, Williams & Lawrence 2003 (the projected process); Snelson & Ghahramani 2006
(learning the landmarks by gradients); Golub & Pereyra 1973 (variable projection).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from onkel.maps.landmarks.rational import KernelColumns, kernel_columns
from onkel.numerics.linalg import add_gram, cholesky_in_steps
from onkel.numerics.threads import side_by_side

# The λ that landmarks with widths of their own begin with.
_OWN_RIDGE = 0.1
#: added to the diagonal of κ(S, S): landmarks may coincide
JITTER = 1e-7
#: rows whose derivatives are computed at once, so that they stay in the second-level cache
PART_ROWS = 256
#: rows of a step
STEP_ROWS = 1024
# At most so many rows are summed in the features' precision before the sum goes to float64.
_GROUP_ROWS = 2048
# The two groups of a pair are summed by a thread each. Fewer rows than this are one group.
_FEWEST_OF_PAIR = 256
# Share of its trace added to H: the rounding error of its sum.
_ROUNDING = {"d": 1e-13, "f": 1e-9}


class Landmarks(NamedTuple):
    """S (m, d), log w (d,), or (m, d) where landmarks have their own, and log λ."""

    S: np.ndarray
    log_width: np.ndarray
    log_ridge: float

    @property
    def ridge(self) -> float:
        """λ."""
        return float(np.exp(self.log_ridge))

    def owning(self) -> Landmarks:
        """The same point, from which each landmark may have widths of its own."""
        log_widths = np.tile(self.log_width, (len(self.S), 1))
        return Landmarks(self.S, log_widths, math.log(_OWN_RIDGE))


class Sums(NamedTuple):
    """K (n, m), KᵀK (its upper triangle), KᵀY, and K₀."""

    K: np.ndarray
    KK: np.ndarray
    KY: np.ndarray
    K0: np.ndarray

    def factor_in_steps(
        self, ridge: float, failing: int = 0
    ) -> Generator[bool, None, tuple[np.ndarray, int]]:
        """The factor C of H = CᵀC; see :func:`onkel.numerics.linalg.cholesky_in_steps`."""
        H = self.KK + ridge * self.K0
        rounding = _ROUNDING[self.K.dtype.char] * float(np.trace(H))
        H.flat[:: len(H) + 1] += rounding
        return (yield from cholesky_in_steps(H, failing, rounding))

    def alpha(self, C: np.ndarray) -> np.ndarray:
        """H⁻¹ Kᵀ Y."""
        return np.asarray(cho_solve((C.T, True), self.KY, check_finite=False))


def penalty_of(S: np.ndarray, w: np.ndarray) -> np.ndarray:
    """K₀ (m, m): κ(S, S) with a jitter; the identity where each landmark has its own widths."""
    if w.ndim == 2:
        return np.eye(len(S))
    K0 = kernel_columns(S, S, w)
    K0.flat[:: len(K0) + 1] += JITTER
    return K0


def sums_in_steps(
    at: Landmarks, X: np.ndarray, Y: np.ndarray, root: np.ndarray, room: np.ndarray | None = None
) -> Generator[bool, None, Sums]:
    """The sums of rows X (n, d), targets Y (n, C), √weights (n, 1); (0, 1) if all are 1.

    In :func:`steps_of_sums` steps; K in ``room`` (n, m), if given: to allocate it anew takes as
    long as a fifth of the products.
    """
    m, w, dtype = len(at.S), np.exp(at.log_width), X.dtype
    kernel = KernelColumns(at.S.astype(dtype), w.astype(dtype))
    KK, KY = np.zeros((m, m)), np.zeros((m, Y.shape[1]))
    K = np.empty((len(X), m), dtype) if room is None else room
    for pair in _pairs(len(X)):
        own = [_GroupSums(kernel, m, dtype) for _ in pair]
        for some in _rounds(pair):
            works = zip(own, some, strict=True)
            side_by_side([partial(group.add, parts, X, Y, root, K) for group, parts in works])
            yield True
        for group in own:
            KK += group.KK
            for of_part in group.KY:
                KY += of_part
    return Sums(K, KK, KY, penalty_of(at.S, w))


class _GroupSums:
    """The sums of a group of rows: the upper triangle of KᵀK, and KᵀY of each part."""

    def __init__(self, kernel: KernelColumns, m: int, dtype: np.dtype) -> None:
        self._kernel = kernel
        self.KK = np.zeros((m, m), dtype)
        self.KY: list[np.ndarray] = []

    def add(
        self, parts: list[slice], X: np.ndarray, Y: np.ndarray, root: np.ndarray, K: np.ndarray
    ) -> None:
        """Take the next parts; their features go to K (n, m)."""
        for part in parts:
            k, y = self._kernel(X[part], K[part]), Y[part]
            kw, yw = (k, y) if root.size == 0 else (k * root[part], y * root[part])
            add_gram(self.KK, kw)
            self.KY.append(kw.T @ yw)


def steps_of_sums(n: int) -> int:
    """Steps of :func:`sums_in_steps` for n rows."""
    return sum(len(_rounds(pair)) for pair in _pairs(n))


def _pairs(n: int) -> list[list[list[slice]]]:
    """The groups of n rows in pairs: those of a pair can be summed side by side."""
    of_all = groups(n)
    return [of_all[i : i + 2] for i in range(0, len(of_all), 2)]


def _rounds(pair: list[list[slice]]) -> list[list[list[slice]]]:
    """For each step the parts of each group: together ``STEP_ROWS`` rows."""
    each = STEP_ROWS // PART_ROWS // len(pair)
    starts = range(0, max(map(len, pair)), each)
    return [[group[start : start + each] for group in pair] for start in starts]


def groups(n: int) -> list[list[slice]]:
    """Parts of n rows, in groups that are summed in the precision of the features.

    Groups have the same size to within a row, and so do the parts: two threads end together.
    """
    number = 2 * -(-n // (2 * _GROUP_ROWS)) if n >= _FEWEST_OF_PAIR else min(n, 1)
    return [
        cut(group.start, group.stop, -(-(group.stop - group.start) // PART_ROWS))
        for group in cut(0, n, number)
    ]


def cut(start: int, end: int, number: int) -> list[slice]:
    """Rows from ``start`` to ``end`` in parts of the same size, to within a row."""
    ends = [start + k * (end - start) // max(number, 1) for k in range(number + 1)]
    return [slice(*part) for part in pairwise(ends)]
