"""Projectron and Projectron++ run by run against the original programs (LSOKL)."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.algorithms import make


def all_runs(name, X, y, orders, **params):
    """Mistakes of each run, in the original's form: store every mistake until the set is full."""
    params = {"gamma": 1.0 / 128.0, "eta": 0.0, "dtype": "float64"} | params
    runs = [
        make(name, **params).predict_then_learn(X[rows], y[rows], classes=np.unique(y)) != y[rows]
        for rows in orders
    ]
    return np.sum(runs, axis=1)


@pytest.mark.parametrize("name", ["projectron", "projectron++"])
def test_mistakes_on_german(oracle, name):
    X, y, orders, theirs = oracle("german", name)
    np.testing.assert_array_equal(all_runs(name, X, y, orders, budget=100), theirs)


def test_squared_error_on_housing(oracle):
    X, y, orders, theirs = oracle("housing", "projectron")
    params = {"budget": 20, "eta": 0.0, "learning_rate": 0.1, "gamma": 1.0 / 128.0}
    for rows, expected in zip(orders, theirs, strict=True):
        model = make("projectron", "regression", dtype="float64", **params)
        before = model.predict_then_learn(X[rows], y[rows])
        assert np.mean((before - y[rows]) ** 2) == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["projectron", "projectron++"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dna_needs_a_good_inverse(oracle, name, dtype):
    """Rounding ruins some of their runs, up to 60 % mistakes; our mean is their median."""
    X, y, orders, theirs = oracle("dna", name)
    ours = all_runs(name, X, y, orders, budget=200, dtype=dtype)
    error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / len(theirs))
    assert ours.mean() <= theirs.mean() + 2 * error
    assert ours.mean() == pytest.approx(np.median(theirs), rel=0.05)
    assert ours.max() <= 1.2 * np.median(theirs)
    # runs of theirs without rounding trouble equal ours, mistake by mistake
    assert dtype == "float32" or np.sum(ours == theirs) >= 7
