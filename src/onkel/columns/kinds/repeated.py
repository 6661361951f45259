"""Numbers that come again and again: a code for each, as categories have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

ROOM = 1024
"""Numbers of a column that have a code."""

# A column is mostly one number if that stands in so many of the first rows, among at least so
# many different ones.
_MOSTLY, _FEWEST = 0.8, 5


def is_mostly_one(values: np.ndarray) -> bool:
    """Whether nearly all of the first values are one number, and the others differ.

    So it is with amounts that most rows lack. A kernel sees few of the others, and cannot place
    what each of them says. A handful of different numbers needs no help.
    """
    distinct, counts = np.unique(values, return_counts=True)
    return len(distinct) >= _FEWEST and bool(counts.max() >= _MOSTLY * len(values))


class Repeated:
    """Codes 1, 2, ... of numbers, in the order of their first appearance; 0 is any other number.

    Numbers are the same if they are in float32.
    """

    def __init__(self) -> None:
        self._codes: dict[float, int] = {}

    @property
    def values(self) -> list[float]:
        """Numbers with a code, in its order."""
        return list(self._codes)

    def take(self, values: np.ndarray) -> None:
        """Give codes to numbers that may be new, in this order, while there is room."""
        if len(self._codes) >= ROOM:
            return
        found, first = np.unique(_single(values), return_index=True)
        self.add(found[np.argsort(first)].tolist())

    def add(self, values: Iterable[float]) -> None:
        """As :meth:`take`, one number after the other, each of them in float32."""
        for value in values:
            if np.isfinite(value) and value not in self._codes and len(self._codes) < ROOM:
                self._codes[value] = len(self._codes) + 1

    def of(self, values: np.ndarray) -> np.ndarray:
        """The code of each number; 0 for those missing."""
        found, index = np.unique(_single(values), return_inverse=True)
        codes = np.array([self._codes.get(value, 0) for value in found.tolist()], dtype=np.int64)
        return codes[index]


def _single(values: np.ndarray) -> np.ndarray:
    """Rounded to float32; -0 is 0."""
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float32) + np.float32(0.0)
