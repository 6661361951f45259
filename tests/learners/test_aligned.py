"""Aligned random features, of a batch and online: against NumPy, and against plain ones."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

from onkel import load, maps, rules, save
from onkel.errors import DivergenceError, ExportError, ModelFileError
from onkel.learners import (
    AlignedClassifier,
    AlignedRegressor,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
)
from onkel.maps.alignment import aligned_weights, drawn
from onkel.maps.candidates import FEATURE_FUNCTIONS

N, M, D, ALIGN = 40, 15, 4, 150
FEW = {"n_components": M, "n_candidates": N, "gamma": 0.4, "random_state": 0}


def hinges(X, frequencies, offsets):
    return np.maximum(X @ frequencies + offsets - np.pi, 0.0)


def rows(task, n=250):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, D))
    if task == "regression":
        return X, np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.3
    signs = X[:, 0] * X[:, 1] > 0.3 * rng.standard_normal(n)
    return X, signs.astype(int) + (X[:, 2] > 0.5) * (task == "multiclass")


def targets(task, y):
    if task == "regression":
        return y[:, None]
    return 2.0 * y[:, None] - 1 if task == "binary" else (y[:, None] == np.arange(3)) * 1.0


def candidates(feature_map, X):
    """φ of the candidates drawn by a map with this seed."""
    fresh = clone(feature_map).set_params(n_align=None, random_state=0)
    fresh.start(D, "float64")
    fresh.fit_first(X)
    if feature_map.phi is hinges:
        W, b = fresh.candidates_.frequencies, fresh.candidates_.offsets
        return np.array([[max(x @ w + c - np.pi, 0.0) for w, c in zip(W.T, b, strict=True)]
                         for x in X])  # fmt: skip
    return np.sqrt(2) * np.cos(X @ fresh.candidates_.frequencies + fresh.candidates_.offsets)


def chosen(phi, Y, rho=None, centered=True):
    """The features used and their weights, from all rows so far."""
    v = (((Y - Y.mean(axis=0) * centered).T @ phi) ** 2).sum(axis=0)
    q = aligned_weights(v, N / M - 1 if rho is None else rho)
    used = np.sort(np.argsort(-q, kind="stable")[:M])
    used = used[q[used] > 0]
    return used, q[used] / q[used].sum()


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize(("centered", "phi"), [(True, None), (False, None), (True, hinges)])
def test_batch(task, centered, phi):
    X, y = rows(task, 1100)
    feature_map = maps.AlignedFourier(**FEW, centered=centered, phi=phi).fit(X, y)
    phi = candidates(feature_map, X)
    used, q = chosen(phi, targets(task, y), centered=centered)
    np.testing.assert_allclose(feature_map.weights_, q, rtol=1e-6)
    np.testing.assert_allclose(
        feature_map.transform(X), phi[:, used] * np.sqrt(q), rtol=1e-6, atol=1e-9
    )
    assert feature_map.frequencies_.shape == (D, len(q))
    # unused candidates are dropped
    assert feature_map.candidates_.frequencies.shape[1] == len(q) < N


def test_the_kernel_of_all_candidates_is_the_best_of_the_ball():
    X, y = rows("binary", 300)
    signs = 2.0 * y - 1
    feature_map = maps.AlignedFourier(
        N, N, gamma=0.4, rho=1.5, power=3.0, centered=False, random_state=0
    ).fit(X, y)
    K = feature_map.transform(X) @ feature_map.transform(X).T
    phi = candidates(feature_map, X)
    q = cp.Variable(N)
    alignment = ((signs @ phi) ** 2) @ q
    ball = cp.sum(cp.power(N * q, 3)) / N <= 2.5
    best = cp.Problem(cp.Maximize(alignment), [q >= 0, cp.sum(q) == 1, ball]).solve(cp.CLARABEL)
    assert signs @ K @ signs == pytest.approx(best, rel=1e-6)
    assert feature_map.alignment_ == pytest.approx(best / 300**2, rel=1e-6)


def test_draws_follow_the_weights():
    """Averaged over seeds, drawn features have the kernel Σ q φφ'."""
    q = aligned_weights(np.random.default_rng(0).chisquare(1, N), 2.0)
    total, draws = np.zeros(N), 3000
    for seed in range(draws):
        used, weights = drawn(q, 30, seed)
        assert weights.sum() == pytest.approx(1.0)
        total[used] += weights
    deviation = np.sqrt(q * (1 - q) / (30 * draws))
    assert (np.abs(total / draws - q) <= 4.5 * deviation + 1e-12).all()


