"""Regret grows sublinearly, at the rates of He & Kwok 2014 with some slack."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from onkel.kernels import Gaussian
from papers.olk import (
    CURVES,
    NOISE,
    best_loss,
    coordinates,
    regrets,
    slope,
    stream,
)

pytestmark = pytest.mark.slow

HORIZONS = (64, 128, 256, 512, 1024)


def over_streams(name, noise=NOISE, n=4):
    """Regret and stored rows, (streams, horizons) each."""
    runs = [regrets(CURVES[name], i, HORIZONS, noise) for i in range(n)]
    return tuple(np.array(part) for part in zip(*runs, strict=True))


@pytest.fixture(scope="module")
def found():
    return {name: over_streams(name)[0] for name in CURVES}


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
    exact, _ = over_streams("olk-fixed, weighted", noise=0.0)
    assert slope(HORIZONS, exact) <= 0.6


def test_sublinear_with_a_budget(found):
    assert slope(HORIZONS, found["olk-fixed, weighted"]) <= 0.9
    last = {name: regret[:, -1].mean() for name, regret in found.items()}
    assert last["olk-fixed, weighted"] < 0.7 * last["olk-fixed, uniform"]


def test_regret_is_positive(found):
    for regret in found.values():
        assert (regret > 0.0).all()


def test_growth_of_the_stored_rows():
    """Stored with probability t^-γ, the expected number is Σ t^-γ."""
    _, stored = over_streams("olk-growing", n=4)
    expected = [np.sum(np.arange(1.0, T + 1.0) ** -0.5) for T in HORIZONS]
    np.testing.assert_allclose(stored.mean(axis=0)[2:], expected[2:], rtol=0.2)
