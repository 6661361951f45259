"""Kernels that compare column by column: Laplacian, Cauchy and periodic."""

from __future__ import annotations

import math

import numpy as np

from onkel.annotations import Matrix, Out
from onkel.kernels.base import Kernel, of_pairs
from onkel.numerics.jit import jit
from onkel.parameters import positive


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

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        K = of_pairs(_l1_distances, X, S)
        K *= -gamma
        return np.exp(K, out=K)

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        return gamma * rng.standard_cauchy((d, n))

    def distances(self, X: np.ndarray) -> np.ndarray:
        return of_pairs(_l1_distances, X, X)

    def gamma_of_distance(self, distance: float) -> float:
        return 1.0 / distance


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

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        return of_pairs(_cauchy_gram, X, S, gamma)

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        return math.sqrt(gamma) * rng.laplace(size=(d, n))


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

    def check_parameters(self) -> None:
        positive(self, "period")

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        K = of_pairs(_squared_sines, X, S, math.pi / self.period)
        K *= -4.0 * gamma
        return np.exp(K, out=K)

    def distances(self, X: np.ndarray) -> np.ndarray:
        return 2.0 * np.sqrt(of_pairs(_squared_sines, X, X, math.pi / self.period))

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        harmonics = rng.poisson(gamma, (d, n)) - rng.poisson(gamma, (d, n))
        return 2.0 * math.pi / self.period * harmonics
