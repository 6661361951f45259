"""Where a search finds nothing better, features stay, and no row is learned again."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor
from onkel.explicit import ahead
from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import learned
from onkel.maps.landmarks.fitted import TailCurves, Units


def rows(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.fixture
def left_out(monkeypatch):
    """Every search is left out."""

    def improve(starts, *of, **how):
        yield True
        return starts[0]

    monkeypatch.setattr(learned, "improve", improve)


def model_of(X, y):
    model = OnlineKernelRegressor(n_components=20, pairs=False, restart=False, memory=False)
    return model.partial_fit(X, y)


@pytest.mark.compiled
def test_no_row_is_learned_again_where_a_search_is_left_out(left_out, monkeypatch):
    X, y = rows(4200)
    model = model_of(X[:1500], y[:1500])
    before = model.map_._fitted

    def replayed(*of):
        raise AssertionError("rows are learned again")

    monkeypatch.setattr(ahead.Replay, "learn", replayed)
    for a in range(1500, 4200, 300):
        model.partial_fit(X[a : a + 300], y[a : a + 300])
    assert model.map_._fitted is before
    # the weights are still those of all rows
    Z = model.map_.features(X)
    w = np.linalg.solve(model.map_.prior() + Z.T @ Z, Z.T @ y)
    np.testing.assert_allclose(model.predict(X[:50]), Z[:50] @ w, rtol=0.0, atol=2e-5)


@pytest.mark.compiled
def test_rows_are_learned_again_in_new_units_where_columns_have_changed(left_out):
    X, y = rows(4200)
    X[1500:] *= 10.0
    model = model_of(X[:1500], y[:1500])
    before = model.map_._fitted
    model.partial_fit(X[1500:], y[1500:])
    assert model.map_._fitted is not before
    assert (model.map_._fitted.units.scale > 4.0).all()
    Z = model.map_.features(X)
    w = np.linalg.solve(model.map_.prior() + Z.T @ Z, Z.T @ y)
    np.testing.assert_allclose(model.predict(X[:50]), Z[:50] @ w, rtol=0.0, atol=2e-5)


@pytest.mark.parametrize(
    ("middle", "scale", "curves", "near"),
    [
        ([0.5, 1.0], [1.9, 0.6], [0.0, 0.0], True),
        ([0.0, 0.0], [2.1, 1.0], [0.0, 0.0], False),
        ([0.0, 0.0], [1.0, 0.4], [0.0, 0.0], False),
        ([1.1, 0.0], [1.0, 1.0], [0.0, 0.0], False),
        ([0.0, 0.0], [1.0, 1.0], [0.0, 1.0], False),
    ],
)
def test_units_are_near_each_other(middle, scale, curves, near):
    plain = Units(TailCurves(np.zeros(2), np.zeros(2)), np.array([0.0, 0.5]), np.ones(2))
    other = Units(TailCurves(np.zeros(2), np.array(curves)), np.array(middle), np.array(scale))
    assert plain.are_near(other) is other.are_near(plain) is near


@pytest.mark.parametrize(("spread", "near"), [(1.5, True), (2.5, False)])
def test_curves_must_be_near_too(spread, near):
    units = [
        Units(TailCurves(np.zeros(1), np.array([a])), np.zeros(1), np.ones(1))
        for a in (1.0, spread)
    ]
    assert units[0].are_near(units[1]) is near


@pytest.mark.parametrize(
    ("steps", "dues"),
    [(12, [248, 256, 320, 384, 448, 512, 1024]), (0, [256, 320, 384, 448, 512, 1024])],
)
def test_fits_of_many_rows_are_due_less_often(steps, dues):
    landmarks = LearnedLandmarks(500, search_steps=steps)
    landmarks.start(3, np.float64)
    found, n = [], 240
    while n < 1024:
        n, _ = landmarks.next_fit(n, 131_072)
        found.append(n)
    assert found == dues
