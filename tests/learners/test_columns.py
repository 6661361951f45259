"""A column that comes in mid-stream: the model is the one that always had it, always 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier

from onkel.learners import ExplicitKernelClassifier, ExplicitKernelRegressor, FOGDRegressor
from onkel.maps import FourierFeatures, LearnedLandmarks, NystroemFeatures
from onkel.rules import LeastSquares


def wide(X, n=2):
    """The rows with n more columns, first 0, then nonzero."""
    late = np.random.default_rng(5).standard_normal((len(X), n))
    late[:CAME] = 0.0
    return np.hstack([X, late])


CAME = 50


def scores(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def extended(learner, X, y, at=CAME, n=2):
    return clone(learner).partial_fit(X[:at, :-n], y[:at]).add_columns(n)


@pytest.mark.parametrize("at", [CAME, 7, 20])
def test_the_model_is_the_one_that_always_had_the_column(learner, name, X, y, at):
    # Fastfood: up to the next power of two
    n = 1 if "fastfood" in name else 2
    W = wide(X, n)
    always = clone(learner).partial_fit(W[:at], y[:at])
    late = extended(learner, W, y, at, n)
    np.testing.assert_allclose(scores(late, W[:CAME]), scores(always, W[:CAME]), rtol=1e-9)
    for model in (late, always):
        model.partial_fit(W[at:], y[at:])
    np.testing.assert_allclose(scores(late, W), scores(always, W), rtol=1e-6, atol=1e-8)
    assert late.n_features_in_ == W.shape[1]


def test_no_prediction_changes_for_rows_without_it(learner, X, y):
    model = clone(learner).partial_fit(X[:CAME], y[:CAME])
    before = scores(model, X)
    model.add_columns(1).add_columns(2)
    without = np.hstack([X, np.zeros((len(X), 3))])
    np.testing.assert_allclose(scores(model, without), before, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores(model, csr_matrix(without)), before, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["fogd", "rrf", "pa", "ogd-median", "fourier-adagrad"])
def test_what_comes_in_it_is_learned(name, learner, X, targets):
    y = np.tile(targets["binary" if is_classifier(learner) else "regression"], 4)
    W = np.tile(wide(X, 1), (4, 1))
    W[90:, -1] = np.where(y[90:] == "b", -2.0, 2.0) if is_classifier(learner) else 2.0 * y[90:]
    model = extended(learner, W, y, at=90, n=1).partial_fit(W[90:], y[90:])
    assert model.score(W[90:], y[90:]) > model.score(W[90:] * [1, 1, 1, 0], y[90:])


def test_an_extended_learner_is_saved_and_goes_on(learner, X, y, tmp_path):
    from onkel import load

    W = wide(X)
    for at in (10, CAME):
        model = extended(learner, W, y, at)
        model.save(tmp_path / "m.onkel")
        twin = load(tmp_path / "m.onkel")
        for m in (model, twin):
            m.partial_fit(W[at:70], y[at:70])
        np.testing.assert_array_equal(scores(twin, W), scores(model, W))
        for m in (model, twin):
            m.add_columns(1).partial_fit(np.hstack([W, W[:, :1]])[70:], y[70:])
        np.testing.assert_array_equal(
            twin.predict(np.hstack([W, W[:, :1]])), model.predict(np.hstack([W, W[:, :1]]))
        )


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", "matern32", "rational_quadratic"])
def test_frequencies_of_later_columns_are_those_of_the_one_stream(kernel, X):
    always = FourierFeatures(9, kernel, gamma=0.3, random_state=0)
    always.start(5, "float64")
    always.fit_first(np.empty((0, 5)))
    late = FourierFeatures(9, kernel, gamma=0.3, random_state=0)
    late.start(3, "float64")
    late.fit_first(np.empty((0, 3)))
    for n in (1, 1):
        late.add_columns(n)
    np.testing.assert_array_equal(late.frequencies_, always.frequencies_)


def test_orthogonal_frequencies_get_independent_rows_and_stay_unbiased(X):
    W = wide(X)
    K = np.exp(-0.1 * ((W[:, None] - W[None]) ** 2).sum(axis=-1))
    feature_map = FourierFeatures(3000, gamma=0.1, orthogonal=True, random_state=0).fit(X)
    first = feature_map.frequencies_
    feature_map.add_columns(1)
    feature_map.add_columns(1)
    np.testing.assert_array_equal(feature_map.frequencies_[:3], first)
    Z = feature_map.features(W)
    assert np.abs(Z @ Z.T - K).max() < 0.06


def landmarks(cls, n_components=9):
    """The default learner's model; its widths depend on the columns there are at each fit."""
    feature_map = LearnedLandmarks(n_components, n_warmup=40, random_state=3)
    return cls(map=feature_map, rule="least_squares", dtype="float64")


