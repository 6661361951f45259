"""A search runs ahead in small steps with each row: no call waits for it, in any blocks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.maps import LearnedLandmarks

# The search due at 1 024 rows begins at 960 and uses the first 960 rows.
BEGUN, AMID, DUE, AFTER = 960, 1008, 1024, 1200


def rows(n=AFTER):
    """Which column matters depends on the region: a search takes all of its steps."""
    rng = np.random.default_rng(0)
    X, here = rng.standard_normal((n, 3)), np.arange(n) % 2 == 0
    X[:, 0] += np.where(here, 6.0, -6.0)
    return X, np.sin(4.0 * np.where(here, X[:, 1], X[:, 2])) + 0.1 * rng.standard_normal(n)


def one_by_one(model, X, y, start, stop):
    for t in range(start, stop):
        model.partial_fit(X[t : t + 1], y[t : t + 1])


def learned(stop):
    """A learner that learned its last rows one by one."""
    X, y = rows()
    model = OnlineKernelRegressor(n_components=30, memory=False).partial_fit(X[:BEGUN], y[:BEGUN])
    one_by_one(model, X, y, BEGUN, stop)
    return model


@pytest.mark.slow
@pytest.mark.compiled
def test_every_row_does_a_little_of_the_search(watch_steps):
    X, y = rows()
    model = learned(BEGUN)
    before, done = model.map_.landmarks_, []
    watch_steps(lambda: done.append(model.n_rows_))
    one_by_one(model, X, y, BEGUN, DUE)
    steps = np.bincount(done)[BEGUN:]
    assert steps.sum() > 100
    assert steps.max() <= 3 * steps.sum() / (DUE - BEGUN)
    assert np.abs(model.map_.landmarks_ - before).max() > 0.01


@pytest.mark.compiled
def test_after_the_last_row_no_step_is_made_in_vain(watch_steps):
    X, y = rows()
    done = []
    watch_steps(lambda: done.append(1))
    model = learned(BEGUN)
    before = len(done)
    model.partial_fit(X[BEGUN:AMID], y[BEGUN:AMID])
    in_vain = len(done) - before
    model.partial_fit(X[AMID : AMID + 1], y[AMID : AMID + 1])
    assert len(done) - before > 20 * max(in_vain, 1)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_search_goes_on_while_no_row_comes_and_is_the_same(watch_steps):
    X, y = rows()
    alone, rng = learned(AFTER), np.random.default_rng(1)
    model = learned(BEGUN)
    for t in range(BEGUN, AFTER):
        for _ in range(rng.integers(4)):
            model.fit_ahead()
        one_by_one(model, X, y, t, t + 1)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    model, done = learned(BEGUN), []
    watch_steps(lambda: done.append(1))
    assert not model.rows_before_fit()
    while model.fit_ahead():
        pass
    before, cheap = len(done), model.rows_before_fit()
    assert before > 100
    assert cheap > 20
    model.partial_fit(X[BEGUN : BEGUN + cheap], y[BEGUN : BEGUN + cheap])
    assert len(done) == before
    one_by_one(model, X, y, BEGUN + cheap, AFTER)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-9, atol=1e-9)
    assert not model.fit_ahead()


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    "again",
    [
        lambda model: type(model).from_state(model.get_state()),
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
    ],
    ids=["saved", "pickled", "copied"],
)
def test_amid_a_search_a_model_is_saved_and_goes_on_to_the_same(again):
    X, y = rows()
    model = learned(AMID)
    assert model.model_.current.ahead is not None
    other = again(model)
    for each in (model, other):
        each.partial_fit(X[AMID:], y[AMID:])
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    whole = OnlineKernelRegressor(n_components=30, memory=False).partial_fit(X, y)
    np.testing.assert_allclose(whole.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("late", [AMID, DUE - 1], ids=["amid the fit", "in the replay"])
def test_a_class_that_comes_amid_a_search_does_not_begin_it_again(monkeypatch, late):
    X, y = rows()
    labels = np.digitize(y, [-0.5, 0.5])
    labels[late] = 3
    begun, found = [], []
    search = LearnedLandmarks.fit_in_steps

    def counted(self, X, Y, weight, due):
        begun.append(due)
        return search(self, X, Y, weight, due)

    monkeypatch.setattr(LearnedLandmarks, "fit_in_steps", counted)
    for step in (1, AFTER):
        begun.clear()
        model = OnlineKernelClassifier(n_components=30, memory=False).fit(X[:BEGUN], labels[:BEGUN])
        for start in range(BEGUN, AFTER, step):
            model.partial_fit(X[start : start + step], labels[start : start + step])
        assert begun.count(DUE) == 1
        found.append(model.decision_function(X))
    assert found[0].shape == (AFTER, 4)
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.compiled
def test_columns_and_classes_may_come_in_amid_a_search():
    X, y = rows()
    labels = np.digitize(y, [-0.5, 0.5])
    labels[:AMID] = np.minimum(labels[:AMID], 1)
    wide = np.c_[X, np.sign(y)]
    found = []
    for step in (1, AFTER):
        model = OnlineKernelClassifier(n_components=30, memory=False).fit(X[:BEGUN], labels[:BEGUN])
        for start in range(BEGUN, AMID, step):
            end = min(start + step, AMID)
            model.partial_fit(X[start:end], labels[start:end])
        model.add_columns(1)
        for start in range(AMID, AFTER, step):
            model.partial_fit(wide[start : start + step], labels[start : start + step])
        found.append(model.decision_function(wide))
    assert found[0].shape == (AFTER, 3)
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-6)
