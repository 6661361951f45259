"""What a user may write, for the type checkers; it is checked, not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import onkel
from onkel import (
    ALGORITHMS,
    Alarm,
    ClassSets,
    DataError,
    Intervals,
    KernelRLSRegressor,
    LateLabels,
    OnlineKernelClassifier,
    OnlineScaler,
    StreamModel,
)


def script() -> None:
    """A user's script."""
    X = np.zeros((10, 2))
    y = np.zeros(10)

    model = StreamModel(OnlineKernelClassifier(n_components=50), missing="gap", extra="ignore")
    assert_type(model.fit({"a": X[:, 0]}, y), StreamModel)
    assert_type(model.partial_fit({"a": X[:, 0]}, y, target=None), StreamModel)
    assert_type(model.predict({"a": 1.0}), np.ndarray)
    assert_type(model.predict_proba({"a": 1.0}), np.ndarray)
    assert_type(model.predict_proba_one({"a": 1.0}), dict[Any, float])
    assert_type(model.predict_interval_next({"a": 1.0}, level=0.9), np.ndarray)
    assert_type(model.predict_then_learn([{"a": 1.0}], [1]), np.ndarray)
    assert_type(model.score({"a": X[:, 0]}, y), float)
    assert_type(model.n_rows, int)
    assert_type(model.feature_importances_, np.ndarray)
    assert_type(model.n_features_in_, int)
    assert_type(model.explain({"a": 1.0}).contributions, dict[str, float])
    assert_type(model.learn_one({"a": 1.0}, 1.0), Any)
    assert_type(model.to_bytes(), bytes)
    model.set_params(missing="error").save(Path("m.onkel"))

    assert_type(onkel.load("m.onkel", StreamModel), StreamModel)
    assert_type(onkel.load("m.onkel", LateLabels, extra="error"), LateLabels)
    assert_type(onkel.load("m.onkel"), Any)
    assert_type(onkel.from_bytes(b"", KernelRLSRegressor), KernelRLSRegressor)
    assert_type(onkel.to_bytes(model), bytes)
    onkel.save(model, "m.onkel")

    learner = KernelRLSRegressor(n_components=20, gamma=0.5, dtype="float64")
    assert_type(learner.fit(X, y), KernelRLSRegressor)
    learner.partial_fit(X, y, sample_weight=np.ones(10))
    assert_type(learner.predict_then_learn(X, y), np.ndarray)
    assert_type(learner.n_rows_, int)
    assert_type(learner.nbytes_, int)
    assert_type(learner.n_features_in_, int)
    assert_type(learner.map_fixed_, bool)
    assert_type(learner.coef_, np.ndarray)
    assert_type(learner.alarms_, list[int])
    classifier = OnlineKernelClassifier(n_components=50).fit(X, y > 0)
    assert_type(classifier.n_rows_, int)
    assert_type(classifier.classes_, np.ndarray)
    assert_type(classifier.class_counts_, np.ndarray)
    made = onkel.make("krls", "regression", n_components=20)
    made.fit(X, y)

    late = LateLabels(model)
    late.predict("id", {"a": 1.0})
    late.learn("id", 1.0)
    assert_type(late.n_waiting, int)
    result = onkel.prequential(model, (X, y))
    assert_type(result.n_rows, int)
    assert_type(result.value, float)
    assert_type(result.curve[-1].metrics, dict[str, float])
    onkel.compare(["krls", "pa"], (X, y))
    for block in onkel.open_stream((X, y), block_rows=100):
        assert_type(block.start, int)

    assert_type(Intervals(0.9).learn(1.0, 2.0), np.ndarray)
    Alarm().learn(y)
    ClassSets(0.9)
    OnlineScaler("minmax")
    assert_type(len(ALGORITHMS), int)
    try:
        model.predict({"b": 1.0})
    except DataError as error:
        assert_type(error.row, int | None)
