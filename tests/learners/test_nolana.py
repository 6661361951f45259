"""NOLANA against a naive NumPy version: no blocks, float64, eigenpairs from scratch."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from onkel import make
from onkel.learners import ExplicitKernelRegressor, NOLANAClassifier, NOLANARegressor
from onkel.maps import AdaptiveNystroem
from onkel.rules import AdaGrad, LeastSquares

N, D, B, K = 160, 3, 12, 8
GAMMA, THRESHOLD, THETA, ETA = 0.4, 0.5, 1e-3, 0.4
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)) + np.repeat([[0.0, 0, 0], [2, 0, 0]], N // 2, 0)
Y = np.sin(2.0 * X[:, 0]) * X[:, 1]
SETTINGS = {"n_components": B, "rank": K, "gamma": GAMMA, "threshold": THRESHOLD, "theta": THETA}
SETTINGS |= {"solver": "scratch", "weighted": False}


def kernel(A, S):
    return np.exp(-GAMMA * ((A[:, None] - S[None]) ** 2).sum(axis=-1))


def factor(S):
    """U Λ^-½ of equation 7; a jitter keeps it finite."""
    E = kernel(S, S)
    values, U = np.linalg.eigh(E + 1e-11 * np.trace(E) * np.eye(len(S)))
    return (U / np.sqrt(values))[:, ::-1][:, :K]


def ridge(A, C, theta):
    return np.linalg.solve(A.T @ A + theta * np.eye(A.shape[1]), A.T @ C)


def nolana(step, carry, w, weighted=False, expire=None, weight=None):
    """Algorithm 2, rows one by one; returns the scores before each was learned, and S."""
    weight = np.ones(N) if weight is None else weight
    S, count, last = X[:B].copy(), np.ones(B), np.zeros(B)
    P, scores = factor(S), []
    for t, x in enumerate(X):
        z = kernel(x[None], S)[0] @ P
        scores.append(z @ w)
        w = step(w, z, t, weight[t])
        q = np.argmin(((S - x) ** 2).sum(axis=1))
        mass = weight[t] if weighted else 1.0
        if ((S[q] - x) ** 2).sum() >= THRESHOLD:
            old, old_P = S.copy(), P
            if expire and t + 1 - last.min() > expire:
                q = np.argmin(last)
                count[q] = 0.0
            S[q] = (count[q] * S[q] + mass * x) / (count[q] + mass)
            count[q] += mass
            P = factor(S)
            w = carry(w, kernel(S, old) @ old_P, kernel(S, S) @ P)
        elif weighted:
            count[q] += mass
        last[q] = t + 1
    return np.array(scores), S


def gradient(loss):
    def step(w, z, t, weight):
        y, p = (Y[t] if loss == "squared" else np.sign(Y[t])), z @ w
        c = {
            "squared": y - p,
            "hinge": y * (y * p < 1),
            "logistic": y / (1 + np.exp(y * p)),
        }[loss]
        return w + ETA * weight * c * z

    return step


def carried(w, old, new):
    """Equation 12."""
    return ridge(new, old @ w, THETA)


def learned(model, weight=None):
    y = Y if isinstance(model, (NOLANARegressor, ExplicitKernelRegressor)) else Y > 0
    more = {} if y is Y else {"classes": [False, True], "return_scores": True}
    cuts = [0, 1, 30, 64, 150, N]
    return np.concatenate(
        [
            model.predict_then_learn(
                X[a:b], y[a:b], sample_weight=None if weight is None else weight[a:b], **more
            )
            for a, b in itertools.pairwise(cuts)
        ]
    )


def check(model, oracle, weight=None):
    """The model's landmarks are set once the first B rows are replayed: compare from there on."""
    expected, S = oracle
    scores = learned(model, weight)
    assert np.abs(expected[B:]).max() > 0.1
    np.testing.assert_allclose(scores[B:], expected[B:], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.map_.landmarks_, S, rtol=1e-12)
    assert 20 < model.map_.n_moves_ < N


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_algorithm_2(loss):
    cls = NOLANARegressor if loss == "squared" else NOLANAClassifier
    model = cls(**SETTINGS, loss=loss, learning_rate=ETA, dtype="float64")
    check(model, nolana(gradient(loss), carried, np.zeros(K)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("expire", [None, 15])
def test_extensions(weighted, expire):
    rng = np.random.default_rng(1)
    weight = rng.choice([0.5, 1.0, 2.0], N)
    params = SETTINGS | {"weighted": weighted, "expire": expire}
    model = NOLANARegressor(**params, learning_rate=0.2, dtype="float64")
    step = gradient("squared")
    oracle = nolana(
        lambda w, z, t, v: step(w, z, t, 0.5 * v), carried, np.zeros(K), weighted, expire, weight
    )
    check(model, oracle, weight)


def test_adagrad_carries_its_sums_of_squares():
    H = np.zeros(K)

    def step(w, z, t, weight):
        nonlocal H
        g = -(Y[t] - z @ w) * z
        H = H + g**2
        return w - 0.3 * g / (np.sqrt(H) + 1e-8)

    def carry(w, old, new):
        nonlocal H
        H = ridge(new, old, THETA) ** 2 @ H
        return carried(w, old, new)

    oracle = nolana(step, carry, np.zeros(K))
    moving = AdaptiveNystroem(**SETTINGS)
    check(ExplicitKernelRegressor(map=moving, rule=AdaGrad(0.3), dtype="float64"), oracle)
    named = NOLANARegressor(**SETTINGS, learning_rate=0.3, schedule="adagrad", dtype="float64")
    check(named, oracle)


def test_least_squares_is_ridge_regression_on_the_features_as_carried():
    seen, labels = np.empty((0, K)), []

    def step(w, z, t, weight):
        nonlocal seen
        seen = np.vstack([seen, z])
        labels.append(Y[t])
        return ridge(seen, np.array(labels), 0.1)

    def carry(w, old, new):
        nonlocal seen
        seen = seen @ ridge(old, new, THETA)
        return ridge(seen, np.array(labels), 0.1)

    model = ExplicitKernelRegressor(
        map=AdaptiveNystroem(**SETTINGS), rule=LeastSquares(ridge=0.1), dtype="float64"
    )
    check(model, nolana(step, carry, np.zeros(K)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("params", [{"weighted": False}, {"expire": 20}])
def test_landmarks_move_the_same_however_the_rows_are_cut(dtype, params):
    """With whole numbers, rows lie midway between two landmarks, or exactly at the threshold."""
    rows = np.random.default_rng(0).integers(-3, 4, (600, 4)).astype(dtype)
    rows[:, 0] += 1000.0
    y = rows[:, 1] * rows[:, 2] > 0
    found = []
    for cut in (1, 7, 100, 600):
        model = NOLANAClassifier(n_components=20, gamma=0.1, threshold=3.0, dtype=dtype, **params)
        for a in range(0, 600, cut):
            model.partial_fit(rows[a : a + cut], y[a : a + cut], classes=[False, True])
        found.append(model)
    for model in found[1:]:
        assert model.map_.n_moves_ == found[0].map_.n_moves_ > 50
        np.testing.assert_array_equal(model.map_.landmarks_, found[0].map_.landmarks_)
        np.testing.assert_array_equal(model.map_.projection_, found[0].map_.projection_)


def test_a_threshold_out_of_reach_is_plain_nystroem():
    from onkel.learners import ExplicitKernelClassifier
    from onkel.maps import NystroemFeatures

    still = AdaptiveNystroem(B, K, gamma=GAMMA, threshold=1e9)
    plain = NystroemFeatures(B, K, gamma=GAMMA)
    one, other = (
        ExplicitKernelClassifier(map=m, dtype="float64").fit(X, Y > 0).decision_function(X)
        for m in (still, plain)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert np.abs(one).max() > 0.5


@pytest.mark.parametrize("name", ["laplacian", "polynomial", "cauchy", "matern32"])
def test_other_kernels(name):
    model = NOLANARegressor(
        n_components=B, kernel=name, gamma=0.2, threshold=0.5, learning_rate=0.02
    )
    model.set_params(dtype="float64").fit(X, Y)
    m = model.map_
    Z = m.transform(m.landmarks_)
    K_exact = m.kernel_rows(m.landmarks_, m.landmarks_)
    assert np.linalg.norm(Z @ Z.T - K_exact) < 0.1 * np.linalg.norm(K_exact)
    assert m.n_moves_ > 20


def test_a_number_of_iterations_that_no_row_would_end_is_refused():
    with pytest.raises(ValueError, match=r"n_iter=1099511627776 must be .* from 1 to 1000"):
        make("nolana", "regression", n_iter=2**40).fit(np.eye(4), np.arange(4.0))


@pytest.mark.slow
def test_heavy_tails_in_float32_do_not_depend_on_blocks():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(1500, 3)), np.exp(3 * rng.normal(size=(1500, 3)))])
    X, y = X.astype(np.float32), X[:, 0] * X[:, 1] > 0
    found = []
    for size in (1500, 100, 7):
        model = NOLANAClassifier(n_components=30, rank=20, loss="logistic", dtype="float32")
        blocks = (slice(a, a + size) for a in range(0, 1500, size))
        parts = [model.predictions_then_learn(X[block], y[block]).scores for block in blocks]
        assert model.model_.map.n_moves_ > 20
        found.append(np.concatenate(parts))
    # features are products of so many rows: their last digits depend on their number
    np.testing.assert_allclose(found[1], found[0], atol=5e-6)
    np.testing.assert_allclose(found[2], found[0], atol=5e-6)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("heavy", ["Cauchy", "lognormal"])
def test_blocks_change_no_score_of_raw_columns_with_heavy_tails(heavy):
    rng = np.random.default_rng(3)
    X = {"Cauchy": rng.standard_cauchy, "lognormal": partial(rng.lognormal, 0.0, 3.0)}[heavy](
        size=(900, 6)
    )
    y = np.tanh(X[:, 0]) + 0.3 * np.sign(X[:, 1] - 1.0) + 0.1 * rng.normal(size=900)
    scores, next_ = [], []
    for rows in (1, 7, 100, 900):
        model = NOLANARegressor(dtype="float32")
        parts = [slice(a, a + rows) for a in range(0, 900, rows)]
        next_.append(np.concatenate([model.predict_then_learn(X[p], y[p]) for p in parts]))
        scores.append(model.predict(X[:200]))
    assert np.std(scores[0]) > 0.1
    # the rounding of float32 alone
    for found in (scores, next_):
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=2e-4)
