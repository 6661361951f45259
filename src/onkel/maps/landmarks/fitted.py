"""Landmarks, widths and penalty, in the units they were learned in; features come from them."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from scipy.linalg import block_diag

from onkel.fields import Array, Fields, Number, Sizes
from onkel.maps.landmarks.evidence import Landmarks, penalty_of
from onkel.maps.landmarks.rational import KernelColumns
from onkel.maps.landmarks.tails import TailCurves
from onkel.maps.landmarks.units import OF_UNITS, Units
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Stateful

# The penalty of the constant feature, as a share of λ: so small that targets need no centring.
_CONSTANT = 1e-4


class FittedLandmarks(Stateful):
    """Landmarks ``at`` in ``units``."""

    STATE: ClassVar[Fields] = {
        "S": Array(shape=("landmarks", "d"), low=-1e152, high=1e152),
        # common to all, or of each landmark
        "log_width": Array(shape=("d",), low=-300.0, high=300.0, each="landmarks"),
        "log_ridge": Number(low=-300.0, high=300.0),
        **OF_UNITS,
    }

    def __init__(self, units: Units, at: Landmarks) -> None:
        self.S: np.ndarray = at.S
        self.log_width: np.ndarray = at.log_width
        self.log_ridge: float = at.log_ridge
        self.tails: np.ndarray = units.tails.as_array()
        self.middle: np.ndarray = units.middle
        self.scale: np.ndarray = units.scale
        self.state_is_set()

    @classmethod
    def none(cls, d: int) -> Self:
        """Without landmarks, of d columns: it takes a state."""
        return cls(Units.none(d), Landmarks(np.zeros((0, d)), np.zeros(d), 0.0))

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
        m = len(self.at.S)
        self._kernel(self.units(X), Z[:, :m])
        Z[:, m] = 1.0

    def prior(self) -> np.ndarray:
        """The penalty of the weights: λ κ(S, S), or λ I, and a little for the constant."""
        K0 = penalty_of(self.at.S, np.exp(self.at.log_width))
        return np.asarray(self.at.ridge * block_diag(K0, _CONSTANT))

    def in_units(self, units: Units, S: np.ndarray | None = None) -> Landmarks:
        """The same in other units; with the landmarks S, in those, where they are given."""
        S = units(self.landmarks) if S is None else S
        log_width = self.at.log_width + self.units.log_finer(units)
        return Landmarks(S, log_width, self.at.log_ridge)

    def with_columns(self, n: int) -> FittedLandmarks:
        """With n more columns: landmarks are 0 there, the width is the median of all columns'."""
        middling = np.log(np.median(self.width, axis=-1, keepdims=True))
        log_width = np.append(self.at.log_width, np.repeat(middling, n, axis=-1), axis=-1)
        S = with_zero_columns(self.at.S, n)
        at = Landmarks(S, log_width, self.at.log_ridge)
        return FittedLandmarks(self.units.with_columns(n), at)

    def state_sizes(self) -> Sizes:
        return {"d": self.S.shape[1]}

    def state_is_set(self) -> None:
        self.units: Units = Units(TailCurves(*self.tails), self.middle, self.scale)
        self.at: Landmarks = Landmarks(self.S, self.log_width, self.log_ridge)
        self._kernel = KernelColumns(self.S, np.exp(self.log_width))
