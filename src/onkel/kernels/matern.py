"""The Matérn kernels of smoothness 3/2 and 5/2."""

from __future__ import annotations

import numpy as np

from onkel.kernels.base import Kernel


class Matern32(Kernel):
    """(1 + √3 r/ℓ) exp(-√3 r/ℓ) with 1/ℓ² = 2γ; τ is inverse-Gamma(3/2), spectrum Student t₃."""

    name = "matern32"

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= 6.0 * gamma
        s = np.sqrt(r2, out=r2)
        return (1.0 + s) * np.exp(-s)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return 1.5 / rng.gamma(1.5, size=n)


class Matern52(Kernel):
    """(1 + s + s²/3) exp(-s), s = √5 r/ℓ, 1/ℓ² = 2γ; τ is inverse-Gamma(5/2), spectrum t₅."""

    name = "matern52"

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= 10.0 * gamma
        s = np.sqrt(r2)
        r2 /= 3.0
        r2 += s
        r2 += 1.0
        return r2 * np.exp(-s)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return 2.5 / rng.gamma(2.5, size=n)
