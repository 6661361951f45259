"""Codes for numbers that repeat, like those of categories."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

ROOM = 1024
"""Numbers of a column that have a code."""

# A column is mostly one number if that has at least this share of the first rows, among at least
# this many different numbers.
_MOSTLY, _FEWEST = 0.8, 5


def is_mostly_one(values: np.ndarray) -> bool:
    """Whether most of the first values are one number, and the others differ.

    This is typical of amounts that are 0 in most rows. Each other number is too rare for a kernel
    to learn what it means. Fewer than five different numbers need no help.
    """
    distinct, counts = np.unique(values, return_counts=True)
    return len(distinct) >= _FEWEST and bool(counts.max() >= _MOSTLY * len(values))


class Repeated:
    """Codes 1, 2, ... of numbers, in order of first appearance; 0 is any other number.

    Numbers are compared in float32.
    """

    def __init__(self) -> None:
        self._codes: dict[float, int] = {}

    @property
    def values(self) -> list[float]:
        """Numbers with a code, in order of their codes."""
        return list(self._codes)

    def take(self, values: np.ndarray) -> None:
        """Give codes to new numbers, in this order, while there is room."""
        if len(self._codes) >= ROOM:
            return
        found, first = np.unique(_single(values), return_index=True)
        self.add(found[np.argsort(first)].tolist())

    def add(self, values: Iterable[float]) -> None:
        """As :meth:`take`, for numbers already rounded to float32."""
        for value in values:
            if np.isfinite(value) and value not in self._codes and len(self._codes) < ROOM:
                self._codes[value] = len(self._codes) + 1

    def of(self, values: np.ndarray) -> np.ndarray:
        """The code of each number; 0 if it has none or is missing."""
        found, index = np.unique(_single(values), return_inverse=True)
        codes = np.array([self._codes.get(value, 0) for value in found.tolist()], dtype=np.int64)
        return codes[index]


def _single(values: np.ndarray) -> np.ndarray:
    """The values rounded to float32; -0 becomes 0."""
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float32) + np.float32(0.0)