def online(phi, Y, y, step):
    """Plain features first; q is solved after rows 32, 64, 128, ALIGN; weights are carried over.

    ``step(w, z, t)`` returns the scores of row t and the weights after it.
    """
    used, q = np.arange(M), np.full(M, 1 / M)
    w, P = np.zeros((Y.shape[1], M)), np.empty(Y.shape)
    for t in range(len(phi)):
        P[t], w = step(w, phi[t, used] * np.sqrt(q), t)
        if t + 1 in (32, 64, 128, ALIGN):
            function = np.zeros((Y.shape[1], N))
            function[:, used] = w * np.sqrt(q)
            used, q = chosen(phi[: t + 1], Y[: t + 1])
            w = function[:, used] / np.sqrt(q)
    return P


@pytest.mark.parametrize("features", [None, hinges])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_online(task, features):
    X, y = rows(task)
    cls = AlignedRegressor if task == "regression" else AlignedClassifier
    model = cls(**FEW, n_align=ALIGN, learning_rate=0.4, dtype="float64", features=features)
    Y = targets(task, y)

    def step(w, z, t):
        p = w @ z
        if task == "regression":
            c = Y[t] - p
        elif task == "binary":
            c = Y[t] * (Y[t] * p < 1)
        else:
            rival = max((s for s in range(3) if s != y[t]), key=lambda s: p[s])
            c = (np.eye(3)[y[t]] - np.eye(3)[rival]) * (p[y[t]] - p[rival] < 1)
        return p, w + 0.4 * np.outer(c, z)

    expected = online(candidates(model._make_map(), X), Y, y, step)
    fixed = {} if task == "regression" else {"classes": np.unique(y)}
    cuts = [0, 1, 30, 32, 70, 149, 151, 250]
    P = [
        model.predict_then_learn(X[a:b], y[a:b], **fixed, return_scores=True)
        for a, b in itertools.pairwise(cuts)
    ]
    np.testing.assert_allclose(
        np.concatenate(P).reshape(expected.shape), expected, rtol=1e-6, atol=1e-7
    )
    assert not model.map_.aligning_
    assert model.map_.candidates_.frequencies.shape[1] == model.coef_.shape[1] <= M


def test_least_squares_over_features_that_stay_is_ridge_regression():
    """If all candidates are used, a solution only scales them, and the sums with them."""
    X, y = rows("regression", 400)
    feature_map = maps.AlignedFourier(12, 12, gamma=0.4, rho=0.05, n_align=200, random_state=0)
    model = ExplicitKernelRegressor(
        map=feature_map, rule=rules.LeastSquares(ridge=0.5), dtype="float64"
    )
    for a in range(0, 400, 37):
        model.partial_fit(X[a : a + 37], y[a : a + 37])
    assert np.ptp(model.map_.weights_) > 0.01
    Z = model.map_.transform(X)
    assert Z.shape[1] == 12
    w = np.linalg.solve(Z.T @ Z + 0.5 * np.eye(12), Z.T @ y)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-7)


@pytest.mark.parametrize(
    "rule",
    [
        rules.Gradient(0.3), rules.ProjectedGradient(30.0, 5.0), rules.Pegasos(1e-3),
        rules.Perceptron(), rules.PassiveAggressive(0.5), rules.AdaGrad(0.3),
        rules.LeastSquares(0.1),
    ],
    ids=lambda rule: rule.name,
)  # fmt: skip
def test_every_rule_learns_more_over_aligned_features(rule):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6000, 8))
    y = np.linalg.norm(X, axis=1) > np.sqrt(8)
    right = {}
    for rho in (0.0, None):
        feature_map = maps.AlignedFourier(
            60, 2000, gamma=0.5, rho=rho, centered=False, n_align=2048
        )
        model = ExplicitKernelClassifier(map=feature_map, rule=rule, random_state=0)
        before = model.predict_then_learn(X, y)
        right[rho] = (before == y)[3000:].mean()
    # five deviations of a share of 3 000 rows
    assert right[None] > right[0.0] + 0.045


