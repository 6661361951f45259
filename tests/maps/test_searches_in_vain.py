"""After two searches in a row that would have gained too little, one is left out, then one made."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor
from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import learned
from onkel.maps.landmarks.small_search import Promises
from onkel.numerics.in_steps import finished

POWERS = [2**k for k in range(10, 18)]


@pytest.fixture
def searched(monkeypatch):
    """At how many rows searches begin that promise too little; those of ``gaining`` gain."""
    rows, gaining = [], set()

    def improve(starts, X, Y, weight, steps, rng, units, wanted, device):
        rows.append(len(X))
        if wanted:
            wanted.learn(*(2 * [0.1 if len(X) in gaining else 0.0]))
        return starts[0]
        yield

    monkeypatch.setattr(learned, "improve", improve)
    return rows, gaining


def begun():
    fitted = LearnedLandmarks(20, random_state=0)
    fitted.start(2, np.dtype(np.float64))
    return fitted


def fit(fitted, powers):
    X = np.random.default_rng(0).standard_normal((powers[-1], 2))
    for n in powers:
        finished(fitted.fit_in_steps(X[:n], X[:n, :1] * X[:n, 1:], np.ones(n), n))


def test_every_other_search_is_left_out_after_two_in_vain(searched):
    fit(begun(), POWERS)
    assert searched[0] == [2**k for k in (10, 11, 13, 15, 17)]


def test_after_a_gain_it_takes_two_in_vain_again(searched):
    searched[1].add(2**13)
    fit(begun(), POWERS)
    assert searched[0] == [2**k for k in (10, 11, 13, 14, 15, 17)]


def test_the_search_after_a_new_column_is_made(searched):
    fitted = begun()
    fit(fitted, POWERS[:2])
    fitted.expect_news()
    fit(fitted, POWERS[2:])
    assert searched[0] == [2**k for k in (10, 11, 12, 13, 14, 16)]


def test_where_every_search_is_wanted_none_is_left_out(searched):
    fitted = begun()
    fitted.least_gain = 0.0
    fit(fitted, POWERS)
    assert searched[0] == POWERS


def test_a_model_that_begins_after_a_change_knows_what_was_in_vain(searched):
    fitted, other = begun(), begun()
    fit(fitted, POWERS[:2])
    other.begin_beside(fitted)
    fit(other, POWERS[:3])
    assert searched[0] == [1024, 2048, 2048]


def test_a_small_search_in_vain_is_counted():
    wanted = Promises(0.02)
    for promised, in_vain in ((0.0, 1), (0.0, 2), (0.0, 2), (0.1, 0), (0.0, 1)):
        wanted.learn(promised, promised)
        assert wanted.in_vain == in_vain
    assert not wanted.broken


@pytest.mark.compiled
def test_a_saved_model_knows_it_too():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9000, 3)), rng.standard_normal(9000)
    model = OnlineKernelRegressor(n_components=20, restart=False, memory=False, pairs=False)
    model.partial_fit(X[:2100], y[:2100])
    assert model.map_._in_vain == 2
    loaded = OnlineKernelRegressor.from_state(model.get_state())
    assert loaded.map_._in_vain == 2
    for one in (model, loaded):
        one.partial_fit(X[2100:4200], y[2100:4200])
        assert one.map_._in_vain == 1
        one.partial_fit(X[4200:], y[4200:])
        assert one.map_._in_vain == 2
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))
