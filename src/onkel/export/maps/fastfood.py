"""Fastfood's product of diagonals, permutations and Hadamard matrices, without the whole matrix."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import hadamard

from onkel.export.functions import concat, filled
from onkel.export.graph import Value
from onkel.export.maps.fourier import waves
from onkel.maps import FastfoodFeatures

# Columns of one matrix product of a transform: four levels of it at once.
_AT_ONCE = 16


def fastfood(feature_map: FastfoodFeatures, X: Value) -> Value:
    """[cos, sin](v)/√D with v = S H G Π H B x; a sum of such products where columns came later."""
    state = feature_map.get_state()
    arrays = [state[name] for name in ("signs", "order", "normals", "lengths")]
    m, D = arrays[0].shape[2], feature_map.n_components
    angles: Value | None = None
    for i in range(len(arrays[0])):
        first = i * m
        given = range(first, min(first + m, feature_map.n_features_in_))
        x = X if len(given) == feature_map.n_features_in_ else X.columns(given)
        if len(given) < m:
            x = concat(x, filled(X, 0.0, m - len(given)))
        product = _product(x, *(array[i] for array in arrays)).columns(range(D))
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
    """H u of each m numbers, m a power of two."""
    h = 1
    while h < m:
        r = min(_AT_ONCE, m // h)
        H = hadamard(r).astype(U.dtype)
        if h == 1:
            U = U.shaped(-1, r) @ H
        else:
            H_first = U.graph.constant(H)
            U = U.graph.node("MatMul", H_first, U.shaped(-1, r, h))
        h *= r
    return U
