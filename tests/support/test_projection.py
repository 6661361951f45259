"""Projectron and the exchanging budgets against their problem statements, in plain NumPy."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from onkel import budgets, rules
from onkel.budgets import model_of
from onkel.kernels import Cauchy, Gaussian, Linear, Polynomial
from onkel.losses import Loss
from onkel.rules import base as places
from onkel.rules.base import RADIUS
from onkel.support.budget import BIRTH
from onkel.support.exchange import exchange_model
from onkel.support.exchange.inverse import look_ahead
from onkel.support.model import Space
from onkel.support.projection.coordinates import solve

_spec = importlib.util.spec_from_file_location(
    "naive_support", Path(__file__).with_name("naive_support.py")
)
naive = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(naive)

N, D, B, GAMMA, EPSILON = 130, 3, 7, 0.4, 0.1
TASKS = ("binary", "multiclass", "regression")
PERCEPTRON = rules.Perceptron(0.7)
LEAST, BESIDE = budgets.BPAProjection, budgets.BPANearest
SMALLEST = budgets.SmallestProjection


def rows(task, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    if task == "regression":
        return X, np.sin(2 * X[:, 0]) * X[:, 1], 1
    signs = X[:, 0] * X[:, 1] > 0.1 * rng.standard_normal(N)
    if task == "binary":
        return X, 2.0 * signs - 1.0, 1
    return X, (signs + (X[:, 2] > 0.5)).astype(float), 3


def make(budget, rule, task, kernel=None, dtype="float64"):
    name = "epsilon_insensitive" if task == "regression" else "hinge"
    if rule.own_loss is not None:
        name = rule.own_loss["regression" if task == "regression" else "classification"]
    K = 3 if task == "multiclass" else 1
    kernel = Gaussian() if kernel is None else kernel
    space = Space(kernel, GAMMA, 256, D, dtype)
    return model_of(budget)(space, budget, rule, Loss[name.upper()], EPSILON, K)


def learn(model, X, y, cuts=(0, 1, 30, 64, N)):
    X, weight = X.astype(model.dtype), np.ones(len(y))
    parts = [model.learn(X[a:b], y[a:b], weight[a:b]) for a, b in itertools.pairwise(cuts)]
    return np.concatenate(parts)


def gram(X):
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


# ---- Projectron ----------------------------------------------------------------------------------


def projectron(G, y, K, loss, step, limit, eta, aggressive=False):
    """Orabona et al. 2009, solving for d afresh each time."""
    S, A, P = [], np.zeros((K, 0)), np.empty((len(y), K))
    for t in range(len(y)):
        k = G[S, t]
        P[t] = A @ k
        d = np.linalg.solve(G[np.ix_(S, S)], k)
        z2, delta = k @ d, np.sqrt(max(1.0 - k @ d, 0.0))
        _, c = naive.direction(loss, P[t], y[t], EPSILON)
        if c.any() and len(S) < limit and delta > eta:
            S, A = [*S, t], np.hstack([A, step * c[:, None]])
        elif c.any():
            A = A + step * np.outer(c, d)
        elif aggressive:
            value, c = naive.direction("hinge", P[t], y[t], EPSILON)
            length = np.linalg.norm(c) if eta else 1.0
            missed, norm = length * delta, max(length**2 * z2, 1e-300)
            tau = min(step, value / norm)
            U = 1 / eta if eta else 0.25 * np.sqrt((limit + 1) / np.log(limit + 1))
            if eta:
                tau = max(min(tau, 2 * (value - U * missed) / norm), 0.0)
            elif 2 * value - tau * norm - 2 * U * missed < 0:
                tau = 0.0
            A = A + tau * np.outer(c, d)
    return P, S, A


PROJECTRONS = [
    (task, eta, aggressive, limit)
    for task, eta, aggressive, limit in itertools.product(
        TASKS, (0.0, 0.3, 0.8), (False, True), (B, None)
    )
    if not (aggressive and task == "regression") and (limit or eta)
]


@pytest.mark.parametrize(("task", "eta", "aggressive", "limit"), PROJECTRONS)
def test_projectron(task, eta, aggressive, limit):
    X, y, K = rows(task)
    loss = "epsilon_insensitive" if task == "regression" else "perceptron"
    expected, S, A = projectron(gram(X), y, K, loss, 0.7, limit or N, eta, aggressive)
    model = make(budgets.Projection(limit, eta, aggressive), PERCEPTRON, task)
    np.testing.assert_allclose(learn(model, X, y), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(model.support, X[S])
    np.testing.assert_allclose(model.coef, A, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.scores(X), gram(X)[:, S] @ A.T, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("n", [3, 8, 300])
@pytest.mark.parametrize("size", [1, 4, 11])
def test_coordinates_solve_with_the_factor(n, size):
    rng = np.random.default_rng(0)
    upper = np.triu(rng.uniform(0.5, 1.5, (size, size)))
    K = rng.standard_normal((n, size))
    Z, one = K.copy(), K[-1:].copy()
    solve(Z, size, upper)
    solve(one, size, upper)
    np.testing.assert_allclose(Z @ upper, K, atol=1e-9 * np.abs(Z).max())
    # in one order of sums, however many rows there are
    np.testing.assert_array_equal(Z[-1:], one)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("limit", [20, 60])
def test_the_factor_is_that_of_the_kernel_matrix(dtype, limit):
    X, y, _ = rows("binary")
    model = make(budgets.Projection(limit, 0.0), PERCEPTRON, "binary", dtype=dtype)
    learn(model, X, y)
    m, exact = model.size, dtype == "float64"
    L, K = model.factor[:m, :m].T.astype(float), gram(model.support.astype(float))
    np.testing.assert_allclose(L @ L.T, K, atol=1e-12 if exact else 1e-5)
    if exact:
        inverse = np.linalg.solve(L.T, np.linalg.solve(L, np.eye(m)))
        np.testing.assert_allclose(inverse @ K, np.eye(m), atol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "budget",
    [
        budgets.Projection(B, 0.0),
        budgets.Projection(B, 0.0, aggressive=True),
        budgets.Projection(B, 0.3, aggressive=True),
        LEAST(B),
        BESIDE(B),
        SMALLEST(B),
    ],
    ids=lambda b: b.name,
)
def test_rows_that_repeat_do_no_harm(budget, dtype):
    """The kernel matrix of the rows is singular; on dna this ruins an unguarded inverse."""
    X, y, _ = rows("binary")
    X, y = np.repeat(X[:20], 6, axis=0), np.repeat(y[:20], 6)
    model = make(budget, PERCEPTRON, "binary", dtype=dtype)
    P = learn(model, X, y, cuts=(0, 3, 50, 120))
    assert np.abs(P).max() < 20.0
    assert np.abs(model.scores(X.astype(dtype))).max() < 20.0
    assert model.size <= B
    if budget.name == "projection":
        assert len(np.unique(model.support, axis=0)) == model.size


@pytest.mark.parametrize(
    "rule",
    [
        rules.ProjectedGradient(0.9, 0.4, alpha=0.1),
        rules.Pegasos(0.05),
        rules.PassiveAggressive(0.5),
        rules.Gradient(0.4, alpha=0.2),
    ],
    ids=lambda rule: rule.name,
)
@pytest.mark.parametrize(
    "budget", [budgets.Projection(B, 0.2), LEAST(B), SMALLEST(B)], ids=lambda b: b.name
)
def test_other_rules_and_their_norm(budget, rule):
    X, y, _ = rows("multiclass")
    whole, parts = (make(budget, rule, "multiclass") for _ in range(2))
    P = learn(whole, X, y, cuts=(0, N))
    np.testing.assert_allclose(learn(parts, X, y, range(N + 1)), P, rtol=1e-6, atol=1e-7)
    if whole.track:
        norm = np.sum((whole.coef @ gram(whole.support)) * whole.coef)
        assert whole.state[places.SQUARED_NORM] == pytest.approx(norm, rel=1e-5)
        assert norm <= whole.par[RADIUS] ** 2 * (1 + 1e-6)


def test_a_full_set_meets_many_rows():
    """Multiplying by the inverse factor and solving with the factor give the same scores."""
    X, y, _ = rows("binary")
    X, y = np.tile(X, (4, 1)) + 0.01 * np.arange(4 * N)[:, None], np.tile(y, 4)
    by_rows, at_once = (make(budgets.Projection(B, 0.0), PERCEPTRON, "binary") for _ in range(2))
    P = learn(at_once, X, y, (0, 4 * N))
    np.testing.assert_allclose(learn(by_rows, X, y, range(4 * N + 1)), P, rtol=1e-7, atol=1e-8)


# ---- exchanges -----------------------------------------------------------------------------------


def joined(G, S, A, t, new, r, V):
    """f' = f - α_r κ_r + Σ_V β κ that minimises ‖f' - f - new κ_t‖; A over [*S, t], 0 at r."""
    T = [*S, t]
    A = np.hstack([A, new[:, None]])
    u = np.linalg.lstsq(G[np.ix_(V, V)], G[V, T[r]], rcond=1e-8)[0]
    given, A[:, r] = A[:, r].copy(), 0.0
    for v, share in zip(V, u, strict=True):
        A[:, T.index(v)] += given * share
    return A


def exchange(G, y, K, rule, limit, task, eta=None, alpha=0.0):
    """The paper's problem by trying every r; ``rule`` is "all", "beside" or "smallest".

    The step is that of PA-I, or ``eta`` where that is given, after f has shrunk by ``alpha``.
    """
    S, A, P = [], np.zeros((K, 0)), np.empty((len(y), K))
    loss = "epsilon_insensitive" if task == "regression" else "hinge"
    for t in range(len(y)):
        P[t] = A @ G[S, t]
        value, c = naive.direction(loss, P[t], y[t], EPSILON)
        A = A * (1.0 - alpha * (eta or 0.0))
        if not c.any():
            continue
        new, T = (eta or min(0.5, value / (c @ c))) * c, [*S, t]
        if len(S) < limit:
            S, A = T, np.hstack([A, new[:, None]])
            continue
        before, best = np.hstack([A, new[:, None]]), None
        for r in range(len(T) if rule == "smallest" else len(S)):
            V = [v for v in T if v != T[r]]
            if rule == "beside":
                near = max((s for s in S if s != T[r]), key=lambda s: G[s, T[r]])
                V = [t, near]
            after = joined(G, S, A, t, new, r, V)
            change = after - before
            cost = np.sum((change @ G[np.ix_(T, T)]) * change)
            if rule == "smallest":
                cost = np.sum(before[:, r] ** 2)
            if best is None or cost < best[0]:
                best = cost, r, after
        _, r, after = best
        S, A = [s for s in T if s != T[r]], np.delete(after, r, axis=1)
    return P, S, A


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("budget", "rule"), [(LEAST, "all"), (BESIDE, "beside"), (SMALLEST, "smallest")]
)
def test_exchange(task, budget, rule):
    X, y, K = rows(task)
    expected, S, A = exchange(gram(X), y, K, rule, B, task)
    model = make(budget(B), rules.PassiveAggressive(0.5), task)
    np.testing.assert_allclose(learn(model, X, y), expected, rtol=1e-5, atol=1e-6)
    order = [[*map(tuple, X)].index(tuple(s)) for s in model.support]
    assert sorted(order) == sorted(S)
    np.testing.assert_allclose(
        model.coef[:, np.argsort(order)], A[:, np.argsort(S)], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("budget", "rule"), [(LEAST, "all"), (BESIDE, "beside"), (SMALLEST, "smallest")]
)
def test_exchange_of_coefficients_that_shrink(budget, rule):
    X, y, K = rows("multiclass")
    expected, _, _ = exchange(gram(X), y, K, rule, B, "multiclass", eta=0.4, alpha=0.2)
    model = make(budget(B), rules.Gradient(0.4, alpha=0.2), "multiclass")
    np.testing.assert_allclose(learn(model, X, y), expected, rtol=1e-5, atol=1e-6)


def test_a_row_whose_nearest_neighbour_is_the_new_one_is_projected_onto_that_alone():
    X, y, K = rows("binary")
    X, y = np.repeat(X[: N // 2], 2, axis=0), np.repeat(y[: N // 2], 2)
    expected, _, _ = exchange(gram(X), y, K, "beside", B, "binary", eta=0.1)
    model = make(BESIDE(B), rules.Gradient(0.1), "binary")
    np.testing.assert_allclose(learn(model, X, y), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("budget", [LEAST, SMALLEST])
def test_of_rows_that_change_f_alike_the_oldest_goes(budget):
    # so far from each other that their kernel values are 0
    X = 1000.0 * np.arange(11.0)[:, None] * np.ones(D)
    model = make(budget(4), rules.PassiveAggressive(0.5), "binary")
    model.learn(X, np.ones(11), np.ones(11))
    assert model.info[BIRTH].tolist() == [8.0, 9.0, 10.0, 7.0]


@pytest.mark.parametrize("budget", [LEAST, SMALLEST])
@pytest.mark.parametrize("limit", [1, B, 30])
def test_the_inverse_is_that_of_the_kernel_matrix(budget, limit):
    X, y, _ = rows("multiclass")
    model = make(budget(limit), rules.Gradient(0.4), "multiclass")
    learn(model, X, y, (0, 20, N))
    m = model.size
    assert m == limit
    np.testing.assert_allclose(model.gram, gram(model.support), atol=1e-12)
    inverse = np.tril(model.inverse) + np.tril(model.inverse, -1).T
    np.testing.assert_allclose(inverse @ model.gram, np.eye(m), atol=1e-4)


@pytest.mark.parametrize("budget", [LEAST, SMALLEST])
def test_products_made_ahead_are_those_of_each_row(budget, monkeypatch):
    """They are computed if rows are often added to a full set."""
    X, y, _ = rows("multiclass")
    made = []

    def counted(inverse, panel, changes, first, rows):
        made.append(rows)
        return look_ahead(inverse, panel, changes, first, rows)

    monkeypatch.setattr(exchange_model, "look_ahead", counted)
    monkeypatch.setattr(exchange_model, "_LARGE", 0)
    found = []
    for often in (0.4, 2.0):
        monkeypatch.setattr(exchange_model, "_OFTEN", often)
        made.append(-1)
        model = make(budget(12), rules.Gradient(0.4), "multiclass")
        found.append(learn(model, X, y, (0, 50, N)))
    ahead, none = made[1 : made.index(-1, 1)], made[made.index(-1, 1) + 1 :]
    assert max(ahead) >= 24
    assert max(none) == 0
    np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-9)
    assert np.abs(found[0]).max() > 0.1


def test_nothing_of_the_best_exchange_can_be_made_better():
    """BPA-P's β is optimal: no coefficients of the same rows are closer to f + τ c κ."""
    X, y, _ = rows("binary")
    model = make(LEAST(B), rules.PassiveAggressive(0.5), "binary")
    learn(model, X[:60], y[:60], (0, 60))
    assert model.size == B
    for t in range(60, 80):
        S, f = np.vstack([model.support, X[t]]), np.append(model.coef[0], 0.0)
        value, c = naive.direction("hinge", model.scores(X[t : t + 1])[0], y[t], EPSILON)
        f[-1] = min(0.5, value) * c[0]
        model.learn(X[t : t + 1], y[t : t + 1], np.ones(1))
        if c[0] == 0.0:
            continue
        G = gram(np.vstack([S, model.support]))
        gap = G[B + 1 :, : B + 1] @ f - G[B + 1 :, B + 1 :] @ model.coef[0]
        assert np.abs(gap).max() < 1e-6


