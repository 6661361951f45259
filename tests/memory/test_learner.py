"""The default learner with its memory: predict must not depend on it; it is saved."""

from __future__ import annotations

import copy
import functools
import operator

import numpy as np
import pytest
from sklearn.base import clone

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, load
from onkel.errors import ModelFileError

N = 900
PARAMS = {"n_components": 15, "speed": "fast"}


def _rows(kind, shuffled=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    walk = np.cumsum(rng.normal(size=N)) * 0.5
    y = X[:, 0] * np.tanh(walk) + walk
    if kind != "values":
        y = np.searchsorted(np.quantile(y, [0.5] if kind == "two" else [0.3, 0.6]), y)
    order = rng.permutation(N) if shuffled else slice(None)
    return X[order], y[order]


def _model(kind, **params):
    cls = OnlineKernelRegressor if kind == "values" else OnlineKernelClassifier
    return cls(**PARAMS, **params)


kinds = pytest.mark.parametrize("kind", ["values", "two", "three"])


def _scores(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@kinds
def test_predict_does_not_depend_on_memory(kind):
    X, y = _rows(kind)
    with_memory, without = _model(kind).fit(X, y), _model(kind, memory=False).fit(X, y)
    np.testing.assert_array_equal(_scores(with_memory, X), _scores(without, X))
    # nor does it depend on other rows, or on earlier calls
    alone = np.concatenate([_scores(with_memory, X[t : t + 1]) for t in range(20)])
    with_memory.predict_next(X[:20])
    np.testing.assert_allclose(alone, _scores(with_memory, X[:20]), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@kinds
def test_memory_helps_where_there_is_a_yesterday(kind):
    def loss(model, X, y):
        predicted = model.predict_then_learn(X, y)
        return np.mean((predicted - y) ** 2) if kind == "values" else np.mean(predicted != y)

    X, y = _rows(kind)
    assert loss(_model(kind), X, y) < 0.6 * loss(_model(kind, memory=False), X, y)
    X, y = _rows(kind, shuffled=True)
    assert loss(_model(kind), X, y) < 1.03 * loss(_model(kind, memory=False), X, y)


@kinds
@pytest.mark.parametrize("at", [1, 40, 600])
def test_a_saved_learner_keeps_its_memory(kind, at, tmp_path):
    X, y = _rows(kind)
    first = _model(kind).partial_fit(X[:at], y[:at])
    first.save(tmp_path / "model.onkel")
    second = load(tmp_path / "model.onkel")
    rest = X[at:], y[at:]
    np.testing.assert_array_equal(first.predict_then_learn(*rest), second.predict_then_learn(*rest))


@kinds
def test_blocks_do_not_matter(kind):
    X, y = _rows(kind)
    classes = {} if kind == "values" else {"classes": np.unique(y)}
    whole = _model(kind).predict_then_learn(X, y, **classes)
    model = _model(kind)
    parts = [
        model.predict_then_learn(X[a : a + 13], y[a : a + 13], **classes) for a in range(0, N, 13)
    ]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-6, atol=1e-7)


def test_the_second_model_starts_where_memory_helps_and_nowhere_else():
    model = _model("values").fit(*_rows("values"))
    assert model.memory_.second is not None
    assert _model("values").fit(*_rows("values", shuffled=True)).memory_.second is None


@kinds
def test_far_ahead_is_the_timeless_prediction(kind):
    X, y = _rows(kind)
    model = _model(kind).fit(X, y)
    more = {} if kind == "values" else {"return_scores": True}
    timeless = _scores(model, X)
    ahead = model.predict_next(X, ahead=100_000, **more)
    np.testing.assert_allclose(ahead, timeless, atol=1e-6)
    # each row of a block counts as one step farther ahead
    joint = model.predict_next(X, **more)
    one_by_one = [model.predict_next(X[t : t + 1], ahead=t, **more)[0] for t in range(5)]
    np.testing.assert_allclose(one_by_one, joint[:5], rtol=1e-9)
    np.testing.assert_allclose(joint[-100:], timeless[-100:], atol=1e-3)
    assert np.abs(joint[0] - timeless[0]).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "three"])
