"""Learning over landmarks that move with the rows (Si, Kumar & Li 2018, Algorithm 2, NOLANA)."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.explicit.walk import Walk
from onkel.numerics.arrays import as_dense


class Moving(Walk):
    """A row that moves a landmark is learned over the landmarks before its move (equation 11)."""

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        panel = self.map.panel(as_dense(X), weight)
        while not panel.done:
            rows = panel.walk()
            self.weights.learn(panel.features(), y[rows], weight[rows], P[rows])
            moved = panel.move()
            if moved is not None:
                before, after = moved
                self.weights.carry_over(before, after, self.map.theta)

    def settled(self) -> bool:
        return False

    def moves_few(self) -> bool:
        return False
