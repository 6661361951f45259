"""Least squares by blocks against the recursion of one row, and against batch ridge regression."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from onkel.exact import least_squares
from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.exact.matrices import RowsSince
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps import FourierFeatures, IdentityFeatures, NystroemFeatures
from onkel.numerics.linalg import BlockFactor, cholesky_upper
from onkel.numerics.threads import Line
from onkel.rules import LeastSquares


def recursion(Z, Y, weight, ridge, forgetting):
    """Every row from scratch, in float64: rows fade, the penalty does not."""
    R, b, predictions = np.zeros((Z.shape[1],) * 2), np.zeros((Z.shape[1], Y.shape[1])), []
    for z, y, w in zip(Z, Y, weight, strict=True):
        predictions.append(np.linalg.solve(R + ridge * np.eye(len(R)), b).T @ z)
        if w > 0.0:
            R, b = forgetting * R + w * np.outer(z, z), forgetting * b + w * np.outer(z, y)
    return np.array(predictions), np.linalg.solve(R + ridge * np.eye(len(R)), b).T


def ridge_regression(Z, Y, weight, ridge):
    R = (Z * weight[:, None]).T @ Z + ridge * np.eye(Z.shape[1])
    return np.linalg.solve(R, (Z * weight[:, None]).T @ Y).T


def model_of(n_outputs=1, ridge=0.01, forgetting=1.0, d=6, feature_map=None):
    feature_map = feature_map or IdentityFeatures()
    feature_map.start(d, "float64")
    return ExplicitModel(feature_map, LeastSquares(ridge, forgetting), Loss.SQUARED, 0.0, n_outputs)


def rows(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    weight = rng.uniform(0.2, 2.0, n) * (rng.random(n) > 0.1)
    return X, y, weight


def test_a_factor_that_falls_due_with_a_single_row_uses_one_thread(monkeypatch):
    threads, factor_of = [], BlockFactor.of

    def watched(R):
        threads.extend(own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas")
        return factor_of(R)

    X, y, weight = rows()
    model = model_of()
    monkeypatch.setattr(BlockFactor, "of", watched)
    with threadpool_limits(2, user_api="blas"):
        for t in range(300):
            model.learn(X[t : t + 1], y[t : t + 1], weight[t : t + 1])
    assert set(threads) == {1}


@pytest.mark.parametrize("forgetting", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("block", [1, 7, 300])
def test_blocks_are_the_recursion(block, forgetting):
    X, y, weight = rows()
    model = model_of(forgetting=forgetting)
    P = np.concatenate(
        [
            model.learn(X[a : a + block], y[a : a + block], weight[a : a + block])
            for a in range(0, 300, block)
        ]
    )
    Z = np.c_[X, np.ones(300)]
    expected, W = recursion(Z, y[:, None], weight, 0.01, forgetting)
    np.testing.assert_allclose(P, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.coef, W, rtol=1e-6)


@pytest.mark.parametrize("forgetting", [1.0, 0.999])
@pytest.mark.parametrize("rows", [257, 300, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_threads_learn_the_same_bits_as_one(forgetting, rows, weighted, monkeypatch):
    monkeypatch.setattr(least_squares, "_LARGE", 0.0)
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((rows, 20)), rng.standard_normal((rows, 2))
    weight = rng.uniform(0.5, 2.0, rows) if weighted else np.ones(rows)
    one, two = (RecursiveLeastSquares(20, 2, 0.1, forgetting) for _ in range(2))
    # they begin between two anchors
    for model in (one, two):
        model.learn(Z[:30], Y[:30], weight[:30])
    each, first = one.block_rows(256)
    assert two.is_shared(each)
    cuts = pairwise([30, *range(30 + first, rows, each), rows])
    parts = [(Z[a:b], Y[a:b], weight[a:b]) for a, b in cuts]
    expected = [one.learn(*part) for part in parts]
    with closing(Line()) as line:
        for found, wanted in zip(two.learn_shared(iter(parts), line), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    state = two.get_state()
    for name, value in one.get_state().items():
        np.testing.assert_array_equal(state[name], value)


@pytest.mark.parametrize("forgetting", [0.95, 0.98, 0.999])
def test_the_penalty_stays_while_rows_fade(forgetting):
    """At every row the error is at most 1.5 times the effect of a 5 % change of the penalty."""
    X, y, weight = rows(900, 30)
    y = y / y.std()
    P = model_of(ridge=3.0, forgetting=forgetting, d=30).learn(X, y, weight)[:, 0]
    Z, Y = np.c_[X, np.ones(900)], y[:, None]
    exact, low, high = (
        recursion(Z, Y, weight, r, forgetting)[0][:, 0] for r in (3.0, 3.0 / 1.05, 3.0 * 1.05)
    )
    apart = np.maximum(np.abs(low - exact), np.abs(high - exact))
    assert (np.abs(P - exact) <= 1.5 * apart + 1e-9).all()
    assert np.abs(P - exact).max() < 0.02


@pytest.mark.parametrize("forgetting", [0.9, 0.95])
def test_errors_do_not_grow_towards_an_anchor(forgetting):
    """Fewer rows in memory than features: only the penalty keeps predictions down."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((256 * 8, 40))
    y = 0.75 * np.sin(X[:, 0])
    P = model_of(ridge=10.0, forgetting=forgetting, d=40).learn(X, y, np.ones(len(y)))[:, 0]
    squares = ((P - y) ** 2).reshape(8, 256)[1:]
    assert np.abs(P).max() < 2.0
    assert squares[:, 128:].mean() < 1.2 * squares[:, :64].mean()


