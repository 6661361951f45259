"""How rows are learned over a feature map: here, over fixed features, a sub-block at a time.

Maps that change while rows are learned have training loops of their own: see
:mod:`onkel.explicit.changing_maps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.exact.least_squares import PARTS_AHEAD, Rows
from onkel.explicit.features_ahead import Span, features_in_turn
from onkel.explicit.weights import Weights
from onkel.fields import Fields
from onkel.maps.base import FeatureMap
from onkel.numerics.arrays import targets_of
from onkel.numerics.threads import Line, n_threads, scratch
from onkel.state import Part, Stateful

# The features of a sub-block are to stay in a core's second-level cache while its rows are learned.
_CACHE_BYTES = 1 << 20
_MOST_ROWS, _FEWEST_ROWS = 512, 16
#: a row that alone determines its prediction counts as if others did, too, a little
MOST_OWN = 0.99


class TrainingLoop(Stateful):
    """Learns rows in order, over a fitted map; a subclass also changes the map on the way.

    Its state is what it keeps beside the weights and the map.
    """

    def __init__(self, weights: Weights, feature_map: FeatureMap) -> None:
        self.weights: Weights = weights
        self.map: FeatureMap = feature_map
        self._fewest_rows = max(_FEWEST_ROWS, feature_map.fewest_rows())

    @staticmethod
    def n_weights(feature_map: Any) -> int:
        """Weights per output to begin with."""
        return int(feature_map.n_features_out_)

    def learn_block(
        self,
        X: Matrix,
        y: np.ndarray,
        weight: np.ndarray,
        P: np.ndarray,
        then: Callable[[Span], None] | None = None,
    ) -> None:
        """As :meth:`learn`, in sub-blocks; other threads may do a part of it.

        ``then`` is called for the rows of P in order, once they are known and no longer needed
        here; perhaps in another thread.
        """
        parts, matrix = self.sub_blocks(X.shape[0]), self.weights.matrix
        if matrix is not None and n_threads() > 1 and parts and self.settled():
            by_two = matrix.is_shared(max(b - a for a, b in parts))
            if by_two and bool((weight > 0.0).all()):
                self._learn_by_two(X, y, weight, P, parts, then)
                return
        if len(parts) > 1 and self.settled():
            self._learn_in_turn(X, y, weight, P, parts)
        else:
            for a, b in parts:
                self.learn(X[a:b], y[a:b], weight[a:b], P[a:b])
        if then is not None:
            then((0, len(P)))

    def _learn_in_turn(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray, parts: list[Span]
    ) -> None:
        """Learn parts while other threads make the features of the next."""

        def make(a: int, b: int, out: np.ndarray) -> np.ndarray:
            return self.map.features(X[a:b], out)

        m, dtype = self.weights.shape[1], self.map.dtype_
        with closing(features_in_turn(make, parts, m, dtype)) as features:
            for (a, b), Z in zip(parts, features, strict=True):
                self.weights.learn(Z, y[a:b], weight[a:b], P[a:b])

    def _learn_by_two(
        self,
        X: Matrix,
        y: np.ndarray,
        weight: np.ndarray,
        P: np.ndarray,
        parts: list[Span],
        then: Callable[[Span], None] | None,
    ) -> None:
        """Learn parts of which another thread does half of the work."""
        weights, most = self.weights, max(b - a for a, b in parts)
        shape, dtype = (most, weights.shape[1]), self.map.dtype_
        rooms = [scratch(f"features {i}", shape, dtype) for i in range(PARTS_AHEAD + 1)]

        def rows() -> Iterator[Rows]:
            for i, (a, b) in enumerate(parts):
                Z = self.map.features(X[a:b], rooms[i % len(rooms)][: b - a])
                targets = targets_of(y[a:b], weights.shape[0]) - weights.level
                yield np.asarray(Z, np.float64), targets, weight[a:b]

        assert weights.matrix is not None
        with closing(Line()) as line:
            found = weights.matrix.learn_shared(rows(), line)
            for (a, b), scores in zip(parts, found, strict=True):
                P[a:b] = scores + weights.level
                weights.count(weight[a:b])
                if then is not None:
                    line.give_later(partial(then, (a, b)))

    def sub_blocks(self, n: int) -> list[Span]:
        """Where the sub-blocks of n rows begin and end: their features fit a fast cache."""
        if n == 1:
            return [(0, 1)]
        weights, feature_map = self.weights, self.map
        width = max(weights.shape[1], feature_map.n_features_in_) * feature_map.dtype_.itemsize
        rows = first = min(max(_CACHE_BYTES // width, self._fewest_rows), _MOST_ROWS)
        if weights.matrix is not None:
            # a block that an anchor cuts in two is solved in two parts
            rows, first = weights.matrix.block_rows(rows)
        starts = [0, *range(first, n, rows)] if n else []
        return list(zip(starts, [*starts[1:], n], strict=False))

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        """Learn the rows X (n, d) in order; P (n, K) gets the scores before each."""
        room = scratch("features", (X.shape[0], self.weights.shape[1]), self.map.dtype_)
        self.weights.learn(self.map.features(X, room), y, weight, P)

    def features(self, X: Matrix) -> np.ndarray:
        """Features (n, m) of rows X, in a scratch array."""
        shape = (X.shape[0], self.weights.shape[1])
        return self.map.features(X, scratch("features", shape, self.map.dtype_))

    def own_shares(self, X: Matrix, weight: np.ndarray) -> np.ndarray:
        """w zᵀ P z (n,) of learned rows of least squares: what each says to its own prediction."""
        matrix, own = self.weights.matrix, np.empty(X.shape[0])
        assert matrix is not None
        for a, b in self.sub_blocks(X.shape[0]):
            own[a:b] = matrix.leverage(self.features(X[a:b]))
        return weight * own

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        """Features (1, m) of one row by a compiled function; None where the map has none."""
        return self.map.row_features(X)

    @property
    def coef(self) -> np.ndarray:
        """What features are multiplied by in a prediction, (K, m)."""
        return self.weights.predicting

    def settled(self) -> bool:
        """Whether learning no longer changes the features."""
        return True

    def state_fields(self) -> Fields:
        return {"weights": Part(among="W"), **self.STATE}

    def add_output(self, position: int) -> None:
        """Make room for a class; called before the weights do."""

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more; called after the map did."""
