"""Kernels of the distance between two rows: Gaussian, Matérn and rational quadratic."""

from __future__ import annotations

import numpy as np

from onkel.annotations import Matrix, Out
from onkel.kernels.base import Kernel
from onkel.numerics.pairwise import gaussian_block, gaussian_of_products, ordered_gaussian
from onkel.parameters import positive

_FLOAT32 = np.dtype(np.float32)


class Gaussian(Kernel):
    """exp(-γ ‖x - x'‖²); spectrum N(0, 2γ I)."""

    name = "gaussian"

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        if not isinstance(X, np.ndarray) or not X.dtype == S.dtype == _FLOAT32:
            return super().gram(X, S, gamma, out)
        return gaussian_block(X, S, gamma, out)

    def ordered_gram(
        self, X: np.ndarray, S: np.ndarray, gamma: float, out: Out = None, earlier: bool = False
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


class RationalQuadratic(Kernel):
    """(1 + γ ‖x - x'‖² / shape)^(-shape): a heavy-tailed spectrum, many widths at once.

    ``shape`` > 0; as it grows the kernel tends to the Gaussian. τ ~ Gamma(shape)/shape.
    """

    name = "rational_quadratic"

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = shape

    def check_parameters(self) -> None:
        positive(self, "shape")

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= gamma / self.shape
        r2 += 1.0
        return np.power(r2, -self.shape, out=r2)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.gamma(self.shape, size=n) / self.shape
