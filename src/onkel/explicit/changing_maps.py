"""Training loops for maps that change while rows are learned, and which loop a map needs.

:class:`Growing` is NOGD's first phase: kernel learning until the support set is full, then features
over it. :class:`Moving` learns over landmarks that move with the rows (Si, Kumar & Li 2018,
Algorithm 2, NOLANA). :class:`Aligning` sums rows with their labels, and changes the features on a
schedule. Maps that move along the gradient of the loss have files of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.explicit import loop
from onkel.explicit.learned_spectrum import LearnedSpectrum
from onkel.explicit.reparameterized import LearnedByGradient
from onkel.explicit.training_loop import TrainingLoop
from onkel.explicit.weights import Weights
from onkel.fields import Array, Fields, Sizes, State, require
from onkel.maps.adaptive_nystroem import AdaptiveNystroem
from onkel.maps.aligned import AlignedFourier
from onkel.maps.base import Change, FeatureMap
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.online_kmeans import Panel
from onkel.numerics.arrays import as_dense, end_of_counted, targets_of, with_zero_columns
from onkel.numerics.threads import one_blas_thread
from onkel.rules import base as places
from onkel.rules.base import Rule


class Growing(TrainingLoop):
    """Keeps the rows that move f; once there are ``n_components``, they become the landmarks.

    Until then W holds the coefficients of the ``support`` vectors (s, d).
    """

    map: NystroemFeatures

    def __init__(self, weights: Weights, feature_map: NystroemFeatures) -> None:
        super().__init__(weights, feature_map)
        self.support: np.ndarray = np.empty((0, feature_map.n_features_in_), feature_map.dtype_)

    @staticmethod
    def n_weights(feature_map: Any) -> int:
        return int(feature_map.n_components if feature_map.grows else feature_map.n_features_out_)

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        done = self._grow(as_dense(X), y, weight, P) if self.map.grows else 0
        if done < len(y):
            super().learn(X[done:], y[done:], weight[done:], P[done:])

    def _grow(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> int:
        """Learn rows over the support set; freeze it when it is full. Returns the rows done."""
        m, weights, n = self.map, self.weights, len(X)
        size, most = len(self.support), weights.W.shape[1]
        panel = np.zeros((n, most + n), m.dtype_)
        if size:
            panel[:, :size] = m.kernel_rows(X, self.support)
        panel[:, most:] = m.kernel_rows(X, X)
        index = np.arange(most)
        q = np.asarray(m.kernel_diagonal(X), dtype=np.float64)
        done, new_size = loop.grow_block(
            panel, q, size, index, y, weight, weights.W, weights.context, P
        )
        self.support = np.concatenate([self.support, X[index[size:new_size] - most]])
        if done == n:
            return n
        self.freeze()
        # As in the authors' program, the row that found the set full was scored by the kernel
        # model and is learned over its features.
        Z = np.ascontiguousarray(m.features(X[: done + 1]))
        c = np.empty(weights.shape[0])
        row = y[done], weight[done], weights.W, weights.H, weights.context, P, c
        loop.learn_one(Z, done, -1.0, *row)
        weights.refresh_norm()
        return int(done) + 1

    def freeze(self) -> None:
        """From coefficients α over the support set to weights w₀ = α V Λ^½ over its features."""
        alpha = self.weights.coef[:, : len(self.support)].astype(np.float64)
        T = self.map.set_landmarks(self.support)
        self.weights.change_total(lambda total: total[:, : len(T)] @ T)
        W = (alpha @ T).astype(self.map.dtype_)
        self.weights.W = np.ascontiguousarray(W)
        self.weights.state[places.SCALE] = 1.0
        self.weights.refresh_norm()
        self.support = self.support[:0]

    def features(self, X: Matrix) -> np.ndarray:
        if self.map.grows:
            return self.map.kernel_rows(X, self.support)
        return super().features(X)

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        if self.map.grows:
            return self.map.kernel_row(X, self.support)
        return super().row_features(X)

    @property
    def coef(self) -> np.ndarray:
        coef = self.weights.predicting
        return coef[:, : len(self.support)] if self.map.grows else coef

    def settled(self) -> bool:
        return not self.map.grows

    def add_columns(self, n: int) -> None:
        self.support = with_zero_columns(self.support, n)

    def state_fields(self) -> Fields:
        support = Array(dtype=self.map.dtype_, shape=("n", self.map.n_features_in_))
        return {**super().state_fields(), "support": support}

    def check_state(self, state: State, sizes: Sizes) -> None:
        most = self.weights.W.shape[1] if self.map.grows else 0
        require(sizes["n"] <= most, f"support: holds {sizes['n']} rows; there are {most} at most")


class Moving(TrainingLoop):
    """A row that moves a landmark is learned over the landmarks before its move (equation 11)."""

    map: AdaptiveNystroem

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        panel = Panel(self.map, as_dense(X), weight)
        while not panel.done:
            rows = panel.next_rows()
            self.weights.learn(panel.features(), y[rows], weight[rows], P[rows])
            if panel.q >= 0:
                # the products of a move are as large where rows come one by one
                with one_blas_thread():
                    self._move(panel)

    def _move(self, panel: Panel) -> None:
        moved = panel.move()
        if moved is not None:
            before, after = moved
            self.weights.carry_over(before, after, self.map.theta)

    def settled(self) -> bool:
        return False


class Aligning(TrainingLoop):
    """Learns rows; until the map has settled, it chooses the features anew on a schedule."""

    map: AlignedFourier

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        done, n = 0, X.shape[0]
        while done < n and self.map.aligning_:
            done = self._learn_part(done, X, y, weight, P)
        if done < n:
            super().learn(X[done:], y[done:], weight[done:], P[done:])

    def _learn_part(
        self, done: int, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> int:
        """Learn rows up to the next solution, if it is near. Returns the rows done."""
        m, most = self.map, self.map.rows_at_once()
        # solutions are due at row numbers, whatever the blocks
        due = m.rows_to_solution()
        stop = end_of_counted(weight[: done + most], done, due)
        reached = np.count_nonzero(weight[done:stop] > 0.0) == due
        rows = slice(done, stop)
        phi = m.candidates_.all_features(X[rows])
        self.weights.learn(m.candidates_.chosen(phi), y[rows], weight[rows], P[rows])
        m.sums_.add(phi, targets_of(y[rows], self.weights.shape[0]), weight[rows])
        if reached:
            self.weights.select(*m.solve())
        return stop

    def settled(self) -> bool:
        return not self.map.aligning_

    def add_output(self, position: int) -> None:
        if self.map.aligning_:
            self.map.sums_.add_class(position)


_LOOPS: dict[Change, type[TrainingLoop]] = {
    Change.NEVER: TrainingLoop,
    Change.BY_SUPPORT: Growing,
    Change.BY_ROWS: Moving,
    Change.BY_LABELS: Aligning,
    Change.BY_LOSS: LearnedByGradient,
}


def training_loop_for(feature_map: FeatureMap, rule: Rule) -> type[TrainingLoop]:
    """The training loop that ``feature_map`` needs; ValueError where none is written for it."""
    change = feature_map.changes()
    if change not in _LOOPS:
        raise ValueError(f"map {feature_map.name!r}: changes() gives {change!r}, no Change")
    if change == Change.BY_LOSS and rule.kind.exact:
        return LearnedSpectrum
    return _LOOPS[change]
