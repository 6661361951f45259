"""Kernels of the inner product: linear and polynomial."""

from __future__ import annotations

import numpy as np

from onkel.annotations import Matrix
from onkel.kernels.base import Kernel, products, squared_norms
from onkel.numerics.pairwise import ordered_products


class Linear(Kernel):
    """⟨x, x'⟩; gamma is not used."""

    name = "linear"
    shift_invariant = False
    radial = False

    def gram(
        self, X: Matrix, S: np.ndarray, gamma: float, out: np.ndarray | None = None
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

    def diagonal(self, X: Matrix, gamma: float) -> np.ndarray:
        return squared_norms(X)


class Polynomial(Kernel):
    """(γ ⟨x, x'⟩ + coef0)^degree, degree a positive whole number."""

    name = "polynomial"
    shift_invariant = False
    radial = False

    def __init__(self, degree: int = 3, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def gram(
        self, X: Matrix, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        return self._of_products(products(X, S, out), gamma)

    def ordered_gram(
        self,
        X: np.ndarray,
        S: np.ndarray,
        gamma: float,
        out: np.ndarray | None = None,
        earlier: bool = False,
    ) -> np.ndarray:
        return self._of_products(ordered_products(X, S, out, earlier), gamma)

    def _of_products(self, K: np.ndarray, gamma: float) -> np.ndarray:
        K *= gamma
        K += self.coef0
        return np.power(K, self.degree, out=K)

    def diagonal(self, X: Matrix, gamma: float) -> np.ndarray:
        return (gamma * squared_norms(X) + self.coef0) ** self.degree
