"""Labels by id: what is predicted and learned is a naive loop's, in whatever order they come."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import LateLabels, OnlineKernelClassifier, OnlineKernelRegressor, StreamModel
from onkel.errors import DataError

N = 250
PARAMS = {"n_components": 15, "speed": "fast"}


def _rows():
    rng = np.random.default_rng(0)
    X, site = rng.normal(size=(N, 2)), rng.integers(0, 3, N)
    y = np.cumsum(rng.normal(size=N)) * 0.3 + X[:, 0] + 4.0 * site
    return X, y, [f"site {s}" for s in site]


@pytest.mark.parametrize("grouped", [False, True])
def test_it_is_the_naive_loop(grouped):
    X, y, site = _rows()
    late, plain = LateLabels(OnlineKernelRegressor(**PARAMS)), OnlineKernelRegressor(**PARAMS)
    order, waiting = np.random.default_rng(1), []
    for t in range(N):
        group = site[t] if grouped else None
        more = {"groups": [group]} if grouped else {}
        ahead = sum(not grouped or site[s] == group for s in waiting)
        learned = t > len(waiting)
        expected = plain.predict_next(X[t : t + 1], ahead, **more)[0] if learned else 0.0
        assert late.predict(t, X[t], group) == expected
        waiting.append(t)
        # labels come in any order
        while len(waiting) > 6 or (waiting and order.uniform() < 0.4):
            s = waiting.pop(int(order.integers(len(waiting))))
            more = {"groups": [site[s]]} if grouped else {}
            plain.partial_fit(X[s : s + 1], y[s : s + 1], **more)
            late.learn(s, y[s])
    assert late.n_waiting == len(waiting)
    assert late.n_forgotten == 0


def test_what_was_predicted_comes_back_with_the_label():
    X, y, _ = _rows()
    labels = np.where(y > np.median(y), "up", "down")
    late = LateLabels(OnlineKernelClassifier(**PARAMS))
    told = [late.predict(t, X[t]) for t in range(3)]
    assert told == [None] * 3
    assert [late.learn(t, labels[t]) for t in range(3)] == told
    for t in range(3, N):
        now = late.predict(t, X[t])
        assert late.learn(t, labels[t]) == now
    assert late.model.n_rows_ == N


def test_the_oldest_rows_are_forgotten_and_counted():
    X = _rows()[0]
    late = LateLabels(OnlineKernelRegressor(**PARAMS), most=10)
    for t in range(15):
        late.predict(t, X[t])
    assert (late.n_waiting, late.n_forgotten) == (10, 5)
    with pytest.raises(DataError, match=r"id 4: no row with this id waits.*5 of more than most=10"):
        late.learn(4, 1.0)
    late.learn(5, 1.0)
    with pytest.raises(DataError, match="id 5: no row with this id waits"):
        late.learn(5, 1.0)
    with pytest.raises(DataError, match="id 6: a row with this id waits"):
        late.predict(6, X[6])
    with pytest.raises(ValueError, match="most=0: must be at least 1"):
        LateLabels(late.model, most=0)


def test_a_bad_row_is_not_kept_and_a_bad_label_leaves_the_row():
    X = _rows()[0]
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict("a", X[0])
    with pytest.raises(DataError):
        late.learn("a", np.nan)
    late.learn("a", 1.0)
    with pytest.raises(DataError):
        late.predict("b", [np.nan, 1.0])
    assert late.n_waiting == 0


def test_a_stream_model_takes_dicts_and_its_groups_column():
    X, y, site = _rows()
    rows = [{"a": a, "b": b, "site": s} for (a, b), s in zip(X.tolist(), site, strict=True)]
    tables = [[dict(rows[t], y=y[t])] for t in range(N)]
    late = LateLabels(StreamModel(OnlineKernelRegressor(**PARAMS)))
    late.model.partial_fit(tables[0], target="y", group="site")
    plain = StreamModel(OnlineKernelRegressor(**PARAMS))
    plain.partial_fit(tables[0], target="y", group="site")
    for t in range(1, 120):
        told = late.predict(t, rows[t])
        assert told == plain.predict_next(rows[t])[0]
        assert late.learn(t, y[t]) == told
        plain.partial_fit(tables[t])
    assert late.model.estimator.memory_.grouped
