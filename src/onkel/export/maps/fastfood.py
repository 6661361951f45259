"""Fastfood's product of diagonals, permutations and Hadamard matrices, without the whole matrix."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import hadamard

from onkel.export.functions import concat, filled
from onkel.export.graph import Value
from onkel.export.maps.fourier import waves
from onkel.maps import FastfoodFeatures

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
