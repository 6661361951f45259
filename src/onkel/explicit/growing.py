"""NOGD's first phase: kernel learning until the support set is full, then features over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.explicit import loop
from onkel.explicit.walk import Walk
from onkel.explicit.weights import Weights
from onkel.numerics.arrays import as_dense, with_zero_columns
from onkel.rules import base as places
from onkel.state import Array, check, require


class Growing(Walk):
    """Keeps the rows that move f; once there are ``n_components``, they become the landmarks.

    Until then W holds the coefficients of the ``support`` vectors (s, d).
    """

    def __init__(self, weights: Weights, feature_map: Any) -> None:
        super().__init__(weights, feature_map)
        self.support = np.empty((0, feature_map.n_features_in_), feature_map.dtype_)

    @staticmethod
    def n_weights(feature_map: Any) -> int:
        return int(feature_map.n_components if feature_map.grows else feature_map.n_features_out_)

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
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
        c = np.empty(weights.n_outputs)
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

    def features(self, X: Any) -> np.ndarray:
        if self.map.grows:
            return self.map.kernel_rows(X, self.support)  # type: ignore[no-any-return]
        return super().features(X)

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        if self.map.grows:
            return self.map.kernel_row(X, self.support)  # type: ignore[no-any-return]
        return super().row_features(X)

    @property
    def coef(self) -> np.ndarray:
        coef = self.weights.predicting
        return coef[:, : len(self.support)] if self.map.grows else coef

    def settled(self) -> bool:
        return not self.map.grows

    def moves_few(self) -> bool:
        return self.settled() and super().moves_few()

    def add_columns(self, n: int) -> None:
        self.support = with_zero_columns(self.support, n)

    def get_state(self) -> dict[str, Any]:
        return {"support": self.support}

    def set_state(self, state: dict[str, Any]) -> None:
        shape = ("n", self.map.n_features_in_)
        size = check(state, {"support": Array(dtype=self.map.dtype_, shape=shape)})["n"]
        most = self.weights.W.shape[1] if self.map.grows else 0
        require(size <= most, f"support: holds {size} rows; there are {most} at most")
        self.support = np.array(state["support"])
