"""Classes as they come, classes given, and the weights of rows and classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.learners.conftest import CLASSIFIERS, NAMES

from onkel import from_bytes
from onkel.errors import DataError
from onkel.learners import FOGDClassifier, NOGDClassifier, PAClassifier, RRFClassifier
from onkel.pipeline import StreamModel

KINDS = {
    "strings": ["b", "c", "a"],
    "words of other lengths": ["no", "yes", "maybe"],
    "numbers": [2, 5, 0],
    "floats": [2.0, 5.0, -1.0],
    "booleans": [True, False, True],
}


def late_classes(kind, targets):
    codes = np.searchsorted(["a", "b", "c"], targets["classification"])
    return np.array(KINDS[kind])[np.array([2, 0, 1])[codes]]


# all learners of a group code labels with the same code, before the model runs
@pytest.mark.parametrize(
    ("classifier", "kind"),
    [(name, kind) for kind in KINDS for name in (NAMES if kind == "strings" else CLASSIFIERS)],
    indirect=["classifier"],
)
def test_a_class_first_seen_in_mid_stream_is_added(classifier, X, targets, kind):
    y = late_classes(kind, targets)
    model = clone(classifier)
    seen = []
    for t in range(0, 90, 10):
        model.partial_fit(X[t : t + 10], y[t : t + 10])
        seen.append(len(model.classes_))
    classes = sorted(set(KINDS[kind]))
    assert model.classes_.tolist() == classes
    assert type(model.predict(X)[0].item()) is type(classes[0])
    assert seen[0] == 2
    assert seen[-1] == len(classes)
    if len(classes) == 3:
        assert model.decision_function(X).shape == (90, 3)
        assert len(model.coef_) == 3


def test_a_third_class_leaves_the_decision_between_the_two(named_classifier, X, targets):
    model = clone(named_classifier).partial_fit(X, targets["binary"])
    f, labels = model.decision_function(X), model.predict(X)
    # the row with the new class gets almost no weight
    model.partial_fit(X[:1], ["a"], sample_weight=[1e-300])
    P = model.decision_function(X)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(np.abs(P[:, 0]) < 1e-290, True)
    decay = P[0, 2] / (0.5 * f[0])
    assert decay == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(P[:, 1:], 0.5 * decay * f[:, None] * [-1.0, 1.0], rtol=1e-9)
    assert model.predict(X).tolist() == labels.tolist()


def test_classes_given_are_there_from_the_start(classifier, X, targets):
    y = targets["binary"]
    model = clone(classifier).partial_fit(X, y, classes=["c", "b", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.decision_function(X).shape == (90, 3)
    model.partial_fit(X, y)
    model.partial_fit(X, y, classes=np.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=["b", "c"])


@pytest.mark.parametrize("classifier", CLASSIFIERS, indirect=True)
def test_an_unknown_class_is_named_and_the_rows_before_it_are_learned(classifier, X, targets):
    y = targets["binary"].astype("U7")
    y[12] = "unknown"
    model = clone(classifier)
    with pytest.raises(DataError, match=r"row 12, column 'y': class 'unknown'.*\['b', 'c'\]") as e:
        model.partial_fit(X, y, classes=["b", "c"])
    assert (e.value.row, e.value.column, e.value.value) == (12, "y", "unknown")
    assert model.n_rows_ == 12
    expected = clone(classifier).partial_fit(X[:12], y[:12], classes=["b", "c"])
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    with pytest.raises(DataError, match="row 1, column 'y'"):
        model.partial_fit(X[11:], y[11:])


def test_labels_of_another_type(X):
    model = PAClassifier().partial_fit(X[:4], [0, 1, 2, 1])
    with pytest.raises(DataError, match="label 'a' is a string, the classes known are"):
        model.partial_fit(X[:2], ["a", "b"])
    with pytest.raises(DataError, match="label 0 is a number, the classes known are"):
        PAClassifier().partial_fit(X[:2], [0, 1], classes=["a", "b"])
    # as CSV has what other files have as text
    with pytest.raises(DataError, match=r"label True is true or false, .* must keep the type"):
        PAClassifier().partial_fit(X[:2], [True, False], classes=["False", "True"])
    with pytest.raises(TypeError, match="neither numbers nor strings"):
        PAClassifier().partial_fit(X[:2], np.array([b"a", b"b"]))
    with pytest.raises(DataError, match=r"row 1, column 'y'.*continuous"):
        PAClassifier().partial_fit(X[:2], [1.0, 0.5])


def test_fit_knows_all_classes_and_partial_fit_may_add(classifier, X, targets):
    y = targets["classification"]
    model = clone(classifier).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    model.partial_fit(X[:2], ["d", "a"])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.decision_function(X).shape == (90, 4)


def test_one_class_only(classifier, X):
    model = clone(classifier).partial_fit(X[:5], ["x"] * 5)
    assert model.predict(X).tolist() == ["x"] * 90
    assert model.predict_then_learn(X[:2], ["x", "y"]).tolist() == ["x", "x"]
    assert model.classes_.tolist() == ["x", "y"]


# ---- weights -------------------------------------------------------------------------------------


def test_a_zero_weight_changes_nothing(classifier, X, targets):
    y = targets["classification"]
    weight = np.random.default_rng(1).choice([0.0, 1.0, 0.3], len(X))
    model = clone(classifier)
    model.partial_fit(X, y, sample_weight=weight)
    used = weight > 0.0
    expected = clone(classifier).partial_fit(X[used], y[used], sample_weight=weight[used])
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)
    assert model.n_rows_ == expected.n_rows_ == np.count_nonzero(weight)
    state = model.decision_function(X)
    model.partial_fit(X, y, sample_weight=np.zeros(len(X)))
    model.partial_fit(X[:1], ["never seen"], sample_weight=[0.0])
    np.testing.assert_array_equal(model.decision_function(X), state)


@pytest.mark.parametrize("class_weight", [{"a": 2.0, "b": 0.0}, "balanced", None])
def test_zero_weights_before_any_class_is_known(X, targets, class_weight):
    y = targets["classification"]
    model = FOGDClassifier(n_components=10, gamma=1.0, class_weight=class_weight, random_state=0)
    model.partial_fit(X[:3], y[:3], sample_weight=[0.0, 0.0, 0.0])
    assert len(model.classes_) == 0
    model.partial_fit(X, y, sample_weight=np.r_[0.0, 0.0, np.ones(88)])
    assert model.n_rows_ == 88


@pytest.mark.parametrize("cuts", [[], [2, 5], list(range(1, 90))])
def test_rows_of_weight_0_before_any_class_are_predicted_as_their_own(X, targets, cuts):
    y, weight = targets["classification"], np.r_[np.zeros(5), np.ones(85)]
    parts = zip(*(np.split(of, cuts) for of in (X, y, weight)), strict=True)
    model = FOGDClassifier(n_components=10, gamma=1.0, random_state=0)
    before = [model.predict_then_learn(rows, own, sample_weight=w) for rows, own, w in parts]
    np.testing.assert_array_equal(np.concatenate(before)[:6], y[:6])
    learned = clone(model).predict_then_learn(X[5:], y[5:])
    np.testing.assert_array_equal(np.concatenate(before)[5:], learned)
    model = clone(model)
    assert not model.predict_then_learn(X, y, sample_weight=weight, return_scores=True)[:5].any()


@pytest.mark.parametrize("classifier", CLASSIFIERS, indirect=True)
def test_a_dict_of_class_weights_multiplies_the_weights_of_rows(classifier, X, targets):
    y = targets["classification"]
    table = {"a": 3.0, "b": 0.5}
    weighted = clone(classifier).set_params(class_weight=table).partial_fit(X, y)
    plain = clone(classifier).partial_fit(X, y, sample_weight=[table.get(c, 1.0) for c in y])
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("classifier", CLASSIFIERS, indirect=True)
def test_balanced_weights_are_those_of_the_rows_so_far(classifier, X, targets):
    y = targets["classification"]
    counts, weight = {}, []
    for label in y:
        counts[label] = counts.get(label, 0) + 1
        weight.append(sum(counts.values()) / (len(counts) * counts[label]))
    balanced = clone(classifier).set_params(class_weight="balanced")
    for t in range(0, 90, 30):
        balanced.partial_fit(X[t : t + 30], y[t : t + 30])
    plain = clone(classifier).partial_fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        balanced.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-11
    )


# ---- probabilities -------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [FOGDClassifier, NOGDClassifier, RRFClassifier])
def test_probabilities(cls, X, targets):
    model = cls(loss="logistic", gamma=0.5)
    P = model.fit(X, targets["binary"]).predict_proba(X)
    np.testing.assert_allclose(P[:, 1], 1.0 / (1.0 + np.exp(-model.decision_function(X))))
    P = model.fit(X, targets["classification"]).predict_proba(X)
    f = np.exp(model.decision_function(X))
    np.testing.assert_allclose(P, f / f.sum(axis=1, keepdims=True))
    assert model.classes_[P.argmax(axis=1)].tolist() == model.predict(X).tolist()
    assert not hasattr(cls(loss="hinge"), "predict_proba")
    with pytest.raises(AttributeError) as error:
        _ = cls(loss="hinge").predict_proba
    assert "logistic" in str(error.value.__cause__)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("values", [["a", float("nan")], [True, None]])
def test_a_missing_label_in_a_list_is_no_class(stream, values):
    X, y = np.zeros((6, 1)) + np.arange(6.0)[:, None], [values[0]] * 4 + [values[1]] * 2
    model = FOGDClassifier(random_state=0)
    with pytest.raises(DataError, match="row 4"):
        (StreamModel(model) if stream else model).partial_fit(X, y)
    assert model.classes_.tolist() == values[:1]


@pytest.mark.parametrize("stream", [False, True])
def test_pandas_own_types_stay_what_they_are(stream):
    X = np.arange(60.0)[:, None]
    for y in (
        pd.Series([2**53, 2**53 + 1] * 30, dtype="Int64"),
        pd.Series([True, False] * 30, dtype="boolean"),
    ):
        model = FOGDClassifier(random_state=0)
        (StreamModel(model) if stream else model).partial_fit(X, y)
        assert model.classes_.tolist() == sorted(set(y.tolist()))
        y = y.copy()
        y[10] = pd.NA
        with pytest.raises(DataError, match="row 10"):
            (StreamModel(model) if stream else model).partial_fit(X, y)


def test_labels_beside_a_table_need_an_axis():
    with pytest.raises(DataError, match=r"y has shape \(\) where \(n,\) is expected"):
        StreamModel(FOGDClassifier()).partial_fit({"a": 1.0}, "up")


@pytest.mark.parametrize(
    "form", [list, tuple, set, dict.fromkeys, np.array, pd.Series, pd.Index, pd.Categorical,
             lambda v: pd.Series(v).unique(), lambda v: np.array(v, dtype=object)],
)  # fmt: skip
@pytest.mark.parametrize("labels", [["b", "a", "cc"], [3, -1, 2**53 + 1], [True, False]])
def test_classes_may_be_given_in_any_form(form, labels):
    X, y = np.arange(6.0)[:, None], np.array(labels)[[0, 1, 0, 1, 1, 0]]
    model = FOGDClassifier(random_state=0)
    for _ in range(2):
        model.partial_fit(X, y, classes=form(labels))
    assert model.classes_.tolist() == sorted(labels)
    assert model.classes_.dtype.kind != "O"


@pytest.mark.parametrize(
    ("classes", "message"),
    [(["a", None], "label None is not of the type"), (["a", float("nan")], "label nan is not of"),
     (["a", 1], "label 1 is not of the type"), ([0.5, 1.0], "continuous"), ("ab", "list of")],
)  # fmt: skip
def test_classes_that_are_none_are_named(classes, message):
    with pytest.raises(ValueError, match=f"classes=.*{message}"):
        FOGDClassifier().partial_fit(np.zeros((2, 1)), ["a", "a"], classes=classes)


@pytest.mark.parametrize("label", [1500.0, float(2**53 + 2)])
def test_a_label_that_makes_others_inexact_is_refused(label):
    X, large = np.random.default_rng(0).standard_normal((6, 2)), [2**53, 2**53 + 1, 2**53]
    model = PAClassifier().partial_fit(X[:3], large)
    with pytest.raises(DataError, match=r"row 2, column 'y': label .* are not exact as float64"):
        model.partial_fit(X[:3], np.array([2.0**53, 2.0**53, label]))
    assert model.n_rows_ == 5
    assert model.classes_.tolist() == large[:2]
    assert from_bytes(model.to_bytes()).predict(X).tolist() == model.predict(X).tolist()
    # small ones are exact
    small = PAClassifier().partial_fit(X[:2], [1, 2]).partial_fit(X[2:3], [1500.0])
    assert small.classes_.tolist() == [1.0, 2.0, 1500.0]
