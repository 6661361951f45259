"""Text becomes categories: codes of values, exact while there is room, then hashed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np


def slots(values: Sequence[str], column: str, n_hash: int) -> np.ndarray:
    """Slot of each value of a text column, from 0 to ``n_hash - 1``.

    CRC-32 of the UTF-8 bytes, seeded by the column's name (equal values of two columns get
    unrelated slots), then the finaliser of MurmurHash3, which spreads similar values (``"a1"``,
    ``"a2"``).
    """
    seed = crc32(column.encode("utf-8", "surrogatepass"))
    codes = (crc32(v.encode("utf-8", "surrogatepass"), seed) for v in values)
    h = np.fromiter(codes, np.uint32, len(values))
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return (h % np.uint32(n_hash)).astype(np.int64)


def slot(value: str, seed: int, n_hash: int) -> int:
    """The slot of one value, as `slots` gives it; ``seed`` is the CRC-32 of the column's name."""
    h = crc32(value.encode("utf-8", "surrogatepass"), seed)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return (h ^ (h >> 16)) % n_hash


BUCKETS = 1 << 16
"""Codes that the values beyond the room share where means of the target are kept."""

NOTHING = ""
"""What is missing, as a value."""


class Categories:
    """A code for each value: 1, 2, ... in order of first appearance, while there is ``room``.

    Beyond that, a value's code is ``room + 1`` plus its hash, one of ``n_hash``, which depends on
    the column's ``name``, too. Code 0 is a value never learned from.
    """

    def __init__(self, name: str, room: int, n_hash: int) -> None:
        self.name: str = name
        self.room: int = room
        self.n_hash: int = n_hash
        self.codes: dict[str, int] = {}
        #: whether values are hashed, for lack of room
        self.hashes: bool = room == 0
        self._seed = crc32(name.encode("utf-8", "surrogatepass"))

    @property
    def values(self) -> list[str]:
        """Values with a code of their own."""
        return list(self.codes)

    def take(self, values: Iterable[str]) -> None:
        """Give codes to new values, in this order."""
        for value in values:
            if value not in self.codes:
                if len(self.codes) < self.room:
                    self.codes[value] = len(self.codes) + 1
                else:
                    self.hashes = True

    def of(self, known: Sequence[str]) -> np.ndarray:
        """The current code of each value in ``known``."""
        found = np.array([self.codes.get(value, 0) for value in known], dtype=np.int64)
        if self.hashes:
            others = np.flatnonzero(found == 0)
            hashed = slots([known[k] for k in others.tolist()], self.name, self.n_hash)
            found[others] = self.room + 1 + hashed
        return found

    def code(self, value: str) -> int:
        """The current code of one value."""
        code = self.codes.get(value, 0)
        if code or not self.hashes:
            return code
        return self.room + 1 + slot(value, self._seed, self.n_hash)

    def new(self, known: Sequence[str], index: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Values without a code of their own, by first appearance, and their first rows.

        ``index`` (n,) gives the place in ``known`` of each row's value.
        """
        if self.full:
            return [], np.empty(0, dtype=np.int64)
        unknown = np.array([value not in self.codes for value in known] + [False])
        rows = np.flatnonzero(unknown[index])
        which, first = np.unique(index[rows], return_index=True)
        # two texts may be the same value
        found: dict[str, int] = {}
        for row, k in sorted(zip(rows[first].tolist(), list(which), strict=True)):
            found.setdefault(known[int(k)], row)
        return list(found), np.array(list(found.values()), dtype=np.int64)

    @property
    def full(self) -> bool:
        """Whether new values can no longer change anything."""
        return self.hashes and len(self.codes) >= self.room


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


_LARGEST_SINGLE = float(np.finfo(np.float32).max)


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

    @property
    def full(self) -> bool:
        """Whether new numbers can no longer change anything."""
        return len(self._codes) >= ROOM

    def code(self, value: float) -> int:
        """The code of one number; 0 if it has none."""
        small = abs(value) < _LARGEST_SINGLE
        return self._codes.get(float(np.float32(value)), 0) if small else 0

    def take(self, values: np.ndarray) -> None:
        """Give codes to new numbers, in this order, while there is room."""
        if self.full:
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
