"""Nyström features: the kernel seen through a few landmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from onkel.annotations import ArrayLike, DTypeLike, Matrix, MatrixLike, Out, Seed
from onkel.fields import Array, Fields, Number
from onkel.kernels import Gaussian, Kernel, make_kernel
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.maps.base import Change, FeatureMap
from onkel.numerics.arrays import with_zero_columns
from onkel.numerics.jit import axpy, jit
from onkel.numerics.pairwise import LOG2_E, exp2
from onkel.parameters import whole

# Eigenvalues below this share of the largest are noise: Λ^-½ would blow them up.
_RELATIVE_RANK = {4: 1e-6, 8: 1e-10}


@dataclass(eq=False, repr=False)
class NystroemFeatures(FeatureMap):
    """z(x) = Λ^-½ Vᵀ κ(S, x), with V Λ Vᵀ the k leading eigenpairs of κ(S, S).

    z(x)·z(x') is κ(x, x') exactly for landmarks (at full rank) and its projection onto their span
    elsewhere. The cost of a row is O(B·d + B·k). Takes any kernel, also one without a spectrum.

    Use it where rows fill a small part of space, or for a kernel without a spectrum. Elsewhere
    :class:`FourierFeatures` are cheaper: they need no product with eigenvectors. On streams that
    drift landmarks should follow the rows: :class:`AdaptiveNystroem`.

    Parameters
    ----------
    n_components : int, default=100
        Number of landmarks B ≥ 1; where landmarks are given, theirs is used.
    rank : int or None, default=None
        Number of eigenpairs k ≤ B kept; None for all that are above rounding.
    kernel : str or Kernel, default="gaussian"
    gamma : float or {"median", "scale"}, default="median"
    landmarks : {"first", "random", "support"} or array of shape (B, d), default="first"
        "first": the first B rows. "random": a seeded draw among the first ``n_warmup`` rows (as a
        plain transformer: among all rows given to ``fit``). "support": the learner's first B
        support vectors, as NOGD does; the learner works in the kernel's own space until it has
        them, and carries its weights over.
    n_warmup : int, default=256
        Rows that a heuristic for gamma, or the draw of landmarks, looks at.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    landmarks_ : ndarray of shape (B, d)
    projection_ : ndarray of shape (B, k)
        V Λ^-½: features are ``κ(X, landmarks_) @ projection_``.
    gamma_ : float

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import NystroemFeatures
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> Z = NystroemFeatures(50, gamma=0.5).fit_transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    >>> bool(np.allclose(Z @ Z.T, K, atol=1e-6))
    True

    Notes
    -----
    Source: Williams & Seeger 2001; Lu et al. 2016, Algorithm 2 (NOGD).
    """

    name = "nystroem"

    n_components: int = 100
    rank: int | None = None
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    landmarks: Any = "first"
    n_warmup: int = 256
    random_state: Seed = None

    # ---- what a model drives -------------------------------------------------------------------

    def changes(self) -> Change:
        return Change.BY_SUPPORT if self._picked("support") else Change.NEVER

    @property
    def grows(self) -> bool:
        """True while the map waits for the learner's first support vectors."""
        return self._picked("support") and not self._has_state()

    def is_bounded(self) -> bool:
        return make_kernel(self.kernel).shift_invariant

    def _picked(self, how: str) -> bool:
        return isinstance(self.landmarks, str) and self.landmarks == how

    def start(self, d: int, dtype: DTypeLike) -> None:
        whole(self, "n_components")
        whole(self, "n_warmup", least=2)
        check_gamma(self.gamma)
        self._kernel: Kernel = make_kernel(self.kernel)
        if self.rank is not None and whole(self, "rank") > self.n_components:
            raise ValueError(f"rank={self.rank} must be at most n_components={self.n_components}")
        if isinstance(self.landmarks, str):
            if self.landmarks not in ("first", "random", "support"):
                raise ValueError(
                    f"landmarks={self.landmarks!r} must be 'first', 'random', 'support' or an array"
                )
        elif np.ndim(self.landmarks) != 2 or np.shape(self.landmarks)[1] != d:
            raise ValueError(
                f"landmarks of shape {np.shape(self.landmarks)} must have the rows' {d} columns"
            )
        super().start(d, dtype)

    def warmup_rows(self) -> int:
        needed = self.n_warmup if isinstance(self.gamma, str) else 0
        if self._picked("first"):
            needed = max(needed, self.n_components)
        elif self._picked("random"):
            needed = max(self.n_warmup, self.n_components)
        return needed

    def fit_first(self, X: np.ndarray) -> None:
        self.gamma_: float = fit_gamma(self.gamma, self._kernel, X)
        if self._picked("support"):
            # a set that filled up with a provisional gamma is gathered again
            self.__dict__.pop("landmarks_", None)
            self.__dict__.pop("projection_", None)
            return
        if self._picked("first"):
            S = X[: self.n_components]
        elif self._picked("random"):
            rng = np.random.default_rng(self.seed_)
            S = X[np.sort(rng.permutation(len(X))[: self.n_components])]
        else:
            S = np.asarray(self.landmarks)
            S = with_zero_columns(S, self.n_features_in_ - S.shape[1])
        self.set_landmarks(S)

    def set_landmarks(self, S: np.ndarray) -> np.ndarray:
        """Use the landmarks S (B, d); returns V Λ^½ (B, k), which takes coefficients to weights."""
        self.landmarks_: np.ndarray = np.array(S, dtype=self.dtype_, order="C")
        wide = self.landmarks_.astype(np.float64)
        values, vectors = eigh(self._kernel.gram(wide, wide, self.gamma_))
        keep = len(values) if self.rank is None else min(self.rank, len(values))
        values, vectors = values[::-1][:keep], vectors[:, ::-1][:, :keep]
        solid = values > _RELATIVE_RANK[self.dtype_.itemsize] * max(values[0], 0.0)
        values, vectors = values[solid], vectors[:, solid]
        self.projection_: np.ndarray = (vectors / np.sqrt(values)).astype(self.dtype_)
        return vectors * np.sqrt(values)

    def kernel_rows(self, X: Matrix, S: np.ndarray) -> np.ndarray:
        """κ(X, S), shape (n, m)."""
        return self._kernel.gram(X, S, self.gamma_)

    def kernel_diagonal(self, X: Matrix) -> np.ndarray:
        """κ(x, x) of each row."""
        return self._kernel.diagonal(X, self.gamma_)

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        if type(self._kernel) is not Gaussian:
            return None
        return _row_features(X, self.landmarks_, self.projection_, self.gamma_)

    def kernel_row(self, X: np.ndarray, S: np.ndarray) -> np.ndarray | None:
        """κ(x, S), (1, m), of one row X (1, d) by one compiled call; None for other kernels."""
        return _kernel_row(X, S, self.gamma_) if type(self._kernel) is Gaussian else None

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        if self._has_state():
            self.landmarks_ = with_zero_columns(self.landmarks_, n)
        return None

    @property
    def n_features_out_(self) -> int:
        return int(self.projection_.shape[1])

    def state_fields(self) -> Fields:
        # as long as a row may be
        most, later = 0.5 * float(np.sqrt(np.finfo(self.dtype_).max)), self._picked("support")
        of_landmarks, of_features = ("landmarks", "d"), ("landmarks", "features")
        return {
            "gamma_": Number(low=0.0),
            "landmarks_": Array(self.dtype_, of_landmarks, -most, most, optional=later),
            "projection_": Array(self.dtype_, of_features, -1e15, 1e15, beside="landmarks"),
        }

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        K = self.kernel_rows(X, self.landmarks_)
        return np.matmul(K, self.projection_, out=out)

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> NystroemFeatures:
        """Fit on the rows X (n, d), dense or CSR; y is ignored."""
        if self._picked("support"):
            raise ValueError(
                "landmarks='support' are the support vectors of a learner: use the map inside one, "
                "or landmarks='first', 'random' or an array"
            )
        super().fit(X, y)
        return self


@jit
def _kernel_row(X, S, gamma):
    z = np.empty((1, S.shape[0]), S.dtype)
    for j in range(S.shape[0]):
        r2 = S.dtype.type(0.0)
        for n in range(S.shape[1]):
            delta = X[0, n] - S[j, n]
            r2 += delta * delta
        z[0, j] = r2
    if S.itemsize == 4:
        factor = S.dtype.type(-gamma * LOG2_E)
        for j in range(S.shape[0]):
            z[0, j] = exp2(factor * z[0, j])
    else:
        for j in range(S.shape[0]):
            z[0, j] = math.exp(-gamma * z[0, j])
    return z


@jit
def _row_features(X, S, projection, gamma):
    kernel = _kernel_row(X, S, gamma)
    Z = np.zeros((1, projection.shape[1]), projection.dtype)
    for j in range(S.shape[0]):
        axpy(kernel[0, j], projection, j, Z, 0)
    return Z
