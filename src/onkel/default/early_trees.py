"""Trees that are grown early in a stream, by its first rows, and whose leaves go on learning.

They are grown a little with each row that comes, so that no row waits long. The result depends on
the first rows alone, so nothing of the work is saved: a copied or loaded model begins it again.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from onkel.default.boosting import (
    AT_ONCE,
    DEPTH,
    FEWEST_TREES,
    Binned,
    growing,
    penalty_of,
    rate_of,
)
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.tree_loops import SQUARED
from onkel.default.tree_part import TreePart
from onkel.explicit.ahead import Ahead
from onkel.numerics.in_steps import in_shares

#: rows that grow the trees, and at how many they begin to predict
GROWN_BY, BEGIN_AT = 4096, 4608
# Trees at most, trees times outputs, and numbers of leaves, times B² (B landmarks).
_MOST_TREES, _OUTPUTS, _NUMBERS = 300, 900, 1
# The part of the least-squares share that trees have for classes. The chances of trees are far from
# each other: all of it would be a little too much for the largest score.
_OF_CLASSES = 0.75
# Rows that are counted at once.
_COUNTED = 256


def n_early_trees(n_landmarks: int, n_outputs: int) -> int:
    """How many trees are grown; 0 where too few fit."""
    fitting = _NUMBERS * n_landmarks**2 // (n_outputs << DEPTH)
    n_trees = min(_MOST_TREES, _OUTPUTS // n_outputs, fitting)
    return n_trees if n_trees >= FEWEST_TREES else 0


def early_trees(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray, n_trees: int, *more: Any
) -> Ahead:
    """``n_trees`` trees that are grown by rows X (n, d) and targets Y (n, K) while others come."""
    n_steps = X.shape[1] + n_trees // AT_ONCE + len(X) // _COUNTED
    work = in_shares(_grown(X, Y, weight, n_trees, *more), n_steps)
    return Ahead(work, GROWN_BY, BEGIN_AT)


def _grown(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    n_trees: int,
    rng: np.random.Generator,
    forgetting: float,
) -> Generator[bool, None, TreePart]:
    """The trees; a step is a column, some trees or some rows."""
    part, usual, rate = TreePart(Y.shape[1], forgetting), float(weight.mean()), rate_of(n_trees)
    T = part.begin(Y, weight)
    rows = yield from Binned.in_steps(X, rng.random((X.shape[1],)))
    of = T, weight / usual, part.loss, n_trees, rate, rng
    for found in growing(rows, *of, np.arange(len(X))):
        trees = found[0]
        yield True
    part.take([(trees, rows.edges_at(trees))])
    part.part = 1.0 if part.loss == SQUARED else _OF_CLASSES
    of_leaf = rate, usual * penalty_of(part.loss)
    leaves = LearningLeaves(part.values.shape, forgetting, *of_leaf)
    # the values come from these rows, which are only counted: they move a copy
    arrays = part.loss, part.columns, part.edges, part.values.copy(), part.base
    for start in range(0, len(X), _COUNTED):
        some = slice(start, start + _COUNTED)
        leaves.learn(X[some], T[some], weight[some], *arrays)
        yield True
    part.leaves = leaves
    return part
