"""Features over landmarks: Nyström's, and kernel values at learned landmarks."""

from __future__ import annotations

import numpy as np

from onkel.export.functions import asinh, concat, filled, where
from onkel.export.graph import Value
from onkel.export.kernels import kernel_values
from onkel.kernels import make_kernel
from onkel.maps import LearnedLandmarks, NystroemFeatures


def nystroem(feature_map: NystroemFeatures, X: Value) -> Value:
    """κ(x, S) P."""
    kernel, gamma = make_kernel(feature_map.kernel), feature_map.gamma_
    return kernel_values(kernel, X, feature_map.landmarks_, gamma) @ feature_map.projection_


def learned_landmarks(feature_map: LearnedLandmarks, X: Value) -> Value:
    """[1/(1 + ‖w ∘ (x - s)‖²), 1], in float64 as the model computes it."""
    state = feature_map.get_state()
    U = _in_units(X.to(np.float64), state)
    K = _rational(U, state["S"], np.exp(state["log_width"]))
    return concat(K, filled(U, 1.0, 1)).to(X.dtype)


def _in_units(X: Value, state: dict[str, np.ndarray]) -> Value:
    """Rows with heavy tails drawn in, then standardised."""
    middle, spread = state["tails"]
    heavy = spread > 0.0
    if heavy.any():
        drawn = asinh((X - middle) / np.where(heavy, spread, 1.0))
        X = where(X.graph.constant(heavy), drawn, X)
    return (X - state["middle"]) / state["scale"]


def _rational(X: Value, S: np.ndarray, w: np.ndarray) -> Value:
    """κ(X, S), (n, m), for common widths w (d,), or each landmark's own (m, d)."""
    # in units of each column's largest width, so that squares do not overflow
    unit = w.max(axis=0) if w.ndim == 2 else w
    A, B = X * unit, S * unit
    if w.ndim == 2:
        squares = (w / unit) ** 2
        products = concat(A, A * A) @ np.hstack([-2.0 * squares * B, squares]).T
        squared = products + np.einsum("ij,ij->i", squares * B, B)
    else:
        own = (A * A).sum(axis=1, keep=True)
        squared = A @ (-2.0 * B.T) + own + np.einsum("ij,ij->i", B, B)
    return (X.graph.node("Max", squared, 0.0) + 1.0).of("Reciprocal")
