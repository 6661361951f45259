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

Only the lower triangle of M₀ and its diagonal are kept up to date; what is above means nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm, dsyrk

from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.linalg import cholesky_upper, inverse_of_factor
from onkel.numerics.threads import scratch
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
    inverse[:size, :size] = inverse_of_factor(cholesky_upper(K.T))


@jit_inline
def is_full(terms):
    """Whether there may be no room for the terms of another row."""
    return terms.used[0] + 2 > terms.G.shape[0]


@jit
def is_worn(before, after, limit):
    """Whether to compute the inverse anew: after every 2·``limit`` rows dropped.

    ``before`` and ``after`` are the numbers of rows dropped at the last check and now.
    """
    return after // (2 * limit) > before // (2 * limit)


@jit
def rounding_of(itemsize):
    """A bound on the relative rounding error of kernel values of ``itemsize`` bytes."""
    return 1e-8 if itemsize == 8 else 1e-5


@jit_inline
def ridge(q, rounding):
    """λ of a row with κ(x, x) = q."""
    return rounding * q + LEAST_RIDGE


@jit_inline
def _times(inverse, v, size, upwards, d):
    """d ← M₀ v, from the lower triangle of M₀: each number is read once and used twice.

    Two rows i and k at a time halve the reads and writes of d. A pass ``upwards`` after one
    downwards starts with the rows that are still in the cache, where M₀ does not fit.
    """
    pairs = (size + 1) // 2
    for j in range(size):
        d[j] = 0.0
    for pair in range(pairs):
        i = 2 * (pairs - 1 - pair) if upwards else 2 * pair
        k = min(i + 1, size - 1)
        v_i, v_k = v[i], v[k] if k > i else 0.0
        d_i, d_k = 0.0, 0.0
        for j in range(i):
            d_i += inverse[i, j] * v[j]
            d_k += inverse[k, j] * v[j]
            d[j] += inverse[i, j] * v_i + inverse[k, j] * v_k
        d[i] += d_i + inverse[i, i] * v_i + inverse[k, i] * v_k
        if k > i:
            d[k] += d_k + inverse[k, i] * v_i + inverse[k, k] * v_k


@jit_inline
def _add_term(i, G, share, size, d):
    """d ← d + share g_i."""
    for j in range(size):
        d[j] += share * G[i, j]


@jit_inline
def _times_ahead(t, size, terms, ahead, d):
    """d ← M₀ P u of row t, whose M₀ u' was computed ahead."""
    i = t - ahead.first
    for j in range(size):
        d[j] = ahead.D[i, j]
    for c in range(terms.used[1]):
        _add_term(c, terms.columns, -ahead.U[i, terms.gone[c]], size, d)


@jit_inline
def coordinates(panel, t, q, size, inverse, d, u, v, rounding):
    """d = (K + λI)⁻¹ k of row t; returns ‖δ‖² = q + λ - kᵀd. ``u`` and ``v`` are scratch."""
    terms, ahead = inverse.terms, inverse.ahead
    G, factors, kept, used = terms.G, terms.factors, terms.kept, terms.used
    for j in range(size):
        u[j] = panel[t, j]
    if t - ahead.first < ahead.D.shape[0]:
        _times_ahead(t, size, terms, ahead, d)
    else:
        for j in range(size):
            v[j] = kept[j] * u[j]
        _times(inverse.M, v, size, t % 2 == 0, d)
    for j in range(size):
        d[j] *= kept[j]
    for i in range(used[0]):
        share = 0.0
        for j in range(size):
            share += G[i, j] * u[j]
        _add_term(i, G, factors[i] * share, size, d)
    added = ridge(q, rounding)
    delta2 = q + added
    for j in range(size):
        delta2 -= d[j] * u[j]
    return max(delta2, added)


@jit_inline
def _wait(g, factor, size, terms):
    """M ← M + f g gᵀ, as a term that waits."""
    G, diagonal, i = terms.G, terms.diagonal, terms.used[0]
    for j in range(size):
        G[i, j] = g[j]
        diagonal[j] += factor * g[j] * g[j]
    for j in range(size, G.shape[1]):
        G[i, j] = 0.0
    terms.factors[i] = factor
    terms.used[0] += 1


@jit_inline
def extend(d, delta2, size, terms):
    """The inverse with one more row: + [d; -1][d; -1]ᵀ/‖δ‖²."""
    d[size] = -1.0
    _wait(d, 1.0 / delta2, size + 1, terms)


@jit_inline
def column(inverse, d, delta2, r, size, terms, u):
    """u ← column r of the inverse with the new row, which is last; call before :func:`exchange`."""
    G, factors, kept, of_r = terms.G, terms.factors, terms.kept, terms.columns[terms.used[1]]
    for j in range(size):
        of_r[j] = inverse[max(r, j), min(r, j)] if kept[r] > 0.0 else 0.0
        u[j] = kept[j] * of_r[j] + d[r] / delta2 * d[j]
    for i in range(terms.used[0]):
        _add_term(i, G, factors[i] * G[i, r], size, u)
    u[size] = -d[r] / delta2


@jit_inline
def _go(r, terms):
    """Slot r is refilled: its column of M₀, which :func:`column` saved, no longer counts."""
    if terms.kept[r] > 0.0:
        terms.gone[terms.used[1]] = r
        terms.used[1] += 1
    terms.kept[r] = terms.diagonal[r] = 0.0
    for i in range(terms.used[0]):
        terms.G[i, r] = 0.0


@jit_inline
def exchange(d, u, delta2, r, size, terms):
    """The inverse with the new row in slot r: + [d; -1][d; -1]ᵀ/‖δ‖² - u uᵀ/u_r."""
    pivot = u[r]
    d[r], u[r] = -1.0, u[size]
    _go(r, terms)
    _wait(d, 1.0 / delta2, size, terms)
    _wait(u, -1.0 / pivot, size, terms)
