"""Forecasts: a prediction and its probabilities or bounds come of one scoring of a row."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import LateLabels, StreamModel, make
from onkel.evaluation.delayed import Delayed
from onkel.serve.live import LiveModel
from onkel.serve.reading import peek
from onkel.streams import Block

TASKS = {"classification": np.array(["up", "down"]), "regression": np.array([1.0, -2.0])}


def _learned(name, task):
    rng = np.random.default_rng(0)
    rows = [dict(zip("abc", x, strict=True)) for x in rng.normal(size=(120, 3)).tolist()]
    y = TASKS[task][[int(row["a"] > 0.0) for row in rows]]
    size = {"n_components": 15, "speed": "fast"} if name == "okl" else {"feedback": True}
    return StreamModel(make(name, task=task, **size)).partial_fit(rows[:100], y[:100]), rows[100:]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["okl", "krls", "pa"])
def test_a_forecast_is_what_the_single_methods_say(name, task):
    model, rows = _learned(name, task)
    for X, n in ((rows, 20), (rows[0], 1), ([], 0)):
        found = model.forecast_next(X, 2)
        np.testing.assert_array_equal(found.predictions, model.predict_next(X, 2))
        assert found.predictions.dtype == model.predict_next(X, 2).dtype
        if not hasattr(model, "predict_proba_next"):
            assert found.probabilities is None
            continue
        assert found.probabilities.shape == (n, 2)
        np.testing.assert_array_equal(found.probabilities, model.predict_proba_next(X, 2))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["okl", "krls"])
def test_a_row_is_scored_once(name, task, monkeypatch):
    model, rows = _learned(name, task)
    scored, learner = [], model.estimator.model_
    scores = type(learner).scores
    monkeypatch.setattr(
        type(learner), "scores", lambda self, X: (scored.append(len(X)), scores(self, X))[1]
    )

    def n_scored(call):
        scored.clear()
        answer = call()
        return sum(scored), answer

    late = LateLabels(model)
    assert n_scored(lambda: late.predict("late", rows[0]))[0] == 1
    live = LiveModel(model, target="y", level=0.9, say=pytest.fail)
    beside = "interval" if task == "regression" else "probabilities"
    n, answer = n_scored(lambda: live.take({**rows[0], "id": 1}))
    assert (n, beside in answer) == (1, True)
    n, answers = n_scored(lambda: list(live.take_all([{**r, "id": f"{r}"} for r in rows])))
    assert (n, beside in answers[-1]) == (len(rows), True)
    n, answers = n_scored(lambda: peek(live, rows[:1]))
    assert (n, beside in answers[0]) == (1, True)


def test_a_row_of_a_run_with_a_delay_is_scored_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0.0, "up", "down")
    model = StreamModel(make("krls", task="classification", feedback=True))
    scored, learner = [], type(make("krls").fit(X, y).model_)
    scores = learner.scores
    monkeypatch.setattr(
        learner, "scores", lambda self, X: (scored.append(len(X)), scores(self, X))[1]
    )
    Delayed(model, model, 5).learn(Block(X, y, 0))
    n = sum(scored)
    scored.clear()
    model = StreamModel(make("krls", task="classification", feedback=True))
    for t in range(60):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    # beside what learning asks; the first label comes with the seventh row
    assert n == sum(scored) + 60 - 6
