"""The linear kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels.base import Kernel
from onkel.kernels.distances import products, squared_norms
from onkel.numerics.pairwise import ordered_products


class Linear(Kernel):
    """⟨x, x'⟩; gamma is not used."""

    name = "linear"
    shift_invariant = False
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        return products(X, S, out)

    def ordered_gram(
        self,
        X: np.ndarray,
        S: np.ndarray,
        gamma: float,
        out: np.ndarray | None = None,
        earlier: bool = False,
    ) -> np.ndarray:
        return ordered_products(X, S, out, earlier)

    def diagonal(self, X: Any, gamma: float) -> np.ndarray:
        return squared_norms(X)
