"""Columns cut into bins, and the cells of one and of two columns."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np

from onkel.fields import Array, Fields, Flag, State, require
from onkel.maps.landmarks.indicators import groups_of, in_groups
from onkel.state import Stateful

# 16 columns make 136 cells a row, which take 3 µs.
_MOST_COLUMNS = 16
_MOST_BINS = 256
# Bins for comparing columns, and for columns without pairs.
_FEW_BINS = 8


class PairBins(Stateful):
    """Bins of some ``columns``, made from the first rows; a cell is a bin, or a pair of bins."""

    #: the upper ends of each column's bins, (m, 2^q - 1), filled up with infinities
    edges: np.ndarray
    n_cells: int
    #: (P, 4) of i, j, offset, stride: the cell of bins b is offset + stride·b_i + b_j; stride 0 for
    #: a column alone
    pairs: np.ndarray

    STATE: ClassVar[Fields] = {
        "columns": Array(np.int64, ("m",), low=0, high=2**31),
        "edges": Array(shape=("m", "ends"), finite=False),
        "paired": Flag(),
    }

    def __init__(self, columns: np.ndarray, edges: list[np.ndarray], paired: bool = True) -> None:
        self.columns: np.ndarray = columns
        self.paired: bool = paired
        self._set_edges(edges)

    def _set_edges(self, edges: list[np.ndarray]) -> None:
        """Keep the edges of each column, and lay out the cells."""
        longest = max((len(e) for e in edges), default=0)
        width = (1 << longest.bit_length()) - 1
        self.edges = np.full((len(edges), width), np.inf)
        for row, e in zip(self.edges, edges, strict=True):
            row[: len(e)] = e
        self.pairs, self.n_cells = _layout([len(e) + 1 for e in edges], self.paired)

    @classmethod
    def none(cls) -> PairBins:
        """No columns, and so no cells."""
        return cls(np.empty(0, np.int64), [])

    @classmethod
    def of(cls, X: np.ndarray, Y: np.ndarray, most_cells: int) -> PairBins:
        """The columns of X (n, d) that say most about Y (n, K), in as many bins as cells allow.

        Numbers and target means come before the single values of a category. Bins become coarser
        before a column is left out.
        """
        X = X.astype(np.float64)
        values = [np.unique(x) for x in X.T]
        distinct = np.array([len(v) for v in values])
        explained = _explained(X, Y, values)
        columns = np.flatnonzero(distinct > 1)
        # a single value of a category says less than its columns of numbers and target means
        of_value = in_groups(groups_of(X))[columns]
        first = np.lexsort((-explained[columns], of_value))
        columns = np.sort(columns[first[:_MOST_COLUMNS]])
        while len(columns) and _n_cells(np.minimum(distinct[columns], 2)) > most_cells:
            columns = np.delete(columns, np.argmin(explained[columns]))
        bins = _MOST_BINS
        while bins > 2 and _n_cells(np.minimum(distinct[columns], bins)) > most_cells:
            bins -= 1
        return cls(columns, [_edges(X[:, j], values[j], bins) for j in columns])

    def alone(self) -> PairBins:
        """The same columns without their pairs, with bins joined until at most 8 are left."""
        few = [_thinned(e) for e in _finite(self.edges)]
        return PairBins(self.columns, few, paired=False)

    def check_state(self, state: State, sizes: dict[str, int]) -> None:
        require(sizes["m"] <= _MOST_COLUMNS, f"columns: holds more than {_MOST_COLUMNS}")
        require(sizes["ends"] < _MOST_BINS, f"edges: makes more than {_MOST_BINS} bins")
        ends = np.asarray(state["edges"])
        with np.errstate(invalid="ignore"):  # ends are filled up with infinities
            steps = np.diff(ends, axis=1)[np.isfinite(ends[:, 1:])] if sizes["ends"] else ends
        require((ends > -np.inf).all() and (steps > 0.0).all(), "edges: are not in order")

    def state_is_set(self) -> None:
        self._set_edges(_finite(self.edges))


def _finite(edges: np.ndarray) -> list[np.ndarray]:
    """The edges of each column without the infinities."""
    return [row[np.isfinite(row)] for row in edges]


def _layout(counts: list[int], paired: bool) -> tuple[np.ndarray, int]:
    """``pairs`` and the number of cells, for columns with ``counts`` bins each."""
    pairs, offset = [], 0
    for j, count in enumerate(counts):
        pairs.append((j, j, offset, 0))
        offset += count
    for i, j in combinations(range(len(counts)), 2) if paired else ():
        pairs.append((i, j, offset, counts[j]))
        offset += counts[i] * counts[j]
    return np.array(pairs, np.int64).reshape(-1, 4), offset


def _n_cells(counts: np.ndarray) -> int:
    total = int(counts.sum())
    return total + (total**2 - int(counts @ counts)) // 2


def _edges(x: np.ndarray, values: np.ndarray, bins: int) -> np.ndarray:
    """Ends of bins with about as many rows each; few distinct ``values`` get a bin each."""
    if len(values) > bins:
        return np.unique(np.quantile(x, np.arange(1, bins) / bins))
    # between two of the smallest numbers there is none: ends may be equal
    return np.unique(0.5 * values[:-1] + 0.5 * values[1:])


def _thinned(edges: np.ndarray) -> np.ndarray:
    """Some of the ``edges``, so that few bins remain."""
    if len(edges) < _FEW_BINS:
        return edges
    return edges[np.arange(1, _FEW_BINS) * (len(edges) + 1) // _FEW_BINS - 1]


def _explained(X: np.ndarray, Y: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    """For each column, the variance of Y between its bins, less what chance would give."""
    Y = Y - Y.mean(axis=0)
    chance = (Y**2).sum() / max(len(Y) - 1, 1)
    out = np.zeros(X.shape[1])
    for j, x in enumerate(X.T):
        if len(values[j]) == 1:
            continue
        bins = np.searchsorted(_edges(x, values[j], _FEW_BINS), x)
        sizes = np.bincount(bins)
        sums = (bins == np.arange(len(sizes))[:, None]).astype(np.float64) @ Y
        between = (sums**2 / np.maximum(sizes, 1)[:, None]).sum()
        out[j] = between - chance * (np.count_nonzero(sizes) - 1)
    return out
