"""Features z(x) of maps as graphs: each map's builder, and the table of them."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import hadamard

from onkel.errors import ExportError
from onkel.export.functions import asinh, concat, cosines_and_sines, filled, where
from onkel.export.graph import Builders, Value
from onkel.export.kernels import kernel_values
from onkel.kernels import make_kernel
from onkel.maps import (
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FeatureMap,
    FourierFeatures,
    IdentityFeatures,
    LearnedLandmarks,
    NystroemFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
    SignProjection,
)
from onkel.maps.reparameterized import amplitudes_of


def identity(feature_map: IdentityFeatures, X: Value) -> Value:
    """x, or [x, 1]."""
    return concat(X, filled(X, 1.0, 1)) if feature_map.fit_intercept else X


def sign_projection(feature_map: SignProjection, X: Value) -> Value:
    """sign(x·R)/√m."""
    size = feature_map.n_components**-0.5
    sides = (X @ feature_map.directions_ >= 0.0).to(X.dtype)
    return sides * (2.0 * size) - size


_TURN = 1.0 / (2.0 * math.pi)


def waves(turns: Value, amplitude: float | np.ndarray) -> Value:
    """[cos, sin] of angles (n, D) in turns, times an amplitude of each."""
    return concat(*(part * amplitude for part in cosines_and_sines(turns)))


def fourier(feature_map: FourierFeatures, X: Value) -> Value:
    """[cos, sin](x·ω)/√D."""
    frequencies = feature_map.frequencies_ * _TURN
    return waves(X @ frequencies, 1.0 / math.sqrt(frequencies.shape[1]))


def regenerated(feature_map: RegeneratedFeatures, X: Value) -> Value:
    """The same; the file stores the frequencies, which Python draws anew."""
    frequencies = feature_map.all_frequencies() * _TURN
    return waves(X @ frequencies, 1.0 / math.sqrt(frequencies.shape[1]))


def reparameterized(feature_map: ReparameterizedFeatures, X: Value) -> Value:
    """The same at the current frequencies; components of a mixture have shares."""
    D = feature_map.n_components
    amplitude = np.full(D, 1.0 / math.sqrt(D))
    if feature_map.law == "mixture":
        amplitudes_of(feature_map.logit_, feature_map.first_, amplitude)
    return waves(X @ (feature_map.frequencies_ * _TURN), amplitude)


def aligned(feature_map: AlignedFourier, X: Value) -> Value:
    """√(2q) cos(x·ω + b)."""
    if feature_map.phi is not None:
        raise ExportError(
            "no ONNX graph is known for a feature function of your own; features=None has one"
        )
    turns = X @ (feature_map.frequencies_ * _TURN) + feature_map.offsets_ * _TURN
    cosines, _ = cosines_and_sines(turns)
    return cosines * np.sqrt(2.0 * feature_map.weights_)


# One matrix product does six levels of a transform.
_AT_ONCE = 64


def fastfood(feature_map: FastfoodFeatures, X: Value) -> Value:
    """[cos, sin](v)/√D with v = S H G Π H B x; a sum of such products where columns came later."""
    state = feature_map.get_state()
    arrays = [state[name] for name in ("signs", "order", "normals", "lengths")]
    d, D, m = feature_map.n_features_in_, feature_map.n_components, arrays[0].shape[2]
    angles: Value | None = None
    for i in range(len(arrays[0])):
        x = X.span(i * m, min((i + 1) * m, d))
        if (i + 1) * m > d:
            x = concat(x, filled(X, 0.0, (i + 1) * m - d))
        product = _product(x, *(array[i] for array in arrays)).span(0, D)
        angles = product if angles is None else angles + product
    assert angles is not None
    return waves(angles, 1.0 / math.sqrt(D))


def _product(
    x: Value, signs: np.ndarray, order: np.ndarray, normals: np.ndarray, lengths: np.ndarray
) -> Value:
    """S H G Π H B x (n, blocks · m) of x (n, m), for diagonals (blocks, m)."""
    blocks, m = signs.shape
    size = blocks * m
    U = _transformed(x.shaped(-1, 1, m) * signs, m).shaped(-1, size)
    places = (order + m * np.arange(blocks)[:, None]).reshape(-1)
    V = _transformed(U.columns(places) * normals.reshape(-1), m).shaped(-1, size)
    return V * lengths.reshape(-1)


def _transformed(U: Value, m: int) -> Value:
    """H u of each m numbers, m a power of two. H is the Kronecker product of smaller ones.

    Each of these multiplies along the last axis, which then becomes the first one.
    """
    left = m
    while left > 1:
        r = min(_AT_ONCE, left)
        U = (U.shaped(-1, r) @ hadamard(r)).shaped(-1, m // r, r)
        U = U.graph.node("Transpose", U, perm=[0, 2, 1])
        left //= r
    return U


def nystroem(feature_map: NystroemFeatures, X: Value) -> Value:
    """κ(x, S) P."""
    kernel, gamma = make_kernel(feature_map.kernel), feature_map.gamma_
    return kernel_values(kernel, X, feature_map.landmarks_, gamma) @ feature_map.projection_


def learned_landmarks(feature_map: LearnedLandmarks, X: Value) -> Value:
    """[1/(1 + ‖w ∘ (x - s)‖²), 1], in float64 as the model computes it."""
    state = feature_map.get_state()
    U = in_units(X.to(np.float64), state)
    K = _rational(U, state["S"], np.exp(state["log_width"]))
    return concat(K, filled(U, 1.0, 1)).to(X.dtype)


def in_units(X: Value, state: dict[str, np.ndarray]) -> Value:
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


MAPS = Builders(
    "map",
    "onkel.export.maps.MAPS",
    "(map, X)",
    {
        IdentityFeatures: identity,
        SignProjection: sign_projection,
        FourierFeatures: fourier,
        RegeneratedFeatures: regenerated,
        ReparameterizedFeatures: reparameterized,
        AlignedFourier: aligned,
        FastfoodFeatures: fastfood,
        NystroemFeatures: nystroem,
        AdaptiveNystroem: nystroem,
        LearnedLandmarks: learned_landmarks,
    },
)


def features(feature_map: FeatureMap, X: Value) -> Value:
    """z (n, m) of rows X (n, d), in the map's precision."""
    values: Value = MAPS.of(feature_map)(feature_map, X)
    return values
