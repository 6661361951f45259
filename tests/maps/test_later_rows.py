"""Rows held out that came long after those that predict them, and the penalty they choose."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import later_rows
from onkel.maps.landmarks.drawn_rows import Split
from onkel.maps.landmarks.later_rows import later, with_best_penalty
from onkel.numerics.in_steps import finished

pytestmark = pytest.mark.compiled


def test_later_rows_are_predicted_by_those_before_a_cut(monkeypatch):
    order = np.random.default_rng(0).permutation(1000)
    of = Split(order[:200], order[200:])
    assert later(of, 1000, 0.75) is None
    monkeypatch.setattr(later_rows, "_ENOUGH", 40)
    part = later(of, 1000, 0.75)
    assert part is not None
    np.testing.assert_array_equal(np.sort(part.held), np.sort(of.held[of.held >= 750]))
    np.testing.assert_array_equal(np.sort(part.learned), np.arange(750))
    # as many as are enough, and one too few
    for more, enough in ((0, True), (1, False)):
        monkeypatch.setattr(later_rows, "_ENOUGH", len(part.held) + more)
        assert (later(of, 1000, 0.75) is not None) is enough


def made(drifts, n=2000):
    """Rows of three columns; the last ones are far out in the first, or as all others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    if drifts:
        X[:, 0] += np.linspace(-2.0, 2.0, n)
    Y = (X[:, 0] + 0.3 * rng.standard_normal(n))[:, None]
    return X, Y - Y.mean()


@pytest.mark.parametrize("drifts", [True, False])
def test_later_rows_choose_the_penalty(drifts, monkeypatch):
    monkeypatch.setattr(later_rows, "_ENOUGH", 100)
    X, Y = made(drifts)
    of_map = LearnedLandmarks(40, search_steps=0, random_state=0)
    of_map.fit(X[:512], Y[:512, 0])
    fitted, one = of_map._fitted, np.ones(len(X))
    order = np.random.default_rng(1).permutation(len(X))
    of = Split(order[:800], order[800:])
    for factor in (0.0, np.log(64.0)):
        at = fitted.at._replace(log_ridge=fitted.at.log_ridge + factor)
        best = finished(with_best_penalty(at, of, X, Y, one, fitted.units))
        assert best.S is at.S
        errors = {}
        for here in (at, best):
            error = 0.0
            for cut in (1000, 1500):
                U = fitted.units(X)
                K = 1.0 / (1.0 + _squares(U, here))
                H = K[:cut].T @ K[:cut] + here.ridge * _penalty(here)
                alpha = np.linalg.solve(H, K[:cut].T @ Y[:cut])
                later_ones = of.held[of.held >= cut]
                error += ((Y[later_ones] - K[later_ones] @ alpha) ** 2).sum()
            errors[here.log_ridge] = error
        # it stays unless another is better
        assert errors[best.log_ridge] == min(errors.values())
    # far too large a penalty is found out where rows drift
    assert not drifts or best.log_ridge < at.log_ridge


def test_later_rows_of_weight_0_choose_nothing(monkeypatch):
    monkeypatch.setattr(later_rows, "_ENOUGH", 100)
    X, Y = made(True)
    of_map = LearnedLandmarks(40, search_steps=0, random_state=0)
    fitted = of_map.fit(X[:512], Y[:512, 0])._fitted
    at = fitted.at._replace(log_ridge=fitted.at.log_ridge + np.log(64.0))
    order = np.random.default_rng(1).permutation(len(X))
    of, weight = Split(order[:800], order[800:]), np.ones(len(X))
    weight[of.held[::2]] = 0.0
    wild = np.where(weight[:, None] > 0.0, Y, 1e6 * np.sin(np.arange(2000.0))[:, None])
    found = [
        finished(with_best_penalty(at, of, X, each, weight, fitted.units)).log_ridge
        for each in (Y, wild)
    ]
    assert found[0] == found[1] < at.log_ridge


def _squares(U, at):
    w = np.exp(at.log_width)
    return (((U[:, None, :] - at.S[None]) * w) ** 2).sum(axis=2)


def _penalty(at):
    return 1.0 / (1.0 + _squares(at.S, at)) + 1e-7 * np.eye(len(at.S))


def test_few_later_rows_choose_nothing():
    X, Y = made(True)
    of_map = LearnedLandmarks(40, search_steps=0, random_state=0)
    of_map.fit(X[:512], Y[:512, 0])
    fitted, of = of_map._fitted, Split(np.arange(1000, 2000), np.arange(1000))
    found = finished(with_best_penalty(fitted.at, of, X, Y, np.ones(2000), fitted.units))
    assert found is fitted.at
