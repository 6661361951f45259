"""River's wrappers over a StreamModel: texts and gaps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("river")
pandas = pytest.importorskip("pandas")

from river import evaluate, metrics  # noqa: E402

from onkel import KernelRLSClassifier, KernelRLSRegressor, StreamModel  # noqa: E402
from onkel.compat.river import RiverClassifier, RiverRegressor  # noqa: E402


def rows(n, gaps=True):
    rng = np.random.default_rng(0)
    made = []
    for i in range(n):
        a, c = float(rng.normal()), str(rng.choice(list("xyz")))
        x = {"c": c} if gaps and i % 19 == 18 else {"a": a, "c": c}
        made.append((x, "up" if (c == "x") == (a > 0) else "down"))
    return made


def test_a_classifier_takes_text_and_gaps():
    model = RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)))
    assert isinstance(model, RiverClassifier)
    assert model.predict_one({"a": 1.0, "c": "x"}) is None
    assert model.predict_proba_one({"a": 1.0, "c": "x"}) == {}
    accuracy = evaluate.progressive_val_score(rows(500), model, metrics.Accuracy())
    assert accuracy.get() > 0.85
    shares = model.predict_proba_one({"c": "never seen"})
    assert set(shares) == {"up", "down"}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert model.predict_set_one({"a": 3.0, "c": "x"}, 0.5) <= {"up", "down"}


def test_frames_copies_and_pickles():
    model = RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)))
    X = pandas.DataFrame([x for x, _ in rows(60, gaps=False)], index=range(100, 160))
    y = pandas.Series([y for _, y in rows(60)])
    model.learn_many(X, y)
    predicted = model.predict_many(X)
    assert list(predicted.index) == list(X.index)
    assert set(predicted) <= {"up", "down"}
    assert list(model.predict_proba_many(X).columns) == ["down", "up"]
    assert model.clone().model.n_rows == 0
    x = {"a": 1.0, "c": "y"}
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba_one(x) == model.predict_proba_one(x)


def test_a_regressor_and_its_interval():
    model = RiverRegressor(StreamModel(KernelRLSRegressor(feedback=True)))
    assert model.predict_one({"a": 1.0, "c": "x"}) == 0.0
    for x, y in rows(300, gaps=False):
        model.learn_one(x, x["a"] + (y == "up"))
    low, high = model.predict_interval_one({"a": 1.0, "c": "x"})
    assert low < model.predict_one({"a": 1.0, "c": "x"}) < high


def test_what_cannot_be_is_told():
    with pytest.raises(TypeError, match="RiverClassifier takes an onkel classifier, not a Stream"):
        RiverClassifier(StreamModel(KernelRLSRegressor(feedback=True)))
    with pytest.raises(ValueError, match="features=3: a StreamModel takes the columns that come"):
        RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)), features=3)
    model = RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)))
    with pytest.raises(ValueError, match="weight 1 only"):
        model.learn_one({"a": 1.0}, True, w=2.0)
