"""Transfer to Fourier features: the whole learner against plain NumPy, and its error."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import DualSGDClassifier, DualSGDRegressor, SupportKernelClassifier, load
from onkel.budgets import Transfer
from onkel.kernels import KERNELS, make_kernel
from onkel.rules import Pegasos

N, B, K_AT_ONCE, GAMMA = 150, 8, 3, 0.5
TASKS = ("binary", "multiclass", "regression")
SET = {"budget": B, "n_components": 30, "n_transfer": K_AT_ONCE, "alpha": 0.05, "gamma": GAMMA}


def rows(task):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N, 3))
    if task == "regression":
        return X, np.sin(X[:, 0]) * X[:, 1], 1
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return (X, y, 1) if task == "binary" else (X, y + (X[:, 2] > 0.4), 3)


def learner(task, **params):
    cls = DualSGDRegressor if task == "regression" else DualSGDClassifier
    return cls(**SET | {"dtype": "float64", "random_state": 1} | params)


def learn(model, task, X, y, cuts=(0, 1, 40, 41, 43, N)):
    more = {"classes": np.unique(y), "return_scores": True} if task != "regression" else {}
    parts = []
    for a, b in itertools.pairwise(cuts):
        parts.append(model.predict_then_learn(X[a:b], y[a:b], **more))
        assert model.n_support_ <= B
    return np.concatenate(parts)


def naive(X, y, K, kernel, omega, alpha=0.05, epsilon=0.1, regression=False):
    """DualSGD in plain NumPy: scores (n, K) before each row."""
    G = kernel.gram(X, X, GAMMA)
    Z = np.concatenate([np.cos(X @ omega), np.sin(X @ omega)], axis=1) / np.sqrt(omega.shape[1])
    stored, w, P = [], np.zeros((K, Z.shape[1])), np.empty((len(y), K))
    for t in range(len(y)):
        P[t] = w @ Z[t] + sum((a * G[i, t] for i, a in stored), np.zeros(K))
        stored, w = [(i, a * t / (t + 1)) for i, a in stored], w * t / (t + 1)
        c = _direction(P[t], y[t], epsilon, regression)
        if c.any():
            if len(stored) == B:
                norms = np.array([a @ a for _, a in stored])
                for _ in range(K_AT_ONCE):
                    m = int(np.flatnonzero(norms <= norms.min() * (1 + 1e-6))[0])
                    i, a = stored.pop(m)
                    w, norms = w + np.outer(a, Z[i]), np.delete(norms, m)
            stored.append((t, c / (alpha * (t + 1))))
    return P


def _direction(p, y, epsilon, regression):
    if regression:
        return np.array([np.sign(y - p[0]) * (abs(y - p[0]) > epsilon)])
    if len(p) == 1:
        sign = 2 * y - 1
        return np.array([sign * (sign * p[0] < 1)])
    s = int(np.argmax(np.where(np.arange(len(p)) == y, -np.inf, p)))
    return (np.eye(len(p))[y] - np.eye(len(p))[s]) * (p[y] - p[s] < 1)


@pytest.mark.parametrize("kernel", [n for n, kernel in KERNELS.items() if kernel.shift_invariant])
@pytest.mark.parametrize("task", TASKS)
def test_the_learner_is_the_papers(task, kernel):
    X, y, K = rows(task)
    model = learner(task, kernel=kernel)
    found = learn(model, task, X, y).reshape(N, K)
    expected = naive(
        X, y, K, make_kernel(kernel), model.frequencies_, regression=task == "regression"
    )
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    assert np.abs(model.feature_coef_).max() > 0.0


@pytest.mark.parametrize("task", TASKS)
def test_blocks_sparse_rows_and_files_change_nothing(task, tmp_path):
    X, y, _ = rows(task)
    expected = learn(learner(task), task, X, y)
    whole = learn(learner(task), task, X, y, (0, N))
    np.testing.assert_allclose(whole, expected, atol=1e-9)
    np.testing.assert_allclose(learn(learner(task), task, csr_matrix(X), y), expected, atol=1e-9)
    first = learner(task)
    a = learn(first, task, X[:70], y[:70], (0, 70)) if task != "multiclass" else None
    if a is None:
        first.partial_fit(X[:70], y[:70], classes=np.unique(y))
    first.save(tmp_path / "model")
    other = load(tmp_path / "model")
    for model in (first, other):
        model.partial_fit(X[70:], y[70:])
    assert np.array_equal(first.feature_coef_, other.feature_coef_)
    assert np.array_equal(first.predict(X), other.predict(X))


def test_weights_of_features_that_are_not_finite_are_found():
    X, y, _ = rows("binary")
    model = learner("binary").fit(X, y).model_
    assert model.is_finite()
    model.carried[0, 0] = np.inf
    assert not model.is_finite()


@pytest.mark.compiled
def test_what_is_carried_over_changes_f_by_the_error_of_the_features():
    X, y, _ = rows("binary")
    X, y = X[:40], y[:40]

    def jump(D):
        """Largest change of f on the rows when rows leave the set."""
        model = learner("binary", n_components=D)
        largest = 0.0
        for t in range(len(y)):
            before, full = model.n_support_ if t else 0, None
            if t > 1:
                full = model.model_.scores(X)[:, 0]
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
            if t > 1 and model.n_support_ < before:
                new = model.coef_[0, -1] * np.exp(-GAMMA * ((X - X[t]) ** 2).sum(axis=1))
                change = model.model_.scores(X)[:, 0] - new - full * t / (t + 1)
                largest = max(largest, np.abs(change).max() / np.abs(model.coef_).max())
        return largest

    errors = [jump(D) for D in (10, 100, 1000)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2] > 0.0


def test_rows_without_a_loss_are_not_stored():
    X = np.array([[0.0], [4.0], [0.0], [4.0], [0.0]])
    model = DualSGDClassifier(budget=4, n_components=10, n_transfer=1, alpha=0.1, gamma=1.0).fit(
        X, [0, 1, 0, 1, 0]
    )
    assert model.n_support_ == 2


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Transfer(0), "budget=0 must be a whole number of at least 1"),
        (Transfer(5, n_transfer=6), "n_transfer=6 must be at most budget=5"),
        (Transfer(n_components=0), "n_components=0 must be a whole number of at least 1"),
    ],
)
def test_bad_parameters_are_named(budget, message):
    with pytest.raises(ValueError, match=message):
        budget.limit()


def test_what_cannot_go_together_says_why():
    X, y, _ = rows("binary")
    with pytest.raises(ValueError, match="not shift-invariant and has no random Fourier"):
        DualSGDClassifier(kernel="polynomial").fit(X, y)
    with pytest.raises(ValueError, match="f lives in two spaces, and its norm is not kept"):
        SupportKernelClassifier(rule=Pegasos(0.1), budget="transfer").fit(X, y)
    with pytest.raises(ValueError, match="orthogonal=True needs a radial kernel"):
        SupportKernelClassifier(kernel="laplacian", budget=Transfer(orthogonal=True)).fit(X, y)
