"""The Gaussian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels.base import Kernel
from onkel.numerics.gaussian import gaussian_block, gaussian_of_products, ordered_gaussian

_FLOAT32 = np.dtype(np.float32)


class Gaussian(Kernel):
    """exp(-γ ‖x - x'‖²); spectrum N(0, 2γ I)."""

    name = "gaussian"

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        if not isinstance(X, np.ndarray) or not X.dtype == S.dtype == _FLOAT32:
            return super().gram(X, S, gamma, out)
        return gaussian_block(X, S, gamma, out)

    def ordered_gram(
        self,
        X: np.ndarray,
        S: np.ndarray,
        gamma: float,
        out: np.ndarray | None = None,
        earlier: bool = False,
    ) -> np.ndarray:
        if not X.dtype == S.dtype == _FLOAT32:
            return super().ordered_gram(X, S, gamma, out, earlier)
        return ordered_gaussian(X, S, gamma, out, earlier)

    def of_products(self, P: np.ndarray, X: np.ndarray, S: np.ndarray, gamma: float) -> np.ndarray:
        if P.dtype != _FLOAT32:
            return super().of_products(P, X, S, gamma)
        return gaussian_of_products(P, X, S, gamma)

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= -gamma
        return np.exp(r2, out=r2)
