"""Bad rows are named and refused, and the model is that of the rows before."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from tests.learners.conftest import EITHER

from onkel.errors import DataError
from onkel.learners import FOGDClassifier, FOGDRegressor, PAClassifier

# Bad rows are found before the model runs, by the same code for all learners of a group. Rows that
# a model itself refuses are tested in test_refused_rows.py, for all learners.
of_reading = pytest.mark.parametrize(("name", "task"), EITHER)
few_examples = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
bad_cells = st.sampled_from([np.nan, np.inf, -np.inf, None, "red", {}, [1.0], "1,5"])
bad_labels = {
    "classification": [np.nan, None, 7, {}],
    "regression": [np.nan, np.inf, -np.inf, None, "red", {}],
}


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return np.array_equal(a, b)


def refused(call, row, column):
    with pytest.raises(DataError) as error:
        call()
    assert (error.value.row, error.value.column) == (row, column)
    assert f"row {row}, column {column!r}" in str(error.value)


@pytest.fixture
def learned(learner, X, y):
    """``learned(n)``: a copy of the learner of the first n rows."""
    kept = {0: clone(learner)}

    def copied(n):
        if n not in kept:
            kept[n] = clone(learner).partial_fit(X[:n], y[:n])
        return deepcopy(kept[n])

    return copied


@of_reading
@few_examples
@given(
    start=st.sampled_from([0, 5, 50]),
    row=st.integers(0, 19),
    column=st.integers(0, 2),
    value=bad_cells,
)
def test_a_bad_cell(learned, X, y, start, row, column, value):
    block = X[start : start + 20].astype(object)
    block[row, column] = value
    labels = y[start : start + 20]
    model, expected = learned(start), learned(start)
    refused(lambda: model.partial_fit(block, labels), row, column)
    if row:
        expected.partial_fit(X[start : start + row], labels[:row])
    assert same(model.get_state(), expected.get_state())
    refused(lambda: model.fit(block, labels), row, column)
    assert same(model.get_state(), expected.get_state())
    if start:
        refused(lambda: model.predict(block), row, column)
        model.partial_fit(X[50:], y[50:])


@of_reading
@few_examples
@given(start=st.sampled_from([0, 5, 50]), row=st.integers(0, 19), pick=st.integers(0, 5))
def test_a_bad_target(learned, task, X, y, start, row, pick):
    values = bad_labels[task]
    labels = y[start : start + 20].astype(object)
    labels[row] = values[pick % len(values)]
    block = X[start : start + 20]
    model, expected = learned(start), learned(start)
    # for a new model a first label 7 is a class, so the next label has another type
    number_first = row == 0 and labels[0] == 7
    refused(lambda: model.fit(block, labels), 1 if number_first else row, "y")
    row = 1 if number_first and not start else row
    refused(lambda: model.partial_fit(block, labels), row, "y")
    if row and labels[0] != 7:
        expected.partial_fit(block[:row], y[start : start + row])
        assert same(model.get_state(), expected.get_state())


@of_reading
@pytest.mark.parametrize("garbage", ["columns", "no rows", "vector", "short y", "complex", "text"])
def test_a_bad_block(learner, X, y, garbage):
    model = clone(learner).partial_fit(X[:30], y[:30])
    state = model.get_state()
    block, labels = X[30:40], y[30:40]
    if garbage == "columns":
        block = np.hstack([block, block])
    elif garbage == "no rows":
        block, labels = block[:0], labels[:0]
    elif garbage == "vector":
        block = block[:, 0]
    elif garbage == "short y":
        labels = labels[:-1]
    elif garbage == "complex":
        block = block + 1j
    else:
        block = np.full(block.shape, "red")
    calls = [model.partial_fit, model.predict_then_learn]
    if garbage != "columns":  # fit begins anew, with any number of columns
        calls.append(model.fit)
    for call in calls:
        with pytest.raises(ValueError, match=r"\w"):
            call(block, labels)
    assert same(model.get_state(), state)
    if garbage == "no rows":
        assert model.predict(block).shape == (0,)
        assert model.predict(block).dtype == model.predict(X[:1]).dtype
    elif garbage != "short y":
        with pytest.raises(ValueError, match=r"\w"):
            model.predict(block)


def test_wrong_number_of_columns_says_both(X, targets):
    model = PAClassifier().fit(X, targets["binary"])
    with pytest.raises(ValueError, match=r"X has 2 features.*expecting 3 features"):
        model.partial_fit(X[:, :2], targets["binary"])


def test_a_row_of_another_length_is_named():
    model = PAClassifier()
    with pytest.raises(DataError, match="row 2: 1 value where the first row has 2"):
        model.partial_fit([[1, 2], [2, 3], [4]], [0, 1, 0])
    assert model.n_rows_ == 2


def test_a_column_of_a_frame_is_named(X, targets):
    frame = pd.DataFrame(X.copy(), columns=["age", "height", "weight"])
    frame.loc[4, "height"] = np.inf
    model = PAClassifier()
    refused(lambda: model.partial_fit(frame, targets["binary"]), 4, "height")
    frame = frame.astype(object)
    frame.loc[3, "weight"] = "heavy"
    refused(lambda: PAClassifier().partial_fit(frame, targets["binary"]), 3, "weight")


def test_a_value_of_a_sparse_row_is_named(X, targets):
    rows = csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    rows[7, 1] = np.nan
    model, expected = PAClassifier(), PAClassifier()
    refused(lambda: model.partial_fit(rows, targets["binary"]), 7, 1)
    expected.partial_fit(rows[:7], targets["binary"][:7])
    assert same(model.get_state(), expected.get_state())


def test_too_large_for_float32(X, targets):
    rows = X.copy()
    rows[3, 2] = 1e39
    refused(lambda: PAClassifier().fit(rows, targets["binary"]), 3, 2)
    PAClassifier(dtype="float64").fit(rows, targets["binary"])


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_a_bad_weight_is_named(X, targets, weight):
    weights = np.ones(len(X))
    weights[6] = weight
    model = FOGDRegressor(gamma=1.0, n_components=5)
    refused(
        lambda: model.partial_fit(X, targets["regression"], sample_weight=weights),
        6,
        "sample_weight",
    )
    assert model.n_rows_ == 6
    with pytest.raises(ValueError, match="shape"):
        model.partial_fit(X, targets["regression"], sample_weight=[1.0, 2.0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dtype": "float16"}, r"dtype='float16'.*float32"),
        ({"loss": "huber"}, r"loss='huber' is not one of 'hinge'"),
        ({"gamma": -1.0}, r"gamma=-1.0.*positive"),
        ({"gamma": "auto"}, r"gamma='auto'.*median"),
        ({"learning_rate": 0.0}, r"learning_rate=0.0.*positive"),
        ({"n_components": 0}, r"n_components=0.*at least 1"),
        ({"kernel": "polynomial"}, r"polynomial.*Nystroem"),
        # also where the width is fitted on first rows
        (
            {"kernel": "laplacian", "orthogonal": True, "gamma": "median"},
            r"orthogonal=True needs a radial kernel; 'laplacian'",
        ),
        ({"class_weight": "even"}, r"class_weight='even'.*balanced"),
        ({"class_weight": {"b": -1.0}}, r"class_weight.*at least 0"),
    ],
)
def test_a_bad_parameter_is_named_and_leaves_the_model(X, targets, params, message):
    model = FOGDClassifier(n_components=5, gamma=1.0, random_state=0).fit(X, targets["binary"])
    coef = model.coef_
    model.set_params(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(X[:, :2], targets["binary"])
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.n_features_in_ == 3
