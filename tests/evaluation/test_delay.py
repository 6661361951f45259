"""Labels that come late: against a naive loop."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier

from onkel import FOGDClassifier, make
from onkel.errors import DataError
from onkel.evaluation import prequential
from onkel.pipeline import StreamModel
from onkel.streams import open_stream

N = 300


def _rows(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = X[:, 0] + np.cumsum(rng.normal(size=N)) * 0.5
    return X, y if task == "regression" else np.where(y > np.median(y), "up", "down")


def _naive(model, X, y, delay):
    """Predictions of each row without its own label and those of the ``delay`` rows before."""
    predicted = []
    for t in range(len(y)):
        if t > delay:
            predicted.append(model.predict_next(X[t : t + 1], ahead=delay)[0])
        else:
            predicted.append(0.0 if y.dtype.kind == "f" else None)
        if t >= delay:
            model.partial_fit(X[t - delay : t - delay + 1], y[t - delay : t - delay + 1])
    return predicted


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("algorithm", ["okl", "fogd"])
@pytest.mark.parametrize("delay", [1, 24])
def test_delay_is_the_naive_loop(task, algorithm, delay):
    X, y = _rows(task)
    params = {"n_components": 20, "dtype": "float64", "random_state": 0}
    if algorithm == "okl":
        params["speed"] = "fast"
    predicted = _naive(make(algorithm, task, **params), X, y, delay)
    model = make(algorithm, task, **params)
    blocks = [(X[:7], y[:7]), (X[7:200], y[7:200]), (X[200:], y[200:])]
    result = prequential(model, blocks, delay=delay, warm_up=False)
    if task == "regression":
        expected = np.sqrt(np.mean((np.array(predicted) - y)[delay + 1 :] ** 2))
    else:
        expected = 100.0 * np.mean([a != b for a, b in zip(predicted, y, strict=True)][delay + 1 :])
    assert result.scored == f"rows {delay + 2} to {N}"
    assert result.value == pytest.approx(expected, rel=1e-12)
    assert result.settings["delay"] == delay
    # all labels have arrived by the end
    assert model.n_rows_ == N


def _naive_by_time(model, X, y, times, delay, groups):
    """Predictions of each row from the labels of rows at least ``delay`` older."""
    predicted, due, now, first = [], {}, -np.inf, 0
    for t in range(len(y)):
        now = max(now, times[t])
        for s in sorted((s for s in due if due[s] <= now), key=lambda s: (due[s], s)):
            model.partial_fit(X[s : s + 1], y[s : s + 1], groups=groups[s : s + 1])
            del due[s]
        if model.__sklearn_is_fitted__():
            ahead = sum(groups[s] == groups[t] for s in due)
            predicted.append(model.predict_next(X[t : t + 1], ahead, groups=groups[t : t + 1])[0])
        else:
            predicted.append(0.0)
            first = t + 1
        due[t] = times[t] + delay
    return np.array(predicted), first


@pytest.mark.parametrize("delay", [30, 400])
def test_delay_by_time_is_the_naive_loop_with_groups(delay):
    X, y = _rows("regression")
    rng = np.random.default_rng(1)
    # rows come in bursts, some of them out of order
    times = np.cumsum(rng.exponential(20.0, N)).round() + 50.0 * (rng.uniform(size=N) < 0.1)
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, N)]
    params = {"n_components": 20, "speed": "fast"}
    predicted, first = _naive_by_time(
        make("okl", "regression", **params), X, y, times, delay, groups
    )
    model = make("okl", "regression", **params)
    blocks = [(X[:7], y[:7]), (X[7:200], y[7:200]), (X[200:], y[200:])]
    late = timedelta(seconds=delay)
    beside = {"time": times, "group": groups}
    result = prequential(model, blocks, delay=late, warm_up=False, **beside)
    expected = np.sqrt(np.mean((predicted - y)[first:] ** 2))
    assert result.value == pytest.approx(expected, rel=1e-12)
    assert result.final.n_scored == N - first
    assert model.n_rows_ == N
    # as moments, too
    when = np.datetime64("2020-01-01") + times.astype("timedelta64[s]")
    beside["time"] = when
    model = make("okl", "regression", **params)
    again = prequential(model, (X, y), delay=late, warm_up=False, **beside)
    assert again.value == pytest.approx(result.value, rel=1e-12)


def test_a_delay_by_time_needs_times():
    X, y = _rows("regression")
    model = make("okl", "regression", n_components=20, speed="fast")
    with pytest.raises(DataError, match="a delay by time needs the time of every row"):
        prequential(model, (X, y), delay=timedelta(hours=1), warm_up=False)
    with pytest.raises(DataError, match="times has 3 values; every row needs one"):
        prequential(model, (X, y), delay=timedelta(hours=1), time=[1, 2, 3], warm_up=False)
    with pytest.raises(DataError, match="the time is missing"):
        prequential(model, (X, y), delay=timedelta(hours=1), time=[np.nan] * N, warm_up=False)
    with pytest.raises(ValueError, match="group= names a column"):
        prequential(model, [(X, y)], group="site")


def test_a_late_label_costs():
    X, y = _rows("regression")
    scores = []
    for delay in (0, 1, 50):
        model = make("okl", "regression", n_components=20, speed="fast")
        scores.append(prequential(model, (X, y), delay=delay, warm_up=False).value)
    assert scores[0] < scores[1] < scores[2]


def test_a_stream_model_can_be_delayed():
    X, y = _rows("binary")
    model = StreamModel(make("fogd", n_components=20, random_state=0))
    result = prequential(model, open_stream((X, y)), delay=5)
    assert result.n_rows == N
    assert model.n_rows == N


def test_a_negative_delay_is_refused():
    with pytest.raises(ValueError, match="delay=-1: must be at least 0"):
        prequential(make("pa"), _rows("binary"), delay=-1)


def test_a_delay_is_rows_or_a_time():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    for delay in ("1h", 2.5, True, None):
        with pytest.raises(ValueError, match="must be a whole number of rows, or a timedelta"):
            prequential(FOGDClassifier(), (X, y), delay=delay)
    for delay in (-1, timedelta(hours=-1)):
        with pytest.raises(ValueError, match="must be at least 0"):
            prequential(FOGDClassifier(), (X, y), delay=delay)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(20), unit="h")
    runs = [
        prequential(StreamModel(FOGDClassifier(random_state=0)), frame, target="y", time="when",
                    delay=delay)
        for delay in (timedelta(hours=2), np.timedelta64(2, "h"), pd.Timedelta("2h"))
    ]  # fmt: skip
    assert len({run.value for run in runs}) == 1


def test_a_model_that_does_not_predict_first_is_named():
    with pytest.raises(TypeError, match=r"SGDClassifier.. does not predict rows before it learns"):
        prequential(SGDClassifier(), (np.zeros((2, 1)), [0, 1]))
