"""The bandwidth of a kernel from the first rows of a stream."""

from __future__ import annotations

import numpy as np

from onkel.kernels import Kernel
from onkel.parameters import is_number

HEURISTICS = ("median", "scale")
#: the largest gamma taken: a larger one gives frequencies that float32 cannot hold
LARGEST_GAMMA = 1e20
# Pairs are taken among this many rows at most: 130 816 pairs hold the median to well under 1 %.
_MOST_ROWS = 512


def check_gamma(gamma: float | str) -> None:
    """ValueError unless gamma is a positive number or the name of a heuristic."""
    if isinstance(gamma, str):
        if gamma not in HEURISTICS:
            raise ValueError(f"gamma={gamma!r} must be a positive number, 'median' or 'scale'")
    elif not is_number(gamma) or not 0.0 < gamma <= LARGEST_GAMMA:
        raise ValueError(
            f"gamma={gamma!r} must be a positive number of at most {LARGEST_GAMMA:g}, 'median' or "
            "'scale'; for narrower kernels scale the columns up"
        )


def fit_gamma(gamma: float | str, kernel: Kernel, X: np.ndarray) -> float:
    """gamma itself, or the value that its heuristic finds on the rows X (n, d).

    "median": the width is the median distance between two different rows, 1/(2·median²) for radial
    kernels. "scale": 1/(d·Var(X)), as in scikit-learn's SVC. Where the rows say nothing (one row,
    or all the same) both give 1/d.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    X = np.asarray(X[:_MOST_ROWS], dtype=np.float64)
    if gamma == "scale":
        spread = X.shape[1] * X.var()
        return 1.0 / (spread if spread > 0.0 else X.shape[1])
    distances = kernel.distances(X)[np.triu_indices(len(X), 1)]
    distances = distances[distances > 1e-9 * (1.0 + np.abs(X).max())]
    if distances.size == 0:
        return 1.0 / X.shape[1]
    return kernel.gamma_of_distance(float(np.median(distances)))
