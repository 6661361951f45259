"""Online Newton in blocks against the recursion of one row, and against logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from onkel import ExplicitKernelRegressor, OnlineKernelClassifier
from onkel.exact.newton import RecursiveNewton
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps import IdentityFeatures
from onkel.rules import LogisticNewton


def recursion(Z, T, weight, ridge, forgetting):
    """The formulas of the rule's docstring, row by row; rows fade, the penalty does not."""
    penalty = 0.25 * ridge * np.eye(Z.shape[1])
    R, b, scores = 0.0 * penalty, np.zeros((Z.shape[1], T.shape[1])), []
    for z, t, w in zip(Z, T, weight, strict=True):
        f = np.linalg.solve(R + penalty, b).T @ z
        scores.append(f)
        if w > 0.0:
            q = w / forgetting * z @ np.linalg.solve(R + penalty, z)
            new = [brentq(lambda x, a=a, b=b, q=q: x - a - q * (b - expit(x)), a - q - 1, a + q + 1)
                   for a, b in zip(f, t, strict=True)]  # fmt: skip
            p = expit(np.array(new))
            h = w * (p * (1 - p)).max()
            R = forgetting * R + h * np.outer(z, z)
            b = forgetting * b + np.outer(z, h * np.array(new) + w * (t - p))
    return np.array(scores), np.linalg.solve(R + penalty, b).T


def rows(n=200, d=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1), rng.uniform(0.2, 2.0, n) * (rng.random(n) > 0.1)


def model_of(n_outputs, ridge=0.1, forgetting=1.0, d=5):
    feature_map = IdentityFeatures()
    feature_map.start(d, "float64")
    return ExplicitModel(
        feature_map, LogisticNewton(ridge, forgetting), Loss.LOGISTIC, 0.0, n_outputs
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("block", [1, 7, 200])
def test_blocks_are_the_recursion(block, forgetting, classes):
    X, codes, weight = rows(classes=classes)
    if forgetting < 1.0:
        weight = np.maximum(weight, 0.2)
    y = 2.0 * codes - 1.0 if classes == 2 else codes.astype(float)
    T = (codes[:, None] == np.arange(classes)).astype(float)[:, 1 if classes == 2 else 0 :]
    model = model_of(1 if classes == 2 else 3, forgetting=forgetting)
    P = np.concatenate([model.learn(X[a : a + block], y[a : a + block], weight[a : a + block])
                        for a in range(0, 200, block)])  # fmt: skip
    expected, W = recursion(np.c_[X, np.ones(200)], T, weight, 0.1, forgetting)
    np.testing.assert_allclose(P, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.coef, W, rtol=1e-6, atol=1e-9)


@pytest.mark.compiled
def test_many_rows_come_near_batch_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, codes, _ = rows(6_000)
    model = model_of(1)
    model.learn(X, 2.0 * codes - 1.0, np.ones(len(X)))
    batch = LogisticRegression(C=1e3).fit(X, codes)
    np.testing.assert_allclose(model.coef[0, :5], batch.coef_[0], atol=0.1)


@pytest.mark.compiled
def test_a_class_that_comes_late_starts_below_the_others():
    X, codes, weight = rows(3000, classes=3)
    X, codes = (
        np.concatenate([X[codes < 2][:300], X]),
        np.concatenate([codes[codes < 2][:300], codes]),
    )
    weight, early = np.ones(len(X)), codes[:300]
    model = model_of(1)
    model.learn(X[:300], 2.0 * early - 1.0, np.ones(300))
    before = model.scores(X[300:])
    model.add_output(2)
    after = model.scores(X[300:])
    np.testing.assert_allclose(after[:, 1], before[:, 0], rtol=1e-8)
    np.testing.assert_allclose(after[:, 0], -before[:, 0], rtol=1e-8)
    assert np.mean(after[:, 2] < after[:, :2].max(axis=1)) > 0.95
    model.learn(X[300:], codes[300:].astype(float), weight[300:])
    assert np.mean(model.scores(X).argmax(axis=1) == codes) > 0.7


@pytest.mark.slow
@pytest.mark.compiled
def test_the_default_learner_with_the_logistic_loss():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    y = (np.sin(2 * X[:, 0]) * X[:, 1] > 0).astype(int)
    model = OnlineKernelClassifier(n_components=40, loss="logistic")
    before = model.predict_then_learn(X, y)
    assert np.mean(before[1500:] != y[1500:]) < 0.08
    twin = OnlineKernelClassifier.from_state(model.get_state())
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_what_it_is_not_for():
    with pytest.raises(ValueError, match=r"newton.*least_squares"):
        ExplicitKernelRegressor(rule="newton").fit(np.ones((3, 2)), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="loss='hinge' must be one of 'squared', 'logistic'"):
        OnlineKernelClassifier(loss="hinge").fit(np.ones((3, 2)), [0, 1, 0])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_products_on_a_device_are_those_of_the_processor(n_outputs, on_device):
    rng = np.random.default_rng(0)
    Z, weight = rng.standard_normal((600, 40)), rng.uniform(0.2, 2.0, 600)
    Y = np.sign(rng.standard_normal((600, n_outputs)))
    here, there = (RecursiveNewton(40, n_outputs, 0.1, 0.999, None, of) for of in (None, on_device))
    for a, b in ((0, 100), (100, 108), (108, 600)):
        P, Q = (one.learn(Z[a:b], Y[a:b], weight[a:b]) for one in (here, there))
        np.testing.assert_allclose(Q, P, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.weights(), here.weights(), rtol=1e-8, atol=1e-10)