def test_many_features_keep_the_penalty_within_a_quarter():
    rng = np.random.default_rng(1)
    Z, Y = rng.standard_normal((300, 150)), rng.standard_normal((300, 1))
    matrix = least_squares.RecursiveLeastSquares(150, 1, 20.0, 0.95)
    assert matrix.period > 1
    P = matrix.learn(Z, Y, np.ones(300))
    expected = recursion(Z, Y, np.ones(300), 20.0, 0.95)[0]
    assert np.sqrt(np.mean((P - expected) ** 2)) < 0.1 * np.sqrt(np.mean(expected**2))


def test_every_prediction_is_that_of_batch_ridge_on_the_rows_before():
    X, y, _ = rows(60)
    P = model_of().learn(X, y, np.ones(60))
    Z = np.c_[X, np.ones(60)]
    for t in range(60):
        w = ridge_regression(Z[:t], y[:t, None], np.ones(t), 0.01)
        assert P[t, 0] == pytest.approx(float(w[0] @ Z[t]), rel=1e-6, abs=1e-9)


def test_a_zero_weight_changes_nothing():
    X, y, weight = rows()
    used = weight > 0.0
    assert not used.all()
    all_rows, some_rows = model_of(), model_of()
    all_rows.learn(X, y, weight)
    some_rows.learn(X[used], y[used], weight[used])
    np.testing.assert_allclose(all_rows.coef, some_rows.coef, rtol=1e-10)


@pytest.mark.parametrize("start", [1, 3])
def test_a_class_in_mid_stream_is_batch_ridge_on_indicators(start):
    X, _, weight = rows()
    codes = np.random.default_rng(1).integers(2 if start == 1 else 3, size=300)
    model = model_of(start)
    model.learn(X[:200], 2.0 * codes[:200] - 1 if start == 1 else codes[:200].astype(float),
                weight[:200])  # fmt: skip
    model.add_output(1)
    late = np.where(codes >= 1, codes + 1, codes)
    late[250:] = 1
    model.learn(X[200:], late[200:].astype(float), weight[200:])
    indicators = (late[:, None] == np.arange(model.n_outputs)).astype(float)
    expected = ridge_regression(np.c_[X, np.ones(300)], indicators, weight, 0.01)
    np.testing.assert_allclose(model.coef, expected, atol=1e-8)


def test_few_rows_are_predicted_without_the_weights():
    rng = np.random.default_rng(0)
    Z, codes = rng.standard_normal((100, 6)), rng.integers(4, size=100)
    matrix = RecursiveLeastSquares(6, 4, 0.1, 1.0)
    matrix.learn(Z, np.eye(4)[codes], np.ones(100))
    np.testing.assert_allclose(matrix.predictions(Z[:3]), Z[:3] @ matrix.weights(), atol=1e-12)


def test_a_class_leaves_the_factor_and_its_rows_as_they_are():
    rng = np.random.default_rng(0)
    Z, codes = rng.standard_normal((100, 6)), rng.integers(4, size=100)
    late, early = RecursiveLeastSquares(6, 4, 0.1, 1.0), RecursiveLeastSquares(6, 5, 0.1, 1.0)
    Y = np.insert(np.eye(4)[codes], 2, 0.0, axis=1)
    late.learn(Z, np.eye(4)[codes], np.ones(100))
    late.add_output(2)
    assert late.since.count == 100
    early.learn(Z, Y, np.ones(100))
    for matrix in (late, early):
        matrix.learn(Z[::-1], np.roll(Y, 1, axis=1), np.ones(100))
    np.testing.assert_allclose(late.weights(), early.weights(), atol=1e-12)


