"""Bounds and alarms of a model: fed back with each label, saved, merged, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import DataError, FOGDRegressor, KernelRLSClassifier, OnlineKernelRegressor, StreamModel
from onkel import load as load_model


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    noise = np.where(np.arange(n) < n // 2, 0.2, 0.6) * rng.standard_normal(n)
    return X, 10.0 + np.sin(2 * X[:, 0]) + X[:, 1] + noise


def small(**params):
    return OnlineKernelRegressor(n_components=30, speed="fast", **params)


def coverage(model, X, y, start, step=1, level=0.9):
    inside = []
    for a in range(start, len(y), step):
        low, high = model.predict_interval_next(X[a : a + 1], level)[0]
        inside.append(low <= y[a] <= high)
        model.partial_fit(X[a : a + step], y[a : a + step])
    return np.mean(inside)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.9])
def test_the_next_rows_are_inside(level):
    X, y = rows(2400)
    model = StreamModel(small())
    model.partial_fit(X[:800], y[:800])
    assert abs(coverage(model, X, y, 800, level=level) - level) < 0.03


def test_a_learner_without_error_bars_has_bounds_too():
    X, y = rows(4000)
    model = StreamModel(FOGDRegressor(n_components=100, gamma=0.5, random_state=0))
    model.partial_fit(X[:3000], y[:3000])
    bounds = model.predict_interval(X[3000:], 0.9)
    inside = (bounds[:, 0] <= y[3000:]) & (y[3000:] <= bounds[:, 1])
    assert abs(inside.mean() - 0.9) < 0.05


def test_blocks_do_not_matter_and_bounds_are_saved(tmp_path):
    X, y = rows(600)
    whole, parts = (
        StreamModel(FOGDRegressor(n_components=50, gamma=0.5, random_state=0)) for _ in range(2)
    )
    whole.partial_fit(X, y)
    for a in range(0, 600, 37):
        parts.partial_fit(X[a : a + 37], y[a : a + 37])
    for a, b in zip(_numbers(whole), _numbers(parts), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3)
    whole.save(tmp_path / "model.onkel")
    again = load_model(tmp_path / "model.onkel")
    np.testing.assert_array_equal(
        again.predict_interval_next(X[:5], 0.85), whole.predict_interval_next(X[:5], 0.85)
    )
    assert again.alarms_ == whole.alarms_


def _numbers(model):
    feedback = model.feedback
    return feedback.next.q_, feedback.next.errors_, feedback.alarm.edges_


def test_rows_before_a_bad_one_are_fed_back():
    X, y = rows(40)
    bad, good = StreamModel(small()), StreamModel(small())
    y[30] = np.nan
    with pytest.raises(DataError):
        bad.partial_fit(X, y)
    good.partial_fit(X[:30], y[:30])
    assert bad.feedback.next.n_rows == good.feedback.next.n_rows == 29
    np.testing.assert_allclose(bad.feedback.next.q_, good.feedback.next.q_, rtol=1e-9)


def test_an_alarm_rings_when_mistakes_grow():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    y = np.where(np.arange(6000) < 4000, X[:, 0] > 0, X[:, 1] > 0)
    model = StreamModel(KernelRLSClassifier(n_components=50))
    model.partial_fit(X, y)
    assert len(model.alarms_) >= 1
    assert 4000 < model.alarms_[0] < 4200
    with pytest.raises(ValueError, match="classifier"):
        model.predict_interval_next(X[:2])


def test_merged_models_start_from_the_wider_bounds():
    X, y = rows(3000)
    base = StreamModel(FOGDRegressor(n_components=50, gamma=0.5, random_state=0))
    base.partial_fit(X[:500], y[:500])
    base.fix_map()
    a, b = (StreamModel.from_state(base.get_state()) for _ in range(2))
    a.partial_fit(X[500:1500], y[500:1500])
    b.partial_fit(X[1500:], y[1500:])
    q = np.maximum(a.feedback.next.q_, b.feedback.next.q_)
    a.merge(b, since=base)
    np.testing.assert_array_equal(a.feedback.next.q_, q)
    # those of base count once
    assert a.feedback.next.n_rows == a.feedback.alarm.n_rows == 2999
