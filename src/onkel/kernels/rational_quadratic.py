"""The rational quadratic kernel."""

from __future__ import annotations

import numpy as np

from onkel.kernels.base import Kernel


class RationalQuadratic(Kernel):
    """(1 + γ ‖x - x'‖² / shape)^(-shape): a heavy-tailed spectrum, many widths at once.

    ``shape`` > 0; as it grows the kernel tends to the Gaussian. τ ~ Gamma(shape)/shape.
    """

    name = "rational_quadratic"

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = shape

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= gamma / self.shape
        r2 += 1.0
        return np.power(r2, -self.shape, out=r2)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.gamma(self.shape, size=n) / self.shape
