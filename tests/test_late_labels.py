"""Labels by id: what is predicted and learned is a naive loop's, in whatever order they come."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from onkel import LateLabels, OnlineKernelClassifier, OnlineKernelRegressor, StreamModel, load
from onkel.errors import DataError, ModelFileError

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


@pytest.mark.parametrize("named", [False, True])
def test_a_saved_one_goes_on_with_the_rows_that_wait(named, tmp_path):
    X, y, site = _rows()

    def row(t):
        when = datetime(2024, 1, 1) + timedelta(hours=t)
        return {"a/b": X[t, 0], "b": X[t, 1], "site": site[t], "when": when} if named else X[t]

    learner = OnlineKernelRegressor(**PARAMS)
    late = LateLabels(StreamModel(learner) if named else learner, most=9)
    for t in range(60):
        late.predict(t if t % 2 else f"order {t}", row(t))
        if t >= 5:
            late.learn(t - 5 if (t - 5) % 2 else f"order {t - 5}", y[t - 5])
    for t in range(60, 70):
        late.predict(t, row(t))
    late.save(tmp_path / "late.onkel")
    copy = load(tmp_path / "late.onkel")
    assert copy.n_waiting == late.n_waiting == 9
    assert copy.n_forgotten == late.n_forgotten == 6
    for t in (68, 61, 69, 62):
        assert copy.learn(t, y[t]) == late.learn(t, y[t])
    assert copy.predict("next", row(70)) == late.predict("next", row(70))
    with pytest.raises(DataError, match="was never predicted"):
        copy.learn("order 0", 1.0)


def test_what_cannot_be_saved_is_named(tmp_path):
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict((1, 2), [0.0, 1.0])
    with pytest.raises(TypeError, match=r"id \(1, 2\): tuple cannot be written"):
        late.save(tmp_path / "late.onkel")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [{"ids": ["a", "a"]}, {"ids": None}, {"groups": []}, {"X": None}, {"predicted": [[1.0]] * 2},
     {"X": np.zeros(2)}],
)  # fmt: skip
def test_a_state_that_is_none_is_refused(change, tmp_path):
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict("a", [0.0, 1.0])
    late.predict("b", [0.0, 1.0])
    state = late.get_state()
    state["waiting"] |= change
    late.get_state = lambda: state
    late.save(tmp_path / "late.onkel")
    with pytest.raises(ModelFileError):
        load(tmp_path / "late.onkel")
