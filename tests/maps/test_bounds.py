"""Lemma 1 and Theorem 2 of the RRF paper against errors that are measured."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps import ReparameterizedFeatures
from onkel.maps.bounds import pair_bound, uniform_bound

DRAWS = 400


def errors(D, X, sigma, draws=DRAWS):
    """z(x)·z(x') - κ(x, x') of all pairs of rows, for independent noises: (draws, n, n)."""
    difference = (X[:, None] - X[None]) * sigma
    kernel = np.exp(-0.5 * (difference**2).sum(axis=-1))
    out = np.empty((draws, *kernel.shape))
    for seed in range(draws):
        feature_map = ReparameterizedFeatures(D, gamma=0.5, random_state=seed).fit(X)
        feature_map.log_width_ = np.log(sigma)
        Z = feature_map.transform(X)
        out[seed] = Z @ Z.T - kernel
    return out


@pytest.mark.parametrize("D", [20, 80])
def test_a_pair_errs_no_more_often_than_lemma_1_allows(D):
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    sigma = np.array([0.5, 1.5, 3.0])
    found = errors(D, X, sigma)
    pairs = np.triu_indices(12, 1)
    # unbiased: a mean of DRAWS·D terms of variance at most 1/2
    assert np.abs(found.mean(axis=0)).max() < 4.5 * np.sqrt(0.5 / (DRAWS * D))
    for epsilon in (1.0 / np.sqrt(D), 2.0 / np.sqrt(D), 3.0 / np.sqrt(D)):
        bound = pair_bound(epsilon, D)
        often = (np.abs(found) >= epsilon).mean(axis=0)[pairs]
        # the share of each of 66 pairs is binomial; allow four deviations
        assert (often <= bound + 4 * np.sqrt(bound * (1 - bound) / DRAWS) + 1e-12).all()
    assert pair_bound(3.0 / np.sqrt(D), D) < 0.03
    # the bound has the right size: it fails for a sixth of the error
    assert (np.abs(found) >= 0.5 / np.sqrt(D)).mean() > pair_bound(3.0 / np.sqrt(D), D)


@pytest.mark.compiled
def test_the_largest_error_of_a_set_is_within_theorem_2():
    X = np.linspace(0, 1, 41)[:, None]
    sigma, D = np.array([2.0]), 600
    found = np.abs(errors(D, X, sigma, draws=200)).max(axis=(1, 2))
    grid = np.linspace(0.05, 1.0, 400)
    bound = np.array([uniform_bound(e, D, sigma, diameter=1.0) for e in grid])
    epsilon = grid[bound <= 0.05][0]
    # it is informative, it holds, and it is far from tight (docs/results/learned-kernels.md)
    assert epsilon < 0.6
    assert (found >= epsilon).mean() <= 0.05
    assert np.quantile(found, 0.95) < 0.5 * epsilon
    assert np.median(found) > 0.01


def test_bounds_by_hand():
    assert pair_bound(0.3, 100) == pytest.approx(2 * np.exp(-4.5))
    assert pair_bound(0.01, 10) == uniform_bound(0.1, 10, np.ones(2), 1.0) == 1.0
    sigma = np.array([3.0, 4.0])
    expected = 128 * (2 * 5 / 0.5) ** 2 * np.exp(-2000 * 0.25 / 16)
    assert uniform_bound(0.5, 2000, sigma, 2.0) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"epsilon=11 must be in \(0, 10\]"):
        uniform_bound(11, 100, sigma, 2.0)
