"""The Cauchy kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.kernels.base import Kernel, of_pairs
from onkel.numerics.jit import jit


@jit
def _cauchy_gram(X, S, gamma, out):
    for i in range(X.shape[0]):
        for j in range(S.shape[0]):
            product = 1.0
            for k in range(X.shape[1]):
                delta = X[i, k] - S[j, k]
                product *= 1.0 + gamma * delta * delta
            out[i, j] = 1.0 / product


class Cauchy(Kernel):
    """Π_j 1/(1 + γ (x_j - x'_j)²); spectrum: independent Laplace(√γ) coordinates."""

    name = "cauchy"
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        return of_pairs(_cauchy_gram, X, S, gamma)

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        return math.sqrt(gamma) * rng.laplace(size=(d, n))
