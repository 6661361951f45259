"""A state is a copy: what is learned later does not change it, nor the state that a model took."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import onkel
from onkel import ALGORITHMS, LateLabels, StreamModel

CASES = [(name, task) for name, row in ALGORITHMS.items() for task in sorted(row.tasks)]


def _stream(task, n=400):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 4))
    f = np.sin(2 * X[:, 0]) * X[:, 1]
    edges = {"binary": [0.0], "multiclass": [-0.2, 0.2]}
    return X, f if task == "regression" else np.digitize(f, edges[task])


def _new(name, task):
    own = "regression" if task == "regression" else "classification"
    learner = onkel.make(name, task=own, feedback=True)
    seeded = "random_state" in learner.get_params()
    return learner.set_params(random_state=0) if seeded else learner


def _unchanged(state, learn):
    before = copy.deepcopy(state)
    learn()
    np.testing.assert_equal(state, before)


@pytest.mark.parametrize("size", [1, 60], ids=["rows", "blocks"])
@pytest.mark.parametrize(("name", "task"), CASES)
def test_learning_changes_no_state_of_a_learner_or_its_parts(name, task, size):
    X, y = _stream(task)
    learner = _new(name, task)
    learner.partial_fit(X[:200], y[:200])
    parts = (learner.model_, learner.memory_, learner.feedback_)
    states = [learner.get_state(), *(part.get_state() for part in parts if part is not None)]
    other = type(learner).from_state(states[0])

    def go_on():
        for a in range(200, 260 if size == 1 else 400, size):
            for one in (learner, other):
                one.partial_fit(X[a : a + size], y[a : a + size])

    _unchanged(states, go_on)


@pytest.mark.parametrize("name", ["okl", "krls", "rrf", "pa"])
@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_learning_changes_no_state_of_a_pipeline(name, task):
    X, y = _stream(task)
    texts = [f"a{i % (2 + i // 20)} b{i % 7}" for i in range(len(X))]
    rows = [{"x": x, "z": z, "text": text} for (x, z), text in zip(X[:, :2], texts, strict=True)]
    model = StreamModel(_new(name, task))
    model.partial_fit(rows[:200], y[:200])
    late = LateLabels(model)
    late.forecast_all(range(30), rows[:30])
    state = late.get_state()
    other = LateLabels.from_state(state)

    def go_on():
        for one in (late, other):
            one.learn_all(list(range(20)), y[:20].tolist())
            one.forecast_all(range(100, 130), rows[100:130])
            one.model.partial_fit(rows[200:], y[200:])

    _unchanged(state, go_on)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_bytes_are_those_of_the_state(name, task):
    X, y = _stream(task)
    learner = _new(name, task).partial_fit(X, y)
    memory = 0 if learner.memory_ is None else onkel.fields.nbytes(learner.memory_.get_state())
    assert learner.nbytes_ == memory + onkel.fields.nbytes(learner.model_.get_state())
