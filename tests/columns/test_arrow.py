"""Values that Arrow has no type for: each is read, or refused by a DataError that names it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from onkel import make
from onkel.errors import DataError
from onkel.pipeline import StreamModel

N = 40
Y = np.arange(N) % 2
LONE = "\ud800"


def _with(value, at=5):
    values = list(range(N))
    values[at] = value
    return values


def _model():
    return StreamModel(make("okl", "binary", random_state=0))


FORMS = {
    "frame": lambda values: pd.DataFrame({"a": pd.Series(values, dtype=object)}),
    "dict": lambda values: {"a": values},
    "rows": lambda values: [{"a": value} for value in values],
    "array": lambda values: {"a": np.array(values, dtype=object)},
}
forms = pytest.mark.parametrize("form", FORMS)


@forms
@pytest.mark.parametrize("at", [0, 5])
def test_whole_numbers_of_any_size_are_numbers(form, at):
    model = _model().partial_fit(FORMS[form](_with(10**30, at)), Y)
    assert model.n_rows == N
    (column,) = model.describe_columns()
    assert column["kind"] == "number"


@forms
@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_beyond_floats_is_named(form, digits):
    with pytest.raises(DataError, match="is not a number") as caught:
        _model().partial_fit(FORMS[form](_with(10**digits)), Y)
    assert (caught.value.row, caught.value.column) == (5, "a")


@forms
def test_a_lone_surrogate_is_named(form):
    with pytest.raises(DataError, match="no text") as caught:
        _model().partial_fit(FORMS[form](["x", "y", "x" + LONE] * 13 + ["x"]), Y)
    assert (caught.value.row, caught.value.column) == (2, "a")


def test_a_lone_surrogate_in_other_places():
    texts = ["x", "y"] * 20
    with pytest.raises(DataError, match="no text"):
        _model().partial_fit({"a": np.array(["x" + LONE, *texts[1:]])}, Y)
    with pytest.raises(DataError, match=r"column name .* no text"):
        _model().partial_fit({"a" + LONE: texts}, Y)
    frame = pd.DataFrame([[value] for value in texts])
    frame.columns = pd.Index(["a" + LONE], dtype=object)
    with pytest.raises(DataError, match=r"column name .* no text"):
        _model().partial_fit(frame, Y)
    model = _model().partial_fit({"a": texts, "b": list(range(N))}, Y)
    model.set_params(extra="error")
    for row in ({"a": LONE, "b": 1}, {"a": "x", "b": 1, LONE: 2}, {"a": "x", "b": 10**400}):
        with pytest.raises(DataError):
            model.predict(row)


def test_bare_learners_name_what_is_too_large():
    X = np.array([[1, 2], [10**400, 1]], dtype=object)
    with pytest.raises(DataError, match="is not a number") as caught:
        make("fogd", random_state=0).partial_fit(X, [0, 1])
    assert (caught.value.row, caught.value.column) == (1, 0)
    with pytest.raises(DataError, match="is not a number"):
        make("okl", "regression").partial_fit(np.eye(2), np.array([1, 10**400], dtype=object))
    with pytest.raises(DataError, match="too large"):
        make("fogd", random_state=0).partial_fit(np.eye(2), np.array([1, 10**30], dtype=object))
    river = pytest.importorskip("onkel.compat.river")
    with pytest.raises(DataError, match="is not a number"):
        river.RiverClassifier(make("fogd", random_state=0)).learn_one({"a": 10**400}, 1)


@pytest.mark.parametrize("unit", ["Y", "M", "D", "h", "m", "s", "ms", "us", "ns"])
def test_moments_of_numpy_are_those_of_python(unit):
    hours = np.arange("2020-01-01", "2024-01-01", np.timedelta64(877, "h"), "datetime64[h]")[:N]
    model = _model().partial_fit({"a": hours, "b": np.arange(N)}, Y)
    moment = np.datetime64("2022-01-01", unit)
    plain = moment.astype("datetime64[us]").item()
    expected = model.decision_function([{"a": plain, "b": 3.0}])
    for rows in ({"a": moment, "b": 3.0}, [{"a": moment, "b": 3.0}, {"a": None, "b": 1.0}]):
        assert model.decision_function(rows)[0] == pytest.approx(expected[0], rel=1e-9)


def test_a_value_too_large_to_predict_names_its_column():
    rows = {"place": ["x", "y"] * 20, "a": np.arange(N) + 0.5}
    model = StreamModel(make("pa", "binary")).partial_fit(rows, Y)
    bad = {"place": ["x"] * 3, "a": [1.0, 2.0, 1e38]}
    for method in (model.predict, model.predict_next, model.decision_function):
        with pytest.raises(DataError, match="too large") as caught:
            method(bad)
        assert (caught.value.row, caught.value.column) == (2, "a")
        with pytest.raises(DataError, match="row 0, column 'a'"):
            method({"place": "x", "a": 10**38})
