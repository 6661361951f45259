"""Fastfood and regenerated features: the transform, the law of the frequencies, the memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

from onkel.kernels import make_kernel
from onkel.maps import FastfoodFeatures, FourierFeatures, RegeneratedFeatures
from onkel.maps.fastfood import TILE, hadamard


@pytest.mark.parametrize("m", [1, 2, 4, 8, 32, 256, 512])
@pytest.mark.parametrize("rows", [1, TILE])
def test_the_transform_is_the_matrix(m, rows):
    U = np.random.default_rng(0).standard_normal((m, rows))
    expected = hadamard_matrix(m) @ U
    hadamard(U)
    np.testing.assert_allclose(U, expected, rtol=1e-12, atol=1e-12)


def frequencies(feature_map, d):
    """ω (d, D) of a map that doesn't show them: angles are linear in x."""
    feature_map.start(d, "float64")
    feature_map.fit_first(np.empty((0, d)))
    Z = feature_map.features(1e-4 * np.eye(d))
    D = feature_map.n_components
    return np.arctan2(Z[:, D:], Z[:, :D]) / 1e-4


@pytest.mark.parametrize("d", [5, 16])
def test_lengths_and_directions_are_those_of_independent_normals(d):
    W = frequencies(FastfoodFeatures(8192, gamma=0.5, random_state=1), d)
    np.testing.assert_allclose(W @ W.T / 8192, np.eye(d), atol=0.08)
    squared = (W**2).sum(axis=0)
    assert squared.mean() == pytest.approx(d, rel=0.03)
    # padded rows are a part of longer ones: chi-square in the mean, and nearly so in the spread
    assert squared.var() == pytest.approx(2 * d, rel=0.25)


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "matern52", "rational_quadratic"])
@pytest.mark.parametrize("cls", [FastfoodFeatures, RegeneratedFeatures])
@pytest.mark.parametrize("d", [3, 20])
def test_products_of_features_estimate_the_kernel(cls, kernel, d):
    X = np.random.default_rng(0).standard_normal((30, d))
    Z = cls(6000, kernel, gamma=0.5 / d, random_state=0).fit_transform(X)
    K = make_kernel(kernel).gram(X, X, 0.5 / d)
    assert np.sqrt(((Z @ Z.T - K) ** 2).mean()) < 0.02


@pytest.mark.parametrize("n", [1, 3, TILE, TILE + 5])
def test_rows_do_not_depend_on_the_tile(n):
    X = np.random.default_rng(0).standard_normal((40, 11))
    feature_map = FastfoodFeatures(50, gamma=0.1, random_state=0).fit(X)
    whole = feature_map.features(X)
    for a in range(0, 40, n):
        np.testing.assert_allclose(feature_map.features(X[a : a + n]), whole[a : a + n], rtol=1e-12)


def test_columns_take_the_zeros_first_then_a_second_product():
    X = np.random.default_rng(0).standard_normal((30, 9))
    late, always = (FastfoodFeatures(4000, gamma=0.1, random_state=0) for _ in range(2))
    late.fit(X[:, :5])
    before = late.features(X[:, :5])
    late.add_columns(3)
    np.testing.assert_array_equal(late.features(X[:, :8]), always.fit(X[:, :8]).features(X[:, :8]))
    late.add_columns(1)
    without = X * (np.arange(9) < 5)
    np.testing.assert_allclose(late.features(without), before, rtol=1e-10, atol=1e-13)
    Z, K = late.features(X), make_kernel("gaussian").gram(X, X, 0.1)
    assert np.sqrt(((Z @ Z.T - K) ** 2).mean()) < 0.02


def test_memory_does_not_grow_with_the_columns():
    d, D = 512, 512
    X = np.zeros((1, d), np.float32)
    sizes = {}
    for cls in (FourierFeatures, FastfoodFeatures, RegeneratedFeatures):
        state = cls(D, gamma=1.0, random_state=0).fit(X).get_state()
        arrays = [v for v in state.values() if isinstance(v, np.ndarray)]
        sizes[cls] = sum(a.size for a in arrays)
    assert sizes[FourierFeatures] == d * D
    assert sizes[FastfoodFeatures] == 4 * D
    assert sizes[RegeneratedFeatures] == 0


def test_regenerated_frequencies_come_and_go():
    feature_map = RegeneratedFeatures(600, gamma=0.3, random_state=4)
    W = frequencies(feature_map, 3)
    np.testing.assert_allclose(W[:, 256:512], feature_map.frequencies(256), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(W[:, 512:], feature_map.frequencies(512)[:, :88], rtol=1e-5)
    feature_map.add_columns(2)
    assert feature_map.frequencies(0).shape == (5, 256)
    np.testing.assert_allclose(feature_map.frequencies(0)[:3], W[:, :256], rtol=1e-5, atol=1e-7)
