"""Exact rules over a spectrum that moves: against a naive version that keeps all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import onkel
from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.exact.newton import RecursiveNewton
from onkel.explicit import learned_spectrum
from onkel.explicit.model import ExplicitModel
from onkel.learners import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.losses import Loss
from onkel.maps import ReparameterizedFeatures
from onkel.maps.reparameterized import LAWS
from onkel.model.warmup import KeptRows
from onkel.numerics.arrays import targets_of
from onkel.rules import Gradient, LeastSquares, LogisticNewton

D, N = 3, 400


@pytest.fixture
def often(monkeypatch):
    """Moves from row 30 on, a sample of 60 rows."""
    monkeypatch.setattr(learned_spectrum, "_FIRST", 30)
    monkeypatch.setattr(learned_spectrum, "_KEPT", 60)


def spectrum(law, eta=0.01, **more):
    return ReparameterizedFeatures(
        7, gamma=0.4, learning_rate=eta, law=law, n_mixtures=3, random_state=0, **more
    )


def model_of(law="gaussian", rule=None, n_outputs=1, **more):
    feature_map = spectrum(law, **more)
    feature_map.start(D, "float64")
    rule = rule or LeastSquares(0.1)
    return ExplicitModel(feature_map, rule, Loss.SQUARED, 0.0, n_outputs)


def rows(n=N, n_outputs=1, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    y = np.cos(2.0 * X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    if n_outputs > 1:
        y = np.digitize(y, np.linspace(-0.7, 0.7, n_outputs - 1)).astype(float)
    weight = rng.uniform(0.2, 2.0, n) * (rng.random(n) > 0.1)
    return X, y, weight


def ridge(Z, y, v, penalty):
    R = (Z * v[:, None]).T @ Z + penalty * np.eye(14)
    return np.linalg.solve(R, (Z * v[:, None]).T @ y)


def naive(law, X, y, weight, forgetting):
    """Keep all rows with the features they were learned with; compute sums, T, slopes afresh."""
    m = spectrum(law)
    m.start(D, "float64")
    m.fit_first(X[:0])
    keep = KeptRows(60, D, float, m.seed_, np.inf if forgetting == 1 else 1 / (1 - forgetting))
    Z, used, W, P, due, k = np.empty((0, 14)), [], np.zeros(14), [], 30, 0
    mean = dict.fromkeys(m.moving(), 0.0)
    square = dict(mean)
    for t in range(len(X)):
        z = m.transform(X[t : t + 1])
        P.append(float(z[0] @ W))
        if weight[t] == 0.0:
            continue
        used.append(t)
        keep.add(X[t : t + 1], y[t : t + 1], weight[t : t + 1])
        Z = np.concatenate([Z, z])
        v = weight[used] * forgetting ** np.arange(len(used))[::-1]
        W = ridge(Z, y[used], v, 0.1)
        if len(used) < due:
            continue
        due = len(used) + max(30, int(0.2 * min(len(used), keep.memory)))
        for _ in range(5):
            k += 1
            at = keep.born
            slope = finite_differences(m, keep.X, y[used][at], v[at], W)
            alpha = 0.1 / np.sqrt(1 + len(used) / 10_000)
            for name in mean:
                mean[name] = 0.9 * mean[name] + 0.1 * slope[name]
                square[name] = 0.99 * square[name] + 0.01 * slope[name] ** 2
            whole = sum(np.sum(s) / (1 - 0.99**k) for s in square.values())
            old = m.transform(keep.X)
            for name in mean:
                root = np.sqrt(square[name] / (1 - 0.99**k) + 1e-12 * whole)
                setattr(m, name, getattr(m, name) + alpha * mean[name] / (1 - 0.9**k) / root)
            new, r = m.transform(keep.X), np.sqrt(v[at])[:, None]
            A = (r * old).T @ (r * old) + 1e-8 * v[at].sum() * np.eye(14)
            Z = Z @ np.linalg.solve(A, (r * old).T @ (r * new))
            Z[at] = new
            W = ridge(Z, y[used], v, 0.1)
    return np.array(P), W, m


def finite_differences(m, X, y, weight, W, h=1e-6, loss=None):
    """-∂/∂θ of Σ weight ½(y - f)², or of another loss, by central differences."""
    loss = loss or (lambda F: 0.5 * np.sum(weight * (y - F) ** 2))
    out = {}
    for name in m.moving():
        values = getattr(m, name)
        out[name] = np.zeros(values.shape)
        for place in np.ndindex(values.shape):
            at = values[place]
            for side in (h, -h):
                values[place] = at + side
                out[name][place] -= np.sign(side) * loss(m.transform(X) @ W.T) / (2 * h)
            values[place] = at
    return out


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("law", LAWS)
def test_it_is_the_naive_version(law, forgetting, often):
    X, y, weight = rows(160)
    expected, W, m = naive(law, X, y, weight, forgetting)
    model = model_of(law, LeastSquares(0.1, forgetting))
    P = model.learn(X, y, weight)
    np.testing.assert_allclose(P[:, 0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.coef[0], W, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.map.frequencies_, m.frequencies_, rtol=1e-4)


@pytest.mark.parametrize("rule", [LeastSquares(0.1), LogisticNewton(0.1)])
@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("law", LAWS)
def test_slopes_are_those_of_the_loss(law, n_outputs, rule):
    X, y, weight = rows(50, n_outputs)
    if n_outputs == 1:
        y = np.where(y > 0.0, 1.0, -1.0)
    model, rng = model_of(law, rule, n_outputs), np.random.default_rng(2)
    W = rng.standard_normal((n_outputs, 14))
    model.map.move({k: 0.3 * rng.standard_normal(v.shape) for k, v in model.map.moving().items()})
    Y = targets_of(y, model.n_outputs)
    Z = model.map.transform(X)
    _, _, pull = model.weights.matrix.linearized(Z @ W.T, Y, weight)
    found = model.map.slopes(X, Z, pull @ W)
    T = 0.5 * (Y + 1.0) if n_outputs == 1 else Y

    def logistic(F):
        return -np.sum(weight[:, None] * (T * np.log(expit(F)) + (1 - T) * np.log(expit(-F))))

    def squared(F):
        return 0.5 * np.sum(weight[:, None] * (Y - F) ** 2)

    loss = logistic if rule.name == "newton" else squared
    expected = finite_differences(model.map, X, None, None, W, loss=loss)
    for name, slope in expected.items():
        np.testing.assert_allclose(found[name], slope, rtol=1e-5, atol=1e-6)
    assert np.abs(found["log_width_"]).min() > 0.0


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("law", LAWS)
def test_while_all_rows_are_kept_it_is_ridge_regression(law, n_outputs, monkeypatch):
    monkeypatch.setattr(learned_spectrum, "_FIRST", 30)
    X, y, weight = rows(n_outputs=n_outputs)
    model = model_of(law, n_outputs=n_outputs)
    start = model.map.frequencies_
    model.learn(X, y, weight)
    assert np.abs(model.map.frequencies_ - start).max() > 0.1
    Z, Y = model.map.transform(X), targets_of(y, model.n_outputs)
    W = ridge(Z, Y, weight, 0.1).T
    np.testing.assert_allclose(Z @ model.coef.T, Z @ W.T, atol=1e-4)


@pytest.mark.parametrize("rule", [LeastSquares(0.1), LeastSquares(0.1, 0.98), LogisticNewton(0.1)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("cut", [1, 37])
def test_the_cut_into_blocks_means_nothing(law, cut, rule, often):
    X, y, weight = rows()
    y = np.sign(y)
    whole, parts = model_of(law, rule), model_of(law, rule)
    P = whole.learn(X, y, weight)
    Q = [parts.learn(X[a : a + cut], y[a : a + cut], weight[a : a + cut])
         for a in range(0, N, cut)]  # fmt: skip
    np.testing.assert_allclose(np.concatenate(Q), P, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(parts.map.frequencies_, whole.map.frequencies_, rtol=1e-5)


@pytest.mark.parametrize("rule", ["least_squares", "newton"])
@pytest.mark.parametrize("law", LAWS)
def test_saved_with_a_new_class_and_a_new_column(law, rule, often, tmp_path):
    X, y, _ = rows(600, 3)
    labels = np.array(["a", "c", "b"])[y.astype(int)]
    labels[:200][labels[:200] == "b"] = "a"  # "b" comes in mid-stream

    def learned(saved, cut):
        feature_map = spectrum(law).set_params(gamma="median", n_warmup=50)
        model = ExplicitKernelClassifier(
            map=feature_map, rule=rule, dtype="float64", random_state=0
        )
        parts = [model.predict_then_learn(X[a : a + cut, :2], labels[a : a + cut])
                 for a in range(0, 300, cut)]  # fmt: skip
        model.add_columns(1)
        for a in range(300, 600, cut):
            if saved and a == 450:
                model.save(tmp_path / "m.onkel")
                model = onkel.load(tmp_path / "m.onkel")
            parts.append(model.predict_then_learn(X[a : a + cut], labels[a : a + cut]))
        return np.concatenate(parts), model

    before, model = learned(False, 50)
    again, twin = learned(True, 50)
    np.testing.assert_array_equal(before, again)
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert (before == learned(False, 75)[0]).mean() > 0.99
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.map_.frequencies_.shape == (3, 7)


@pytest.mark.parametrize("law", LAWS)
def test_a_late_column_is_one_that_was_always_0(law, often):
    X, y, weight = rows()
    X[:250, 2] = 0.0
    always = model_of(law)
    P = always.learn(X, y, weight)
    feature_map = spectrum(law)
    feature_map.start(2, "float64")
    late = ExplicitModel(feature_map, LeastSquares(0.1), Loss.SQUARED, 0.0, 1)
    Q = [late.learn(X[:200, :2], y[:200], weight[:200])]
    late.add_columns(1)
    Q.append(late.learn(X[200:], y[200:], weight[200:]))
    np.testing.assert_allclose(np.concatenate(Q), P, rtol=1e-5, atol=1e-6)


def test_without_a_step_it_is_least_squares_over_features_that_stay():
    X, y, weight = rows(600)
    model = model_of(eta=0.0)
    P = model.learn(X, y, weight)
    Z = model.map.transform(X)
    exact = RecursiveLeastSquares(14, 1, 0.1, 1.0)
    np.testing.assert_allclose(P, exact.learn(Z, y[:, None], weight), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("law", LAWS)
def test_it_beats_a_spectrum_that_stays_and_first_order_steps(law):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((6000, 5))
    y = np.cos(2.5 * X[:, 0]) + 0.1 * rng.standard_normal(6000)
    error = {}
    for name, eta, rule in (
        ("learned", 0.01, LeastSquares()), ("fixed", 0.0, LeastSquares()),
        ("steps", 0.01, Gradient(0.5)),
    ):  # fmt: skip
        feature_map = ReparameterizedFeatures(50, learning_rate=eta, law=law)
        model = ExplicitKernelRegressor(map=feature_map, rule=rule, random_state=0)
        before = model.predict_then_learn(X, y)
        error[name] = np.sqrt(np.mean((before - y)[3000:] ** 2))
    assert error["learned"] < 0.6 * error["fixed"]
    assert error["learned"] < 0.9 * error["steps"]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("law", LAWS)
def test_newton_learns_more_than_over_a_spectrum_that_stays(law):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((5000, 5))
    y = np.cos(2.5 * X[:, 0]) + 0.2 * rng.standard_normal(5000) > 0.0
    wrong = []
    for eta in (0.01, 0.0):
        feature_map = ReparameterizedFeatures(50, learning_rate=eta, law=law)
        model = ExplicitKernelClassifier(map=feature_map, rule="newton", random_state=0)
        wrong.append(np.mean((model.predict_then_learn(X, y) != y)[2500:]))
    assert wrong[0] < 0.85 * wrong[1]


def test_what_fits_already_stays():
    """Rounding residuals must not move the spectrum."""
    X = np.random.default_rng(5).standard_normal((600, D))
    model = model_of(rule=LeastSquares(1e-12))
    y = model.map.transform(X) @ np.arange(14.0)
    start = model.map.frequencies_
    model.learn(X, y, np.ones(600))
    np.testing.assert_array_equal(model.map.frequencies_, start)


def test_kept_rows_are_a_uniform_sample_and_no_matter_of_blocks():
    seen = np.zeros(100)
    for seed in range(2000):
        kept = KeptRows(10, 1, float, seed)
        for a, b in ((0, 7), (7, 8), (8, 60), (60, 100)):
            kept.add(np.arange(a, b)[:, None], np.zeros(b - a), np.ones(b - a))
        assert len(set(kept.born)) == 10
        np.testing.assert_array_equal(kept.X[:, 0], kept.born)
        seen[kept.born] += 1
        whole = KeptRows(10, 1, float, seed)
        whole.add(np.arange(100)[:, None], np.zeros(100), np.ones(100))
        np.testing.assert_array_equal(whole.born, kept.born)
    # binomial, 2 000 draws of 1/10: five deviations
    assert np.abs(seen - 200).max() < 5 * np.sqrt(200 * 0.9)


def test_newton_takes_rows_by_their_curvature():
    F, Y = np.array([[0.3], [-2.0]]), np.array([[1.0], [-1.0]])
    curvature, goal, pull = RecursiveNewton(2, 1, 1.0, 1.0).linearized(F, Y, np.array([1.0, 2.0]))
    p = 1 / (1 + np.exp(-F))
    np.testing.assert_allclose(curvature, [1.0, 2.0] * (p * (1 - p))[:, 0])
    np.testing.assert_allclose(pull[:, 0], [1.0 - p[0, 0], -2.0 * p[1, 0]])
    # the goal is the minimum of the curvature's parabola
    np.testing.assert_allclose(curvature * (goal - F)[:, 0], pull[:, 0])