# ---- and what surrounds them ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Cauchy()], ids=lambda k: k.name)
@pytest.mark.parametrize(
    "budget", [budgets.Projection(B), LEAST(B), BESIDE(B), SMALLEST(B)], ids=lambda b: b.name
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kernel(budget, kernel, dtype):
    X, y, _ = rows("binary")
    model = make(budget, rules.Gradient(0.1), "binary", kernel, dtype)
    P = learn(model, X, y)
    assert np.isfinite(P).all()
    assert np.isfinite(model.coef).all()
    assert model.size <= B


@pytest.mark.parametrize(
    "budget", [budgets.Projection(B), LEAST(B), BESIDE(B), SMALLEST(B)], ids=lambda b: b.name
)
def test_a_saved_model_goes_on_and_a_class_may_come_late(budget):
    X, y, _ = rows("multiclass")
    model, copy = (make(budget, rules.Gradient(0.3), task) for task in ("binary", "multiclass"))
    learn(model, X[:60], np.sign(y[:60] - 0.5), (0, 60))
    model.add_output(2)
    copy.set_state(model.get_state())
    P, Q = (m.learn(X[60:], y[60:], np.ones(N - 60)) for m in (model, copy))
    np.testing.assert_allclose(P, Q, rtol=1e-9, atol=1e-10)
    assert P.shape == (N - 60, 3)


@pytest.mark.compiled
def test_rows_that_nearly_depend_on_each_other_leave_float32_stable():
    rng = np.random.default_rng(0)
    Z = rng.gamma(2.0, 0.15, size=(12_000, 2))
    X = Z @ rng.uniform(0.0, 0.5, size=(2, 6)) + 0.05 * rng.normal(size=(12_000, 6))
    y = np.tanh(3.0 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    error, budget, rule = {}, budgets.Projection(400), rules.Gradient(0.02)
    for dtype in ("float32", "float64"):
        space = Space(Gaussian(), 4.0, 256, 6, dtype)
        model = model_of(budget)(space, budget, rule, Loss.ABSOLUTE, 0.0, 1)
        predicted = model.learn(X.astype(dtype), y, np.ones(len(y)))
        error[dtype] = np.sqrt(np.mean((np.ravel(predicted) - y) ** 2))
    assert error["float32"] == pytest.approx(error["float64"], rel=0.02)


@pytest.mark.parametrize(
    ("budget", "rule", "message"),
    [
        (budgets.Projection(0), PERCEPTRON, "budget=0 must be a whole number of at least 1"),
        (budgets.Projection(5, -0.1), PERCEPTRON, "eta=-0.1 must be a number of at least 0"),
        (budgets.Projection(None, 0.0), PERCEPTRON, "eta=0.0 must be positive where budget=None"),
        (budgets.Projection(5, 0.1, True), rules.Gradient(), "aggressive=True"),
        (LEAST(0), PERCEPTRON, "budget=0 must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(budget, rule, message):
    with pytest.raises(ValueError, match=message):
        make(budget, rule, "binary")
