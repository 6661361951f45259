"""StreamModel: strictly online, independent of blocks, exact after loading and after bad rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onkel
from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.errors import DataError
from onkel.learners import FOGDClassifier, FOGDRegressor, PAClassifier
from onkel.pipeline import StreamModel
from onkel.streams import Block, open_stream


def _data(task, n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 100, 0.01] + [0, 5, -50, 0]
    X = X.astype(np.float32)
    if task == "regression":
        return X, 1000 + 50 * np.sin(X[:, 0]) + X[:, 1]
    return X, np.where(X[:, 0] * (X[:, 1] - 5) > 0, "same", "other")


def _model(task, **kwargs):
    cls = FOGDRegressor if task == "regression" else FOGDClassifier
    return StreamModel(cls(n_components=32, gamma=0.3, random_state=0), **kwargs)


def _learn(model, X, y, cut):
    return np.concatenate(
        [model.learn(Block(X[i : i + cut], y[i : i + cut], i)) for i in range(0, len(y), cut)]
    )


TASKS = ["classification", "regression"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("scaling", ["auto", "standard", "minmax", "none"])
def test_predictions_do_not_depend_on_the_cut(task, scaling):
    X, y = _data(task, n=200)
    whole = _learn(_model(task, scaling=scaling), X, y, len(y))
    for cut in (1, 7, 64):
        parts = _learn(_model(task, scaling=scaling), X, y, cut)
        if task == "regression":
            np.testing.assert_allclose(parts, whole, rtol=1e-4, atol=1e-2)
        else:
            assert np.mean(parts != whole) <= 0.01


def test_a_prediction_never_sees_its_own_row_or_later_ones():
    X, y = _data("regression")
    before = _learn(_model("regression"), X, y, len(y))
    changed = y.copy()
    changed[300:] *= -7.0
    after = _learn(_model("regression"), X, changed, len(y))
    assert np.array_equal(before[:301], after[:301])
    assert not np.array_equal(before[301:], after[301:])


def test_regression_is_told_in_its_own_units():
    X, y = _data("regression", n=3000)
    model = _model("regression")
    before = _learn(model, X, y, 500)
    assert before[0] == 0.0  # nothing is known before the first row
    assert np.sqrt(np.mean((before[1000:] - y[1000:]) ** 2)) < np.std(y)
    assert abs(np.mean(model.predict(X)) - np.mean(y)) < np.std(y)


@pytest.mark.parametrize("learner", [OnlineKernelClassifier, OnlineKernelRegressor])
def test_a_learner_that_scales_by_itself_is_given_the_rows_as_they_are(learner):
    model = StreamModel(learner(n_components=20))
    assert model.scaling == "none"
    assert model.target_scaler is None
    asked = StreamModel(learner(n_components=20), scaling="minmax", scale_target=True)
    assert asked.scaling == "minmax"
    assert (asked.target_scaler is not None) == (learner is OnlineKernelRegressor)
    assert StreamModel(FOGDRegressor()).scaling == "auto"


@pytest.mark.slow
def test_the_default_takes_any_units():
    X, y = _data("regression")
    X = X.astype(np.float64)
    plain = OnlineKernelRegressor(n_components=20).predict_then_learn(X, y)
    others = X * [1e-3, 1e4, 7.0, 1.0] - 5.0
    scaled = OnlineKernelRegressor(n_components=20).predict_then_learn(others, 1e3 * y)
    assert np.abs(scaled / 1e3 - plain).max() < 1e-3 * np.std(y)


def test_target_scaling_can_be_left_out():
    model = _model("regression", scale_target=False)
    assert model.target_scaler is None
    X, y = _data("regression")
    estimator = FOGDRegressor(n_components=32, gamma=0.3, random_state=0)
    expected = estimator.predict_then_learn(
        model.scaler.__class__("standard").learn_transform(X), y
    )
    assert np.array_equal(model.learn(Block(X, y, 0)), expected)


@pytest.mark.parametrize("task", TASKS)
def test_a_loaded_model_continues_bit_for_bit(task, tmp_path):
    X, y = _data(task)
    stream = open_stream((X, y))
    model = _model(task, encoder=stream.encoder, settings={"source": "memory"})
    _learn(model, X[:300], y[:300], 100)
    model.save(tmp_path / "m.onkel")
    loaded = onkel.load(tmp_path / "m.onkel")
    assert isinstance(loaded, StreamModel)
    assert loaded.n_rows == 300
    assert loaded.settings == {"source": "memory"}
    assert loaded.encoder.feature_names == stream.encoder.feature_names
    assert np.array_equal(
        _learn(loaded, X[300:], y[300:], 100), _learn(model, X[300:], y[300:], 100)
    )
    assert np.array_equal(loaded.predict(X), model.predict(X))
    loaded.save(tmp_path / "a.onkel")
    model.save(tmp_path / "b.onkel")
    assert (tmp_path / "a.onkel").read_bytes() == (tmp_path / "b.onkel").read_bytes()


def _bytes(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("row", [0, 1, 137, 199])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_row_leaves_the_model_of_the_rows_before(task, row, value, tmp_path):
    X, y = _data(task, n=400)
    model, expected = _model(task), _model(task)
    for m in (model, expected):
        m.learn(Block(X[:200], y[:200], 0))
    if row:
        expected.learn(Block(X[200 : 200 + row], y[200 : 200 + row], 200))
    bad = X.copy()
    bad[200 + row, 2] = value
    with pytest.raises(DataError, match="finite") as error:
        model.learn(Block(bad[200:], y[200:], 200))
    assert error.value.row == 200 + row
    assert error.value.column == 2
    assert _bytes(model, tmp_path / "a") == _bytes(expected, tmp_path / "b")
    model.learn(Block(X[200 + row :], y[200 + row :], 200 + row))
    assert model.n_rows == 400


def test_a_bad_target_is_named(tmp_path):
    X, y = _data("regression", n=100)
    model = _model("regression", settings={"target": "price", "source": "houses.csv"})
    y[40] = np.nan
    with pytest.raises(DataError, match=r"houses.csv, row 1040, column 'price'"):
        model.learn(Block(X, y, 1000))
    assert model.n_rows == 40


def test_what_the_estimator_refuses_stops_the_scaler_too(tmp_path):
    X, y = _data("classification", n=100)
    model, expected = (StreamModel(PAClassifier()) for _ in range(2))
    for m in (model, expected):
        m.estimator.partial_fit(X[:1], y[:1], classes=["other", "same"])
    expected.learn(Block(X[:40], y[:40], 0))
    y = y.astype("<U9")
    y[40] = "strange"
    with pytest.raises(DataError, match="strange") as error:
        model.learn(Block(X, y, 5000))
    assert error.value.row == 5040
    assert _bytes(model, tmp_path / "a") == _bytes(expected, tmp_path / "b")


def test_sparse_rows():
    X, y = _data("classification", n=300)
    X[X < 0] = 0
    model = _model("classification", scaling="none")
    dense = model.learn(Block(X, y, 0))
    sparse = _model("classification", scaling="none").learn(Block(sp.csr_matrix(X), y, 0))
    assert np.mean(dense != sparse) < 0.02
    bad = sp.csr_matrix(X)
    bad.data[bad.indptr[9]] = np.nan
    with pytest.raises(DataError) as error:
        _model("classification").learn(Block(bad, y, 0))
    assert error.value.row == 9
    assert error.value.column == bad.indices[bad.indptr[9]]


def test_learning_needs_a_target_and_an_empty_block_changes_nothing():
    X, y = _data("classification", n=10)
    model = _model("classification")
    with pytest.raises(DataError, match="no target"):
        model.learn(Block(X, None, 0))
    assert len(model.learn(Block(X[:0], y[:0], 0))) == 0
    assert model.n_rows == 0


def test_scores_and_probabilities():
    X, y = _data("classification")
    model = StreamModel(FOGDClassifier(n_components=32, gamma=0.3, loss="logistic", random_state=0))
    model.learn(Block(X, y, 0))
    proba = model.predict_proba(X)
    assert proba.shape == (len(y), 2)
    assert np.array_equal(model.decision_function(X) > 0, proba[:, 1] > 0.5)
    assert set(model.predict(X)) <= {"same", "other"}


@pytest.mark.parametrize("wrong", [3, None, FOGDClassifier, np.array])
def test_only_a_learner_can_be_a_stream_s_model(wrong):
    with pytest.raises(TypeError, match=r"estimator=.* is (no learner|a class; make one of it)"):
        StreamModel(wrong)


def test_only_what_can_be_read_back_is_saved(tmp_path):
    with pytest.raises(TypeError, match=r"builtins\.int cannot be saved"):
        onkel.save(3, tmp_path / "three.onkel")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["restart", "pairs"])
def test_a_switch_is_on_or_off(name):
    with pytest.raises(ValueError, match=f"{name}='no' must be True or False"):
        OnlineKernelClassifier(**{name: "no"}).partial_fit(np.eye(2), [0, 1])


def test_scaling_must_be_known():
    with pytest.raises(ValueError, match=r"scaling='robust'.*standard"):
        _model("classification", scaling="robust")


def test_a_target_of_text_is_named_by_a_regressor_and_the_rows_before_it_are_learned():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "place": ["north", "south"] * 30})
    y = [str(t) for t in range(59)] + ["many"]
    model, plain = (StreamModel(FOGDRegressor(random_state=0)) for _ in range(2))
    with pytest.raises(DataError, match="row 59, column 'y': 'many' is not a number") as raised:
        model.partial_fit(frame, np.array(y))
    before = plain.predict_then_learn(frame[:59], np.arange(59.0))
    assert model.n_rows == 59
    np.testing.assert_array_equal(raised.value.predictions, before)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(frame))
    with pytest.raises(DataError, match="row 0, column 'place': 'north' is not a number"):
        StreamModel(FOGDRegressor()).partial_fit(frame, target="place")


def test_a_table_without_any_target_teaches_nothing():
    frame = pd.DataFrame({"a": np.arange(20.0), "y": [1.0, 2.0] * 10})
    for model in (StreamModel(FOGDRegressor()), StreamModel(FOGDClassifier())):
        model.partial_fit(frame, target="y")
        assert len(model.predict_then_learn(frame.assign(y=None))) == 0
        assert model.n_rows == 20


def test_no_target_at_all_is_told():
    frame = pd.DataFrame({"a": np.arange(20.0)})
    with pytest.raises(DataError, match=r"give y, or name its column \(target=\)"):
        StreamModel(FOGDRegressor()).partial_fit(frame)