def test_long_ill_conditioned_stream_stays_batch_ridge():
    """200 000 rows whose columns span ten orders of magnitude, in float32."""
    rng = np.random.default_rng(2)
    n, d = 200_000, 12
    X = (rng.standard_normal((n, d)) * np.logspace(-5, 5, d)).astype(np.float32)
    X[:, 1] = X[:, 0] * np.float32(1.0001)
    y = X @ np.logspace(5, -5, d) + rng.standard_normal(n)
    model = model_of(d=d, feature_map=IdentityFeatures(False), ridge=1e-3)
    for a in range(0, n, 4096):
        model.learn(X[a : a + 4096].astype(float), y[a : a + 4096], np.ones(len(y[a : a + 4096])))
    Z = X.astype(np.longdouble)
    R = (Z.T @ Z).astype(float) + 1e-3 * np.eye(d)
    expected = np.linalg.solve(R, (Z.T @ y).astype(float))
    fitted, best = X @ model.coef[0], X @ expected
    assert np.abs(fitted - best).max() < 1e-3 * np.abs(best).std()


def test_forgetting_follows_a_change_and_stays_finite():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60_000, 6))
    X[30_000:, 3:] = 0.0  # half of the directions get no more data
    y = X @ np.arange(6.0)
    y[30_000:] *= -1
    model = model_of(forgetting=0.99)
    P = model.learn(X, y, np.ones(len(y)))
    assert np.isfinite(P).all()
    assert np.abs(P[-1000:, 0] - y[-1000:]).max() < 1e-3


def test_variance_is_calibrated():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((4000, 6))
    y = X @ np.arange(6.0) + 0.5 * rng.standard_normal(4000)
    model = model_of()
    model.learn(X[:3000], y[:3000], np.ones(3000))
    error = (y[3000:] - model.scores(X[3000:])[:, 0]) / np.sqrt(model.variance(X[3000:]))
    assert error.std() == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("anchor", [1, 100, 10_000])
def test_anchors_leave_the_solution(anchor, monkeypatch):
    X, y, weight = rows(2000)
    expected = model_of()
    before = expected.learn(X, y, weight)
    monkeypatch.setattr(least_squares, "ANCHOR_ROWS", anchor)
    model = model_of()
    np.testing.assert_allclose(model.learn(X, y, weight), before, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.coef, expected.coef, rtol=1e-8)


@pytest.mark.parametrize("cut", [1, 37, 300])
def test_anchors_fall_on_row_numbers(cut, monkeypatch):
    monkeypatch.setattr(least_squares, "ANCHOR_ROWS", 50)
    X, y, weight = rows()
    whole, parts = model_of(forgetting=0.999), model_of(forgetting=0.999)
    assert whole.weights.matrix.period == 50
    whole.learn(X, y, weight)
    for a in range(0, 300, cut):
        parts.learn(X[a : a + cut], y[a : a + cut], weight[a : a + cut])
    np.testing.assert_allclose(parts.coef, whole.coef, rtol=1e-7)
    since = [model.weights.matrix.since.count for model in (parts, whole)]
    assert since == [np.count_nonzero(weight) % 50] * 2


@pytest.mark.parametrize("forgetting", [0.5, 1e-3])
def test_strong_forgetting_stays_finite(forgetting):
    X, y, _ = rows(2000)
    model = model_of(forgetting=forgetting)
    assert model.weights.matrix.period == 1
    P = model.learn(X, y, np.ones(len(y)))
    assert np.isfinite(P).all()
    assert np.isfinite(model.coef).all()


def test_the_prior_is_the_penalty():
    rng = np.random.default_rng(5)
    Z, Y = rng.standard_normal((400, 8)), rng.standard_normal((400, 2))
    A = rng.standard_normal((8, 8))
    prior = A @ A.T + np.eye(8)
    exact = least_squares.RecursiveLeastSquares(8, 2, 0.5, 1.0, prior)
    exact.learn(Z, Y, np.ones(400))
    W = exact.weights()
    np.testing.assert_allclose(W, np.linalg.solve(Z.T @ Z + 0.5 * prior, Z.T @ Y), rtol=1e-8)


