"""Trees that are grown early in a stream, by its first rows, and whose leaves go on learning.

Where the first trees help, more rows grow half as many again. From then on the sums of both are
averaged: trees of more rows know more, and the first ones err elsewhere.

Trees are grown a little with each row that comes, so that no row waits long. The result depends on
the first rows alone, so nothing of the work is saved: a copied or loaded model begins it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onkel.default.boosting import (
    AT_ONCE,
    DEPTH,
    FEWEST_TREES,
    Binned,
    Task,
    growing,
    penalty_of,
    rate_of,
)
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.losses import SQUARED
from onkel.default.tree_part import TreePart
from onkel.explicit.ahead import Ahead
from onkel.fields import Fields, Flag
from onkel.numerics.arrays import targets_of
from onkel.numerics.in_steps import in_shares
from onkel.state import Stateful

#: rows that grow the trees, and at how many they begin to predict: the first time and the second
GROWTHS = ((4096, 4608), (16_384, 18_432))
# The second time no trees are grown where the first ones leave more than this share of squared
# errors.
_HELPFUL = 0.99
# Trees at most, trees times outputs, and numbers of leaves, times B² (B landmarks).
_MOST_TREES, _OUTPUTS, _NUMBERS = 300, 900, 1
# The part of the least-squares share that trees have for classes. The chances of trees are far from
# each other: all of it would be too much for the largest score.
_OF_CLASSES = 0.5
# Rows that are counted at once.
_COUNTED = 256


def n_early_trees(n_landmarks: int, n_outputs: int) -> int:
    """How many trees are grown at once; 0 where too few fit."""
    fitting = _NUMBERS * n_landmarks**2 // (n_outputs << DEPTH)
    n_trees = min(_MOST_TREES, _OUTPUTS // n_outputs, fitting)
    return n_trees if n_trees >= FEWEST_TREES else 0


class FirstRows(NamedTuple):
    """How many rows a model has seen, how many first ones it keeps for sure, and those kept."""

    seen: int
    kept: int
    rows: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]


class Growth(Stateful):
    """The trees that the first rows of a model grow, up to ``most`` times."""

    STATE: ClassVar[Fields] = {"goes_on": Flag()}

    def __init__(self, most: int = len(GROWTHS)) -> None:
        self.most: int = most
        #: whether trees may still grow
        self.goes_on: bool = most > 0
        # no state: it can always begin again
        self._work: Ahead | None = None

    def begin_again(self) -> None:
        """Begin the work that is under way again."""
        self._work = None

    def rows_left(self, first: FirstRows | None) -> float:
        """Rows after which :meth:`grown` is to be called; infinite where no trees will grow."""
        if first is None:
            return math.inf
        growth = self._after(first.seen, first.kept)
        return math.inf if growth is None else growth[first.seen >= growth[0]] - first.seen

    def rows_before_second(self, first: FirstRows | None) -> float:
        """Rows until those kept will grow the second trees; infinite where they will not."""
        grown_by = GROWTHS[1][0]
        if first is None or first.seen > grown_by or not self._after(grown_by, first.kept):
            return math.inf
        return grown_by - first.seen

    def _after(self, n: int, kept: int) -> tuple[int, int] | None:
        """The growth that is under way after n rows, or the next."""
        growth = next((growth for growth in GROWTHS[: self.most] if n < growth[1]), None)
        return growth if growth and growth[1] <= kept and self.goes_on else None

    def grown(
        self, first: FirstRows, trees: TreePart | None, n_trees: int, K: int, seed: int, *more: Any
    ) -> TreePart | None:
        """The trees from now on; those there are until others are grown.

        What is due by now is done. The work begins with the row after those that grow the trees.
        """
        growth = self._after(first.seen - 1, first.kept)
        if growth is None or first.seen < growth[0]:
            return trees
        grown_by, begin_at = growth
        if first.seen == grown_by:
            self.goes_on = trees is None or growth == GROWTHS[0] or trees.left <= _HELPFUL
            return trees
        if self._work is None:
            X, y, weight = (part[:grown_by] for part in first.rows())
            rows = X.astype(np.float64), targets_of(y, K), weight
            rng = np.random.default_rng([seed, grown_by, 4])
            if growth != GROWTHS[0]:
                n_trees //= 2
            self._work = early_trees(*rows, n_trees, begin_at, rng, *more)
        if first.seen < begin_at:
            self._work.advance(first.seen)
            return trees
        own, self._work = self._work.finish(), None
        self.goes_on = growth != GROWTHS[self.most - 1]
        if trees is not None and growth != GROWTHS[0]:
            own.join(trees)
        return own


def early_trees(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray, n_trees: int, begin_at: int, *more: Any
) -> Ahead:
    """``n_trees`` trees that are grown by rows X (n, d) and targets Y (n, K) while others come."""
    n_steps = X.shape[1] + n_trees // AT_ONCE + len(X) // _COUNTED
    work = in_shares(_grown(X, Y, weight, n_trees, *more), n_steps)
    return Ahead(work, len(X), begin_at)


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
    task = Task(rows, T, weight / usual, part.loss, n_trees, rate)
    for found in growing(task, rng, np.arange(len(X))):
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