def test_the_paper_s_task():
    """sign(‖x‖ - √d), d = 10: aligned features of the Gaussian against as many plain ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 10))
    y = np.linalg.norm(X, axis=1) > np.sqrt(10)
    train, test = slice(0, 3000), slice(3000, 4000)
    errors = {}
    for rho in (0.0, None):
        feature_map = maps.AlignedFourier(
            150, 4000, gamma=0.5, rho=rho, centered=False, random_state=0
        ).fit(X[train], y[train])
        Z = feature_map.transform(X)
        model = ExplicitKernelClassifier(map="identity", rule=rules.LeastSquares(3.0)).fit(
            Z[train], y[train]
        )
        errors[rho] = 1 - model.score(Z[test], y[test])
    # a difference of 0.1 is more than six deviations of a share of 1 000 rows
    assert errors[None] < errors[0.0] - 0.1


# ---- feature functions of one's own --------------------------------------------------------------


@pytest.fixture
def learned():
    X, y = rows("binary")
    model = AlignedClassifier(**FEW, n_align=ALIGN, features=hinges, dtype="float64")
    return model.partial_fit(X[:100], y[:100]), X, y


def test_a_model_with_a_registered_function_is_saved_by_its_name(learned, tmp_path):
    model, X, y = learned
    with pytest.raises(ModelFileError, match=r"features=.*hinges.*register_features"):
        save(model, tmp_path / "model")
    try:
        assert maps.register_features(hinges) is hinges
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.features is hinges
    finally:
        FEATURE_FUNCTIONS.pop("hinges", None)
    for learner in (model, again):
        learner.partial_fit(X[100:], y[100:])
    assert (again.decision_function(X) == model.decision_function(X)).all()
    with pytest.raises(ModelFileError, match=r"'hinges'; call onkel.maps.register_features"):
        load(tmp_path / "model")


def test_a_function_without_a_name_is_not_registered():
    with pytest.raises(TypeError, match="define it by 'def"):
        maps.register_features(lambda X, frequencies, offsets: X @ frequencies)


def fragile(X, frequencies, offsets):
    """Hinges that fail for rows with a large first column, in a way that its size names."""
    Z, most = hinges(X, frequencies, offsets), X[:, 0].max()
    if most == 1001:
        raise ValueError("no root")
    Z[X[:, 0] == 1002] = np.nan
    return Z[:, 1:] if most == 1000 else Z


@pytest.mark.parametrize(
    ("first", "error", "reason", "learned"),
    [
        (1000, RuntimeError, r"shape \(29, 39\) for 29 rows and 40 pairs", 100),
        (1001, RuntimeError, "the feature function failed: no root", 100),
        (1002, DivergenceError, "row 20: learning this row makes the model diverge", 120),
    ],
)
def test_features_that_are_none_are_refused(first, error, reason, learned):
    """The model stays that of the rows before."""
    X, y = rows("binary")
    given = {**FEW, "n_align": ALIGN, "features": fragile, "dtype": "float64"}
    model = AlignedClassifier(**given).partial_fit(X[:100], y[:100])
    wrong = X[100:150].copy()
    wrong[20, 0] = first
    with pytest.raises(error, match=reason):
        model.partial_fit(wrong, y[100:150])
    assert model.n_rows_ == learned
    model.partial_fit(X[learned:], y[learned:])
    whole = AlignedClassifier(**given).partial_fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-12
    )


def test_what_a_function_cannot_do_is_told(learned, tmp_path):
    model, X, y = learned
    with pytest.raises(ValueError, match=r"callable as phi\(X, frequencies, offsets\)"):
        AlignedClassifier(features="hinges").partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot take a column that comes in mid-stream"):
        model.map_.add_columns(1)
    with pytest.raises(ExportError, match="feature function of your own"):
        model.export_onnx(tmp_path / "model.onnx")


def test_labels_are_asked_for():
    X, y = rows("binary")
    with pytest.raises(ValueError, match="requires y"):
        maps.AlignedFourier().fit(X)
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        maps.AlignedFourier().partial_fit(X, y)
    assert "AlignedClassifier" in str(caught.value.__cause__)


def test_memory_is_bounded_and_falls_when_the_features_stand():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5))
    model = AlignedClassifier(
        n_components=20, n_candidates=1000, gamma=0.5, n_align=512, random_state=0
    )
    model.partial_fit(X[:500], X[:500, 0] > 0)
    while_aligning = model.nbytes_
    model.partial_fit(X[500:], X[500:, 0] > 0)
    assert model.nbytes_ < 0.1 * while_aligning


@pytest.mark.parametrize("name", ["sizes", "precision"])
def test_a_file_without_one_of_the_sums_is_refused(name):
    X, y = rows("binary", 100)
    learner = AlignedClassifier(**FEW, n_align=ALIGN).partial_fit(X, y)
    state = learner.get_state()
    assert type(learner).from_state(state).partial_fit(X, y).n_rows_ == 200
    [sums] = [group["sums"] for group in groups(state) if "sums" in group]
    del sums[name]
    with pytest.raises(ModelFileError, match=f"{name}: is missing"):
        type(learner).from_state(state)


def groups(state):
    yield state
    for part in state.values():
        if isinstance(part, dict):
            yield from groups(part)
