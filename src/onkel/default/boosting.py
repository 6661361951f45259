"""Boosted trees over bins of columns: how they are grown, all rows at hand.

A tree asks one question at all nodes of a level, whether a column is above a cut: it has D
questions and 2^D leaves. Trees are added one after another. With targets Y, the sum F of the trees
so far and the loss l of both, a leaf's value is a step of Newton,

    v = rate · Σ w g/(Σ w h + penalty),   g = -∂l/∂F,   h = ∂²l/∂F²,   over the rows of the leaf.

The questions are those that reduce the squares of g most. Of several classes, g is projected on a
random direction for each tree. A tree is grown by some rows and columns, drawn at random.

Source: Friedman 2001 and 2002 (boosting; rows drawn at random), Prokhorenkova et al. 2018 (one
question a level), Iosipoi & Vakhrushev 2022 (projections of several outputs).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.default.losses import MORE, SQUARED, TWO
from onkel.default.tree_loops import add_leaves, choose, find_leaves, find_values, slopes
from onkel.numerics.in_steps import finished

#: questions of a tree
DEPTH = 6
_MOST_BINS = 128
# Rows and columns that a tree is grown by, at most so many: more rows help much up to here. Trees
# of few rows ask fewer columns, so that they differ; those of so many rows ask more.
_SHARE, _MOST_ROWS, _MANY_ROWS, _FEW_COLUMNS, _MOST_COLUMNS = 0.8, 24_576, 8192, 32, 64
#: trees for which rows are drawn, and rows held out predicted, once
AT_ONCE = 5
#: where fewer trees would fit, none are grown
FEWEST_TREES = 16
# A tree's share of a step: larger where there are few trees, so that they come as far.
_RATE, _TREES_TIMES_RATE, _LARGEST_RATE = 0.1, 40.0, 0.3
# Added to Σ w h of a leaf, as a share of h at its largest.
_PENALTY = 3.0
_CURVATURE = (1.0, 0.25, 0.25)
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
        return finished(cls.in_steps(X, back))

    @classmethod
    def in_steps(
        cls, X: np.ndarray, back: np.ndarray | None = None
    ) -> Generator[bool, None, Binned]:
        """As :meth:`of`; a step is a column."""
        bins, edges = np.empty((X.shape[1], len(X)), np.uint8), []
        for j, x in enumerate(X.T):
            yield True
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
        below = np.cumsum(np.minimum(counts, len(x) // _MOST_BINS))
        ends = (np.arange(1, _MOST_BINS) - back) * (below[-1] / _MOST_BINS)
        at = np.unique(np.minimum(np.searchsorted(below, ends), len(values) - 2))
    return np.asarray(0.5 * values[at] + 0.5 * values[at + 1])


def rate_of(n_trees: int) -> float:
    """The share of a step that each of at most so many trees takes."""
    return min(max(_RATE, _TREES_TIMES_RATE / n_trees), _LARGEST_RATE)


def penalty_of(loss: int) -> float:
    """What is added to Σ w h of a leaf, for weights of 1 in the mean."""
    return _PENALTY * _CURVATURE[loss]


class Task(NamedTuple):
    """What trees learn: the targets Y (n, K) of rows, by a loss, in ``n_trees`` steps."""

    rows: Binned
    Y: np.ndarray
    weight: np.ndarray
    loss: int
    n_trees: int
    #: the share of a step that each tree takes
    rate: float


def boosted(task: Task, rng: np.random.Generator) -> Trees:
    """The trees that all rows grow."""
    *_, (trees, _) = growing(task, rng, np.arange(len(task.Y)))
    return trees


def judged(
    task: Task,
    rngs: list[np.random.Generator],
    held: np.ndarray,
    patience: int,
    beside: np.ndarray | None = None,
) -> tuple[list[Trees], np.ndarray]:
    """Trees of several growths, and the losses of rows ``held`` out before each AT_ONCE of them.

    The losses are those of the growths' mean: one alone has a minimum early, and by chance. No
    trees are added when the losses have not become less for ``patience`` trees.

    ``beside`` (n_held, K): predictions that F is mixed with; where they are NaN or not given, F
    alone is judged.
    """
    among = np.delete(np.arange(len(task.Y)), held)
    growths = [growing(task, rng, among) for rng in rngs]
    losses: list[float] = []
    known = task.Y[held], task.weight[held], task.loss
    for found in zip(*growths, strict=True):
        if AT_ONCE * len(losses) >= task.n_trees:
            break
        F = sum(F[held] for _, F in found) / len(found)
        F = F if beside is None else _mixed(F, beside, *known[:2])
        losses.append(loss_of(F, *known))
        if AT_ONCE * (len(losses) - 1 - int(np.argmin(losses))) >= patience:
            break
    return [trees for trees, _ in found], np.array(losses)


def growing(
    task: Task, rng: np.random.Generator, among: np.ndarray
) -> Generator[tuple[Trees, np.ndarray], None, None]:
    """Trees that rows ``among`` grow: these and F (n, K), before each AT_ONCE, and at the end."""
    rows, Y, weight, loss, n_trees, rate = task
    (d, n), K = rows.bins.shape, Y.shape[1]
    m = min(int(_SHARE * len(among)), _MOST_ROWS)
    base = _first(np.average(Y[among], axis=0, weights=weight[among]), loss)
    F, g, h = np.tile(base, (n, 1)), np.empty((m, K)), np.empty((m, K))
    columns, cuts = np.zeros((n_trees, DEPTH), np.int64), np.full((n_trees, DEPTH), _MOST_BINS)
    values = np.zeros((n_trees, 1 << DEPTH, K))
    leaf, penalty = np.empty(n, np.uint8), penalty_of(loss)
    n_asked = min(d, _MOST_COLUMNS if m >= _MANY_ROWS else _FEW_COLUMNS)
    H = np.empty((n_asked, 1 << (DEPTH - 1), int(rows.counts.max()), 2))
    for t in range(n_trees):
        if t % AT_ONCE == 0:
            yield Trees(columns[:t], cuts[:t], values[:t], base), F
            drawn = np.sort(rng.choice(among, m, replace=False))
            of_drawn, some = (Y[drawn], weight[drawn]), rows.bins.take(drawn, axis=1)
        slopes(F, drawn, *of_drawn, loss, g, h)
        r = g[:, 0].copy() if K == 1 else g @ rng.standard_normal(K)
        asked = rng.choice(d, n_asked, replace=False)
        question = columns[t], cuts[t]
        choose(some, rows.counts, asked, of_drawn[1], r, _PENALTY, *question, leaf[:m], H)
        find_leaves(rows.bins, *question, leaf)
        find_values(leaf[drawn], g, h, penalty, rate, values[t])
        add_leaves(values[t], leaf, F)
    yield Trees(columns, cuts, values, base), F


def _first(mean: np.ndarray, loss: int) -> np.ndarray:
    """F of no tree, from the mean of the targets."""
    if loss == SQUARED:
        return mean
    mean = np.clip(mean, _RARE, 1.0 - _RARE)
    return np.log(mean) if loss == MORE else np.log(mean / (1.0 - mean))


def _mixed(F: np.ndarray, P: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """P + a (F - P), a in [0, 1] the share of least squares; F in rows where P is NaN."""
    some = ~np.isnan(P[:, 0])
    S, R, w = (F - P)[some], (Y - P)[some], weight[some]
    size = float(w @ (S**2).sum(axis=1))
    a = float(w @ (R * S).sum(axis=1)) / size if size > 0.0 else 0.0
    mixed = F.copy()
    mixed[some] = P[some] + min(max(a, 0.0), 1.0) * S
    return mixed


def loss_of(F: np.ndarray, Y: np.ndarray, weight: np.ndarray, loss: int) -> float:
    """The loss of F (n, K), without what Y alone adds."""
    if loss == SQUARED:
        each = ((Y - F) ** 2).sum(axis=1)
    elif loss == TWO:
        each = np.logaddexp(0.0, F[:, 0]) - Y[:, 0] * F[:, 0]
    else:
        each = np.logaddexp.reduce(F, axis=1) - (Y * F).sum(axis=1)
    return float(weight @ each)
