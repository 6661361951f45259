"""The path of a single row is the path of a block."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from onkel.learners import FOGDClassifier, NOGDClassifier


@pytest.mark.parametrize("seen", [1, 7, 21, 90])
def test_scores(learner, X, y, seen):
    model = clone(learner).partial_fit(X[:seen], y[:seen])
    P = model.model_.scores(X)
    for t in range(0, 90, 9):
        p = model.model_.score_row(X[t : t + 1])
        np.testing.assert_allclose(p, P[t], rtol=1e-9, atol=1e-11)


# The penalty of okl is small, so rounding grows by the condition of its matrix.
ROUNDING = {"okl": 1e-8}


def test_learning(learner, name, X, y):
    row, block = clone(learner), clone(learner)
    start = 3
    weight = np.random.default_rng(0).choice([0.0, 1.0, 0.5], 90)
    for model in (row, block):
        model.partial_fit(X[:start], y[:start])
        if is_classifier(model):
            model.partial_fit(X[:3], ["a", "b", "c"])
    codes = np.searchsorted(["a", "b", "c"], y) if is_classifier(row) else y
    for t in range(start, 90):
        row._learn_row(X[t : t + 1], codes[t], weight[t])
    block.partial_fit(X[start:], y[start:], sample_weight=weight[start:])
    near = {"rtol": 1e-8, "atol": ROUNDING.get(name, 1e-10)}
    np.testing.assert_allclose(row.model_.scores(X), block.model_.scores(X), **near)
    assert row.n_rows_ == block.n_rows_


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 0.0, "b": 2.0}])
def test_class_weights(X, targets, class_weight):
    y = targets["classification"]
    params = {"gamma": 0.5, "dtype": "float64", "class_weight": class_weight}
    row, block = (FOGDClassifier(n_components=12, random_state=3, **params) for _ in range(2))
    for model in (row, block):
        model.partial_fit(X[:60], y[:60])
    for t in range(60, 90):
        row._learn_row(X[t : t + 1], int(np.searchsorted(row.classes_, y[t])))
    block.partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(row.coef_, block.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "rational_quadratic"])
def test_other_kernels(X, targets, kernel):
    for seen in (6, 90):
        model = NOGDClassifier(n_components=9, rank=5, kernel=kernel, gamma=0.3, dtype="float64")
        model.fit(X[:seen], targets["binary"][:seen])
        P = model.model_.scores(X)
        p = [model.model_.score_row(X[t : t + 1]) for t in range(90)]
        np.testing.assert_allclose(p, P, rtol=1e-9, atol=1e-11)
