"""Kernels of the inner product: linear and polynomial."""

from __future__ import annotations

import numpy as np

from onkel.annotations import Matrix, Out
from onkel.kernels.base import Kernel, products, squared_norms
from onkel.numerics.pairwise import ordered_products
from onkel.parameters import is_number


class _OfProducts(Kernel):
    """A kernel of the inner product."""

    shift_invariant = False
    radial = False

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        return self._of(products(X, S, out), gamma)

    def ordered_gram(
        self, X: np.ndarray, S: np.ndarray, gamma: float, out: Out = None, earlier: bool = False
    ) -> np.ndarray:
        return self._of(ordered_products(X, S, out, earlier), gamma)

    def _of(self, P: np.ndarray, gamma: float) -> np.ndarray:
        """The kernel as a function of the inner products P, which it may overwrite."""
        raise NotImplementedError


class Linear(_OfProducts):
    """⟨x, x'⟩; gamma is not used."""

    name = "linear"

    def _of(self, P: np.ndarray, gamma: float) -> np.ndarray:
        return P

    def diagonal(self, X: Matrix, gamma: float) -> np.ndarray:
        return squared_norms(X)


class Polynomial(_OfProducts):
    """(γ ⟨x, x'⟩ + coef0)^degree, degree a positive whole number."""

    name = "polynomial"

    def __init__(self, degree: int = 3, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def check_parameters(self) -> None:
        # 2.0 is whole, too
        if not is_number(self.degree) or self.degree < 1 or self.degree % 1 != 0:
            raise ValueError(f"degree={self.degree!r} must be a positive whole number")
        if not is_number(self.coef0) or not np.isfinite(self.coef0):
            raise ValueError(f"coef0={self.coef0!r} must be a finite number")

    def _of(self, P: np.ndarray, gamma: float) -> np.ndarray:
        P *= gamma
        P += self.coef0
        return np.power(P, self.degree, out=P)

    def diagonal(self, X: Matrix, gamma: float) -> np.ndarray:
        return (gamma * squared_norms(X) + self.coef0) ** self.degree
