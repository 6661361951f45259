"""How rows are learned over a feature map: here, over fixed features.

Maps that change while rows are learned have walks of their own: :mod:`onkel.explicit.growing`,
:mod:`~onkel.explicit.moving`, :mod:`~onkel.explicit.aligning`,
:mod:`~onkel.explicit.reparameterized` and :mod:`~onkel.explicit.learned_spectrum`.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from onkel.explicit.features_ahead import Part, features_at_once, features_in_turn
from onkel.explicit.weights import Weights
from onkel.numerics.arrays import scratch


class Walk:
    """Learns rows in order; a subclass also changes the map on the way.

    Parameters
    ----------
    weights : Weights
    feature_map : FeatureMap
        Fitted.
    """

    def __init__(self, weights: Weights, feature_map: Any) -> None:
        self.weights, self.map = weights, feature_map

    @staticmethod
    def n_weights(feature_map: Any) -> int:
        """Weights per output to begin with."""
        return int(feature_map.n_features_out_)

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        """Learn the rows X (n, d) in order; P (n, K) gets the scores before each."""
        self.weights.learn(self.features(X), y, weight, P)

    def learn_parts(
        self, parts: list[Part], X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> None:
        """As :meth:`learn`, part by part; fixed features may be made ahead."""
        if len(parts) == 1 or not self.settled():
            for a, b in parts:
                self.learn(X[a:b], y[a:b], weight[a:b], P[a:b])
            return

        def make(a: int, b: int, out: np.ndarray) -> np.ndarray:
            return self.map.features(X[a:b], out)  # type: ignore[no-any-return]

        m, dtype, matrix = self.weights.shape[1], self.map.dtype_, self.weights.matrix
        shared = matrix is not None and matrix.is_shared(max(b - a for a, b in parts))
        made = features_at_once if shared else features_in_turn
        with closing(made(make, parts, m, dtype)) as features:
            for (a, b), Z in zip(parts, features, strict=True):
                self.weights.learn(Z, y[a:b], weight[a:b], P[a:b])

    def features(self, X: Any) -> np.ndarray:
        """Features (n, m) of rows X, in a scratch array."""
        shape = (X.shape[0], self.weights.shape[1])
        return self.map.features(X, scratch("features", shape, self.map.dtype_))  # type: ignore[no-any-return]

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        """Features (1, m) of one row by a compiled function; None where the map has none."""
        return self.map.row_features(X)  # type: ignore[no-any-return]

    @property
    def coef(self) -> np.ndarray:
        """What features are multiplied by in a prediction, (K, m)."""
        return self.weights.predicting

    def settled(self) -> bool:
        """Whether learning no longer changes the features."""
        return True

    def moves_few(self) -> bool:
        """Whether learning changes the weights, and of the map no more than ``map.moving()``."""
        return self.weights.matrix is None

    def add_output(self, position: int) -> None:
        """Make room for a class; called before the weights do."""

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more; called after the map did."""

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars beside those of weights and map."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
