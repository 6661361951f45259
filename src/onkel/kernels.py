"""Kernels κ(x, x'): Gram blocks, their diagonal, and for shift-invariant ones the spectrum.

Every kernel takes its width as ``gamma``, passed at each call, because the learners fit it on the
first rows of a stream. The radial kernels are scale mixtures of Gaussians,

    κ(x, x') = E_τ[exp(-γ τ ‖x - x'‖²)],   ω = √(2γτ) · N(0, I),

so the mixing law of τ gives both the kernel and its random frequencies (Bochner).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from onkel._dense import as_dense
from onkel._gaussian import gaussian_block, gaussian_of_products
from onkel._jit import jit

__all__ = [
    "KERNELS",
    "Cauchy",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Polynomial",
    "RationalQuadratic",
    "make_kernel",
    "normal_directions",
    "squared_distances",
]

_FLOAT32 = np.dtype(np.float32)


def _squared_norms(X: Any) -> np.ndarray:
    if hasattr(X, "multiply"):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _products(X: Any, S: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """X Sᵀ, in ``out`` where that can be."""
    if out is None or not isinstance(X, np.ndarray):
        return np.asarray(X @ S.T)
    return np.matmul(X, S.T, out=out)


def squared_distances(X: Any, S: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances (n, m) between the rows of X (dense or CSR) and S (dense)."""
    if isinstance(X, np.ndarray) and len(S):
        # around their middle: far from the origin the squares would cancel
        middle = S.mean(axis=0)
        X, S = X - middle, S - middle
    return _squared_of_products(_products(X, S, out), X, S)


def _squared_of_products(P: np.ndarray, X: Any, S: np.ndarray) -> np.ndarray:
    """P (n, m) of inner products X Sᵀ ← ‖x - s‖²."""
    P *= -2.0
    P += _squared_norms(X)[:, None]
    P += _squared_norms(S)[None, :]
    return np.maximum(P, 0.0, out=P)


@jit
def _l1_distances(X, S, out):
    for i in range(X.shape[0]):
        for j in range(S.shape[0]):
            total = abs(X[i, 0] - S[j, 0])
            for k in range(1, X.shape[1]):
                total += abs(X[i, k] - S[j, k])
            out[i, j] = total


@jit
def _cauchy_gram(X, S, gamma, out):
    for i in range(X.shape[0]):
        for j in range(S.shape[0]):
            product = 1.0
            for k in range(X.shape[1]):
                delta = X[i, k] - S[j, k]
                product *= 1.0 + gamma * delta * delta
            out[i, j] = 1.0 / product


def _pairwise(loop: Any, X: Any, S: np.ndarray, *args: float) -> np.ndarray:
    X = as_dense(X)
    out = np.empty((X.shape[0], S.shape[0]), X.dtype)
    loop(X, np.ascontiguousarray(S, dtype=X.dtype), *args, out)
    return out


