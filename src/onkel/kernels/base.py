"""The base class of kernels κ(x, x'): Gram blocks, their diagonal, and a spectrum if any.

Every kernel takes its width as ``gamma``, passed at each call, because the learners fit it on the
first rows of a stream. The radial kernels are scale mixtures of Gaussians,

    κ(x, x') = E_τ[exp(-γ τ ‖x - x'‖²)],   ω = √(2γτ) · N(0, I),

so the mixing law of τ gives both the kernel and its random frequencies (Bochner). First come the
inner products and distances that kernels are made of, of dense or CSR rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onkel.annotations import Matrix, Out
from onkel.numerics.arrays import as_dense
from onkel.numerics.pairwise import ordered_squared_distances
from onkel.sklearn_bases import BaseEstimator


def squared_norms(X: Matrix) -> np.ndarray:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def products(X: Matrix, S: np.ndarray, out: Out) -> np.ndarray:
    """X Sᵀ, in ``out`` if possible."""
    if out is None or not isinstance(X, np.ndarray):
        return np.asarray(X @ S.T)
    return np.matmul(X, S.T, out=out)


def squared_distances(X: Matrix, S: np.ndarray, out: Out = None) -> np.ndarray:
    """Squared Euclidean distances (n, m) between the rows of X (dense or CSR) and S (dense)."""
    if isinstance(X, np.ndarray) and len(S):
        # centred: far from the origin the squares would cancel
        middle = S.mean(axis=0)
        X, S = X - middle, S - middle
    return squared_of_products(products(X, S, out), X, S)


def squared_of_products(P: np.ndarray, X: Matrix, S: np.ndarray) -> np.ndarray:
    """‖x - s‖² (n, m) from the inner products P = X Sᵀ, in place."""
    P *= -2.0
    P += squared_norms(X)[:, None]
    P += squared_norms(S)[None, :]
    return np.maximum(P, 0.0, out=P)


class Kernel(BaseEstimator):
    """A kernel.

    A radial kernel defines ``of_squared_distances`` and ``mixing``. Any other sets
    ``radial = False`` and defines ``gram``, ``diagonal`` unless κ(x, x) = 1, and either
    ``frequencies`` or ``shift_invariant = False``.
    """

    name: str
    shift_invariant = True
    radial = True

    def check_parameters(self) -> None:
        """ValueError for a parameter of the kernel's own that is out of its range."""

    def check_spectrum(self, orthogonal: bool = False) -> None:
        """ValueError with the reason where the kernel has no such frequencies."""
        if self.radial:
            return
        if orthogonal:
            raise ValueError(f"orthogonal=True needs a radial kernel; {self.name!r} is not radial")
        if type(self).frequencies is Kernel.frequencies:
            raise ValueError(
                f"kernel {self.name!r} is not radial: give it frequencies() of its own, or say "
                "shift_invariant = False"
            )

    def gram(self, X: Matrix, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
        """κ(X, S), shape (n, m), for X (n, d) dense or CSR and S (m, d) dense.

        ``out`` (n, m), of the dtype of X, may be used for the result.
        """
        return self.of_squared_distances(squared_distances(X, S, out), gamma)

    def ordered_gram(
        self, X: np.ndarray, S: np.ndarray, gamma: float, out: Out = None, earlier: bool = False
    ) -> np.ndarray:
        """κ(X, S), (n, m), for dense X (n, d) and S (m, d) of one dtype.

        A value depends on its two rows alone, to the last digit. ``earlier``: κ(X, [S; X]),
        (n, m + n), with at least the lower triangle of the second part filled.
        """
        if self.radial:
            return self.of_squared_distances(ordered_squared_distances(X, S, out, earlier), gamma)
        return self.gram(X, np.concatenate([S, X]) if earlier else S, gamma)

    def of_products(self, P: np.ndarray, X: np.ndarray, S: np.ndarray, gamma: float) -> np.ndarray:
        """κ(X, S) of a radial kernel from the inner products P = X Sᵀ (n, m), in place.

        Use when X·Sᵀ is already available; center X and S first to avoid cancellation.
        """
        return self.of_squared_distances(squared_of_products(P, X, S), gamma)

    def diagonal(self, X: Matrix, gamma: float) -> np.ndarray:
        """κ(x, x) of each row: 1 for every shift-invariant kernel."""
        return np.ones(X.shape[0])

    def of_squared_distances(self, r2: np.ndarray, gamma: float) -> np.ndarray:
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
        ``later`` rows, for columns that came later, are independent in any case. More columns draw
        further numbers of the same stream, so the rows of the first columns do not change.
        """
        self.check_spectrum(orthogonal)
        if not self.radial:
            return self.frequencies(rng, d + later, n, gamma)
        # drawn before the directions, whose number grows with the columns
        width = np.sqrt(2.0 * gamma * self.mixing(rng, n))
        return normal_directions(rng, d, n, orthogonal, later) * width

    def frequencies(self, rng: np.random.Generator, d: int, n: int, gamma: float) -> np.ndarray:
        """n frequencies (d, n) of a kernel that is not radial, drawn row by row from ``rng``."""
        raise NotImplementedError(f"{type(self).__name__} has no frequencies of its own")

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

    ``orthogonal``: in blocks of d, each still N(0, I); the last ``later`` rows are independent.
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


def of_pairs(loop: Callable[..., np.ndarray], X: Matrix, S: np.ndarray, *args: float) -> np.ndarray:
    """Run a compiled ``loop`` over all pairs of rows; returns what it writes, (n, m)."""
    X = as_dense(X)
    out = np.empty((X.shape[0], S.shape[0]), X.dtype)
    loop(X, np.ascontiguousarray(S, dtype=X.dtype), *args, out)
    return out
