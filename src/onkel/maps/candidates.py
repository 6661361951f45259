"""Random features to choose from, and the choice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.maps.fourier import row_turns, turns_of
from onkel.numerics.arrays import scratch
from onkel.numerics.jit import cos_block, jit

_TURN = 1.0 / (2.0 * math.pi)


class Candidates:
    """N features √2 cos(ω_m·x + b_m), of which those in ``used`` count, times √q.

    Attributes
    ----------
    frequencies : ndarray of shape (d, N)
    offsets : ndarray of shape (N,)
    drawn : ndarray of shape (N,)
        Their numbers among the features drawn at first.
    used, weights : ndarray of shape (M,)
        The features used and their q.
    """

    def __init__(
        self, frequencies: np.ndarray, offsets: np.ndarray, drawn: np.ndarray, dtype: Any
    ) -> None:
        self.frequencies, self.offsets, self.drawn, self.dtype = frequencies, offsets, drawn, dtype
        self._turns = (frequencies * _TURN).astype(dtype)
        self._offset_turns = (offsets * _TURN).astype(dtype)

    def use(self, used: np.ndarray, weights: np.ndarray) -> None:
        """Use the candidates ``used`` (M,), with q = ``weights`` (M,)."""
        self.used, self.weights = used, weights
        self._used_turns = np.ascontiguousarray(self._turns[:, used])
        self._used_offsets = self._offset_turns[used]
        self._scale = np.sqrt(2.0 * weights).astype(self.dtype)

    def change_to(self, used: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`use`; returns where each feature was and √q_new/√q_old; -1 and 0 if new."""
        place = np.full(len(self.offsets), -1)
        place[self.used] = np.arange(len(self.used))
        old, before = place[used], self.weights
        self.use(used, weights)
        return old, np.where(old >= 0, np.sqrt(weights / before[old]), 0.0)

    def only_used(self) -> Candidates:
        """The features used, without the others."""
        frequencies, drawn = self.frequencies[:, self.used], self.drawn[self.used]
        kept = Candidates(frequencies, self.offsets[self.used], drawn, self.dtype)
        kept.use(np.arange(len(self.used)), self.weights)
        return kept

    def add_columns(self, frequencies: np.ndarray) -> None:
        """Take n more columns, with the frequencies (n, N₀) of all features drawn at first."""
        wider = np.concatenate([self.frequencies, frequencies[:, self.drawn]])
        used, weights = self.used, self.weights
        self.__init__(wider, self.offsets, self.drawn, self.dtype)  # type: ignore[misc]
        self.use(used, weights)

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        """The features used, (n, M)."""
        Z = np.empty((X.shape[0], len(self.used)), self.dtype) if out is None else out
        cos_block(turns_of(X, self._used_turns), self._used_offsets, self._scale, Z)
        return Z

    def row_features(self, X: np.ndarray) -> np.ndarray:
        """The features used of one row, (1, M)."""
        return _row_features(X, self._used_turns, self._used_offsets, self._scale)  # type: ignore[no-any-return]

    def all_features(self, X: Any) -> np.ndarray:
        """φ (n, N) of all candidates, in a scratch array."""
        N = len(self.offsets)
        phi = scratch("candidates", (X.shape[0], N), self.dtype)
        ones = np.full(N, math.sqrt(2.0), self.dtype)
        cos_block(turns_of(X, self._turns), self._offset_turns, ones, phi)
        return phi

    def chosen(self, phi: np.ndarray) -> np.ndarray:
        """The features used, (n, M), from φ (n, N), in a scratch array."""
        Z = scratch("features", (len(phi), len(self.used)), self.dtype)
        np.take(phi, self.used, axis=1, out=Z)
        Z *= np.sqrt(self.weights).astype(self.dtype)
        return Z

    def get_state(self) -> dict[str, Any]:
        """Named arrays."""
        state = {"candidates": self.frequencies, "offsets": self.offsets, "drawn": self.drawn}
        return state | {"used": self.used, "weights": self.weights}

    @classmethod
    def from_state(cls, state: dict[str, Any], dtype: Any) -> Candidates:
        """The inverse of :meth:`get_state`."""
        candidates = cls(state["candidates"], state["offsets"], state["drawn"], dtype)
        candidates.use(state["used"], state["weights"])
        return candidates


@jit
def _row_features(X, turns, offset, scale):
    angles = row_turns(X, turns)
    cos_block(angles, offset, scale, angles)
    return angles
