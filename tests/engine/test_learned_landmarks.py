"""Landmarks and widths learned up the evidence: its gradient, its formula, and that it helps."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.maps import LearnedLandmarks
from onkel.maps import evidence as ev
from onkel.maps.landmark_search import improve


def toy(n=120, d=4, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]], axis=1)[:, :outputs]
    return X, Y + 0.1 * rng.standard_normal(Y.shape), rng.uniform(0.5, 2.0, n)


def evidence(at, X, Y, root):
    """-2 log evidence by its formula, with plain linear algebra."""
    w = np.exp(at.log_width)

    def kappa(A, B):
        return 1.0 / (1.0 + (((A[:, None] - B[None]) * w) ** 2).sum(axis=-1))

    K, K0 = kappa(X, at.S), kappa(at.S, at.S) + ev.JITTER * np.eye(len(at.S))
    K, Y = K * root, Y * root
    H = K.T @ K + at.ridge * K0
    H += 1e-13 * np.trace(H) * np.eye(len(H))
    alpha = np.linalg.solve(H, K.T @ Y)
    J = ((Y - K @ alpha) ** 2).sum() + at.ridge * (alpha * (K0 @ alpha)).sum()
    logdet = np.linalg.slogdet(H)[1] - np.linalg.slogdet(at.ridge * K0)[1]
    return Y.size * np.log(J / Y.size) + Y.shape[1] * logdet


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_is_that_of_finite_differences(outputs, weighted):
    X, Y, weight = toy(outputs=outputs)
    root = np.sqrt(weight)[:, None] if weighted else np.ones((len(X), 1))
    at = ev.Landmarks(X[:12] + 0.1, np.log([0.7, 0.5, 0.4, 0.9]), np.log(0.05))
    fit = ev.fit_alpha(at, X, Y, root if weighted else np.empty((0, 1)))
    of_S, of_width, of_ridge = ev.gradient(at, fit, X, root if weighted else np.empty((0, 1)))
    h = 1e-5

    def slope(change):
        return (evidence(change(h), X, Y, root) - evidence(change(-h), X, Y, root)) / (2 * h)

    for i, j in ((0, 0), (5, 3), (11, 2)):
        step = np.zeros_like(at.S)
        step[i, j] = 1.0
        moved = slope(lambda e, s=step: ev.Landmarks(at.S + e * s, at.log_width, at.log_ridge))
        assert of_S[i, j] == pytest.approx(moved, rel=1e-4, abs=1e-4)
    for j in range(4):
        step = np.eye(4)[j]
        moved = slope(lambda e, s=step: ev.Landmarks(at.S, at.log_width + e * s, at.log_ridge))
        assert of_width[j] == pytest.approx(moved, rel=1e-4, abs=1e-4)
    moved = slope(lambda e: ev.Landmarks(at.S, at.log_width, at.log_ridge + e))
    assert of_ridge == pytest.approx(moved, rel=1e-4, abs=1e-4)


def test_width_left_out_is_the_error_of_leaving_rows_out():
    X, Y, _ = toy(40, outputs=1)
    width, ridge = ev.width_left_out(X, Y, 0.5)
    found = {}
    for factor in ev._WIDTH_FACTORS:
        for lam in ev._RIDGES:
            K = ev.kernel_columns(X * 0.5 * factor, X * 0.5 * factor)
            error = 0.0
            for i in range(40):
                rest = np.arange(40) != i
                G = np.linalg.solve(K[np.ix_(rest, rest)] + lam * np.eye(39), Y[rest])
                error += float((Y[i] - K[i, rest] @ G)[0] ** 2)
            found[0.5 * factor, lam] = error
    assert (width, ridge) == min(found, key=found.get)


def test_search_never_returns_worse_than_it_started_from():
    X, Y, weight = toy(600)
    starts = [ev.Landmarks(X[:30], np.full(4, np.log(w)), np.log(0.01)) for w in (0.05, 0.4)]
    rng = np.random.default_rng(0)
    order = rng.permutation(600)
    judge, learn = order[:120], order[120:]
    found = improve(starts, X, Y, weight, 24, np.random.default_rng(0))

    def error(at):
        root = np.sqrt(weight[learn])[:, None]
        alpha = ev.fit_alpha(at, X[learn], Y[learn], root).alpha
        w = np.exp(at.log_width)
        K = ev.kernel_columns(X[judge] * w, at.S * w)
        return ((Y[judge] - K @ alpha) ** 2).mean(axis=1) @ weight[judge]

    assert error(found) < min(map(error, starts))


def test_useless_columns_fade_and_few_landmarks_suffice():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 12))
    y = np.sin(3 * X[:, 0]) * X[:, 1]
    model = OnlineKernelRegressor(budget=40).fit(X[:4096], y[:4096])
    still = OnlineKernelRegressor(budget=40, speed="fast").fit(X[:4096], y[:4096])
    width = model.map_.width_
    assert width[:2].min() > 2 * width[2:].max()

    def error(estimator):
        return np.mean((estimator.predict(X[4096:]) - y[4096:]) ** 2)

    assert error(model) < 0.3 * error(still)


def test_weights_are_ridge_regression_in_the_kernels_space():
    X, Y, _ = toy(700, outputs=1)
    model = OnlineKernelRegressor(budget=25).fit(X, Y[:, 0])
    m = model.map_
    K = 1.0 / (1.0 + (((X[:, None] - m.landmarks_[None]) * m.width_) ** 2).sum(axis=-1))
    Z = np.c_[K, np.ones(len(X))]
    expected = np.linalg.solve(Z.T @ Z + m.prior(), Z.T @ Y[:, 0])
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("block", [1, 100, 1300])
def test_blocks_do_not_matter_across_a_search(block):
    X, Y, _ = toy(1300, outputs=1)
    label = (Y[:, 0] > 0).astype(int)
    whole = OnlineKernelClassifier(budget=20)
    expected = whole.predict_then_learn(X, label)
    model = OnlineKernelClassifier(budget=20)
    got = [model.predict_then_learn(X[a : a + block], label[a : a + block])
           for a in range(0, 1300, block)]  # fmt: skip
    np.testing.assert_array_equal(np.concatenate(got), expected)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-7)


def test_constant_columns_constant_targets_and_one_row():
    X = np.ones((80, 3))
    model = OnlineKernelRegressor().fit(X, np.full(80, 7.0))
    assert model.predict(X[:1])[0] == pytest.approx(7.0, rel=1e-3)
    assert OnlineKernelRegressor().fit(X[:1], [5.0]).predict(X[:1])[0] == pytest.approx(
        5.0, rel=0.1
    )


def test_warmup_is_bounded_in_memory():
    wide = LearnedLandmarks(budget=100)
    wide.start(4096, "float64")
    assert wide.warmup_rows() * 4096 * 8 <= 64 << 20
    narrow = LearnedLandmarks(budget=100)
    narrow.start(10, "float64")
    assert narrow.warmup_rows() == 32_768


def test_threads_do_not_matter():
    from threadpoolctl import threadpool_limits

    X, Y, _ = toy(1300, outputs=1)
    scores = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = OnlineKernelRegressor(budget=30)
            scores.append(model.predict_then_learn(X, Y[:, 0]))
    np.testing.assert_array_equal(*scores)
