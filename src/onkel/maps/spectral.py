"""What maps of cosines and sines share: frequencies from a kernel's spectrum, and angles."""

from __future__ import annotations

import numpy as np

from onkel.annotations import DTypeLike, Matrix
from onkel.kernels import Kernel, make_kernel
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.maps.base import FeatureMap
from onkel.numerics.jit import axpy, jit, sincos_turns
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