def test_probabilities_of_the_next_rows(kind):
    X, y = _rows(kind)
    model = _model(kind)
    predicted = []
    for t in range(N):
        if t > 100:
            predicted.append(model.predict_proba_next(X[t : t + 1])[0])
            assert model.classes_[predicted[-1].argmax()] == model.predict_next(X[t : t + 1])[0]
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=np.unique(y))
    predicted, right = np.array(predicted), np.eye(2 if kind == "two" else 3)[y[101:]]
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)
    timeless = model.predict_proba(X[101:])
    assert np.sum((predicted - right) ** 2) < 0.6 * np.sum((timeless - right) ** 2)
    # predicted probabilities match observed shares
    sure = predicted.max(axis=1)
    assert abs(sure.mean() - np.mean(predicted.argmax(axis=1) == y[101:])) < 0.05
    far = model.predict_proba_next(X, ahead=100_000)
    np.testing.assert_allclose(far, model.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_the_row_of_a_new_class_is_predicted_as_any_next_row(kind):
    X, y = _rows(kind)
    model = _model(kind).fit(X[:600], y[:600])
    X, new = X[600:601], np.array([9])
    label, scores = model.predict_next(X), model.predict_next(X, return_scores=True)
    np.testing.assert_array_equal(copy.deepcopy(model).predict_then_learn(X, new), label)
    found = model.predict_then_learn(X, new, return_scores=True)
    known = found[:, 1] - found[:, 0] if kind == "two" else found[:, :3]
    np.testing.assert_allclose(known, scores, rtol=1e-9)


def test_a_column_more_is_taken():
    X, y = _rows("values")
    model = _model("values").partial_fit(X, y)
    assert model.memory_.second is not None
    before = model.predict_next(X[:3])
    model.add_columns(1)
    wide = np.hstack([X, np.zeros((N, 1))])
    np.testing.assert_allclose(model.predict_next(wide[:3]), before, rtol=1e-9)
    copy = type(model).from_state(model.get_state())
    np.testing.assert_array_equal(
        copy.predict_then_learn(wide[:50], y[:50]), model.predict_then_learn(wide[:50], y[:50])
    )


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("width", None, "width: is missing"),
        ("seed", None, "seed: is missing"),
        ("width", 3, "width: is 3, more than the 2 columns of a row"),
        ("second/n_outputs", 3, "second/n_outputs: is 3, not 1"),
        ("second/current/stage_0", None, "second/current/stage_0: is missing"),
        ("second/current/residuals", None, "second/current/residuals: is missing"),
        ("second/current/residuals", np.zeros((3, 1)), "residuals: has 3 rows, and choice has"),
        ("second/current/residuals", np.zeros((3, 2)), r"second/.*/residuals: has shape \(3, 2\)"),
        ("second/current/map/S", None, "second/current/map/S: is missing"),
        ("second/current/map/scale", np.ones(2), "second/current/map/scale: has shape"),
    ],
)
def test_a_crafted_second_model_is_refused(place, value, message):
    model = _model("values").partial_fit(*_rows("values"))
    state = model.get_state()
    *way, name = place.split("/")
    owner = functools.reduce(operator.getitem, way, state["fitted"]["memory"])
    owner[name] = value
    if value is None:
        del owner[name]
    with pytest.raises(ModelFileError, match=message):
        type(model).from_state(state)


def test_class_weights_have_no_memory():
    X, y = _rows("two")
    assert _model("two", class_weight="balanced").fit(X, y).memory_ is None


@pytest.mark.slow
@pytest.mark.parametrize("first", [1e-100, 1e-310, 1e-30, -1e-200])
def test_a_tiny_first_target_does_no_harm(first):
    X, y = _rows("values")
    y[0] = 0.0
    best = _model("values", dtype="float64").predict_then_learn(X, y)
    y[0] = first
    for size in (N, 7):
        model = _model("values", dtype="float64")
        parts = [
            model.predict_then_learn(X[a : a + size], y[a : a + size]) for a in range(0, N, size)
        ]
        np.testing.assert_allclose(np.concatenate(parts), best, rtol=1e-6, atol=1e-6)
        assert model.memory_.second is not None


@pytest.mark.slow
@pytest.mark.parametrize("by", [1e-130, 1e-8])
def test_memory_helps_after_targets_have_grown(by):
    X, y = _rows("values")
    y[:300] *= by
    whole = _model("values").predict_then_learn(X, y)
    assert np.isfinite(whole).all()
    timeless = _model("values", memory=False).predict_then_learn(X, y)
    errors, others = whole[400:] - y[400:], timeless[400:] - y[400:]
    assert errors @ errors < 0.6 * (others @ others)
    model = _model("values")
    parts = [model.predict_then_learn(X[a : a + 13], y[a : a + 13]) for a in range(0, N, 13)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-4, atol=1e-4)


def test_what_memory_may_be():
    with pytest.raises(ValueError, match="memory=3 must be 'auto' or False"):
        clone(_model("values", memory=3)).fit(*_rows("values"))


@pytest.mark.parametrize("spread", [0.0, 1e-13, 1e-10])
def test_a_target_that_hardly_varies_is_predicted(spread):
    """Beside its spread, which may be rounding alone, the timeless prediction is far off."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), 3.7 * (1.0 + spread * rng.normal(size=200))
    model = OnlineKernelRegressor(**PARAMS)
    before = model.predict_then_learn(X, y)
    np.testing.assert_allclose(before[100:], y[100:], rtol=1e-6)
    np.testing.assert_allclose(model.predict_next(X), 3.7, rtol=1e-4)


@pytest.mark.parametrize("change", ["one corrupt target", "a jump"])
def test_memory_leaves_no_harm_after_targets_as_never_before(change):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=6000)
    y[2500 : 2501 if change == "one corrupt target" else None] += 1e5
    errors = []
    for memory in ("auto", False):
        model = OnlineKernelRegressor(n_components=50, speed="fast", memory=memory)
        before = model.predict_then_learn(X, y)
        errors.append(np.mean((before - y)[4500:] ** 2))
    assert errors[0] < 1.5 * errors[1]
