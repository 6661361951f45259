"""Replaying rows over a new map: they are summed if their predictions are not needed."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.exact.least_squares import ANCHOR_ROWS, RecursiveLeastSquares
from onkel.explicit.ahead import Replay
from onkel.learners import KernelRLSRegressor


def fitted(forgetting=1.0, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model = KernelRLSRegressor(
        n_components=20, gamma=0.3, forgetting=forgetting, n_warmup=60, **options
    )
    return model.partial_fit(X, X[:, 0]).model_


def rows(n, weights, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    weight = {
        "one": np.ones(n),
        "several": rng.random(n) + 0.5,
        "zeros": rng.integers(0, 2, n) * 1.0,
    }
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n), weight[weights]


@pytest.mark.parametrize("weights", ["one", "several", "zeros"])
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_it_is_learning_in_order(weights, forgetting, monkeypatch):
    summed = []
    add = RecursiveLeastSquares.factor_anew
    X, y, weight = rows(3 * ANCHOR_ROWS + 17, weights)
    expected, model = fitted(forgetting), fitted(forgetting)
    for each in (expected, model):
        each._reset()
    expected._learn_in_order(X, y, weight, np.zeros((len(y), 1)))
    monkeypatch.setattr(
        RecursiveLeastSquares, "factor_anew", lambda self: (summed.append(1), add(self))
    )
    replay = model.replay()
    for start in range(0, len(X), ANCHOR_ROWS):
        some = slice(start, start + ANCHOR_ROWS)
        replay.learn(X[some], y[some], weight[some])
    replay.finish()
    assert isinstance(replay, Replay)
    # three periods and a part of one are factored once
    once = forgetting == 1.0 and weights != "zeros"
    assert len(summed) == int(once)
    matrix, other = model.weights.matrix, expected.weights.matrix
    found, wanted = matrix.get_state(), other.get_state()
    for name in ("R", "b", "z_sum", "noise"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(matrix.weights(), other.weights(), rtol=1e-9, atol=1e-9)
    assert matrix.since.count == (0 if once else other.since.count)
    np.testing.assert_allclose(model.weights.W, expected.weights.W, rtol=1e-9, atol=1e-12)
    assert np.array_equal(model.weights.state, expected.weights.state)


def test_rows_are_summed_again_after_some_that_were_not():
    """Rows of no weight are learned in order; what they and those before explain counts once."""
    X, y, weight = rows(4 * ANCHOR_ROWS, "several")
    # as many rows as are summed at once count in the second and third parts together
    weight[ANCHOR_ROWS : 3 * ANCHOR_ROWS : 2] = 0.0
    expected, model = fitted(), fitted()
    for each in (expected, model):
        each._reset()
    expected._learn_in_order(X, y, weight, np.zeros((len(y), 1)))
    replay, summed = model.replay(), []
    for start in range(0, len(X), ANCHOR_ROWS):
        some = slice(start, start + ANCHOR_ROWS)
        summed.append(model.weights.matrix.can_sum(weight[some]))
        replay.learn(X[some], y[some], weight[some])
    replay.finish()
    assert summed == [True, False, False, True]
    found, wanted = (of.weights.matrix.get_state() for of in (model, expected))
    for name in ("R", "b", "z_sum", "noise"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.weights.state, expected.weights.state)
