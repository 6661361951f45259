"""What a search would gain that the labels of the rows before do not tell anyway.

A memory predicts a row by f and by the labels so far. Where targets change slowly, these tell most
of what f does not: a search lowers the errors of f, and hardly those of the prediction. So targets
of rows held out are also predicted by least squares on f there, a constant, and the labels and f of
the two rows before. What a search gains is what is gained in the errors that this leaves.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.rational import kernel_columns
from onkel.maps.landmarks.searched import Rows

#: how many rows before each are looked at
N_BEFORE = 2
#: steps of :func:`squares_left`
STEPS = N_BEFORE + 1
# Labels before tell something where they leave less than this share of f's squared errors.
_TELLING = 0.9
# Where they leave less than this share, no search is tried.
_NEARLY_ALL = 0.2


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
        """Whether they tell nearly all."""
        return self.left < _NEARLY_ALL * self.of_f


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
