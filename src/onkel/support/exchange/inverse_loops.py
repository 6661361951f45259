"""The inverse M of :mod:`onkel.support.exchange.inverse` in the loop: M u, rows come and go."""

from __future__ import annotations

from onkel.numerics.jit import jit, jit_inline
from onkel.support.exchange.inverse import LEAST_RIDGE


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
