"""Online scaling of a regression target; predictions are returned in its own units."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.fields import Fields, Number, Sizes, State, Text, Whole, require
from onkel.state import Stateful

LARGEST = 1e150
"""Squares of larger numbers are not finite."""

MODES = ("standard", "minmax", "none")


class OnlineTargetScaler(Stateful):
    """Scale y by running statistics; also return the center and scale before each row.

    For learning, y_t is scaled by the statistics of y_1..y_t. An earlier prediction p_t is in the
    units of y_1..y_{t-1}; in the target's own units it is
    ``p_t * scale_before[t] + center_before[t]``.

    Parameters
    ----------
    mode : {"standard", "minmax", "none"}, default="standard"
        Center and scale: mean and standard deviation, minimum and range, or 0 and 1. Before the
        first row they are 0 and 1; while all y are equal the scale is 1.

    Attributes
    ----------
    n_rows : int
    center, scale : float
        Current values.

    Examples
    --------
    >>> from onkel.streams import OnlineTargetScaler
    >>> scaler = OnlineTargetScaler()
    >>> scaled, center, scale = scaler.learn_transform([1.0, 3.0, 5.0])
    >>> center, scale
    (array([0., 1., 2.]), array([1., 1., 1.]))
    >>> float(scaler.inverse_transform(0.0))
    3.0
    """

    STATE: ClassVar[Fields] = {
        "mode": Text(among=MODES),
        "n_rows": Whole(),
        "_a": Number(),
        "_b": Number(),
    }

    def __init__(self, mode: str = "standard") -> None:
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self.mode = mode
        self.n_rows: int = 0
        # mean and sum of squared deviations, or minimum and maximum
        self._a, self._b = 0.0, 0.0

    @property
    def center(self) -> float:
        """Current value to subtract."""
        return float(self._a) if self.n_rows and self.mode != "none" else 0.0

    @property
    def scale(self) -> float:
        """Current value to divide by."""
        if not self.n_rows or self.mode == "none":
            return 1.0
        wide = self._b - self._a if self.mode == "minmax" else np.sqrt(self._b / self.n_rows)
        return float(wide) if wide > 0 else 1.0

    def learn_transform(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Learn from each value of y (n,), then scale it with the statistics so far.

        Returns the scaled values, and center and scale before each, all (n,) in float64. DataError:
        a value is not finite or too large (row in the block, value); nothing is learned.
        """
        y = finite_targets(y)
        n = len(y)
        center, scale = np.zeros(n + 1), np.ones(n + 1)
        if n and self.mode != "none":
            from onkel.columns.running import target_rows

            center[0], scale[0] = self.center, self.scale
            minmax = self.mode == "minmax"
            a, b = (self._a, self._b) if self.n_rows or not minmax else (np.inf, -np.inf)
            self._a, self._b = target_rows(y, center, scale, a, b, self.n_rows, minmax)
        self.n_rows += n
        return (y - center[1:]) / scale[1:], center[:-1], scale[:-1]

    def scaled_as_is(self, y: ArrayLike) -> tuple[np.ndarray, float, float]:
        """As :meth:`learn_transform`, with the current statistics, which do not change."""
        return self.transform(finite_targets(y)), self.center, self.scale

    def transform(self, y: ArrayLike) -> np.ndarray:
        """Scale y with the current statistics."""
        return (np.asarray(y, dtype=np.float64) - self.center) / self.scale

    def inverse_transform(self, p: ArrayLike) -> np.ndarray:
        """Predictions in the target's own units."""
        return np.asarray(p, dtype=np.float64) * self.scale + self.center

    def check_state(self, state: State, sizes: Sizes) -> None:
        right = state["mode"] == "minmax" or state["b"] >= 0.0
        require(right, f"b: is {state['b']}; it must be at least 0")


def finite_targets(y: ArrayLike) -> np.ndarray:
    """Targets (n,) in float64; DataError at the first that cannot be scaled."""
    y = np.ascontiguousarray(y, dtype=np.float64).reshape(-1)
    bad = ~(np.abs(y) < LARGEST)
    if bad.any():
        row = int(np.argmax(bad))
        wanted = "is too large to be scaled" if np.isfinite(y[row]) else "must be finite"
        raise DataError(f"the target is {y[row]}; it {wanted}", row=row, value=y[row])
    return y
