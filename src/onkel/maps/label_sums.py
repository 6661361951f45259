"""What the alignment of features with labels needs of the rows so far: sums, and no rows."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["LabelSums"]


class LabelSums:
    """Σ y φ (K, N), Σ φ (N,), Σ y (K,), Σ 1 and the number of rows, each row by its weight."""

    def __init__(self, n_features: int) -> None:
        self.products = np.zeros((0, n_features))
        self.features = np.zeros(n_features)
        self.targets = np.zeros(0)
        self.total = 0.0
        self.n_rows = 0

    def add(self, phi: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows φ (n, N) with targets Y (n, K) and weights (n,)."""
        if not len(self.targets):
            self.products = np.zeros((Y.shape[1], len(self.features)))
            self.targets = np.zeros(Y.shape[1])
        weighted = np.column_stack([Y * weight[:, None], weight]).astype(phi.dtype)
        sums = weighted.T @ phi
        self.products += sums[:-1]
        self.features += sums[-1]
        self.targets += weight @ Y
        self.total += float(weight.sum())
        self.n_rows += int(np.count_nonzero(weight))

    def squares(self, centered: bool) -> np.ndarray:
        """v (N,) = Σ_k (Σ_i (y_ik - c_k) φ_i)², with c the targets' mean or 0."""
        if not len(self.targets):
            return np.zeros(len(self.features))
        if not centered:
            return np.asarray((self.products**2).sum(axis=0))
        mean = self.targets / max(self.total, 1e-300)
        return np.asarray(((self.products - mean[:, None] * self.features) ** 2).sum(axis=0))

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
        self.products = np.insert(self.products, position, 0.0, axis=0)
        self.targets = np.insert(self.targets, position, 0.0)

    def copy(self) -> LabelSums:
        """An independent copy."""
        return LabelSums.from_state(self.get_state())

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        return dict(self.__dict__)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LabelSums:
        """The inverse of :meth:`get_state`, with arrays of its own."""
        sums = cls(0)
        for name, value in state.items():
            setattr(sums, name, np.array(value) if isinstance(value, np.ndarray) else value)
        return sums
