"""Where each of the learner's columns comes from, among the encoded ones and their statistics."""

from __future__ import annotations

import numpy as np

#: the encoded columns that hold codes, each with how many, from it on, belong together
Codes = dict[int, int]


class Places:
    """Where each of the learner's columns comes from, looked up once for many rows.

    ``key``: the encoded columns d, how many columns are late, the statistics of a code J, and the
    columns with codes, with how many follow each other.
    """

    def __init__(
        self, key: tuple[int, int, int, Codes], n_first: int, late: list[tuple[int, int]]
    ) -> None:
        self.key = key
        d, _, n_means, codes = key
        held, coded = set(late), all_of(codes)
        source = [*((j, 0) for j in range(n_first)), *late]
        #: (column, code's column, statistic) of the columns that hold statistics
        self.of_means: list[tuple[int, int, int]] = [
            (at, j, k) for at, (j, k) in enumerate(source) if j in codes
        ]
        self.at_means: np.ndarray = np.array([at for at, _, _ in self.of_means], dtype=np.intp)
        self._from = np.array([j if j < d else 0 for j, _ in source], dtype=np.intp)
        self._lacking = np.array([at for at, (j, _) in enumerate(source) if j >= d], dtype=np.intp)
        #: encoded columns, and statistics of codes, that have no place before their first value
        self.open: list[int] = [
            j for j in range(n_first, d) if j not in coded and (j, 0) not in held
        ]
        self._open = np.array(self.open, dtype=np.intp)
        self.open_means: list[tuple[int, int]] = [
            (j, k)
            for j in codes
            for k in range(n_means)
            if (k or j >= n_first) and (j, k) not in held
        ]

    def placed(self, X: np.ndarray, means: dict[int, np.ndarray]) -> np.ndarray:
        """The learner's columns of rows X (n, d), with the statistics of each code (n, J)."""
        out = self._copied(X)
        with np.errstate(over="ignore"):
            for at, j, k in self.of_means:
                out[:, at] = means[j][:, k] if k < means[j].shape[1] else 0.0
        return out

    def placed_row(self, X: np.ndarray, means: dict[int, list[float]]) -> np.ndarray:
        """As :meth:`placed`, of one row X (1, d)."""
        out = self._copied(X)
        if self.of_means:
            found = [means[j][k] if k < len(means[j]) else 0.0 for _, j, k in self.of_means]
            with np.errstate(over="ignore"):
                out[0, self.at_means] = found
        return out

    def _copied(self, X: np.ndarray) -> np.ndarray:
        """The columns of X (n, d) in their places; statistics are to be put in theirs."""
        out = X.take(self._from, axis=1)
        if len(self._lacking):
            out[:, self._lacking] = 0.0
        return out

    def any_begins(self, X: np.ndarray) -> bool:
        """Whether a column without a place has a value in the row X (1, d)."""
        return bool(self.open) and bool(X.take(self._open).any())


def all_of(codes: Codes) -> set[int]:
    """All columns that hold codes."""
    return {j + i for j, m in codes.items() for i in range(m)}


def codes_of(X: np.ndarray, codes: Codes) -> dict[int, np.ndarray]:
    """The codes (n, m) in rows X (n, d), by the first of their columns."""
    return {j: X[:, j : j + m] for j, m in codes.items()}


def codes_of_row(X: np.ndarray, codes: Codes) -> dict[int, int | list[int]]:
    """The codes of one row X (1, d), by the first of their columns: one, or several."""
    if not codes:
        return {}
    found: dict[int, int | list[int]] = {}
    found |= zip(codes, map(int, X.take(list(codes)).tolist()), strict=True)
    several = {j: m for j, m in codes.items() if m > 1}
    return found | {j: [int(c) for c in X[0, j : j + m].tolist()] for j, m in several.items()}
