"""Probabilities learned from scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from onkel import KernelRLSClassifier, OnlineKernelClassifier
from onkel.default.calibration import Calibration


def test_two_classes_are_platts_line():
    rng = np.random.default_rng(0)
    f = rng.standard_normal((40_000, 1))
    codes = (rng.random(40_000) < expit(1.3 * f[:, 0] - 0.7)).astype(int)
    calibration = Calibration()
    calibration.learn(f, codes, np.ones(40_000))
    batch = LogisticRegression(C=1e6).fit(f, codes)
    assert calibration.theta[0] == pytest.approx(batch.coef_[0, 0], abs=0.05)
    assert calibration.theta[1] == pytest.approx(batch.intercept_[0], abs=0.05)


def test_many_classes_are_a_temperature():
    rng = np.random.default_rng(1)
    F = rng.standard_normal((40_000, 4))
    P = softmax(3.0 * F, axis=1)
    codes = (rng.random((40_000, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=3)
    calibration = Calibration()
    calibration.learn(F, codes, np.ones(40_000))
    assert calibration.theta[0] == pytest.approx(3.0, abs=0.1)
    np.testing.assert_allclose(calibration.probabilities(F).sum(axis=1), 1.0)


@pytest.mark.parametrize("cut", [1, 13, 500])
def test_blocks_and_weights_of_zero_do_not_matter(cut):
    rng = np.random.default_rng(2)
    f, codes = rng.standard_normal((500, 1)), rng.integers(2, size=500)
    weight = rng.uniform(0.1, 2.0, 500) * (rng.random(500) > 0.2)
    whole, parts, few = Calibration(), Calibration(), Calibration()
    whole.learn(f, codes, weight)
    for a in range(0, 500, cut):
        parts.learn(f[a : a + cut], codes[a : a + cut], weight[a : a + cut])
    used = weight > 0.0
    few.learn(f[used], codes[used], weight[used])
    np.testing.assert_array_equal(whole.theta, parts.theta)
    np.testing.assert_array_equal(whole.theta, few.theta)


@pytest.mark.parametrize("learner", [KernelRLSClassifier, OnlineKernelClassifier])
def test_probabilities_are_met(learner):
    """Of the rows with predicted probability p, a share p is in the class."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12_000, 3))
    y = (rng.random(12_000) < expit(2.0 * np.sin(2 * X[:, 0]) + X[:, 1])).astype(int)
    p = learner(n_components=60).fit(X[:8000], y[:8000]).predict_proba(X[8000:])[:, 1]
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        said = (p >= low) & (p < low + 0.2)
        assert y[8000:][said].mean() == pytest.approx(p[said].mean(), abs=0.06)


def test_near_its_border_a_prediction_is_not_contradicted():
    calibration = Calibration()
    calibration.theta[:] = (2.0, 0.5)
    scores = np.array([-0.3, -0.1, 0.0, 1e-9, 0.3])[:, None]
    P = calibration.probabilities(scores)
    np.testing.assert_array_equal(P.argmax(axis=1), scores[:, 0] > 0.0)
    np.testing.assert_allclose(P[[0, 4], 1], 1.0 / (1.0 + np.exp([0.1, -1.1])))
