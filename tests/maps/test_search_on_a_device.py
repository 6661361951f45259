"""The search on a device: what it computes there is what the processor computes."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.maps.landmarks.climb import climb, judged
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.on_device import RowsOnDevice, similarities
from onkel.maps.landmarks.searched import Rows, SearchedRows
from onkel.numerics.in_steps import finished

M, D = 12, 4


def rows(n, outputs=2, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]], axis=1)[:, :outputs]
    weight = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    return Rows(X, Y + 0.1 * rng.standard_normal(Y.shape), weight)


def landmarks(X, own):
    log_width = np.log([0.7, 0.5, 0.4, 0.9])
    if own:
        log_width = log_width + 0.3 * np.random.default_rng(1).standard_normal((M, D))
    return Landmarks(X[:M] + 0.1, log_width, np.log(0.05))


def both(n, device, **how):
    """The rows of a search here and there."""
    learn, judge = rows(n, **how), rows(90, seed=2, **how)
    return SearchedRows(learn, judge, M), RowsOnDevice(learn, judge, device)


@pytest.mark.parametrize("own", [False, True])
def test_similarities_are_the_kernel_however_far_the_rows_are(own, on_device):
    X = rows(50).X
    at = landmarks(X, own)
    w = np.exp(at.log_width)
    expected = 1.0 / (1.0 + (((X[:, None] - at.S[None]) * w) ** 2).sum(axis=-1))
    for scale in (1.0, 1e-200, 1e160):
        K = similarities(on_device.put(X * scale), at.S * scale, w / scale, on_device)
        np.testing.assert_allclose(on_device.take(K), expected, rtol=1e-12)


# one group, two, and several with rows that the sample leaves out
@pytest.mark.parametrize("n", [40, 700, 5000])
@pytest.mark.parametrize(("outputs", "weighted"), [(1, False), (2, True)])
@pytest.mark.parametrize("own", [False, True])
def test_sums_gradient_and_errors_are_those_of_the_processor(n, outputs, weighted, own, on_device):
    here, there = both(n, on_device, outputs=outputs, weighted=weighted)
    at = landmarks(rows(n).X, own)
    for every, first in ((1, 0), (4, 1)) if n > 256 else ((1, 0),):
        sums = [finished(of.sums(at)) for of in (here, there)]
        for name in ("KK", "KY", "K0"):
            A, B = (getattr(of, name) for of in sums)
            if name == "KK":
                A, B = np.triu(A), np.triu(B)
            np.testing.assert_allclose(B, A, rtol=1e-10, atol=1e-10)
        found = [finished(judged(at, *of)) for of in zip(sums, (here, there), strict=True)]
        np.testing.assert_allclose(found[1].errors, found[0].errors, rtol=1e-8)
        assert found[1].at.log_ridge == found[0].at.log_ridge
        squares = [of.residual_squares(own_sums, found[0].at.S[:, :outputs])
                   for of, own_sums in zip((here, there), sums, strict=True)]  # fmt: skip
        np.testing.assert_allclose(squares[1], squares[0], rtol=1e-8)
        some = [of.features(own_sums, np.array([3, 1]))
                for of, own_sums in zip((here, there), sums, strict=True)]  # fmt: skip
        for A, B in zip(*some, strict=True):
            np.testing.assert_allclose(B, A, rtol=1e-10)
        slopes = [finished(of.gradient(found[0].at, own_sums, every, first, None))
                  for of, own_sums in zip((here, there), sums, strict=True)]  # fmt: skip
        for A, B in zip(*slopes, strict=True):
            np.testing.assert_allclose(B, A, atol=1e-8 * np.abs(A).max())


def test_a_climb_ends_at_the_same_point(on_device):
    here, there = both(3000, on_device)
    start = landmarks(rows(3000).X, False)
    (at, errors), (point, other) = (finished(climb(start, of, 12)) for of in (here, there))
    assert np.abs(at.S - start.S).max() > 0.01
    np.testing.assert_allclose(point.S, at.S, atol=1e-8)
    np.testing.assert_allclose(point.log_width, at.log_width, atol=1e-8)
    np.testing.assert_allclose(other, errors, rtol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("learner", [OnlineKernelClassifier, OnlineKernelRegressor])
def test_learners_of_both_devices_predict_alike(learner, on_device, monkeypatch):
    # steps magnify rounding: that of float32 ends at other landmarks. Every column tells something:
    # slopes by one that tells nothing are rounding, which a step makes as long as the others
    monkeypatch.setattr("onkel.maps.landmarks.drawn_rows._ROUGH", np.float64)
    X = rows(2600).X
    y = np.sin(3.0 * X[:, 0]) * X[:, 1] + np.cos(2.0 * X[:, 2]) + np.sin(2.0 * X[:, 3])
    if learner is OnlineKernelClassifier:
        y = np.digitize(y, [-0.3, 0.3])
    here, there = (learner(n_components=30, device=name) for name in ("cpu", "cuda"))
    before = [model.predict_then_learn(X[:1600], y[:1600]) for model in (here, there)]
    assert np.abs(here.map_.landmarks_ - X[:30]).max() > 0.1
    np.testing.assert_allclose(there.map_.landmarks_, here.map_.landmarks_, atol=1e-7)
    # the slopes of f at its landmarks are several times 1: so much more may predictions differ
    np.testing.assert_allclose(*before, atol=1e-5)
    np.testing.assert_allclose(there.predict(X[2100:]), here.predict(X[2100:]), atol=1e-5)


def in_float32(of):
    return Rows(*(getattr(of, name).astype(np.float32) for name in ("X", "Y", "weight")))


@pytest.mark.parametrize("n", [40, 700, 5000])
@pytest.mark.parametrize("own", [False, True])
def test_in_float32_sums_and_gradient_are_right_to_its_digits(n, own, on_device):
    learn, judge = rows(n), rows(90, seed=2)
    exact = SearchedRows(learn, judge, M)
    there = RowsOnDevice(in_float32(learn), in_float32(judge), on_device)
    at = landmarks(learn.X, own)
    sums = [finished(of.sums(at)) for of in (exact, there)]
    assert sums[1].K.dtype == np.float32
    close = {"rtol": 0, "atol": 2e-6 * sums[0].KK.max()}
    np.testing.assert_allclose(np.triu(sums[1].KK), np.triu(sums[0].KK), **close)
    np.testing.assert_allclose(sums[1].KY, sums[0].KY, **close)
    slopes = [finished(of.gradient(at, own_sums, 1, 0, None))
              for of, own_sums in zip((exact, there), sums, strict=True)]  # fmt: skip
    for A, B in zip(*slopes, strict=True):
        np.testing.assert_allclose(B, A, atol=1e-3 * np.abs(A).max())


@pytest.mark.compiled
def test_in_float32_and_after_a_last_fit_the_errors_are_alike(on_device):
    # Float32 rounds otherwise there, and the search ends at other landmarks. Without noise, rows
    # changed by 1e-7 move the error of one run by half, on either device; with it by 3 % (a
    # standard deviation), and kernels of BLAS do as much. So means are compared, up to three
    # standard errors: 3 · .034 √(2/3). All six are within .304 and .347, .321 in the mean.
    errors = []
    for seed in range(3):
        X = rows(2600, seed=seed).X
        y = np.sin(3.0 * X[:, 0]) * X[:, 1]
        y += 0.3 * np.random.default_rng(seed).standard_normal(2600)
        for name in ("cpu", "cuda"):
            model = OnlineKernelRegressor(n_components=30, device=name).fit(X[:2100], y[:2100])
            errors.append(np.std(model.predict(X[2100:]) - y[2100:]))
    assert np.mean(errors) < 1.13 * 0.3
    here, there = np.log(errors).reshape(3, 2).mean(axis=0)
    assert abs(there - here) < 0.083
