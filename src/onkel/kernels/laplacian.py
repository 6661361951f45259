"""The Laplacian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels.base import Kernel, of_pairs
from onkel.numerics.jit import jit


@jit
def _l1_distances(X, S, out):
    for i in range(X.shape[0]):
        for j in range(S.shape[0]):
            total = abs(X[i, 0] - S[j, 0])
            for k in range(1, X.shape[1]):
                total += abs(X[i, k] - S[j, k])
            out[i, j] = total


class Laplacian(Kernel):
    """exp(-γ ‖x - x'‖₁); spectrum: independent Cauchy(γ) coordinates."""

    name = "laplacian"
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        K = of_pairs(_l1_distances, X, S)
        K *= -gamma
        return np.exp(K, out=K)

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        return gamma * rng.standard_cauchy((d, n))

    def distances(self, X: np.ndarray) -> np.ndarray:
        return of_pairs(_l1_distances, X, X)

    def gamma_of_distance(self, distance: float) -> float:
        return 1.0 / distance
