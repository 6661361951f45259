"""What a search would gain that the labels of the rows before do not tell anyway.

A memory predicts a row by f and by the labels so far. Where targets change slowly, these tell most
of what f does not: a search lowers the errors of f, and hardly those of the prediction. So targets
of rows held out are also predicted by least squares on f there, a constant, and the labels and f of
the two rows before. What a search gains is what is gained in the errors that this leaves.

Rows held out at random have neighbours in time that were learned, so f predicts them better than
the rows that come. Where classes come in long runs, or columns drift, f says little of the next
rows, and the last label nearly all. So the last rows are predicted by those before them, too.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import Landmarks, steps_of_sums, sums_in_steps
from onkel.maps.landmarks.rational import kernel_columns
from onkel.maps.landmarks.searched import Rows

#: how many rows before each are looked at
N_BEFORE = 2
#: steps of :func:`squares_left`
STEPS = N_BEFORE + 1
# Labels before tell something where they leave less than this share of f's squared errors.
_TELLING = 0.9
# Where they leave less than this share, no search is tried: of rows held out at random, and of the
# last rows. There f's errors are larger, and those of a search would hardly be smaller.
_NEARLY_ALL, _NEARLY_ALL_OF_LAST = 0.2, 0.1


class Left(NamedTuple):
    """Squared errors of f, and what is left of them where the labels before are known."""

    of_f: float
    left: float

    @property
    def telling(self) -> bool:
        """Whether labels before tell something."""
        return self.left < _TELLING * self.of_f

    @property
    def nearly_all(self) -> bool:
        """Whether they tell nearly all of rows held out at random."""
        return self.left < _NEARLY_ALL * self.of_f

    @property
    def nearly_all_of_last(self) -> bool:
        """Whether they tell nearly all of the last rows."""
        return self.left < _NEARLY_ALL_OF_LAST * self.of_f


def rows_before(held: np.ndarray) -> list[np.ndarray]:
    """The numbers of the rows held out that have enough rows before, and of those rows."""
    held = held[held >= N_BEFORE]
    return [held - k for k in range(N_BEFORE + 1)]


def squares_left(at: Landmarks, alpha: np.ndarray, rows: list[Rows]) -> Generator[bool, None, Left]:
    """For f = κ(·, S) α: ``rows`` are those of :func:`rows_before`, scaled; in ``STEPS`` steps."""
    w, root, known = np.exp(at.log_width), np.sqrt(rows[0].weight)[:, None], []
    for X, Y, _ in rows:
        f = kernel_columns(X, at.S.astype(X.dtype), w.astype(X.dtype)) @ alpha.astype(X.dtype)
        known += [(root * part).astype(np.float64) for part in (f, Y)]
        yield True
    f, y, *others = known
    columns = [f, *others, np.broadcast_to(root, y.shape)]
    G = np.array([[float(np.vdot(a, b)) for b in columns] for a in columns])
    b = np.array([float(np.vdot(a, y)) for a in columns])
    told = float(b @ np.linalg.lstsq(G, b, rcond=None)[0])
    return Left(float(np.sum((y - f) ** 2)), max(float(np.vdot(y, y)) - told, 0.0))


def left_of_last(at: Landmarks, early: Rows, last: list[Rows]) -> Generator[bool, None, Left]:
    """For the f that rows ``early`` give at a point; ``last`` as in :func:`squares_left`."""
    sums = yield from sums_in_steps(at, *early.of_sums)
    factor, _ = yield from sums.factor_in_steps(at.ridge)
    yield True
    return (yield from squares_left(at, sums.alpha(factor), last))


def steps_of_last(n: int) -> int:
    """Steps of :func:`left_of_last` with n early rows."""
    return steps_of_sums(n) + 1 + STEPS
