"""Landmarks, widths and penalty, in the units they were learned in; features come from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag

from onkel.maps.landmarks.evidence import Landmarks, penalty_of
from onkel.maps.landmarks.heavy_tails import TailCurves
from onkel.maps.landmarks.rational import KernelColumns
from onkel.maps.landmarks.units import Units
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Array, Field, Number

# The penalty of the constant feature, as a share of λ: so small that targets need no centring.
_CONSTANT = 1e-4


class FittedLandmarks:
    """Landmarks ``at`` in ``units``."""

    def __init__(self, units: Units, at: Landmarks) -> None:
        self.units, self.at = units, at
        self._kernel = KernelColumns(at.S, np.exp(at.log_width))

    def __len__(self) -> int:
        return len(self.at.S)

    @property
    def landmarks(self) -> np.ndarray:
        """(B, d), in the units of the rows."""
        return self.units.inverse(self.at.S)

    @property
    def width(self) -> np.ndarray:
        """(d,) or (B, d), in the units of the rows."""
        return np.asarray(np.exp(self.at.log_width) / self.units.scale)

    def fill(self, X: np.ndarray, Z: np.ndarray) -> None:
        """Z (n, B + 1) ← κ(X, S) and the constant feature, of rows X (n, d)."""
        m = len(self)
        self._kernel(self.units(X), Z[:, :m])
        Z[:, m] = 1.0

    def prior(self) -> np.ndarray:
        """The penalty of the weights: λ κ(S, S), or λ I, and a little for the constant."""
        K0 = penalty_of(self.at.S, np.exp(self.at.log_width))
        return np.asarray(self.at.ridge * block_diag(K0, _CONSTANT))

    def in_units(self, units: Units, first: Landmarks | None) -> Landmarks:
        """The same in other units; with the landmarks of ``first``, where it is given."""
        S = units(self.landmarks) if first is None else first.S
        log_width = self.at.log_width + self.units.log_finer(units)
        return Landmarks(S, log_width, self.at.log_ridge)

    def with_columns(self, n: int) -> FittedLandmarks:
        """With n more columns: landmarks are 0 there, the width is the median of all columns'."""
        middling = np.log(np.median(self.width, axis=-1, keepdims=True))
        log_width = np.append(self.at.log_width, np.repeat(middling, n, axis=-1), axis=-1)
        S = with_zero_columns(self.at.S, n)
        at = Landmarks(S, log_width, self.at.log_ridge)
        return FittedLandmarks(self.units.with_columns(n), at)

    @staticmethod
    def fields(state: Any) -> dict[str, Field]:
        """What a state may hold."""
        # widths of each landmark, or common to all
        found = state.get("log_width")
        own = isinstance(found, np.ndarray) and found.ndim == 2
        width: tuple[int | str, ...] = ("landmarks", "d") if own else ("d",)
        return {
            "S": Array(shape=("landmarks", "d"), low=-1e150, high=1e150),
            "log_width": Array(shape=width, low=-300.0, high=300.0),
            "log_ridge": Number(low=-300.0, high=300.0),
            "tails": Array(shape=(2, "d"), low=-1e150, high=1e150),
            "middle": Array(shape=("d",), low=-1e150, high=1e150),
            "scale": Array(shape=("d",), low=1e-300, high=1e150),
        }

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        return {
            "S": self.at.S,
            "log_width": self.at.log_width,
            "log_ridge": float(self.at.log_ridge),
            "tails": self.units.tails.as_array(),
            "middle": self.units.middle,
            "scale": self.units.scale,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FittedLandmarks:
        """The inverse of :meth:`get_state`."""
        units = Units(TailCurves(*state["tails"]), state["middle"], state["scale"])
        at = Landmarks(state["S"], state["log_width"], float(state["log_ridge"]))
        return cls(units, at)
