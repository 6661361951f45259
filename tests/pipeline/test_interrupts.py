"""Ctrl-C while a table is learned: all parts of the model know the same rows."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from onkel import LateLabels, StreamModel, make
from onkel.columns.one_row import RowEncoder
from onkel.model.contract import Model
from onkel.pipeline.label_queue import LabelQueue
from onkel.streams import Block


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C as in a terminal: what runs in the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _rows(n, seed=0):
    rng = np.random.default_rng(seed)
    sizes, towns = rng.normal(size=n), rng.choice(["Ulm", "Bonn"], n)
    rows = [{"size": float(x), "town": str(t)} for x, t in zip(sizes, towns, strict=True)]
    return rows, (sizes + 0.1 * rng.normal(size=n)).tolist()


def _model(name="pa", task="regression"):
    return StreamModel(make(name, task))


def _labels(y, task):
    return y if task == "regression" else [str(v > 0) for v in y]


def _signal_after(monkeypatch, owner, method, times=1, error=None):
    """Ctrl-C, or an error, at the end of a method when it is called so often."""
    whole, calls = getattr(owner, method), []

    def ended(self, *args, **kwargs):
        found = whole(self, *args, **kwargs)
        calls.append(1)
        if len(calls) == times:
            if error is not None:
                raise error
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(owner, method, ended)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("n", [1, 40])
def test_bounds_and_alarm_know_the_rows_that_were_learned_before_a_signal(task, n, monkeypatch):
    rows, y = _rows(200)
    y = _labels(y, task)
    model, whole = (_model(task=task).partial_fit(rows[:100], y[:100]) for _ in range(2))
    with monkeypatch.context() as patch:
        _signal_after(patch, Model, "learn")
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(rows[100 : 100 + n], y[100 : 100 + n])
    whole.partial_fit(rows[100 : 100 + n], y[100 : 100 + n])
    assert model.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("error", [None, MemoryError("no memory is left")])
def test_a_long_block_ends_at_a_piece_and_bounds_know_it(error, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=len(X))
    model, part = (_model().partial_fit(X[:1000], y[:1000]) for _ in range(2))
    with monkeypatch.context() as patch:
        _signal_after(patch, Model, "learn_rows", times=1 if error is None else 2, error=error)
        with pytest.raises(KeyboardInterrupt if error is None else MemoryError):
            model.learn(Block(X[1000:], y[1000:], 0))
    n = model.n_rows
    assert 1000 < n < len(X)
    part.learn(Block(X[1000:n], y[1000:n], 0))
    assert part.n_rows == n
    assert model.to_bytes() == part.to_bytes()


def test_a_signal_before_a_row_is_learned_leaves_its_columns_as_they_were(monkeypatch):
    rows, y = _rows(100)
    model = _model().partial_fit(rows[:99], y[:99])
    before = model.to_bytes()
    with monkeypatch.context() as patch:
        _signal_after(patch, RowEncoder, "features")
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(rows[99], [y[99]])
    assert model.to_bytes() == before


def _late():
    rows, y = _rows(60)
    late = LateLabels(_model().partial_fit(rows[:50], y[:50]), 10)
    for k in range(50, 60):
        late.predict(k, rows[k])
    return late, y


@pytest.mark.parametrize("by_one", [True, False])
def test_a_row_that_was_learned_before_a_signal_waits_no_more(by_one, monkeypatch):
    late, y = _late()
    with monkeypatch.context() as patch:
        _signal_after(patch, StreamModel, "partial_fit")
        with pytest.raises(KeyboardInterrupt):
            late.learn(50, y[50]) if by_one else late.learn_all([50, 51], y[50:52])
    whole, _ = _late()
    for k in [50] if by_one else [50, 51]:
        assert k not in late
    whole.learn(50, y[50]) if by_one else whole.learn_all([50, 51], y[50:52])
    assert late.to_bytes() == whole.to_bytes()


def test_a_row_that_makes_room_is_forgotten_and_counted_or_not(monkeypatch):
    late, _ = _late()
    rows, _ = _rows(61)
    with monkeypatch.context() as patch:
        _signal_after(patch, LabelQueue, "forget_oldest")
        with pytest.raises(KeyboardInterrupt):
            late.predict(60, rows[60])
    assert (late.n_waiting, late.n_forgotten, 60 in late) == (10, 1, True)
