"""Aligned features online: rows are summed with their labels, features change on a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.explicit.walk import Walk


class Aligning(Walk):
    """Learns rows; until the map has settled, it chooses the features anew on a schedule."""

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        done, n = 0, X.shape[0]
        while done < n and self.map.aligns:
            done = self._learn_part(done, X, y, weight, P)
        if done < n:
            super().learn(X[done:], y[done:], weight[done:], P[done:])

    def _learn_part(
        self, done: int, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> int:
        """Learn rows up to the next solution, if it is near. Returns the rows done."""
        m, most = self.map, self.map.rows_at_once()
        # solutions are due at row numbers, whatever the blocks
        due = m.rows_to_solution()
        counted = np.flatnonzero(weight[done : done + most] > 0.0)
        reached = counted.size >= due
        stop = done + int(counted[due - 1]) + 1 if reached else min(done + most, X.shape[0])
        rows = slice(done, stop)
        phi = m.candidates_.all_features(X[rows])
        self.weights.learn(m.candidates_.chosen(phi), y[rows], weight[rows], P[rows])
        m.sums_.add(phi, self.weights.targets(y[rows]), weight[rows])
        if reached:
            self.weights.select(*m.solve())
        return stop

    def settled(self) -> bool:
        return not self.map.aligns

    def moves_few(self) -> bool:
        return self.settled() and super().moves_few()

    def add_output(self, position: int) -> None:
        if self.map.aligns:
            self.map.sums_.add_class(position)
