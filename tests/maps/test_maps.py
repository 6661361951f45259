"""Maps as transformers: landmarks, first rows, names, shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel.maps import (
    MAPS,
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FourierFeatures,
    IdentityFeatures,
    NystroemFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
    SignProjection,
    make_map,
)

X = np.random.default_rng(0).standard_normal((80, 4))


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shapes_names_and_dtype(name, dtype):
    feature_map = make_map(name)
    Z = feature_map.fit_transform(X.astype(dtype), X[:, 0] > 0.0)
    assert Z.dtype == dtype
    assert Z.flags.c_contiguous
    assert Z.shape == (80, len(feature_map.get_feature_names_out()))
    np.testing.assert_allclose(feature_map.transform(csr_matrix(X.astype(dtype))), Z, atol=1e-4)


@pytest.mark.parametrize(
    "feature_map",
    [
        FourierFeatures(10, n_warmup=30, random_state=0),
        FastfoodFeatures(10, n_warmup=30, random_state=0),
        RegeneratedFeatures(10, n_warmup=30, random_state=0),
        SignProjection(10, random_state=0),
        NystroemFeatures(12, n_warmup=30),
        NystroemFeatures(12, landmarks="random", n_warmup=30, random_state=0),
        AdaptiveNystroem(12, n_warmup=30),
        AdaptiveNystroem(12, threshold=0.0, landmarks="random", n_warmup=30, random_state=0),
    ],
)
def test_partial_fit_does_not_depend_on_the_blocks(feature_map):
    from sklearn.base import clone

    results = []
    for cut in (1, 9, 80):
        copy = clone(feature_map)
        for a in range(0, 80, cut):
            copy.partial_fit(X[a : a + cut])
        results.append(copy.transform(X))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_nystroem_is_exact_at_its_landmarks():
    for kernel in ("gaussian", "matern32", "polynomial", "laplacian"):
        feature_map = NystroemFeatures(kernel=kernel, gamma=0.2, landmarks=X[:30]).fit(X)
        Z = feature_map.transform(X[:30])
        np.testing.assert_allclose(Z @ Z.T, feature_map.kernel_rows(X[:30], X[:30]), atol=1e-7)


def test_nystroem_rank_keeps_the_leading_eigenpairs():
    Z = NystroemFeatures(rank=5, gamma=0.2, landmarks=X[:30]).fit_transform(X[:30])
    K = NystroemFeatures(gamma=0.2, landmarks=X[:30]).fit(X).kernel_rows(X[:30], X[:30])
    values, V = np.linalg.eigh(K)
    best = (V[:, -5:] * values[-5:]) @ V[:, -5:].T
    np.testing.assert_allclose(Z @ Z.T, best, atol=1e-9)


def test_nystroem_survives_repeated_landmarks():
    S = np.concatenate([X[:5], X[:5]])
    feature_map = NystroemFeatures(gamma=0.2, landmarks=S).fit(X)
    assert feature_map.n_features_out_ == 5
    assert np.isfinite(feature_map.transform(X)).all()


@pytest.mark.parametrize(
    ("feature_map", "message"),
    [
        (FourierFeatures(0), "n_components=0 must be a whole number of at least 1"),
        (FastfoodFeatures(kernel="laplacian"), "kernel='laplacian' is not radial"),
        (FastfoodFeatures(kernel="linear"), "kernel='linear' has no spectrum"),
        (RegeneratedFeatures(kernel="polynomial"), "kernel='polynomial' has no spectrum"),
        (FourierFeatures(gamma=-1.0), "gamma=-1.0 must be a positive number"),
        (FourierFeatures(gamma="mean"), "gamma='mean' must be"),
        (NystroemFeatures(10, rank=11), "rank=11 must be at most n_components=10"),
        (NystroemFeatures(landmarks="last"), "landmarks='last' must be"),
        (NystroemFeatures(landmarks=np.ones((3, 2))), "must have the rows' 4 columns"),
        (NystroemFeatures(landmarks="support"), "support vectors of a learner"),
        (AlignedFourier(30, 20), "n_candidates=20 must be at least n_components=30"),
        (AlignedFourier(rho=-1.0), "rho=-1.0 must be a number of at least 0"),
        (AlignedFourier(power=1.0), "power=1.0 must be a number above 1"),
        (AlignedFourier(selection="all"), "selection='all' is not one of 'largest', 'sample'"),
        (AlignedFourier(n_align=0), "n_align=0 must be a whole number of at least 1"),
        (AlignedFourier(kernel="linear"), "kernel='linear' has no spectrum"),
        (ReparameterizedFeatures(law="cauchy"), "law='cauchy' is not one of 'gaussian'"),
        (ReparameterizedFeatures(3, law="mixture"), "n_mixtures=4 must be at most n_components=3"),
        (AdaptiveNystroem(landmarks="support"), "landmarks='support' are kept"),
        (AdaptiveNystroem(threshold=-1.0), "threshold=-1.0 must be a number of at least 0"),
        (AdaptiveNystroem(threshold="median"), "threshold='median' must be a number or 'auto'"),
        (AdaptiveNystroem(solver="svd"), "solver='svd' is not one of 'randomized'"),
        (FourierFeatures(orthogonal="no"), "orthogonal='no' must be True or False"),
        (AdaptiveNystroem(n_iter=0), "n_iter=0 must be a whole number"),
        (AdaptiveNystroem(expire=0), "expire=0 must be a whole number"),
        (AdaptiveNystroem(theta=-1.0), "theta=-1.0 must be a number of at least 0"),
    ],
)
def test_bad_parameters_are_named(feature_map, message):
    with pytest.raises(ValueError, match=message):
        feature_map.fit(X, X[:, 0] > 0.0)


def test_sign_projection_is_the_naive_one():
    Z = SignProjection(50, random_state=3).fit_transform(X)
    R = np.array([np.random.default_rng([3, j]).standard_normal(50) for j in range(4)])
    naive = [[(1 if row @ R[:, k] >= 0 else -1) / np.sqrt(50) for k in range(50)] for row in X]
    np.testing.assert_allclose(Z, naive)


def test_sign_projection_estimates_angles():
    # 40 000 signs: standard error at most 1/√40 000 = 0.005
    Z = SignProjection(40_000, random_state=0).fit_transform(X[:12])
    unit = X[:12] / np.linalg.norm(X[:12], axis=1)[:, None]
    angles = np.arccos(np.clip(unit @ unit.T, -1.0, 1.0))
    assert np.abs(Z @ Z.T - (1 - 2 * angles / np.pi)).max() < 0.025


def test_sign_projection_takes_columns_that_come_later():
    whole = SignProjection(20, random_state=0).fit(X)
    grown = SignProjection(20, random_state=0).fit(X[:, :2])
    before = grown.transform(X[:, :2])
    grown.add_columns(2)
    np.testing.assert_array_equal(grown.features(X), whole.transform(X))
    zeros = np.concatenate([X[:, :2], np.zeros((80, 2))], axis=1)
    np.testing.assert_array_equal(grown.features(zeros), before)


def test_identity_with_and_without_intercept():
    np.testing.assert_array_equal(IdentityFeatures(False).fit_transform(X), X)
    assert (IdentityFeatures().fit_transform(X)[:, -1] == 1.0).all()
    with pytest.raises(ValueError, match=r"map='fourie' is not one of .*; did you mean 'fourier'"):
        make_map("fourie")