class Kernel(BaseEstimator):
    """A kernel. Subclasses give ``gram``; shift-invariant ones also ``mixing`` or ``spectrum``."""

    name: str
    shift_invariant = True
    radial = True

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        """κ(X, S), shape (n, m), for X (n, d) dense or CSR and S (m, d) dense.

        ``out`` (n, m), of the dtype of X, may be used for the result.
        """
        return self._of_squared(squared_distances(X, S, out), gamma)

    def with_earlier(
        self, X: np.ndarray, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        """κ(X, [S; X]), (n, m + n), for dense X (n, d) and S (m, d) of one dtype.

        In the second part only what a row has with those before it need be there.
        """
        return self.gram(X, np.concatenate([S, X]), gamma, out)

    def of_products(self, P: np.ndarray, X: np.ndarray, S: np.ndarray, gamma: float) -> np.ndarray:
        """κ(X, S) of a radial kernel from the inner products P = X Sᵀ (n, m), in their place.

        For who needs the distances too; X and S should lie around 0, where nothing cancels.
        """
        return self._of_squared(_squared_of_products(P, X, S), gamma)

    def diagonal(self, X: Any, gamma: float) -> np.ndarray:
        """κ(x, x) of each row: 1 for every shift-invariant kernel."""
        return np.ones(X.shape[0])

    def _of_squared(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        """The kernel as a function of the squared distance; may overwrite ``r2``."""
        raise NotImplementedError(f"{type(self).__name__} is not a radial kernel")

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """n draws of τ, the mixing law of a radial kernel."""
        return np.ones(n)

    def spectrum(
        self,
        rng: np.random.Generator,
        d: int,
        n: int,
        gamma: float,
        orthogonal: bool = False,
        later: int = 0,
    ) -> np.ndarray:
        """n frequencies (d + later, n) drawn from the kernel's spectral density.

        ``orthogonal=True`` draws blocks of d orthogonal directions with the lengths that
        independent ones would have (Yu et al. 2016): the same kernel, smaller variance. The last
        ``later`` rows, for columns that came later, are independent in any case. More columns take
        more of the same stream of numbers: the rows of the first ones stay what they were.
        """
        # before the directions, whose number grows with the columns
        width = np.sqrt(2.0 * gamma * self.mixing(rng, n))
        return normal_directions(rng, d, n, orthogonal, later) * width

    def distances(self, X: np.ndarray) -> np.ndarray:
        """Pairwise distances in the kernel's own metric, for the median heuristic."""
        return np.sqrt(squared_distances(X, X))

    def gamma_of_distance(self, distance: float) -> float:
        """The gamma whose width is ``distance``: 1/(2·distance²) for radial kernels."""
        return 0.5 / distance**2


def normal_directions(
    rng: np.random.Generator, d: int, n: int, orthogonal: bool = False, later: int = 0
) -> np.ndarray:
    """n draws of N(0, I) as columns (d + later, n).

    Orthogonal ones in blocks of d, each N(0, I) still; the last ``later`` rows are independent.
    """
    if not orthogonal:
        return rng.standard_normal((d + later, n))
    blocks = []
    for _ in range(-(-n // d)):
        Q, R = np.linalg.qr(rng.standard_normal((d, d)))
        Q *= np.sign(np.diag(R))
        blocks.append(Q * np.sqrt(rng.chisquare(d, size=d)))
    first = np.concatenate(blocks, axis=1)[:, :n]
    return np.concatenate([first, rng.standard_normal((later, n))])


class Gaussian(Kernel):
    """exp(-γ ‖x - x'‖²); spectrum N(0, 2γ I)."""

    name = "gaussian"

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        if not isinstance(X, np.ndarray) or not X.dtype == S.dtype == _FLOAT32:
            return super().gram(X, S, gamma, out)
        return gaussian_block(X, S, gamma, out)

    def with_earlier(
        self, X: np.ndarray, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        if not X.dtype == S.dtype == _FLOAT32:
            return super().with_earlier(X, S, gamma, out)
        return gaussian_block(X, S, gamma, out, earlier=True)

    def of_products(self, P: np.ndarray, X: np.ndarray, S: np.ndarray, gamma: float) -> np.ndarray:
        if P.dtype != _FLOAT32:
            return super().of_products(P, X, S, gamma)
        return gaussian_of_products(P, X, S, gamma)

    def _of_squared(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= -gamma
        return np.exp(r2, out=r2)


class RationalQuadratic(Kernel):
    """(1 + γ ‖x - x'‖² / shape)^(-shape): a heavy-tailed spectrum, many widths at once.

    ``shape`` > 0; the Gaussian is the limit of a large one. τ ~ Gamma(shape)/shape.
    """

    name = "rational_quadratic"

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = shape

    def _of_squared(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= gamma / self.shape
        r2 += 1.0
        return np.power(r2, -self.shape, out=r2)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.gamma(self.shape, size=n) / self.shape


class Matern32(Kernel):
    """(1 + √3 r/ℓ) exp(-√3 r/ℓ) with 1/ℓ² = 2γ; τ is inverse-Gamma(3/2), spectrum Student t₃."""

    name = "matern32"

    def _of_squared(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= 6.0 * gamma
        s = np.sqrt(r2, out=r2)
        return (1.0 + s) * np.exp(-s)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return 1.5 / rng.gamma(1.5, size=n)


class Matern52(Kernel):
    """(1 + s + s²/3) exp(-s), s = √5 r/ℓ, 1/ℓ² = 2γ; τ is inverse-Gamma(5/2), spectrum t₅."""

    name = "matern52"

    def _of_squared(self, r2: np.ndarray, gamma: float) -> np.ndarray:
        r2 *= 10.0 * gamma
        s = np.sqrt(r2)
        r2 /= 3.0
        r2 += s
        r2 += 1.0
        return r2 * np.exp(-s)

    def mixing(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return 2.5 / rng.gamma(2.5, size=n)


class Laplacian(Kernel):
    """exp(-γ ‖x - x'‖₁); spectrum: independent Cauchy(γ) coordinates."""

    name = "laplacian"
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        K = _pairwise(_l1_distances, X, S)
        K *= -gamma
        return np.exp(K, out=K)

    def spectrum(
        self,
        rng: np.random.Generator,
        d: int,
        n: int,
        gamma: float,
        orthogonal: bool = False,
        later: int = 0,
    ) -> np.ndarray:
        if orthogonal:
            raise ValueError("orthogonal=True needs a radial kernel; 'laplacian' is not radial")
        return gamma * rng.standard_cauchy((d + later, n))

    def distances(self, X: np.ndarray) -> np.ndarray:
        return _pairwise(_l1_distances, X, X)

    def gamma_of_distance(self, distance: float) -> float:
        return 1.0 / distance


class Cauchy(Kernel):
    """Π_j 1/(1 + γ (x_j - x'_j)²); spectrum: independent Laplace(√γ) coordinates."""

    name = "cauchy"
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        return _pairwise(_cauchy_gram, X, S, gamma)

    def spectrum(
        self,
        rng: np.random.Generator,
        d: int,
        n: int,
        gamma: float,
        orthogonal: bool = False,
        later: int = 0,
    ) -> np.ndarray:
        if orthogonal:
            raise ValueError("orthogonal=True needs a radial kernel; 'cauchy' is not radial")
        return math.sqrt(gamma) * rng.laplace(size=(d + later, n))


class Polynomial(Kernel):
    """(γ ⟨x, x'⟩ + coef0)^degree, degree a positive whole number."""

    name = "polynomial"
    shift_invariant = False
    radial = False

    def __init__(self, degree: int = 3, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        K = _products(X, S, out)
        K *= gamma
        K += self.coef0
        return np.power(K, self.degree, out=K)

    def diagonal(self, X: Any, gamma: float) -> np.ndarray:
        return (gamma * _squared_norms(X) + self.coef0) ** self.degree


class Linear(Kernel):
    """⟨x, x'⟩; gamma is not used."""

    name = "linear"
    shift_invariant = False
    radial = False

    def gram(
        self, X: Any, S: np.ndarray, gamma: float, out: np.ndarray | None = None
    ) -> np.ndarray:
        return _products(X, S, out)

    def diagonal(self, X: Any, gamma: float) -> np.ndarray:
        return _squared_norms(X)


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (
        Gaussian,
        Laplacian,
        Cauchy,
        RationalQuadratic,
        Matern32,
        Matern52,
        Polynomial,
        Linear,
    )
}


def make_kernel(kernel: str | Kernel) -> Kernel:
    """A kernel object from a name (``"rbf"`` is ``"gaussian"``) or an object."""
    if isinstance(kernel, Kernel):
        return kernel
    name = "gaussian" if kernel == "rbf" else kernel
    if name not in KERNELS:
        raise ValueError(f"kernel={kernel!r} is not one of {', '.join(map(repr, KERNELS))}")
    return KERNELS[name]()
