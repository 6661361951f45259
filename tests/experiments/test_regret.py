"""Regret grows sublinearly, at the rates of He & Kwok 2014 with some slack."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from onkel.experiments.regret import CURVES, best_loss, coordinates, regrets, slope, stream
from onkel.kernels import Gaussian

HORIZONS = (64, 128, 256, 512, 1024)


@pytest.fixture(scope="module")
def found():
    return regrets(HORIZONS, n_streams=4)


def test_the_best_of_the_ball():
    X, y = stream(60, 0)
    Z = coordinates(X)
    np.testing.assert_allclose(Z @ Z.T, Gaussian().gram(X, X, 1.0), atol=1e-7)
    loss = lambda w: 0.5 * np.sum((y - Z @ w) ** 2)  # noqa: E731
    for radius in (0.5, 2.0):
        inside = {"type": "ineq", "fun": lambda w, radius=radius: radius**2 - w @ w}
        least = minimize(loss, np.zeros(Z.shape[1]), constraints=inside, options={"maxiter": 500})
        assert best_loss(Z, y, radius) == pytest.approx(least.fun, rel=1e-4)


@pytest.mark.parametrize("name", ["olk", "olk-growing"])
def test_the_papers_rate(found, name):
    assert slope(HORIZONS, found[name]) <= CURVES[name].bound + 0.1


def test_the_papers_rate_with_a_budget(found):
    """√T: with noise for a budget of order T^(3/4), without for the paper's, of order √T."""
    assert slope(HORIZONS, found["olk-fixed, weighted, larger"]) <= 0.6
    exact = regrets(HORIZONS, n_streams=4, noise=0.0)
    assert slope(HORIZONS, exact["olk-fixed, weighted"]) <= 0.6


def test_sublinear_with_a_budget(found):
    assert slope(HORIZONS, found["olk-fixed, weighted"]) <= 0.9
    last = {name: regret[:, -1].mean() for name, regret in found.items()}
    assert last["olk-fixed, weighted"] < 0.7 * last["olk-fixed, uniform"]


def test_regret_is_positive(found):
    for regret in found.values():
        assert (regret > 0.0).all()
