"""Random Fourier features: independent, orthogonal, or drawn anew from their seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from onkel.annotations import DTypeLike, Matrix, Out, Seed
from onkel.fields import Array, Fields, Number, Whole
from onkel.kernels import Kernel, make_kernel
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.maps.base import FeatureMap
from onkel.numerics.jit import axpy, jit, sincos_part, sincos_turns
from onkel.numerics.threads import scratch
from onkel.parameters import whole


def turns_of(X: Matrix, turns: np.ndarray) -> np.ndarray:
    """X·turns (n, D) in a scratch array, for rows X dense or CSR."""
    if isinstance(X, np.ndarray):
        out = scratch("angles", (X.shape[0], turns.shape[1]), turns.dtype)
        return np.matmul(X, turns, out=out)
    return np.asarray(X @ turns)


@jit
def sincos_block(angles, scale, Z):
    """The features ``scale * [cos, sin](2π angles)`` of a block, Z (n, 2D)."""
    D = angles.shape[1]
    for t in range(angles.shape[0]):
        sincos_turns(angles[t], scale, Z[t, :D], Z[t, D:])


@jit
def row_turns(X, turns):
    """X·turns (1, D) of one row."""
    out = np.zeros((1, turns.shape[1]), turns.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(X[0, n], turns, n, out, 0)
    return out


@jit
def _row_features(X, turns):
    angles, D = row_turns(X, turns), turns.shape[1]
    Z = np.empty((1, 2 * D), turns.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    return Z


def check_spectrum(kernel: str | Kernel, orthogonal: bool = False) -> None:
    """ValueError unless the kernel has a spectrum to draw such frequencies from."""
    made = make_kernel(kernel)
    if not made.shift_invariant:
        raise ValueError(
            f"kernel={kernel!r} has no spectrum: Fourier features need a shift-invariant "
            "kernel; use NystroemFeatures"
        )
    made.check_spectrum(orthogonal)


class SpectralFeatures(FeatureMap):
    """What maps of cosines and sines at D frequencies from a kernel's spectrum share."""

    n_components: int
    kernel: str | Kernel
    gamma: float | str
    n_warmup: int
    #: False for maps that have no such parameter
    orthogonal: bool = False
    gamma_: float

    def is_bounded(self) -> bool:
        return True

    def start(self, d: int, dtype: DTypeLike) -> None:
        whole(self, "n_components")
        whole(self, "n_warmup", least=2)
        check_gamma(self.gamma)
        check_spectrum(self.kernel, self.orthogonal)
        super().start(d, dtype)

    def warmup_rows(self) -> int:
        return self.n_warmup if isinstance(self.gamma, str) else 0

    def fit_first(self, X: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, make_kernel(self.kernel), X)

    @property
    def n_features_out_(self) -> int:
        return 2 * self.n_components


@dataclass(eq=False, repr=False)
class FourierFeatures(SpectralFeatures):
    """z(x) = [cos ω_1·x, ..., cos ω_D·x, sin ω_1·x, ..., sin ω_D·x]/√D, ω from the spectrum of κ.

    z(x)·z(x') estimates κ(x, x') without bias; the error falls as 1/√D. The cost of a row is
    O(D·d). Use it when rows come fast and a fixed kernel is right; with few components,
    :class:`ReparameterizedFeatures` (which learns its widths) or :class:`NystroemFeatures` (which
    follows the data) are usually more accurate.

    Parameters
    ----------
    n_components : int, default=400
        Number of frequencies D ≥ 1; the map has 2D features.
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width of the kernel; the heuristics are fitted on the first ``n_warmup`` rows.
    orthogonal : bool, default=False
        Orthogonal frequencies: smaller variance, same mean; radial kernels only. Columns that come
        in mid-stream get independent rows of frequencies.
    n_warmup : int, default=256
        Rows that a heuristic looks at.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    frequencies_ : ndarray of shape (d, D)
    gamma_ : float

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import FourierFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Z = FourierFeatures(2000, gamma=0.1, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    >>> print(f"{np.abs(Z @ Z.T - K).max():.2f}")
    0.03

    Notes
    -----
    Source: Rahimi & Recht 2007, Algorithm 1, in the paired form of Lu et al. 2016 (FOGD);
    orthogonal: Yu et al. 2016.
    """

    name = "fourier"

    n_components: int = 400
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    orthogonal: bool = False
    n_warmup: int = 256
    random_state: Seed = None

    def fit_first(self, X: np.ndarray) -> None:
        super().fit_first(X)
        self.n_first_: int = self.n_features_in_
        self._set_frequencies(self._draw(later=0))

    def add_columns(self, n: int) -> int | None:
        known = self.n_features_in_
        self.n_features_in_: int = known + n
        if self._has_state():
            rows = self._draw(later=known + n - self.n_first_)[known:]
            self._set_frequencies(np.concatenate([self.frequencies_, rows]))
        return None

    def _draw(self, later: int) -> np.ndarray:
        """Frequencies for the first columns and those that came later."""
        # one seed, so that refits on more rows only rescale the same frequencies
        rng = np.random.default_rng(self.seed_)
        size = self.n_first_, self.n_components
        kernel = make_kernel(self.kernel)
        return kernel.spectrum(rng, *size, self.gamma_, self.orthogonal, later)

    def _set_frequencies(self, frequencies: np.ndarray) -> None:
        self.frequencies_ = frequencies
        self._turns = (frequencies / (2.0 * math.pi)).astype(self.dtype_)

    def state_fields(self) -> Fields:
        shape = ("d", self.n_components)
        return {
            "gamma_": Number(low=0.0),
            "n_first_": Whole(low=1, high=self.n_features_in_),
            "frequencies_": Array(shape=shape, low=-1e30, high=1e30),
        }

    def state_is_set(self) -> None:
        self._set_frequencies(self.frequencies_)

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        n, D, turns = X.shape[0], self.n_components, self._turns
        if isinstance(X, np.ndarray):
            angles = np.matmul(X, turns, out=scratch("angles", (n, D), turns.dtype))
        else:
            angles = np.asarray(X @ turns)
        Z = np.empty((n, 2 * D), turns.dtype) if out is None else out
        sincos_block(angles, 1.0 / math.sqrt(D), Z)
        return Z

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        return _row_features(X, self._turns)


