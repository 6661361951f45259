"""Targets that a score cannot stand: one far from all others, such as -99999, or all tiny."""

from __future__ import annotations

import numpy as np

_FEWEST = 20
"""Targets of a sample that say what is usual."""
_MIDDLE = (0.05, 0.95)
"""Between these shares of the sample its targets are usual."""
_FAR = 1000.0
"""A target is strange if it is so many times farther from the middle than the usual ones."""


_TINY = 1e-150
"""Squares of smaller numbers are 0, or have few digits."""


class Extremes:
    """The smallest and the largest target so far, with their rows, counted from 1."""

    def __init__(self) -> None:
        #: row and target
        self._found: list[tuple[int, float]] = []

    def add(self, y: np.ndarray, before: int) -> None:
        """The next targets, after ``before`` rows."""
        if len(y):
            ends = [int(np.argmin(y)), int(np.argmax(y))]
            found = self._found + [(before + k + 1, float(y[k])) for k in ends]
            by_target = sorted(found, key=lambda pair: (pair[1], pair[0]))
            self._found = [by_target[0], by_target[-1]]

    def tiny(self) -> float | None:
        """The largest target, or the smallest below 0, where squares of all are lost."""
        farthest = max((target for _, target in self._found), key=abs, default=0.0)
        return farthest if 0.0 < abs(farthest) < _TINY else None

    def strange(self, sample: np.ndarray) -> tuple[int, float] | None:
        """Row and target of the strangest, given a sample of targets; None if none is strange."""
        if len(sample) < _FEWEST or not self._found:
            return None
        low, middle, high = np.quantile(sample, [_MIDDLE[0], 0.5, _MIDDLE[1]])
        row, target = max(self._found, key=lambda pair: abs(pair[1] - middle))
        usual = max(high - middle, middle - low)
        return (row, target) if abs(target - middle) > _FAR * usual > 0.0 else None
