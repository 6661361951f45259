"""Without a search, rows that are hard to predict become landmarks where that is better."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor
from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import first_landmarks
from onkel.maps.landmarks.first_landmarks import best_rows
from onkel.maps.landmarks.first_widths import CONSTANT, prior_mean
from onkel.maps.landmarks.rational import kernel_columns
from onkel.numerics.in_steps import finished


def rare_detail(n, seed=0):
    """One row in ten lies where the target is wavy; all others where it is constant."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    wavy = rng.random(n) < 0.1
    X[wavy, 0] += 6.0
    return X, np.where(wavy, np.sin(4.0 * X[:, 0]) * np.sin(4.0 * X[:, 1]), 0.0), wavy


def test_hardness_is_that_of_errors_left_out():
    rng = np.random.default_rng(0)
    n, later = 20, 5
    X, Y = rng.standard_normal((n + later, 3)), rng.standard_normal((n + later, 2))
    weight, theta = rng.uniform(0.5, 2.0, n + later), np.append(np.full(3, -0.5), -1.0)
    found = first_landmarks._hardness(X, Y, weight, theta, n)
    K = kernel_columns(X, X, np.exp(theta[:-1])) + CONSTANT
    M = K + np.diag(np.exp(theta[-1]) / weight)
    for i in range(n + later):
        others = np.delete(np.arange(n), i) if i < n else np.arange(n)
        k = np.linalg.solve(M[np.ix_(others, others)], K[others, i])
        error, variance = Y[i] - k @ Y[others], M[i, i] - k @ K[others, i]
        np.testing.assert_allclose(found[i], error @ error / variance, rtol=1e-8)


def test_rows_are_predicted_over_landmarks_by_weighted_ridge_regression():
    rng = np.random.default_rng(0)
    S, X, of = (rng.standard_normal((n, 3)) for n in (5, 40, 7))
    Y, weight, theta = rng.standard_normal((40, 2)), rng.uniform(0.0, 2.0, 40), np.full(4, -0.5)
    K, K0, K_of = (kernel_columns(A, S, np.exp(theta[:-1])) + CONSTANT for A in (X, S, of))
    R = (K.T * weight) @ K + np.exp(-0.5) * K0
    expected = K_of @ np.linalg.solve(R, (K.T * weight) @ Y)
    found = first_landmarks._predicted_over(S, theta, X, Y, weight, of)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_as_large_a_part_of_the_rows_fitted_tries_it_and_rows_judge_by_their_weight(monkeypatch):
    tried = []

    def predicted(S, theta, X, Y, weight, of):
        tried.append(len(S))
        # the first choice misses the first row only, the other one all others
        wrong = np.arange(len(of))[:, None] == 0
        return wrong * 3.0 if len(tried) % 2 else ~wrong * 1.0

    monkeypatch.setattr(first_landmarks, "_predicted_over", predicted)
    X, theta = np.random.default_rng(0).standard_normal((30, 2)), np.full(3, -0.5)
    Y = np.where(np.arange(30) < 20, X[:, 0], 0.0)[:, None]
    for of_first, chosen in ((0.5, False), (2.0, True)):
        weight = np.ones(30)
        weight[20] = of_first
        rows = finished(best_rows(X, Y, weight, theta, 20, 9))
        assert (rows.tolist() != list(range(9))) is chosen
    assert set(tried) == {6}


def test_hard_rows_are_taken_where_they_predict_better():
    X, y, wavy = rare_detail(900)
    theta = np.append(np.full(2, 0.7), -5.0)
    rows = finished(best_rows(X, y[:, None], np.ones(900), theta, 500, 60))
    assert len(np.unique(rows)) == 60
    assert wavy[rows].sum() > 2 * wavy[:60].sum()


def test_hard_rows_are_not_taken_where_they_are_only_noise():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((900, 2))
    y = X[:, 0] + np.where(rng.random(900) < 0.05, 30.0, 0.1) * rng.standard_normal(900)
    theta = np.append(prior_mean(2)[:-1], 0.0)
    rows = finished(best_rows(X, y[:, None], np.ones(900), theta, 500, 60))
    np.testing.assert_array_equal(rows, np.arange(60))


def test_rows_that_are_alike_can_be_landmarks():
    X = np.repeat(np.eye(4), 200, axis=0)[np.random.default_rng(0).permutation(800)]
    y = X @ np.arange(4.0)
    theta = np.append(prior_mean(4)[:-1], -300.0)
    assert len(finished(best_rows(X, y[:, None], np.ones(800), theta, 500, 100))) == 100


@pytest.mark.compiled
def test_without_a_search_landmarks_are_the_better_of_the_first_1024_rows():
    X, y, wavy = rare_detail(2000)
    model = OnlineKernelRegressor(n_components=60, speed="fast").fit(X, y)
    in_detail = model.map_.landmarks_[:, 0] > 3.0
    assert in_detail.sum() > 2 * wavy[:60].sum()


@pytest.mark.compiled
@pytest.mark.parametrize("m", [100, 700, 1500])
def test_any_number_of_landmarks(m):
    X, y, _ = rare_detail(2000)
    found = LearnedLandmarks(m, search_steps=0, random_state=0).fit(X, y)
    assert found.landmarks_.shape == (m, 2)
