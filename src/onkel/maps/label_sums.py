"""The sums over rows that the alignment of features with labels needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from onkel.state import Array, Number, Whole, check

# Sums smaller than so many times their precision are rounding, and count as 0.
_ROUNDING = 64.0


class LabelSums:
    """Σ y φ (K, N), Σ φ (N,), Σ y and Σ |y| (K,), Σ 1 and the number of rows, by their weights."""

    def __init__(self, n_features: int) -> None:
        self.products = np.zeros((0, n_features))
        self.features = np.zeros(n_features)
        self.targets, self.sizes = np.zeros(0), np.zeros(0)
        self.total, self.n_rows = 0.0, 0
        #: machine epsilon of the features, in whose precision the products are summed
        self.precision = 0.0

    def add(self, phi: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows φ (n, N) with targets Y (n, K) and weights (n,)."""
        if not len(self.targets):
            self.products = np.zeros((Y.shape[1], len(self.features)))
            self.targets, self.sizes = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
            self.precision = float(np.finfo(phi.dtype).eps)
        weighted = np.column_stack([Y * weight[:, None], weight]).astype(phi.dtype)
        sums = weighted.T @ phi
        self.products += sums[:-1]
        self.features += sums[-1]
        self.targets += weight @ Y
        self.sizes += weight @ np.abs(Y)
        self.total += float(weight.sum())
        self.n_rows += int(np.count_nonzero(weight))

    @property
    def unit(self) -> float:
        """The sum of weights divided by a power of two, in [½, 1)."""
        return math.frexp(self.total)[0]

    def squares(self, centered: bool) -> np.ndarray:
        """v (N,) = Σ_k (Σ_i (y_ik - c_k) φ_i)²/s², with c the targets' mean or 0.

        s is the power of two above the sum of weights: dividing by it is exact and keeps the
        squares in range. :attr:`unit` is the sum of weights in units of s.

        Sums that are 0 but for rounding are set to 0. Otherwise, where the columns are constant and
        all features agree with the labels alike, the cut into blocks would choose the features.
        """
        if not self.total > 0.0:
            return np.zeros(len(self.features))
        scale = self.unit / self.total
        sums, sizes = self.products * scale, self.sizes * scale
        if centered:
            mean = self.targets / self.total
            sums -= mean[:, None] * (self.features * scale)
            sizes += np.abs(mean)
        sums[np.abs(sums) <= _ROUNDING * self.precision * sizes[:, None]] = 0.0
        return np.asarray((sums**2).sum(axis=0))

    def add_class(self, position: int) -> None:
        """Make room for a class without rows at ``position``.

        Two classes were one target ±1; their indicators are (1 ± y)/2.
        """
        if not len(self.targets):
            return
        if len(self.targets) == 1:
            signs = np.array([[-0.5], [0.5]])
            self.products = 0.5 * self.features + signs * self.products
            self.targets = 0.5 * self.total + signs[:, 0] * self.targets
            self.sizes = self.targets.copy()
        self.products = np.insert(self.products, position, 0.0, axis=0)
        self.targets = np.insert(self.targets, position, 0.0)
        self.sizes = np.insert(self.sizes, position, 0.0)

    def copy(self) -> LabelSums:
        """An independent copy."""
        return LabelSums.from_state(self.get_state(), len(self.features))

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        return dict(self.__dict__)

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int) -> LabelSums:
        """The inverse of :meth:`get_state`, with arrays of its own."""
        # nothing is summed once the features are fixed
        N = n_features if np.size(state.get("features", ())) else 0
        fields = {
            "products": Array(shape=("K", N), low=-1e150, high=1e150),
            "features": Array(shape=(N,), low=-1e150, high=1e150),
            "targets": Array(shape=("K",), low=-1e150, high=1e150),
            "sizes": Array(shape=("K",), low=0.0, high=1e150),
            "total": Number(low=0.0),
            "n_rows": Whole(),
            "precision": Number(low=0.0, high=1.0),
        }
        check(state, fields)
        sums = cls(0)
        for name in fields:
            value = state[name]
            setattr(sums, name, np.array(value) if isinstance(value, np.ndarray) else value)
        return sums


def indicators(y: np.ndarray) -> np.ndarray:
    """Targets (n, K): a regression's own, ±1 for two classes, else indicators."""
    if type_of_target(y).startswith("continuous"):
        return np.asarray(y, dtype=np.float64)[:, None]
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        return (2.0 * codes - 1.0)[:, None]
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)
