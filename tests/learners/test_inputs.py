"""The same numbers give the same model, in whatever form they come; and the tools around."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.learners.conftest import EITHER, MISSING, NAMES

from onkel.explicit.reparameterized import learn_reparameterized
from onkel.learners import FOGDClassifier, NOGDClassifier, RRFClassifier, RRFRegressor

FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "read-only": lambda X: _read_only(X),
    "Fortran": np.asfortranarray,
    "every other row of more": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": lambda X: X.tolist(),
    "frame": lambda X: pd.DataFrame(X),
    "csr": csr_matrix,
    "csr array": csr_array,
    "csc": csc_matrix,
    "csr of float32": lambda X: csr_matrix(X.astype(np.float32)),
}

# Checking turns all forms into a C-ordered array, or CSR, of the learner's dtype. Only two forms
# differ for the model: read-only arrays (another type to the compiler), and CSR.
HANDED_ON = ("read-only", "csr")
FORM_CASES = [
    (name, task, form)
    for task in ("classification", "regression")
    for name in NAMES
    for form in FORMS
    if (form in HANDED_ON or (name, task) in EITHER) and (name, task) not in MISSING
]


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def scores(model, X):
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


@pytest.mark.parametrize(("name", "task", "form"), FORM_CASES)
def test_every_form_of_the_same_rows(learner, X, y, form):
    # numbers that float32 holds exactly, a third of them zero
    X = np.where(np.abs(X) > 0.4, np.round(X * 64.0) / 64.0, 0.0)
    expected, model = clone(learner), clone(learner)
    before = expected.predict_then_learn(X, y)
    rows = FORMS[form](X)
    # dense and sparse products may round differently
    exact = before.dtype.kind != "f"
    got = model.predict_then_learn(rows, y)
    if exact:
        assert got.tolist() == before.tolist()
    else:
        np.testing.assert_allclose(got, before, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(scores(model, rows), scores(expected, X), rtol=1e-7, atol=1e-9)


@pytest.mark.compiled
def test_no_loop_is_compiled_anew_for_rows_that_cannot_be_written(X, targets):
    model, y = RRFClassifier(n_components=5, dtype="float64", random_state=0), targets["binary"]
    weight = np.ones(len(y))
    model.fit(X, y, weight)
    compiled = list(learn_reparameterized.signatures)
    model.fit(_read_only(X), y, _read_only(weight))
    assert learn_reparameterized.signatures == compiled


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_model_is_of_the_dtype_asked_for(learner, name, X, y, dtype):
    model = clone(learner).set_params(dtype=dtype).fit(X.astype(np.float32), y)
    # coefficients from an inverse are kept in float64
    exact = model._make_rule().kind.exact or name in ("bpa-p", "bsgd-p")
    assert model.coef_.dtype == ("float64" if exact else dtype)
    if hasattr(model, "map_"):
        assert model.map_.features(X[:2].astype(dtype)).dtype == dtype
    else:
        assert model.support_vectors_.dtype == dtype
    assert model.nbytes_ > 0


def test_float32_is_float64_to_rounding(learner, X, y):
    wide, narrow = (clone(learner).set_params(dtype=d).fit(X, y) for d in ("float64", "float32"))
    np.testing.assert_allclose(scores(narrow, X), scores(wide, X), rtol=1e-3, atol=1e-3)


def test_rows_that_were_given_are_not_changed(learner, X, y):
    rows, labels = X.copy(), y.copy()
    model = clone(learner).fit(rows, labels).partial_fit(rows, labels)
    scores(model, rows)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)


def test_pickle_goes_on(learner, X, y):
    model = clone(learner).partial_fit(X[:30], y[:30])
    twin = pickle.loads(pickle.dumps(model))
    for each in (model, twin):
        each.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(scores(model, X), scores(twin, X))


def test_a_clone_has_learned_nothing_and_learns_the_same(learner, X, y):
    model = clone(learner).fit(X, y)
    twin = clone(model)
    assert not hasattr(twin, "model_")
    np.testing.assert_array_equal(scores(twin.fit(X, y), X), scores(model, X))
    # fit forgets what was learned
    np.testing.assert_array_equal(scores(model.fit(X, y), X), scores(twin, X))


def test_pipeline_and_grid_search(X, targets):
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(), FOGDClassifier(n_components=30, loss="logistic", random_state=0)
        ),
        {"fogdclassifier__gamma": [0.1, 1.0], "fogdclassifier__learning_rate": [0.5, 2.0]},
        cv=2,
    )
    search.fit(X, targets["binary"])
    assert search.best_score_ > 0.6
    assert search.predict_proba(X).shape == (90, 2)
    search = GridSearchCV(
        RRFRegressor(n_components=20, random_state=0), {"loss": ["squared", "absolute"]}, cv=2
    )
    assert search.fit(X, targets["regression"]).best_score_ > 0.1


def test_names_of_columns_are_remembered(X, targets):
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    model = NOGDClassifier().fit(frame, targets["binary"])
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    twin = NOGDClassifier.from_state(model.get_state())
    assert twin.feature_names_in_.tolist() == ["age", "height", "weight"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "age", "weight"]])


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_a_drawn_seed_is_kept_with_the_model(X, targets, random_state):
    model = RRFClassifier(n_components=10, random_state=random_state).fit(X, targets["binary"])
    twin = RRFClassifier.from_state(model.get_state())
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_not_fitted(learner, X):
    with pytest.raises(AttributeError, match="not fitted"):
        clone(learner).predict(X)