def test_maps_it_cannot_begin_over_and_parameters_it_cannot_have():
    with pytest.raises(ValueError, match="landmarks='first'"):
        model_of(feature_map=NystroemFeatures(5, gamma=1.0, landmarks="support"))
    with pytest.raises(ValueError, match=r"forgetting=1\.5 must be above 0 and at most 1"):
        model_of(forgetting=1.5)


def blocks_of(model, n):
    return model.training.sub_blocks(n)


def test_block_size_keeps_the_exact_rule_in_cache():
    model = model_of(feature_map=FourierFeatures(10, gamma=1.0, random_state=0))
    assert max(b - a for a, b in blocks_of(model, 1000)) == model.weights.matrix.period


def test_blocks_end_at_anchors_so_that_none_is_solved_in_two_parts():
    model = model_of(feature_map=FourierFeatures(10, gamma=1.0, random_state=0))
    rng = np.random.default_rng(0)
    model.learn(rng.normal(size=(100, 6)), np.ones(100), np.ones(100))
    first, second, *_ = blocks_of(model, 1000)
    assert first == (0, model.weights.matrix.period - 100)
    assert second[1] - second[0] == model.weights.matrix.period
    assert blocks_of(model, 5) == [(0, 5)]
    assert blocks_of(model, 0) == []


@pytest.mark.parametrize("m", [3, 48, 150])
@pytest.mark.parametrize("n", [1, 40])
def test_a_factor_in_blocks_is_the_factor(m, n):
    rng = np.random.default_rng(0)
    A, Z = rng.normal(size=(2 * m, m)), rng.normal(size=(n, m))
    R = np.asfortranarray(A.T @ A)
    C, factor = cholesky_upper(R), BlockFactor.of(np.asfortranarray(np.triu(R)))
    np.testing.assert_allclose(factor.C, C, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.tril(factor.C, -1), 0.0)
    tight = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(C.T @ factor.transposed(Z), Z.T, **tight)
    np.testing.assert_allclose(C @ factor.back(Z.T), Z.T, **tight)
    np.testing.assert_allclose(R @ factor.solve(Z.T), Z.T, rtol=1e-9, atol=1e-10)
    again = BlockFactor(factor.C)
    np.testing.assert_array_equal(again.transposed(Z), factor.transposed(Z))


@pytest.mark.parametrize("rank", [1, 60])
def test_a_factor_in_blocks_is_not_stopped_by_rounding(rank):
    columns = np.random.default_rng(0).normal(size=(100, rank))
    R = np.asfortranarray(columns @ columns.T)
    factor = BlockFactor.of(R)
    np.testing.assert_allclose(factor.C.T @ factor.C, R, atol=1e-10)


def test_rows_since_the_anchor_stay_when_their_room_grows():
    rng = np.random.default_rng(0)
    U, v = rng.normal(size=(5, 100)), rng.normal(size=(100, 2))
    L = np.linalg.cholesky(U.T @ U + np.eye(100))
    since = RowsSince(5, 2, 100)
    for a, b in ((0, 1), (1, 30), (30, 33), (33, 34), (34, 100)):
        since.append(U[:, a:b], L[a:b, :a], L[a:b, a:b], v[a:b])
        np.testing.assert_array_equal(since.U, U[:, :b])
        np.testing.assert_array_equal(since.L, L[:b, :b])
        np.testing.assert_array_equal(since.v, v[:b])
    few = RowsSince(5, 2, 100)
    few.append(U[:, :3], L[:3, :0], L[:3, :3], v[:3])
    assert few._L.nbytes < since._L.nbytes / 5


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_products_on_a_device_are_those_of_the_processor(forgetting, n_outputs, on_device):
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((700, 60)), rng.standard_normal((700, n_outputs))
    weight = rng.uniform(0.2, 2.0, 700) * (rng.random(700) > 0.1)
    here, there = (
        RecursiveLeastSquares(60, n_outputs, 0.1, forgetting, None, device)
        for device in (None, on_device)
    )
    for a in (0, 100, 101, 110, 300):
        b = {0: 100, 100: 101, 101: 110, 110: 300, 300: 700}[a]
        P, Q = (one.learn(Z[a:b], Y[a:b], weight[a:b]) for one in (here, there))
        np.testing.assert_allclose(Q, P, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.weights(), here.weights(), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.triu(there.sums.R), np.triu(here.sums.R), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(np.tril(there.sums.R, -1), np.tril(here.sums.R, -1))