@pytest.mark.parametrize("at", [20, CAME])
def test_learned_landmarks_predict_rows_without_it_as_before(task, at, X, y):
    cls = ExplicitKernelClassifier if task == "classification" else ExplicitKernelRegressor
    model = landmarks(cls).partial_fit(X[:at], y[:at])
    before = scores(model, X)
    model.add_columns(1).add_columns(2)
    without = np.hstack([X, np.zeros((len(X), 3))])
    np.testing.assert_allclose(scores(model, without), before, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.map_.landmarks_[:, 3:], 0.0)
    middling = np.median(model.map_.width_[:3])
    np.testing.assert_allclose(model.map_.width_[3:], middling, rtol=1e-12)
    twin = type(model).from_state(model.get_state())
    rest = np.hstack([X, np.random.default_rng(1).standard_normal((len(X), 3))])[at:]
    for m in (model, twin):
        m.partial_fit(rest, y[at:])
    np.testing.assert_array_equal(scores(twin, rest), scores(model, rest))
    assert len(model.map_.width_) == 6


def test_learned_landmarks_learn_what_comes_in_while_they_are_fitted():
    at, rng = 20, np.random.default_rng(2)
    W = rng.standard_normal((600, 3))
    W[:at, 2] = 0.0
    y = W[:, 0] + 3.0 * W[:, 2]
    model = landmarks(ExplicitKernelRegressor, n_components=40)
    model.partial_fit(W[:at, :2], y[:at]).add_columns(1).partial_fit(W[at:], y[at:])
    assert model.score(W[at:], y[at:]) > 0.9
    assert model.score(W[at:] * [1, 1, 0], y[at:]) < 0.3


def test_names():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    y = frame["a"].to_numpy()
    model = FOGDRegressor(n_components=20, gamma=0.3, random_state=0).fit(frame[["a", "b"]], y)
    with pytest.raises(ValueError, match="must be names"):
        model.add_columns(1)
    for bad in (["a"], ["c", "c"], []):
        with pytest.raises(ValueError, match="new names, each of them once"):
            model.add_columns(bad)
    assert model.n_features_in_ == 2
    model.add_columns("c").partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="columns=0 must be at least 1"):
        FOGDRegressor(n_components=20, gamma=0.3).fit(frame.to_numpy(), y).add_columns(0)
    with pytest.raises(ValueError, match="not fitted"):
        FOGDRegressor(n_components=20).add_columns(1)


def test_given_landmarks_are_filled_up(X, targets):
    feature_map = NystroemFeatures(landmarks=X[:8], gamma=0.3)
    model = ExplicitKernelClassifier(map=feature_map, dtype="float64", random_state=0)
    model.fit(X, targets["binary"]).add_columns(2)
    twin = type(model).from_state(model.get_state())
    without = np.hstack([X, np.zeros((90, 2))])
    np.testing.assert_array_equal(twin.decision_function(without), model.decision_function(without))


def test_a_map_that_cannot_says_so(X, targets):
    from onkel.maps import FeatureMap

    with pytest.raises(ValueError, match="map 'stiff' cannot take a column"):
        type("Stiff", (FeatureMap,), {"name": "stiff"})().add_columns(1)


def test_least_squares_of_the_inputs_after_an_anchor(monkeypatch, X, targets):
    from onkel.exact import least_squares

    monkeypatch.setattr(least_squares, "ANCHOR_ROWS", 16)
    W, y = wide(X), targets["binary"]
    rule = LeastSquares(ridge=0.5, forgetting=0.95)
    learner = ExplicitKernelClassifier(map="identity", rule=rule, loss="hinge", dtype="float64")
    always = clone(learner).partial_fit(W, y)
    late = extended(learner, W, y).partial_fit(W[CAME:], y[CAME:])
    np.testing.assert_allclose(late.coef_, always.coef_, rtol=1e-7, atol=1e-10)
