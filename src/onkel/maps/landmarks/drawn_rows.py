"""The rows that a search learns from, and those that are held out to judge it, in units."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.searched import Rows, SearchedRows
from onkel.numerics.in_steps import finished

#: a search looks at this many rows at most, drawn at random
MOST_ROWS = 65_536
# A fifth of them are held out, up to a limit.
_HELD_OUT, _MOST_HELD_OUT = 0.2, 4096
# Numbers that are scaled in a step.
_NUMBERS = 1 << 18
# The precision of most searches.
_ROUGH = np.float32


class Split(NamedTuple):
    """The numbers of the rows that are held out, and of those to learn from."""

    held: np.ndarray
    learned: np.ndarray


def split(n: int, rng: np.random.Generator, seen: int | None = None) -> Split:
    """A split of n rows at random.

    For a last search ``seen`` says how many rows those before it have seen. Half of the rows held
    out are then the last ones: what comes next may differ from what came. The other half are first
    those that no search has seen: the landmarks that it begins with were not fitted to them.
    """
    order, held = rng.permutation(n), _held_out(n)
    if seen is not None:
        last = order >= n - held // 2
        new = ~last & (order >= seen)
        order = np.concatenate([order[last], order[new], order[~last & ~new]])
    return Split(order[:held], order[held:MOST_ROWS])


def drawn(
    of: Split,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    units: Units,
    exact: bool = False,
) -> Generator[bool, None, tuple[Rows, Rows]]:
    """Rows to judge by and to learn from, in units; each step scales some rows."""
    dtype = np.float64 if exact else _ROUGH
    judge, learn = yield from scaled(list(of), X, Y, weight, units, dtype)
    return judge, learn


def scaled(
    numbers: list[np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    units: Units,
    dtype: DTypeLike,
) -> Generator[bool, None, list[Rows]]:
    """The rows of these numbers in units; each step scales some."""
    found = []
    for rows in numbers:
        scaled = np.empty((len(rows), X.shape[1]), dtype)
        for some in parts_of(len(rows), X.shape[1]):
            scaled[some] = units(X[rows[some]])
            yield True
        found.append(Rows(scaled, Y[rows].astype(dtype), weight[rows].astype(dtype)))
    return found


def predict_held_out(
    at: Landmarks, of: Split, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, units: Units
) -> np.ndarray:
    """Predictions (k, C) of the rows held out, by the others."""
    judge, learn = finished(drawn(of, X, Y, weight, units, exact=True))
    rows = SearchedRows(learn, judge, len(at.S))
    sums = finished(rows.sums(at))
    factor = finished(sums.factor_in_steps(at.ridge))[0]
    return np.asarray(rows.judging(at) @ sums.alpha(factor))


def steps_of_drawing(n: int, d: int) -> int:
    """Steps of :func:`drawn` for n rows of d columns."""
    held = _held_out(n)
    return len(parts_of(held, d)) + len(parts_of(rows_to_learn(n), d))


def rows_to_learn(n: int) -> int:
    """How many of n rows a search learns from."""
    return min(n, MOST_ROWS) - _held_out(n)


def _held_out(n: int) -> int:
    return min(int(n * _HELD_OUT), _MOST_HELD_OUT)


def parts_of(n: int, d: int) -> list[slice]:
    rows = max(_NUMBERS // d, 1)
    return [slice(a, min(a + rows, n)) for a in range(0, n, rows)]
