"""What labels say of predictions, kept by a learner: bounds, sets and an alarm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone

from onkel import (
    FOGDClassifier,
    FOGDRegressor,
    Intervals,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    PAClassifier,
    StreamModel,
)
from onkel.intervals.feedback import LEVELS


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    noise = np.where(np.arange(n) < n // 2, 0.2, 0.6) * rng.standard_normal(n)
    return X, 10.0 + np.sin(2 * X[:, 0]) + X[:, 1] + noise


def classes(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    P = softmax(2.0 * np.column_stack([X, -X.sum(axis=1)]), axis=1)
    return X, np.array(["a", "b", "c"])[(P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)]


def regressors():
    okl = OnlineKernelRegressor(n_components=30, speed="fast")
    return [okl, FOGDRegressor(n_components=50, gamma=0.5, random_state=0, feedback=True)]


@pytest.mark.parametrize("model", regressors(), ids=["okl", "fogd"])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_bounds_beside_predictions(model, level):
    X, y = rows(3000)
    model = clone(model).partial_fit(X[:1000], y[:1000])
    before = model.predict_interval_next(X[1000:1001], level)
    p, bounds = model.predict_interval_then_learn(X[1000:], y[1000:], level)
    assert p.shape == (2000,)
    np.testing.assert_allclose(bounds[:1], before, rtol=1e-5)
    inside = (bounds[:, 0] <= y[1000:]) & (y[1000:] <= bounds[:, 1])
    assert abs(inside.mean() - level) < 0.02
    # learned just as by partial_fit
    other = clone(model).partial_fit(X[:1000], y[:1000])
    other.partial_fit(X[1000:], y[1000:])
    np.testing.assert_allclose(
        other.predict_interval_next(X[:5], level), model.predict_interval_next(X[:5], level)
    )


def test_bounds_from_the_first_row():
    X, y = rows(500)
    model = OnlineKernelRegressor(n_components=30, speed="fast")
    p, bounds = model.predict_interval_then_learn(X, y)
    assert bounds[0].tolist() == [-np.inf, np.inf]
    np.testing.assert_array_equal(bounds[1:], Intervals(LEVELS).learn(p[1:], y[1:])[:, 2])


def test_rows_by_themselves_are_judged_without_memory():
    """A target that follows its last value: what the columns say, and a level that is followed by
    steps, is far worse."""
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.standard_normal(4000))
    X = rng.standard_normal((4000, 2))
    stream = StreamModel(OnlineKernelRegressor(n_components=20, speed="fast"))
    stream.partial_fit(X, y)
    learner = stream.estimator
    alone, following = (float(np.diff(f(X[:1], 0.9))[0, 0]) for f in
                        (learner.predict_interval, learner.predict_interval_next))  # fmt: skip
    assert following < 5.0 < 8.0 < alone
    for of_stream, of_learner in (
        (stream.predict_interval, learner.predict_interval),
        (stream.predict_interval_next, learner.predict_interval_next),
    ):
        np.testing.assert_allclose(of_stream(X[:3], 0.9), of_learner(X[:3], 0.9), rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        OnlineKernelClassifier(n_components=30, speed="fast"),
        FOGDClassifier(n_components=50, gamma=0.5, loss="logistic", random_state=0, feedback=True),
    ],
    ids=["okl", "fogd"],
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_sets_hold_their_share_of_labels(model, level):
    X, y = classes(5000)
    model = clone(model).partial_fit(X[:2000], y[:2000])
    hits, alone = [], model.predict_set(X[2000:], level)
    for a in range(2000, 5000, 10):
        part = slice(a, a + 10)
        places = np.searchsorted(model.classes_, y[part])
        hits.append(model.predict_set_next(X[part], level)[np.arange(10), places])
        model.partial_fit(X[part], y[part])
    assert abs(np.concatenate(hits).mean() - level) < 0.02
    places = np.searchsorted(model.classes_, y[2000:])
    assert abs(alone[np.arange(3000), places].mean() - level) < 0.05
    assert alone.sum(axis=1).mean() < 3.0


def test_sets_of_two_classes_through_a_stream_model():
    X, y = classes(2000)
    y = y == "a"
    model = StreamModel(OnlineKernelClassifier(n_components=30, speed="fast")).partial_fit(X, y)
    np.testing.assert_array_equal(
        model.predict_set(X[:20], 0.9), model.estimator.predict_set(X[:20], 0.9)
    )
    assert model.predict_set_next(X[:20], 0.99).sum() >= model.predict_set_next(X[:20], 0.5).sum()
    with pytest.raises(ValueError, match="predict_set"):
        model.predict_interval(X[:2])
    other = StreamModel(FOGDClassifier(n_components=20, loss="logistic")).partial_fit(X, y)
    with pytest.raises(ValueError, match="feedback=True"):
        other.predict_set(X[:2])


def test_the_alarm_of_a_learner():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    y = np.where(np.arange(6000) < 4000, X[:, 0] > 0, X[:, 1] > 0)
    model = FOGDClassifier(n_components=50, gamma=0.5, random_state=0, feedback=True)
    for a in range(0, 6000, 100):
        model.partial_fit(X[a : a + 100], y[a : a + 100])
    assert 4000 < model.alarms_[0] < 4200
    assert PAClassifier().partial_fit(X, y).alarms_ == []


@pytest.mark.parametrize("cut", [1, 37])
@pytest.mark.parametrize("kind", ["values", "classes"])
def test_blocks_and_rows_without_weight_do_not_matter(cut, kind):
    X, y = rows(400) if kind == "values" else classes(400)
    learner = FOGDRegressor if kind == "values" else FOGDClassifier
    params = {"n_components": 30, "gamma": 0.5, "random_state": 0, "feedback": True}
    params |= {"dtype": "float64"} | ({} if kind == "values" else {"loss": "logistic"})
    weight = np.where(np.arange(400) % 5 == 2, 0.0, 1.0)
    few, parts = learner(**params), learner(**params)
    few.partial_fit(X[:3], y[:3]), parts.partial_fit(X[:3], y[:3])
    used = np.flatnonzero(weight[3:]) + 3
    few.partial_fit(X[used], y[used])
    for a in range(3, 400, cut):
        part = slice(a, a + cut)
        parts.partial_fit(X[part], y[part], sample_weight=weight[part])
    for name in ("next", "alone"):
        np.testing.assert_allclose(
            getattr(few.feedback_, name).q_, getattr(parts.feedback_, name).q_, rtol=1e-6
        )
    np.testing.assert_allclose(few.feedback_.alarm.edges_, parts.feedback_.alarm.edges_, rtol=1e-6)


def test_saved_merged_and_refused():
    X, y = rows(3000)
    base = FOGDRegressor(n_components=50, gamma=0.5, random_state=0, feedback=True)
    base.partial_fit(X[:500], y[:500]).fix_map()
    a, b = (FOGDRegressor.from_state(base.get_state()) for _ in range(2))
    np.testing.assert_array_equal(a.predict_interval_next(X[:5]), base.predict_interval_next(X[:5]))
    a.partial_fit(X[500:1500], y[500:1500])
    b.partial_fit(X[1500:], y[1500:])
    q = np.maximum(a.feedback_.next.q_, b.feedback_.next.q_)
    a.merge(b, since=base)
    np.testing.assert_array_equal(a.feedback_.next.q_, q)
    with pytest.raises(ValueError, match="feedback=True"):
        FOGDRegressor().fit(X[:50], y[:50]).predict_interval(X[:2])
    rows_before = a.n_rows_
    with pytest.raises(ValueError, match="level=0"):
        a.predict_interval_then_learn(X[:5], y[:5], 0.85)
    assert a.n_rows_ == rows_before


def test_predictions_do_not_depend_on_feedback():
    X, y = rows(1500)
    with_it, without = (
        OnlineKernelRegressor(n_components=30, speed="fast", feedback=on) for on in (True, False)
    )
    np.testing.assert_array_equal(
        with_it.predict_then_learn(X, y), without.predict_then_learn(X, y)
    )
