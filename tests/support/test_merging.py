"""Merging: the point, the partner, and the whole learner against plain NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onkel import (
    BSGDMClassifier,
    BSGDMRegressor,
    BSGDRClassifier,
    SupportKernelClassifier,
    SupportKernelRegressor,
)
from onkel.budgets import Merging, RandomRemoval
from onkel.kernels import KERNELS, Gaussian
from onkel.losses import Loss
from onkel.rules import Gradient, Pegasos, ProjectedGradient
from onkel.rules.base import SQUARED_NORM
from onkel.support.budget import BIRTH, TARGET
from onkel.support.merging.merge_rows import best_partner, degradation_table, merge_point
from onkel.support.merging.merging_model import MergingModel
from onkel.support.model import Space
from onkel.support.slots import REMOVED

H = np.linspace(0.0, 1.0, 4001)
GAMMA = 0.5


def objective(h, a, b, D):
    """‖α_z‖² at h of coefficient vectors a and b."""
    u, v = np.exp(-D * (1 - h) ** 2), np.exp(-D * h**2)
    return a @ a * u**2 + 2 * (a @ b) * u * v + b @ b * v**2


def degradation(a, b, D):
    return a @ a + b @ b + 2 * np.exp(-D) * (a @ b) - objective(H, a, b, D).max()


# ---- the merge point ---------------------------------------------------------------------------

weights = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array)


@settings(max_examples=300, deadline=None)
@given(weights, weights, st.floats(0.0, 9.0))
@example(np.array([1.75, 0.08, 0.25]), np.array([0.08, 0.25, 1.75]), 1.5)
def test_the_point_is_that_of_a_line_search(a, b, D):
    a2, ab, b2 = a @ a, a @ b, b @ b
    if ab < 1e-6:
        return
    h, value = merge_point(a2, ab, b2, D)
    ends = objective(np.array([0.0, 1.0]), a, b, D)
    assert 0.0 <= h <= 1.0
    assert value == pytest.approx(objective(h, a, b, D), rel=1e-12)
    assert value >= ends.max() * (1.0 - 1e-12)
    assert value >= objective(H, a, b, D).max() * (1.0 - 1e-12)


def test_equal_weights_have_two_maxima_from_e2_on():
    assert merge_point(1.0, 1.0, 1.0, 1.9)[0] == pytest.approx(0.5)
    assert merge_point(1.0, 1.0, 1.0, 2.3)[0] > 0.6


def test_identical_vectors_add():
    h, value = merge_point(4.0, 6.0, 9.0, 0.0)
    assert 0.0 <= h <= 1.0
    assert value == pytest.approx(25.0)


# ---- the partner -------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5, 3.0])
def test_the_partner_is_the_best_of_all(K, scale):
    rng = np.random.default_rng(K)
    for trial in range(20):
        X, A = rng.standard_normal((12, 2)), rng.standard_normal((K, 12))
        A = np.sign(A) * (1.0 + rng.integers(0, 3, 12)) if trial % 2 else A
        D = scale * ((X[:, None] - X[None]) ** 2).sum(axis=-1)
        m = int(np.argmin((A * A).sum(axis=0)))
        allowed = [j for j in range(12) if j != m and A[:, m] @ A[:, j] > 0.0]
        n, h = best_partner(m, 12, A, D, degradation_table(), np.empty((2, len(D))))
        least = min(degradation(A[:, m], A[:, j], D[m, j]) for j in allowed)
        assert n in allowed
        assert degradation(A[:, m], A[:, n], D[m, n]) == pytest.approx(least, rel=1e-5, abs=1e-12)
        best = H[np.argmax(objective(H, A[:, m], A[:, n], D[m, n]))]
        value = objective(h, A[:, m], A[:, n], D[m, n])
        assert value >= objective(best, A[:, m], A[:, n], D[m, n]) * (1.0 - 1e-12)


def test_without_a_partner_there_is_none():
    A, D = np.array([[1.0, -2.0, -2.0]]), np.full((3, 3), 0.1)
    assert best_partner(0, 3, A, D, degradation_table(), np.empty((2, len(D))))[0] == -1


# ---- the learner -------------------------------------------------------------------------------


def naive(X, y, K, B, alpha, radius=np.inf, epsilon=None):
    """Budgeted Pegasos with merging in plain NumPy: scores (n, K) before each row."""
    S, A, P = np.empty((0, X.shape[1])), np.empty((K, 0)), []
    for t in range(len(y)):
        p = A @ np.exp(-GAMMA * ((S - X[t]) ** 2).sum(axis=1))
        P.append(p)
        A = A * (1 - 1 / (t + 1))
        c = _direction(p, y[t], epsilon)
        if c.any():
            S, A = np.vstack([S, X[t]]), np.column_stack([A, c / (alpha * (t + 1))])
        if len(S) > B:
            S, A = _merge(S, A)
        D = GAMMA * ((S[:, None] - S[None]) ** 2).sum(axis=-1)
        norm = np.sqrt(np.einsum("ki,kj,ij", A, A, np.exp(-D)))
        A = A * min(1.0, radius / max(norm, 1e-300))
    return np.array(P)


def _direction(p, y, epsilon):
    if epsilon is not None:
        return np.array([np.sign(y - p[0]) * (abs(y - p[0]) > epsilon)])
    if len(p) == 1:
        return np.array([y * (y * p[0] < 1)])
    wrong = np.where(np.arange(len(p)) == y, -np.inf, p)
    s = int(np.argmax(wrong))
    return (np.eye(len(p))[int(y)] - np.eye(len(p))[s]) * (p[int(y)] - p[s] < 1)


def _merge(S, A):
    norms = (A * A).sum(axis=0)
    m = int(np.flatnonzero(norms <= norms.min() * (1 + 1e-4))[0])
    D = GAMMA * ((S - S[m]) ** 2).sum(axis=1)
    pairs = [j for j in range(len(S)) if j != m and A[:, m] @ A[:, j] > 0]
    rest = [j for j in range(len(S)) if j != m]
    if pairs:
        n = min(pairs, key=lambda j: degradation(A[:, m], A[:, j], D[j]))
        # of two equal maxima take the one near the lightest
        values = objective(H, A[:, m], A[:, n], D[n])
        h = H[np.flatnonzero(values >= values.max() * (1 - 1e-12))[-1]]
        fine = (h + (H - 0.5) * 1e-3).clip(0, 1)
        h = fine[np.argmax(objective(fine, A[:, m], A[:, n], D[n]))]
        A[:, n] = A[:, m] * np.exp(-D[n] * (1 - h) ** 2) + A[:, n] * np.exp(-D[n] * h**2)
        S[n] = h * S[m] + (1 - h) * S[n]
    return S[rest], A[:, rest]


def rows(task):
    # a seed without ties: on some, the last bit of an input decides which of two equals is taken,
    # in the oracle as well
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 3))
    if task == "regression":
        return X, np.sin(X[:, 0]) * X[:, 1], 1
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return (X, 2.0 * y - 1.0, 1) if task == "binary" else (X, y + (X[:, 2] > 0.4), 3)


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_learner_is_the_papers(task, project):
    X, y, K = rows(task)
    rule, radius = Pegasos(0.05, project), 0.05**-0.5 if project else np.inf
    set_up = {"gamma": GAMMA, "dtype": "float64", "budget": Merging(8), "rule": rule}
    if task == "regression":
        model = SupportKernelRegressor(loss="epsilon_insensitive", epsilon=0.1, **set_up)
        more = {}
    else:
        model = SupportKernelClassifier(**set_up)
        more = {"classes": np.unique(y), "return_scores": True}
    parts = []
    for a, b in itertools.pairwise((0, 1, 40, 41, 150)):
        parts.append(model.predict_then_learn(X[a:b], y[a:b], **more))
        assert model.n_support_ <= 8
    expected = naive(X, y, K, 8, 0.05, radius, 0.1 if task == "regression" else None)
    found = np.concatenate(parts).reshape(150, K)
    # the oracle's line search stops at 2e-7
    np.testing.assert_allclose(found, expected, atol=5e-6)


@pytest.mark.parametrize("cls", [BSGDMClassifier, BSGDRClassifier])
def test_single_precision_learns_as_well(cls):
    X, y, _ = rows("binary")
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)
    rates = [
        (cls(budget=20, alpha=0.01, gamma=GAMMA, dtype=dtype).predict_then_learn(X, y) == y).mean()
        for dtype in ("float32", "float64")
    ]
    assert min(rates) > 0.6
    assert rates[0] == pytest.approx(rates[1], abs=0.02)


def test_removal_at_random_is_pegasos_over_a_random_budget():
    X, y, _ = rows("binary")
    model = BSGDRClassifier(removal="random", budget=9, gamma=GAMMA, random_state=3)
    composed = SupportKernelClassifier(
        rule=Pegasos(0.01, project=False), budget=RandomRemoval(9), gamma=GAMMA, random_state=3
    )
    found, expected = (m.fit(X, y).decision_function(X) for m in (model, composed))
    np.testing.assert_array_equal(found, expected)
    smallest = BSGDRClassifier(budget=9, gamma=GAMMA, random_state=3).fit(X, y)
    assert np.abs(smallest.decision_function(X) - found).max() > 0.01
    with pytest.raises(ValueError, match="removal='oldest' is not one of 'smallest', 'random'"):
        BSGDRClassifier(removal="oldest").fit(X, y)


def merging_model(budget, rule):
    space = Space(Gaussian(), GAMMA, 256, 2, "float64")
    return MergingModel(space, Merging(budget), rule, Loss.HINGE, 0.0, 1)


def test_a_row_that_is_merged_at_once_gives_its_age_and_label():
    model = merging_model(2, Gradient(0.5, alpha=1.0))
    # the third row is nearest to the first, which has shrunk most
    X, y = np.array([[0.0, 0.0], [3.0, 0.0], [0.1, 0.0]]), np.array([1.0, -1.0, 1.0])
    model.learn(X, y, np.ones(3))
    assert model.info[[TARGET, BIRTH], :2].tolist() == [[1.0, -1.0], [2.0, 1.0]]
    assert 0.0 < model.support[0, 0] < 0.1


@pytest.mark.compiled
def test_the_norm_stays_that_of_f_over_many_merges():
    rng = np.random.default_rng(0)
    # B = 1: rows of opposite signs have no partner
    for budget in (1, 3):
        X, y = rng.standard_normal((2500, 2)), rng.choice([-1.0, 1.0], 2500)
        model = merging_model(budget, ProjectedGradient(3.0, 0.5, "constant", alpha=0.1))
        for t in range(0, 2500, 50):
            model.learn(X[t : t + 50], y[t : t + 50], np.ones(50))
            gram = Gaussian().gram(model.support, model.support, GAMMA)
            norm = (model.coef @ gram @ model.coef.T).item()
            assert model.state[SQUARED_NORM] == pytest.approx(norm, rel=1e-6, abs=1e-9)
        # it was computed anew on the way
        assert model.counts[REMOVED] > 1024


def test_a_budget_of_one():
    X, y, _ = rows("binary")
    assert BSGDMClassifier(budget=1, gamma=GAMMA).fit(X, y).n_support_ == 1


def test_merging_wastes_less_than_removal():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (3000, 2))
    y = np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) > 0
    merged, removed = (
        (cls(budget=40, alpha=0.001, gamma=3.0).predict_then_learn(X, y) == y).mean()
        for cls in (BSGDMClassifier, BSGDRClassifier)
    )
    assert merged > removed + 0.03


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "gaussian"])
@pytest.mark.parametrize("cls", [BSGDMClassifier, BSGDMRegressor])
def test_only_the_gaussian_merges(cls, kernel):
    with pytest.raises(ValueError, match=f"kernel='{kernel}' cannot be used with budget 'merging'"):
        cls(kernel=kernel).fit(np.eye(3), [0, 1, 1])
