"""Codes for the values of a text column: exact while there is room, then hashed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from onkel.columns.kinds.hashing import slots

BUCKETS = 1 << 16
"""Codes that the values beyond the room share where means of the target are kept."""

NOTHING = ""
"""What is missing, as a value."""


class Categories:
    """A code for each value: 1, 2, ... in order of first appearance, while there is room.

    Beyond that, a value's code is ``room + 1`` plus its hash. Code 0 is a value never learned from.

    Parameters
    ----------
    name : str
        Name of the column: equal values of two columns get unrelated hashes.
    room : int
        Number of values with a code of their own.
    n_hash : int
        Number of codes shared by all other values.
    """

    def __init__(self, name: str, room: int, n_hash: int) -> None:
        self.name, self.room, self.n_hash = name, room, n_hash
        self.codes: dict[str, int] = {}
        #: whether values are hashed, for lack of room
        self.hashes = room == 0

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
