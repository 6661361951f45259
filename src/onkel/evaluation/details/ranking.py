"""How well scores rank: the area under the ROC curve, from counts of scores in bins.

A score goes to a bin of its sign, its exponent and the first six bits of its mantissa, so scores
in one bin differ by less than 1.6 %. Two rows in one bin count one half, as ties do. The memory is
that of the bins, whatever the number of rows, and blocks do not matter.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_DIGITS = 6
_LOWEST, _HIGHEST = -20, 8
"""Powers of two: smaller scores are 0, larger ones go to the last bin."""
_HALF = (_HIGHEST - _LOWEST) << _DIGITS
_BINS = 2 * _HALF + 1
MOST_CLASSES = 50
"""With more classes nothing is counted: each would need bins of its own."""


class Ranking:
    """Scores of each class in bins, those of its own rows and those of the others."""

    def __init__(self) -> None:
        self.counts = np.zeros((0, 2, _BINS), dtype=np.int64)

    def add(self, codes: np.ndarray, scores: np.ndarray, known: np.ndarray) -> None:
        """Scores (n, K) of rows of class ``codes`` (n,), of which ``known`` (n,) classes count."""
        K = scores.shape[1]
        if K > MOST_CLASSES:
            return
        if len(self.counts) < K:
            more = np.zeros((K - len(self.counts), 2, _BINS), dtype=np.int64)
            self.counts = np.concatenate([self.counts, more])
        own = (codes[:, None] == np.arange(K)).astype(np.int64)
        cells = (2 * np.arange(K) + own) * _BINS + _bin(scores)
        cells = cells[np.arange(K) < known[:, None]]
        counts = np.bincount(cells, minlength=self.counts.size)
        self.counts += counts.reshape(self.counts.shape)

    def area(self) -> float:
        """AUC of two classes; of more, the mean of each against the rest. NaN: not known."""
        areas = [_area(own, others) for others, own in self.counts]
        if len(areas) == 2:
            areas = areas[1:]
        found = [area for area in areas if not math.isnan(area)]
        return float(np.mean(found)) if found else math.nan

    def get_state(self) -> dict[str, Any]:
        """JSON-able: the bins that hold rows."""
        at = np.flatnonzero(self.counts)
        return {"at": at.tolist(), "n": self.counts.ravel()[at].tolist(), "K": len(self.counts)}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.counts = np.zeros((state["K"], 2, _BINS), dtype=np.int64)
        self.counts.ravel()[np.array(state["at"], dtype=np.int64)] = state["n"]


def _bin(scores: np.ndarray) -> np.ndarray:
    """Bins of scores, in the order of the scores."""
    bits = np.abs(scores).astype(np.float32).view(np.uint32).astype(np.int64)
    size = (bits >> (23 - _DIGITS)) - ((127 + _LOWEST) << _DIGITS) + 1
    return _HALF + np.sign(scores).astype(np.int64) * size.clip(0, _HALF)


def _area(own: np.ndarray, others: np.ndarray) -> float:
    pairs = float(own.sum()) * float(others.sum())
    if not pairs:
        return math.nan
    below = np.cumsum(others) - 0.5 * others
    return float(own @ below) / pairs
