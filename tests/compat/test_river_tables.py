"""River's wrappers over a StreamModel: texts and gaps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("river")
pandas = pytest.importorskip("pandas")

from river import checks, evaluate, metrics  # noqa: E402

from onkel import (  # noqa: E402
    FOGDClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    PAClassifier,
    StreamModel,
)
from onkel.compat.river import RiverClassifier, RiverRegressor  # noqa: E402

WRAPPED = {
    "hinge": RiverClassifier(StreamModel(FOGDClassifier(n_components=20, random_state=0))),
    "krls": RiverClassifier(StreamModel(KernelRLSClassifier(n_components=20))),
    "values": RiverRegressor(StreamModel(KernelRLSRegressor(n_components=20))),
}


def _checks():
    for name, model in WRAPPED.items():
        for check in checks.yield_checks(model):
            # a StreamModel takes no bound on its features, as those parameters set one
            if check.__name__ != "check_init_has_default_params_for_tests":
                yield pytest.param(model, check, id=f"{name}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(_checks()))
def test_rivers_checks(model, check):
    check(model.clone())


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


def test_features_come_and_go_in_rows_and_frames():
    model = RiverClassifier(StreamModel(PAClassifier()))
    for x, y in rows(100, gaps=False):
        model.learn_one(x, y)
    nothing = model.predict_proba_one({"new": 1.0})
    assert nothing == model.predict_proba_one({}) == model.predict_proba_one({"a": None})
    assert model.predict_one({"new": 1.0}) in {"up", "down"}
    frame = pandas.DataFrame({"c": ["x", "y"], "new": [1.0, 2.0]})
    shares = model.predict_proba_many(frame)
    one = model.predict_proba_one({"c": "x"})
    assert shares.to_dict("records")[0] == pytest.approx(one)
    model.learn_many(frame, pandas.Series(["up", "down"]))
    assert "new" in model.model.encoder.kinds
    numbered = RiverRegressor(StreamModel(KernelRLSRegressor(n_components=20)))
    for x, _ in rows(30, gaps=False):
        numbered.learn_one({0: x["a"], 1: x["c"]}, x["a"])
    assert numbered.predict_one({0: 0.5}) != numbered.predict_one({2: 0.5})


def test_the_order_of_new_features_does_not_matter():
    models = [RiverRegressor(StreamModel(KernelRLSRegressor(n_components=20))) for _ in "ab"]
    for x, y in rows(60, gaps=False):
        x |= {"b": float(y == "up")}
        models[0].learn_one(x, x["a"])
        models[1].learn_one(dict(reversed(x.items())), x["a"])
    assert list(models[1].model.encoder.kinds) == ["a", "b", "c"]
    x = {"a": 0.3, "b": 1.0, "c": "x"}
    assert models[0].predict_one(x) == models[1].predict_one(x)


def test_what_cannot_be_is_told():
    with pytest.raises(TypeError, match="RiverClassifier takes an onkel classifier, not a Stream"):
        RiverClassifier(StreamModel(KernelRLSRegressor(feedback=True)))
    with pytest.raises(ValueError, match="features=3: a StreamModel takes the columns that come"):
        RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)), features=3)
    model = RiverClassifier(StreamModel(KernelRLSClassifier(feedback=True)))
    with pytest.raises(ValueError, match="weight 1 only"):
        model.learn_one({"a": 1.0}, True, w=2.0)
