"""After a refused row every learner continues as if the row had not come."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise

import numpy as np
import pytest

from onkel import ALGORITHMS, make
from onkel.errors import DataError

N, START, BAD = 140, 100, 104
CASES = [(name, task) for name, row in ALGORITHMS.items() for task in row.tasks]
OUTLIERS = [
    *(("X", size) for size in (1e3, 1e6, 1e9, 1e18)),
    *(("weight", size) for size in (1e12, 1e200)),
    *(("y", size) for size in (1e12, 1e18)),
]
# the default's search for landmarks takes a second per model
FEW = {"okl": [("X", 1e18), ("weight", 1e200), ("weight", 1e12), ("y", 1e18)]}


def stream(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)).astype(np.float32)
    y = {
        "regression": np.sin(X[:, 0]) + 0.5 * X[:, 1],
        "binary": (X[:, 0] * X[:, 1] > 0.0).astype(int),
        "multiclass": np.digitize(X[:, 0], [-0.7, 0.7]),
    }[task]
    return X, y, np.ones(N)


def learner(name, task):
    model = make(name, task)
    small = {"budget": 30, "n_components": 30, "n_warmup": 50, "random_state": 0, "speed": "fast"}
    return model.set_params(**{k: v for k, v in small.items() if k in model.get_params()})


def begun(name, task):
    """A learner of the first START rows, all good; tests continue with copies of it."""
    X, y, _ = stream(task)
    return learner(name, task).partial_fit(X[:START], y[:START])


def learn(model, X, y, weight, size, leave_out=None):
    """Learn in blocks that end before and after the row BAD; return the refused rows."""
    cuts = [START, *range(START + size, N, size), N]
    refused = []
    for a, b in pairwise(cuts):
        while a < b:
            stop = BAD if leave_out and a < BAD < b else b
            try:
                if not (leave_out and a == BAD):
                    model.partial_fit(X[a:stop], y[a:stop], sample_weight=weight[a:stop])
            except DataError as error:
                stop = a + error.row + 1
                refused.append(stop - 1)
            a = BAD + 1 if leave_out and a == BAD else stop
    return refused


def differing(a, b, name="state"):
    """The names of the entries that differ in two states."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [*a, *(key for key in b if key not in a)]
        return [each for key in keys for each in differing(a.get(key), b.get(key), f"{name}.{key}")]
    return [] if np.array_equal(a, b) else [name]


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.parametrize("size", [1, 64])
def test_an_outlier_is_learned_or_leaves_no_trace(name, task, size):
    X, y, weight = stream(task)
    start, expected = begun(name, task), None
    for kind, value in FEW.get(name, OUTLIERS):
        if kind == "y" and task != "regression":
            continue
        columns = {"X": X.copy(), "y": y.copy(), "weight": weight.copy()}
        columns[kind][BAD] = value
        model = copy.deepcopy(start)
        refused = learn(model, **columns, size=size)
        where = f"{kind} = {value:g}: refused {refused[:4]}"
        assert refused in ([], [BAD]), where
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(model.model_.scores(X[:20])).all(), where
        if refused:
            if expected is None:
                expected = copy.deepcopy(start)
                learn(expected, X, y, weight, size, leave_out=True)
            assert differing(model.get_state(), expected.get_state()) == [], where


def test_one_row_calls_stay_finite_where_steps_are_too_large():
    X, y, _ = stream("regression")
    model = make("ogd", "regression", learning_rate=1e30, schedule="constant")
    learn_all = lambda: [model.partial_fit(X[t : t + 1], y[t : t + 1]) for t in range(N)]  # noqa: E731
    with pytest.raises(DataError, match="diverge"):
        learn_all()
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict(X)).all()


def test_a_class_whose_first_row_is_refused_is_not_added():
    X, y, _ = stream("binary")
    model = make("nolana", "multiclass", n_components=20).partial_fit(X[:100], y[:100])
    before, bad = model.get_state(), X[100:101].copy()
    bad[:] = 1e9
    with pytest.raises(DataError, match="diverge"):
        model.partial_fit(bad, [7])
    assert differing(model.get_state(), before) == []
    model.partial_fit(X[100:], y[100:])


def test_a_refused_row_of_river_leaves_the_model():
    from onkel.compat.river import RiverRegressor

    params = {"learning_rate": 1e38, "random_state": 0, "gamma": 0.5}
    model = RiverRegressor(make("fogd", "regression", **params))
    rows = [({"a": float(t % 5), "b": 1.0}, float(t)) for t in range(50)]
    learn_all = lambda: [model.learn_one(x, target) for x, target in rows]  # noqa: E731
    with pytest.raises(DataError, match="diverge"):
        learn_all()
    assert np.isfinite(model.model.coef_).all()
    with pytest.raises(DataError, match=r"weight 1e\+200 is too large"):
        model.learn_one(*rows[0], w=1e200)


def test_a_learner_whose_first_row_is_refused_has_not_begun():
    model = make("fogd", "regression")
    with pytest.raises(DataError, match="row 0"):
        model.partial_fit([[0.0, np.nan], [1.0, 2.0]], [1.0, 2.0])
    assert not hasattr(model, "model_")
    # rows of another number of columns may come first
    model.partial_fit([[0.0, 1.0, 2.0]], [1.0])
    assert model.n_rows_ == 1