# Frequencies drawn at once. Drawing a number costs a hundred multiplications, so many rows share a
# draw: up to _MOST_ROWS, with at most _MOST_NUMBERS feature values.
_AT_ONCE = 256
_MOST_ROWS, _MOST_NUMBERS = 512, 1 << 23


@dataclass(eq=False, repr=False)
class RegeneratedFeatures(SpectralFeatures):
    """The features of :class:`FourierFeatures` without stored frequencies: no memory.

    256 frequencies at a time are drawn from a seed of their own, used for a block of rows, and
    forgotten. The cost is O(D·d) a row plus the drawing, which doubles it for blocks of hundreds of
    rows and dominates it for single rows.

    Use it in blocks, with so many features of wide rows that a matrix of D·d numbers would not fit.
    :class:`FastfoodFeatures` is faster there and needs O(D) memory; this map has exactly
    independent frequencies, takes any shift-invariant kernel and any number of new columns.

    Parameters
    ----------
    n_components : int, default=4096
        Number of frequencies D ≥ 1; the map has 2D features.
    kernel, gamma, n_warmup, random_state
        As of :class:`FourierFeatures`.

    Attributes
    ----------
    gamma_ : float
    n_features_out_ : int
        2D.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import RegeneratedFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Z = RegeneratedFeatures(2000, gamma=0.1, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    >>> print(f"{np.abs(Z @ Z.T - K).max():.2f}")
    0.03

    Notes
    -----
    Source: Dai, Xie, He, Liang, Raj, Balcan & Song 2014, Algorithms 1 and 2: a feature is its
    seed.
    """

    name = "regenerated"
    STATE: ClassVar[Fields] = {"gamma_": Number(low=0.0, high=1e60)}

    n_components: int = 4096
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    n_warmup: int = 256
    random_state: Seed = None

    def fewest_rows(self) -> int:
        """Enough rows to pay for drawing the frequencies."""
        return min(_MOST_ROWS, _MOST_NUMBERS // self.n_features_out_)

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        return None

    def frequencies(self, start: int) -> np.ndarray:
        """Frequencies ``start`` to ``start`` + 256, (d, 256), for ``start`` a multiple of 256."""
        rng = np.random.default_rng([self.seed_, start // _AT_ONCE])
        return make_kernel(self.kernel).spectrum(rng, self.n_features_in_, _AT_ONCE, self.gamma_)

    def all_frequencies(self) -> np.ndarray:
        """All frequencies (d, D), which nothing here stores."""
        drawn = [self.frequencies(start) for start in range(0, self.n_components, _AT_ONCE)]
        return np.concatenate(drawn, axis=1)[:, : self.n_components]

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        n, D = X.shape[0], self.n_components
        Z = np.empty((n, 2 * D), self.dtype_) if out is None else out
        for start in range(0, D, _AT_ONCE):
            turns = self.frequencies(start)[:, : D - start] / (2.0 * math.pi)
            angles = turns_of(X, np.ascontiguousarray(turns, self.dtype_))
            sincos_part(angles, 1.0 / math.sqrt(D), start, Z)
        return Z
