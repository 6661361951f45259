"""The factor of adaptive Nyström features, kept while landmarks move."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.explicit.weights import regression
from onkel.maps import AdaptiveNystroem
from onkel.maps.online_kmeans import SOLVERS, leading


def gram(S, gamma=0.3):
    return np.exp(-gamma * ((S[:, None] - S[None]) ** 2).sum(axis=-1))


def moving(solver, rank, moves=60, n_iter=2):
    """Move random landmarks a little, many times; E at the end and the factor kept."""
    rng = np.random.default_rng(1)
    S = rng.standard_normal((30, 3))
    P = leading(gram(S), rank)
    for _ in range(moves):
        q = rng.integers(30)
        S[q] += 0.4 * rng.standard_normal(3)
        P = SOLVERS[solver](gram(S) + 1e-10 * np.eye(30), q, P, n_iter)
    return gram(S), P


def error(E, P):
    """Error of the kernel between landmarks, computed from the features."""
    return np.linalg.norm(E - E @ P @ P.T @ E) / np.linalg.norm(E)


@pytest.mark.parametrize(("solver", "most"), [("scratch", 1.001), ("randomized", 1.1)])
def test_the_error_stays_that_of_the_leading_eigenpairs(solver, most):
    E, P = moving(solver, 20)
    np.testing.assert_allclose(P.T @ E @ P, np.eye(20), atol=1e-6)
    best = error(E, leading(E, 20))
    assert 1e-4 < best <= error(E, P) * 1.001
    assert error(E, P) <= most * best


def test_more_iterations_are_closer_to_the_eigenpairs():
    """The median of 50 starts: after eight steps, single starts are up to 14 % above the best."""
    E, _ = moving("scratch", 10)
    starts = np.random.default_rng(3).standard_normal((50, 30, 10))
    solve = SOLVERS["randomized"]
    errors = [np.median([error(E, solve(E, 0, P, p)) for P in starts]) for p in (1, 2, 8, 32)]
    best = error(E, leading(E, 10))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[2] < 1.02 * best
    assert errors[3] < 1.001 * best


def test_a_move_far_into_the_small_eigenvalues_keeps_its_digits():
    """A wide kernel: where one landmark moves far, most columns of E P look alike."""
    rng = np.random.default_rng(5)
    S = 0.8 * rng.standard_normal((60, 4))
    before = leading(gram(S) + 1e-10 * np.eye(60), 48)
    S[7] += 4.0
    E = gram(S) + 1e-10 * np.eye(60)
    found = []
    for rounding in (0.0, 1e-15):
        P = before * (1.0 + rounding * rng.standard_normal(before.shape))
        found.append(E @ SOLVERS["randomized"](E, 7, P, 2))
    np.testing.assert_allclose(found[0] @ found[0].T, found[1] @ found[1].T, atol=1e-12)


def test_the_rank_two_update_is_exact_at_full_rank():
    E, P = moving("rank_two", 30, moves=10)
    np.testing.assert_allclose(P @ (P.T @ E), np.eye(30), atol=1e-4)


def test_the_rank_two_update_forgets_little():
    E, P = moving("rank_two", 20)
    assert error(E, P) < 3.0 * error(E, leading(E, 20))


@pytest.mark.parametrize("solver", SOLVERS)
def test_landmarks_that_coincide(solver):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((4, 3)), 50, axis=0)[rng.permutation(200)]
    X[100:] += 3.0
    Z = AdaptiveNystroem(10, 8, gamma=0.5, threshold=0.0, solver=solver).fit_transform(X)
    assert np.isfinite(Z).all()
    assert (np.einsum("ij,ij->i", Z, Z) < 1.5).all()


def test_equation_12_is_a_minimum():
    rng = np.random.default_rng(1)
    old, new, w = rng.standard_normal((12, 5)), rng.standard_normal((12, 5)), rng.standard_normal(5)

    def cost(v):
        return ((old @ w - new @ v) ** 2).sum() + 0.3 * (v**2).sum()

    best = regression(new, old, 0.3) @ w
    for direction in np.eye(5):
        slope = (cost(best + 1e-6 * direction) - cost(best - 1e-6 * direction)) / 2e-6
        assert abs(slope) < 1e-7
    assert cost(best) < cost(w)


def test_weights_carried_over_keep_f_at_the_landmarks():
    from onkel.learners import NOLANARegressor

    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 2))
    model = NOLANARegressor(
        n_components=12, rank=12, gamma=0.5, threshold=1e9, theta=0.0, dtype="float64"
    )
    model.fit(X, np.sin(X[:, 0]))
    kept = model.predict(model.map_.landmarks_)
    assert model.map_.move(3, model.map_.landmarks_[3].copy(), 1.0) is None
    q, before, after = model.map_.move(3, np.array([0.3, 2.0]), 1.0)
    expected = model.predict(model.map_.landmarks_)
    model.model_.weights.carry_over(before, after, 0.0)
    moved = model.predict(model.map_.landmarks_)
    others = np.arange(12) != q
    np.testing.assert_allclose(moved[others], kept[others], atol=1e-6)
    assert np.abs(expected[others] - kept[others]).max() > 1e-3
