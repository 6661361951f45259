"""A Cholesky factor that rounding cannot stop."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

__all__ = ["cholesky_upper"]


def cholesky_upper(R: np.ndarray) -> np.ndarray:
    """Upper C with R = Cᵀ C, from the upper triangle of R (m, m).

    Where rounding left R indefinite, a little is added to its diagonal; NaN stay NaN.
    """
    C, failed = dpotrf(R)
    jitter = 1e-15 * float(np.trace(R))
    while failed and np.isfinite(jitter):
        jittered = R.copy(order="F")
        jittered.flat[:: len(R) + 1] += jitter
        C, failed = dpotrf(jittered)
        jitter *= 10.0
    return np.asarray(C)
