"""The periodic kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.kernels.base import Kernel, of_pairs
from onkel.numerics.jit import jit


@jit
def _squared_sines(X, S, frequency, out):
    for i in range(X.shape[0]):
        for j in range(S.shape[0]):
            total = 0.0
            for k in range(X.shape[1]):
                sine = math.sin(frequency * (X[i, k] - S[j, k]))
                total += sine * sine
            out[i, j] = total


class Periodic(Kernel):
    """exp(-4γ Σ_j sin²(π (x_j - x'_j)/period)): the Gaussian on circles of radius 1.

    Every column repeats after ``period`` > 0 of its units (hours of the day: 24).

    Notes
    -----
    Source: MacKay 1998, Introduction to Gaussian processes, section 5.2. With u = (cos, sin) of
    2πx/period it is the Gaussian exp(-γ ‖u - u'‖²). Spectrum: harmonics of the
    period, each the difference of two Poisson(γ) numbers.
    """

    name = "periodic"
    radial = False

    def __init__(self, period: float = 1.0) -> None:
        self.period = period

    def gram(self, X: Any, S: np.ndarray, gamma: float, out: Any = None) -> np.ndarray:
        K = of_pairs(_squared_sines, X, S, math.pi / self.period)
        K *= -4.0 * gamma
        return np.exp(K, out=K)

    def distances(self, X: np.ndarray) -> np.ndarray:
        return 2.0 * np.sqrt(of_pairs(_squared_sines, X, X, math.pi / self.period))

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        harmonics = rng.poisson(gamma, (d, n)) - rng.poisson(gamma, (d, n))
        return 2.0 * math.pi / self.period * harmonics
