"""The inverse M = (κ(S, S) + λ I)⁻¹ of a support set, in float64, while rows come and go.

A row that comes adds a rank-one term to M; one that goes takes one away, and with it its row and
column of M. Writing each term into M would take another pass over B² numbers, more than a cache
holds. So the terms wait:

    M = P M₀ P + Σ_i f_i g_i g_iᵀ,

P the identity, with 0 for the slots refilled since M₀ was written. A few dozen terms go into M₀ by
one matrix product (:func:`settle`). The remaining cost of a row is M₀ times its kernel values u.
Where rows are added often, one matrix product computes it for a few dozen rows ahead
(:func:`look_ahead`), and the part of the slots refilled since is subtracted,

    M₀ P u = M₀ u' - Σ_{j refilled} u'_j M₀_j,   u' = u as it was when M₀ was written.

Only the lower triangle of M₀ and its diagonal are kept up to date; what is above means nothing. The
compiled functions are in :mod:`onkel.support.exchange.inverse_loops`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm, dsyrk
from scipy.linalg.lapack import dpotri

from onkel.numerics.arrays import scratch
from onkel.numerics.linalg import cholesky_upper
from onkel.support.budget import DIAGONAL

#: the least value that is added to the diagonal
LEAST_RIDGE = 1e-12
# Terms that wait, at most. More make each row slower, fewer the matrix products less efficient.
_MOST_TERMS = 48


class Terms(NamedTuple):
    """What is not written into M₀ yet."""

    G: np.ndarray  # (most, capacity) the g_i, 0 beyond the slots in use
    factors: np.ndarray  # (most,) the f_i
    kept: np.ndarray  # (capacity,) the diagonal of P
    diagonal: np.ndarray  # (capacity,) the diagonal of M
    gone: np.ndarray  # (most,) the slots where P is 0
    columns: np.ndarray  # (most, capacity) their columns of M₀
    used: np.ndarray  # (2,) the numbers of terms that wait, and of slots gone


class Ahead(NamedTuple):
    """Products computed ahead for the rows of a sub-block from ``first`` on; there may be none."""

    U: np.ndarray  # (rows, capacity) the u'
    D: np.ndarray  # (rows, capacity) the M₀ u'
    first: int


class Inverse(NamedTuple):
    """The inverse M = P M₀ P + Σ_i f_i g_i g_iᵀ, and products computed ahead."""

    M: np.ndarray  # (capacity, capacity) M₀, its lower half
    terms: Terms
    ahead: Ahead


def new_terms(inverse: np.ndarray) -> Terms:
    """No terms beside M₀ = ``inverse`` (capacity, capacity); valid until the next call."""
    m = len(inverse)
    diagonal = scratch("diagonal", (m,), np.float64)
    diagonal[:] = inverse.diagonal()
    kept = scratch("kept", (m,), np.float64)
    kept[:] = 1.0
    G = scratch("terms", (_MOST_TERMS, m), np.float64)
    gone = np.empty(_MOST_TERMS, np.int64)
    columns = scratch("gone columns", (_MOST_TERMS, m), np.float64)
    return Terms(G, np.empty(_MOST_TERMS), kept, diagonal, gone, columns, np.zeros(2, np.int64))


def look_ahead(
    inverse: np.ndarray, panel: np.ndarray, changes: np.ndarray, first: int, rows: int
) -> Ahead:
    """M₀ u' of ``rows`` rows of the panel from ``first`` on, after the ``changes`` (2, n) of slots.

    All slots are in use. Valid until the next call.
    """
    part = panel[first : first + rows]
    U = scratch("ahead", (len(part), len(inverse)), np.float64)
    if not rows:
        return Ahead(U, U, first)
    U[:] = part[:, : len(inverse)]
    slots, sources = changes
    U[:, slots] = part[:, sources]
    # in Fortran's order the lower triangle is the upper one of the transpose
    return Ahead(U, dsymm(1.0, inverse.T, U.T).T, first)


def settle(inverse: np.ndarray, terms: Terms) -> None:
    """Write the terms that wait into M₀."""
    n = terms.used[0]
    if n == 0:
        return
    gone = terms.gone[: terms.used[1]]
    inverse[gone] = 0.0
    inverse[:, gone] = 0.0
    G, factors = terms.G[:n], terms.factors[:n]
    for sign, chosen in ((1.0, factors > 0.0), (-1.0, factors < 0.0)):
        g = np.sqrt(sign * factors[chosen])[:, None] * G[chosen]
        # in Fortran's order the lower triangle is the upper one of the transpose
        dsyrk(sign, g.T, beta=1.0, c=inverse.T, overwrite_c=1)


def anew(
    gram: np.ndarray, info: np.ndarray, size: int, inverse: np.ndarray, rounding: float
) -> None:
    """M₀ ← (K + λI)⁻¹ from the kernel matrix."""
    K = gram[:size, :size].astype(np.float64)
    K.flat[:: size + 1] += rounding * info[DIAGONAL, :size] + LEAST_RIDGE
    upper, _ = dpotri(cholesky_upper(K.T), overwrite_c=1)
    inverse[:size, :size] = upper.T
