"""The inverse M = (κ(S, S) + λ I)⁻¹ of a support set, in float64, while rows come and go.

A row that comes adds a rank-one term to M; one that goes takes one away, and with it its row and
column of M. Writing each into M would be another pass over B² numbers, which are more than a cache
holds. So the terms wait:

    M = P M₀ P + Σ_i f_i g_i g_iᵀ,

P without the slots that have been filled anew since M₀ was written. A few dozen terms go into M₀ by
one matrix product (:func:`settle`). What is left of a row's cost is M₀ times its kernel values u:
where rows are added often, another product makes it of a few dozen rows ahead (:func:`look_ahead`),
and what the slots filled anew had in it is taken out again,

    M₀ P u = M₀ u' - Σ_{j filled anew} u'_j M₀_j,   u' = u when M₀ was written.

Only the lower half of M₀ is kept up, diagonal and all; what is above it means nothing. The compiled
pieces stand in :mod:`onkel.support.exchange.inverse_loops`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm, dsyrk
from scipy.linalg.lapack import dpotri

from onkel.numerics.linalg import cholesky_upper
from onkel.numerics.workspace import scratch
from onkel.support.budget import DIAGONAL

#: what is added to the diagonal at least
LEAST_RIDGE = 1e-12
# Terms that wait. More make each row's part of them longer, fewer the products less efficient.
_MOST_TERMS = 48


class Terms(NamedTuple):
    """What is not written into M₀ yet."""

    G: np.ndarray  # (most, capacity) the g_i, 0 beyond the slots in use
    factors: np.ndarray  # (most,) the f_i
    kept: np.ndarray  # (capacity,) the diagonal of P
    diagonal: np.ndarray  # (capacity,) that of M
    gone: np.ndarray  # (most,) the slots that P is without
    columns: np.ndarray  # (most, capacity) their columns of M₀
    used: np.ndarray  # (2,) how many terms wait, and slots are gone


class Ahead(NamedTuple):
    """Products made ahead, of the rows of a sub-block from ``first`` on; there may be none."""

    U: np.ndarray  # (rows, capacity) the u'
    D: np.ndarray  # (rows, capacity) the M₀ u'
    first: int


class Inverse(NamedTuple):
    """The inverse M = P M₀ P + Σ_i f_i g_i g_iᵀ, and products made ahead."""

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
    """M₀ u' of so many rows of the panel from ``first`` on, after the changes (2, n) of its slots.

    All slots are in use. Valid until the next call.
    """
    part = panel[first : first + rows]
    U = scratch("ahead", (len(part), len(inverse)), np.float64)
    if not rows:
        return Ahead(U, U, first)
    U[:] = part[:, : len(inverse)]
    slots, sources = changes
    U[:, slots] = part[:, sources]
    # in Fortran's order the lower half is the upper one of the transpose
    return Ahead(U, dsymm(1.0, inverse.T, U.T).T, first)


def settle(inverse: np.ndarray, terms: Terms) -> None:
    """Write what waits into M₀, where new terms may begin."""
    n = terms.used[0]
    if n == 0:
        return
    gone = terms.gone[: terms.used[1]]
    inverse[gone] = 0.0
    inverse[:, gone] = 0.0
    G, factors = terms.G[:n], terms.factors[:n]
    for sign, chosen in ((1.0, factors > 0.0), (-1.0, factors < 0.0)):
        g = np.sqrt(sign * factors[chosen])[:, None] * G[chosen]
        # in Fortran's order the lower half is the upper one of the transpose
        dsyrk(sign, g.T, beta=1.0, c=inverse.T, overwrite_c=1)


def anew(
    gram: np.ndarray, info: np.ndarray, size: int, inverse: np.ndarray, rounding: float
) -> None:
    """M₀ ← (K + λI)⁻¹ from the kernel matrix."""
    K = gram[:size, :size].astype(np.float64)
    K.flat[:: size + 1] += rounding * info[DIAGONAL, :size] + LEAST_RIDGE
    upper, _ = dpotri(cholesky_upper(K.T), overwrite_c=1)
    inverse[:size, :size] = upper.T
