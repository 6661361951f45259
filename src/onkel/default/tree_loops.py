"""The loops of boosted trees: slopes, the questions of a tree, the values of its leaves."""

from __future__ import annotations

import numpy as np

from onkel.default.losses import slopes_of_row
from onkel.numerics.jit import jit, jit_called

#: rows whose leaves are looked up tree by tree
TOGETHER = 256


@jit
def slopes(F, rows, Y, weight, loss, g, h):
    """g and h (m, K) ← slope and curvature of the loss at F of some ``rows``, times their weight.

    Y (m, K) and weight (m,) are those of these rows.
    """
    for i in range(len(rows)):
        slopes_of_row(F[rows[i]], Y[i], weight[i], loss, g[i], h[i])


@jit_called
def _best_cut(H, whole, n_leaves, n_bins, penalty, sums, gains):
    """The best cut of a column, and its gain, from Σ w and Σ w g of each leaf and bin.

    sums (2, n_bins) and gains (n_bins,) are overwritten.
    """
    gains[:n_bins] = 0.0
    for leaf in range(n_leaves):
        if whole[leaf, 0] > 0.0:
            below, part = 0.0, 0.0
            for b in range(n_bins - 1):
                below += H[leaf, b, 0]
                part += H[leaf, b, 1]
                sums[0, b] = below
                sums[1, b] = part
            all_below, all_parts = whole[leaf, 0] + penalty, whole[leaf, 1]
            for b in range(n_bins - 1):
                low, high = sums[0, b] + penalty, all_below - sums[0, b]
                part, rest = sums[1, b], all_parts - sums[1, b]
                gains[b] += (part * part * high + rest * rest * low) / (low * high)
    best = 0
    for b in range(n_bins - 1):
        if gains[b] > gains[best]:
            best = b
    return best, gains[best]


@jit_called
def _add_rows(x, rows, places, slopes, n, H):
    """Add n rows to H (leaves, bins, 2) of a column x: ``slopes`` (n, 2) has their w and w g."""
    for k in range(n):
        place, b = places[k], x[rows[k]]
        H[place, b, 0] += slopes[k, 0]
        H[place, b, 1] += slopes[k, 1]


@jit_called
def _part_leaves(H, n_leaves, n_bins, lower):
    """H of all leaves of a level, from H of those above, and in each new place one half of it.

    ``lower`` (leaves,) says which half.
    """
    for leaf in range(n_leaves):
        for b in range(n_bins):
            for s in range(2):
                half = H[leaf | n_leaves, b, s]
                rest = H[leaf, b, s] - half
                H[leaf, b, s] = half if lower[leaf] else rest
                H[leaf | n_leaves, b, s] = rest if lower[leaf] else half


@jit
def choose(bins, counts, asked, weight, r, penalty, columns, cuts, leaf, H):
    """The questions of a tree, columns and cuts (D,), for weighted slopes r of rows (d, m).

    leaf (m,) gets the leaf of each row; H (len(asked), 2^(D-1), bins, 2) is overwritten. Only the
    rows of the smaller half of each leaf are added up anew: the other half is what they leave.
    """
    depth, m = len(columns), bins.shape[1]
    gains, sums = np.empty(counts.max()), np.empty((2, counts.max()))
    whole, added = np.empty((1 << depth, 2)), np.empty((m, 2))
    lower, above = np.zeros(1 << depth, np.bool_), np.zeros(1 << depth, np.int64)
    n_in, n_rows = np.zeros(1 << depth, np.int64), m
    rows, places = np.arange(m).astype(np.uint32), np.zeros(m, np.uint8)
    added[:, 0], added[:, 1] = weight, r
    leaf[:] = 0
    n_in[0] = m
    for level in range(depth):
        most, n_leaves = -1.0, 1 << level
        whole[:n_leaves] = 0.0
        for i in range(m):
            whole[leaf[i], 0] += weight[i]
            whole[leaf[i], 1] += r[i]
        for a in range(len(asked)):
            c = asked[a]
            if counts[c] < 2:
                continue
            H[a, n_leaves // 2 : n_leaves, : counts[c]] = 0.0
            _add_rows(bins[c], rows, places, added, n_rows, H[a])
            _part_leaves(H[a], n_leaves // 2, counts[c], lower)
            cut, gain = _best_cut(H[a], whole, n_leaves, counts[c], penalty, sums, gains)
            if gain > most:
                most, columns[level], cuts[level] = gain, c, cut
        if most < 0.0:
            break
        x, cut = bins[columns[level]], cuts[level]
        above[:n_leaves] = 0
        for i in range(m):
            above[leaf[i]] += x[i] > cut
        for j in range(n_leaves):
            lower[j] = 2 * above[j] > n_in[j]
            n_in[j | n_leaves] = above[j]
            n_in[j] -= above[j]
        n_rows = 0
        for i in range(m):
            old, up = leaf[i], x[i] > cut
            if up:
                leaf[i] |= n_leaves
            if up != lower[old]:
                rows[n_rows], places[n_rows] = i, old | n_leaves
                added[n_rows, 0], added[n_rows, 1] = weight[i], r[i]
                n_rows += 1


@jit
def find_values(leaf, g, h, penalty, rate, values):
    """values (2^D, K) ← the steps of Newton of the rows in each leaf."""
    below = np.zeros(values.shape)
    values[:] = 0.0
    for i in range(len(leaf)):
        own = leaf[i]
        for k in range(g.shape[1]):
            values[own, k] += g[i, k]
            below[own, k] += h[i, k]
    for j in range(len(values)):
        for k in range(g.shape[1]):
            values[j, k] *= rate / (below[j, k] + penalty)


@jit
def find_leaves(bins, columns, cuts, leaf):
    """leaf (n,) ← that of a tree which each of the rows ``bins`` (d, n) reaches."""
    leaf[:] = 0
    for level in range(len(columns)):
        x, cut, bit = bins[columns[level]], cuts[level], np.uint8(1 << level)
        for i in range(len(leaf)):
            leaf[i] |= bit if x[i] > cut else np.uint8(0)


@jit
def add_leaves(values, leaf, F):
    """Add to F (n, K) the values (2^D, K) of each row's leaf."""
    for i in range(len(leaf)):
        # read once: a store to F might change it, for all that the compiler knows
        own = leaf[i]
        for k in range(F.shape[1]):
            F[i, k] += values[own, k]
