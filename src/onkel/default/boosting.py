"""Boosted trees over bins of columns: how they are grown, all rows at hand.

A tree asks one question at all nodes of a level, whether a column is above a cut: it has D
questions and 2^D leaves. Trees are added one after another. With targets Y, the sum F of the trees
so far and the loss l of both, a leaf's value is a step of Newton,

    v = rate · Σ w g/(Σ w h + penalty),   g = -∂l/∂F,   h = ∂²l/∂F²,   over the rows of the leaf.

The questions are those that reduce the squares of g most. Of several classes, g is projected on a
random direction for each tree. A tree is grown by some rows and columns, drawn at random. Where it
has to be fast, few of these rows choose the questions.

Source: Friedman 2001 and 2002 (boosting; rows drawn at random), Prokhorenkova et al. 2018 (one
question a level), Iosipoi & Vakhrushev 2022 (projections of several outputs).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_called

#: questions of a tree
DEPTH = 6
#: squared errors, log loss of two classes (targets 0 and 1), log loss of more (indicators)
SQUARED, TWO, MORE = range(3)
_MOST_BINS = 128
# Rows and columns that a tree is grown by, at most so many: more rows help much up to here.
_SHARE, _MOST_ROWS, _MOST_COLUMNS = 0.8, 16_384, 32
#: trees for which rows are drawn, and rows held out predicted, once
AT_ONCE = 5
# Added to Σ w h of a leaf, as a share of h at its largest.
_PENALTY = 3.0
_CURVATURE = (1.0, 0.25, 0.25)
# Trees without a gain for rows held out, after which no more are added.
_PATIENCE = 50
# The least chance of a class before any tree.
_RARE = 1e-4


class Trees(NamedTuple):
    """Questions (T, D): columns and the numbers of their cuts; values (T, 2^D, K); the first F."""

    columns: np.ndarray
    cuts: np.ndarray
    values: np.ndarray
    base: np.ndarray

    def first(self, n_trees: int) -> Trees:
        """The first of these trees."""
        some = slice(n_trees)
        return Trees(self.columns[some], self.cuts[some], self.values[some], self.base)

    def sums(self, bins: np.ndarray, n_trees: int) -> np.ndarray:
        """F (n, K) of rows ``bins`` (d, n), by the first ``n_trees``."""
        F = np.tile(self.base, (bins.shape[1], 1))
        leaf, bins = np.empty(bins.shape[1], np.uint8), np.ascontiguousarray(bins)
        for t in range(n_trees):
            find_leaves(bins, self.columns[t], self.cuts[t], leaf)
            add_leaves(self.values[t], leaf, F)
        return F


class Binned(NamedTuple):
    """Rows as bins (d, n), the edges of each column, and how many bins it has."""

    bins: np.ndarray
    edges: list[np.ndarray]
    counts: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, back: np.ndarray | None = None) -> Binned:
        """The bins of rows X (n, d); ``back``: as for :func:`edges_of`, of each column."""
        bins, edges = np.empty((X.shape[1], len(X)), np.uint8), []
        for j, x in enumerate(X.T):
            edges.append(edges_of(x, 0.0 if back is None else back[j]))
            bins[j] = np.searchsorted(edges[j], x)
        return cls(bins, edges, np.array([len(e) + 1 for e in edges]))

    def edges_at(self, trees: Trees) -> np.ndarray:
        """The edges (T, D) that the questions of trees are about."""
        # a question that was not asked has no edge
        ends = [np.append(e, np.inf) for e in self.edges]
        at = zip(trees.columns.flat, trees.cuts.flat, strict=True)
        found = [ends[c][min(cut, len(ends[c]) - 1)] for c, cut in at]
        return np.array(found).reshape(trees.cuts.shape)


def edges_of(x: np.ndarray, back: float = 0.0) -> np.ndarray:
    """Edges of bins of about as many rows each; a value counts at most as often as a bin has rows.

    So a column most of which is 0 has no fewer bins. ``back``, in [0, 1): each edge comes so large
    a part of a bin before its place.
    """
    values, counts = np.unique(x, return_counts=True)
    at = np.arange(len(values) - 1)
    if len(values) > _MOST_BINS:
        below = np.cumsum(np.minimum(counts, max(len(x) // _MOST_BINS, 1)))
        ends = (np.arange(1, _MOST_BINS) - back) * (below[-1] / _MOST_BINS)
        at = np.unique(np.minimum(np.searchsorted(below, ends), len(values) - 2))
    return np.asarray(0.5 * values[at] + 0.5 * values[at + 1])


def boosted(
    rows: Binned,
    Y: np.ndarray,
    weight: np.ndarray,
    loss: int,
    n_trees: int,
    rate: float,
    rng: np.random.Generator,
    held: np.ndarray | None = None,
    choosing: int = _MOST_ROWS,
) -> tuple[Trees, np.ndarray]:
    """Trees for targets Y (n, K), and the losses of rows ``held`` out before each AT_ONCE of them.

    No more are added when these have not become less for a while. At most ``choosing`` rows choose
    the questions of a tree.
    """
    (d, n), K = rows.bins.shape, Y.shape[1]
    among = np.arange(n) if held is None else np.delete(np.arange(n), held)
    m = min(int(_SHARE * len(among)), _MOST_ROWS)
    base = _first(np.average(Y[among], axis=0, weights=weight[among]), loss)
    F, g, h = np.tile(base, (n, 1)), np.empty((m, K)), np.empty((m, K))
    columns, cuts = np.zeros((n_trees, DEPTH), np.int64), np.full((n_trees, DEPTH), _MOST_BINS)
    values = np.zeros((n_trees, 1 << DEPTH, K))
    leaf, penalty = np.empty(n, np.uint8), _PENALTY * _CURVATURE[loss]
    losses: list[float] = []
    for t in range(n_trees):
        if t % AT_ONCE == 0:
            if held is not None:
                losses.append(loss_of(F[held], Y[held], weight[held], loss))
                if t - AT_ONCE * int(np.argmin(losses)) >= _PATIENCE:
                    n_trees = t
                    break
            drawn = np.sort(rng.choice(among, m, replace=False))
            of_drawn, few = (Y[drawn], weight[drawn]), np.arange(m)
            if m > choosing:
                few = np.sort(rng.choice(m, choosing, replace=False))
            some = np.ascontiguousarray(rows.bins[:, drawn[few]])
        slopes(F, drawn, *of_drawn, loss, g, h)
        r = g[few, 0] if K == 1 else g[few] @ rng.standard_normal(K)
        asked = rng.choice(d, min(d, _MOST_COLUMNS), replace=False)
        question = columns[t], cuts[t]
        choose(some, rows.counts, asked, of_drawn[1][few], r, _PENALTY, *question, leaf[: len(few)])
        find_leaves(rows.bins, *question, leaf)
        find_values(leaf[drawn], g, h, penalty, rate, values[t])
        add_leaves(values[t], leaf, F)
    return Trees(columns[:n_trees], cuts[:n_trees], values[:n_trees], base), np.array(losses)


def _first(mean: np.ndarray, loss: int) -> np.ndarray:
    """F of no tree, from the mean of the targets."""
    if loss == SQUARED:
        return mean
    mean = np.clip(mean, _RARE, 1.0 - _RARE)
    return np.log(mean) if loss == MORE else np.log(mean / (1.0 - mean))


def loss_of(F: np.ndarray, Y: np.ndarray, weight: np.ndarray, loss: int) -> float:
    """The loss of F (n, K), without what Y alone adds."""
    if loss == SQUARED:
        each = ((Y - F) ** 2).sum(axis=1)
    elif loss == TWO:
        each = np.logaddexp(0.0, F[:, 0]) - Y[:, 0] * F[:, 0]
    else:
        each = np.logaddexp.reduce(F, axis=1) - (Y * F).sum(axis=1)
    return float(weight @ each)


# ---- the loops ---------------------------------------------------------------------------------


@jit
def slopes(F, rows, Y, weight, loss, g, h):
    """g and h (m, K) ← slope and curvature of the loss at F of some ``rows``, times their weight.

    Y (m, K) and weight (m,) are those of these rows.
    """
    K = F.shape[1]
    for i in range(len(rows)):
        f, total = F[rows[i]], 1.0
        if loss == MORE:
            most, total = f[0], 0.0
            for k in range(K):
                most = max(most, f[k])
            for k in range(K):
                g[i, k] = np.exp(f[k] - most)
            for k in range(K):
                total += g[i, k]
        elif loss == TWO:
            g[i, 0] = 1.0 / (1.0 + np.exp(-f[0]))
        for k in range(K):
            if loss == SQUARED:
                p, curved = f[k], 1.0
            else:
                p = g[i, k] / total
                curved = p * (1.0 - p)
            g[i, k], h[i, k] = weight[i] * (Y[i, k] - p), weight[i] * curved


@jit_called
def _best_cut(H, whole, n_leaves, n_bins, penalty, gains):
    """The best cut of a column, and its gain, from Σ w and Σ w g of each leaf and bin."""
    gains[:n_bins] = 0.0
    for leaf in range(n_leaves):
        if whole[leaf, 0] > 0.0:
            below, part = 0.0, 0.0
            for b in range(n_bins - 1):
                below += H[leaf, b, 0]
                part += H[leaf, b, 1]
                rest, above = whole[leaf, 1] - part, whole[leaf, 0] - below
                gains[b] += part * part / (below + penalty) + rest * rest / (above + penalty)
    best = 0
    for b in range(n_bins - 1):
        if gains[b] > gains[best]:
            best = b
    return best, gains[best]


@jit
def choose(bins, counts, asked, weight, r, penalty, columns, cuts, leaf):
    """The questions of a tree, columns and cuts (D,), for weighted slopes r of rows (d, m).

    leaf (m,) gets the leaf of each row.
    """
    depth, m = len(columns), bins.shape[1]
    H, gains = np.empty((1 << depth, counts.max(), 2)), np.empty(counts.max())
    whole = np.empty((1 << depth, 2))
    leaf[:] = 0
    for level in range(depth):
        most, n_leaves = -1.0, 1 << level
        whole[:n_leaves] = 0.0
        for i in range(m):
            whole[leaf[i], 0] += weight[i]
            whole[leaf[i], 1] += r[i]
        for c in asked:
            if counts[c] < 2:
                continue
            H[:n_leaves, : counts[c]] = 0.0
            x = bins[c]
            for i in range(m):
                H[leaf[i], x[i], 0] += weight[i]
                H[leaf[i], x[i], 1] += r[i]
            cut, gain = _best_cut(H, whole, n_leaves, counts[c], penalty, gains)
            if gain > most:
                most, columns[level], cuts[level] = gain, c, cut
        if most < 0.0:
            break
        x, cut = bins[columns[level]], cuts[level]
        for i in range(m):
            if x[i] > cut:
                leaf[i] |= n_leaves


@jit
def find_values(leaf, g, h, penalty, rate, values):
    """values (2^D, K) ← the steps of Newton of the rows in each leaf."""
    below = np.zeros(values.shape)
    values[:] = 0.0
    for i in range(len(leaf)):
        for k in range(g.shape[1]):
            values[leaf[i], k] += g[i, k]
            below[leaf[i], k] += h[i, k]
    for j in range(len(values)):
        for k in range(g.shape[1]):
            values[j, k] *= rate / (below[j, k] + penalty)


@jit
def find_leaves(bins, columns, cuts, leaf):
    """leaf (n,) ← that of a tree which each of the rows ``bins`` (d, n) reaches."""
    leaf[:] = 0
    for level in range(len(columns)):
        x, cut = bins[columns[level]], cuts[level]
        for i in range(len(leaf)):
            if x[i] > cut:
                leaf[i] |= 1 << level


@jit
def add_leaves(values, leaf, F):
    """Add to F (n, K) the values (2^D, K) of each row's leaf."""
    for i in range(len(leaf)):
        for k in range(F.shape[1]):
            F[i, k] += values[leaf[i], k]
