"""Targets far from 0 and close together, such as times in seconds, are learned as any others."""

from __future__ import annotations

import numpy as np
import pytest

import onkel
from onkel import OnlineKernelRegressor

FAR = 1.7e9


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def model(**more):
    return OnlineKernelRegressor(n_components=40, random_state=0, **more)


def rmse(errors):
    return float(np.sqrt(np.mean(errors**2)))


@pytest.mark.parametrize("far", [1e6, FAR, -1e12])
def test_errors_are_those_of_targets_around_0(far):
    X, y = rows(1200)
    near = model(speed="fast").predict_then_learn(X, y) - y
    errors = model(speed="fast").predict_then_learn(X, y + far) - (y + far)
    assert rmse(errors[2:20]) < 1.05 * rmse(near[2:20])
    assert rmse(errors[600:]) == pytest.approx(rmse(near[600:]), rel=0.02)


def test_searches_trees_and_the_last_fit_learn_them():
    X, y = rows(5200)
    learned = model()
    errors = learned.predict_then_learn(X[:5000], y[:5000] + FAR) - (y[:5000] + FAR)
    assert rmse(errors[2500:]) < 0.4
    learned.consolidate()
    assert rmse(learned.predict(X[5000:]) - FAR - y[5000:]) < 0.4


def test_rows_one_by_one_give_the_same_model():
    X, y = rows(300)
    whole = model(speed="fast").predict_then_learn(X, y + FAR)
    single = model(speed="fast")
    parts = [single.predict_then_learn(X[i : i + 1], y[i : i + 1] + FAR)[0] for i in range(300)]
    np.testing.assert_allclose(parts, whole, rtol=1e-14)


def test_a_saved_model_goes_on():
    X, y = rows(700)
    learned = model(speed="fast").partial_fit(X[:600], y[:600] + FAR)
    loaded = onkel.from_bytes(onkel.pipeline.StreamModel(learned).to_bytes()).estimator
    for one in (learned, loaded):
        assert rmse(one.predict(X[600:]) - FAR - y[600:]) < 0.5
    further = [one.predict_then_learn(X[600:], y[600:] + FAR) for one in (learned, loaded)]
    np.testing.assert_array_equal(*further)


def test_merged_parts_keep_them():
    X, y = rows(900)
    learned = model(speed="fast").partial_fit(X[:500], y[:500] + FAR)
    learned.fix_map()
    parts = [onkel.from_bytes(onkel.pipeline.StreamModel(learned).to_bytes()) for _ in range(2)]
    for part, some in zip(parts, (slice(500, 650), slice(650, 800)), strict=True):
        part.estimator.partial_fit(X[some], y[some] + FAR)
    parts[0].merge(parts[1], since=onkel.pipeline.StreamModel(learned))
    assert rmse(parts[0].estimator.predict(X[800:]) - FAR - y[800:]) < 0.5
