"""Random Fourier features without a matrix: frequencies drawn anew from their seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.kernels import Kernel, make_kernel
from onkel.maps.fourier import SpectralFeatures
from onkel.numerics.arrays import scratch
from onkel.numerics.jit import sincos_part
from onkel.state import Field, Number

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
    _STATE = ("gamma_",)

    n_components: int = 4096
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    n_warmup: int = 256
    random_state: Any = None

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

    def fields(self, state: Any) -> dict[str, Field]:
        return {"gamma": Number(low=0.0, high=1e60)}

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        n, D = X.shape[0], self.n_components
        Z = np.empty((n, 2 * D), self.dtype_) if out is None else out
        for start in range(0, D, _AT_ONCE):
            turns = self.frequencies(start)[:, : D - start] / (2.0 * math.pi)
            turns = np.ascontiguousarray(turns, self.dtype_)
            if isinstance(X, np.ndarray):
                shape = (n, turns.shape[1])
                angles = np.matmul(X, turns, out=scratch("angles", shape, self.dtype_))
            else:
                angles = np.asarray(X @ turns)
            sincos_part(angles, 1.0 / math.sqrt(D), start, Z)
        return Z
