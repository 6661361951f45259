"""One thread predicts while another learns: it sees the model before or after a block."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone

from onkel import StreamModel, make
from onkel.model.contract import Model
from onkel.pipeline.one_row import OneRow


def seeded(name):
    model = make(name, "multiclass")
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["okl", "fogd", "nolana", "forgetron", "bsgd-m", "krls"])
def test_a_class_comes_while_another_thread_predicts(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)).astype(np.float32)
    y = np.digitize(X[:, 0], [-0.6, 0.6])
    y[:300] = y[:300].clip(max=1)
    model = seeded(name).partial_fit(X[:64], y[:64])
    failures, stop = [], threading.Event()

    def predict():
        while not stop.is_set():
            try:
                labels, scores = model.predict(X[:50]), model.decision_function(X[:50])
                assert np.isin(labels, [0, 1, 2]).all()
                assert np.isfinite(scores).all()
            except BaseException as error:  # raised in the other thread
                failures.append(error)
                return

    readers = [threading.Thread(target=predict) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for a in range(64, 600, 8):
            model.partial_fit(X[a : a + 8], y[a : a + 8])
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert failures == []
    alone = seeded(name).partial_fit(X[:64], y[:64])
    for a in range(64, 600, 8):
        alone.partial_fit(X[a : a + 8], y[a : a + 8])
    assert np.array_equal(model.decision_function(X), alone.decision_function(X))


@pytest.mark.compiled
def test_river_predicts_while_another_thread_learns():
    from onkel.compat.river import RiverClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.digitize(X[:, 0], [-0.6, 0.6])
    y[:1000] = y[:1000].clip(max=1)
    rows = [dict(enumerate(row)) for row in X.tolist()]

    def learned(model, readers=()):
        model.learn_one(rows[0], y[0])
        for reader in readers:
            reader.start()
        for x, label in zip(rows[1:], y[1:], strict=True):
            model.learn_one(x, label)
        return [model.predict_proba_one(x)[0] for x in rows[:50]]

    def make_one():
        return RiverClassifier(make("fogd", gamma=0.5, loss="logistic", random_state=0))

    model, failures, stop = make_one(), [], threading.Event()

    def predict():
        while not stop.is_set():
            try:
                for x in rows[:50]:
                    assert model.predict_one(x) in (0, 1, 2)
                    assert abs(sum(model.predict_proba_one(x).values()) - 1.0) < 1e-6
            except BaseException as error:  # raised in the other thread
                failures.append(error)
                return

    readers = [threading.Thread(target=predict) for _ in range(2)]
    try:
        scores = learned(model, readers)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert failures == []
    assert scores == learned(make_one())


def test_copies_have_a_lock_of_their_own():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = make("fogd", gamma=0.5, random_state=0).partial_fit(X, X[:, 0] > 0)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with model.__dict__["_lock"].held:
            taken = []
            thread = threading.Thread(target=lambda m=other, t=taken: t.append(m.predict(X)))
            thread.start()
            thread.join(20)
            assert len(taken) == 1
        assert np.array_equal(taken[0], model.predict(X))
    assert "_lock" not in clone(model).__dict__


FORKED = """
import os, signal, sys, threading, time
import numpy as np
from onkel import StreamModel, make
from onkel.model.contract import Model
from onkel.pipeline.one_row import OneRow
from onkel.numerics.signals import signals_wait
from onkel.pipeline import StreamModel

X = np.random.default_rng(0).normal(size=(50, 2))
model = StreamModel(make("fogd", gamma=0.5, random_state=0)).partial_fit(X, X[:, 0] > 0)
expected = model.predict(X)
owners = [model, model.estimator]
locks = [owner.__dict__["_lock"].held for owner in owners if "_lock" in owner.__dict__]
assert locks
held, done = threading.Event(), threading.Event()

def learn():
    # another thread is in the middle of a block
    for lock in locks:
        lock.acquire()
    held.set()
    done.wait(60)
    for lock in locks:
        lock.release()

def fork():
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        right = np.array_equal(model.predict(X), expected)
        model.partial_fit(X, X[:, 0] > 0)
        # the section that the parent's main thread was in holds no signal back
        signal.alarm(0)
        os.kill(os.getpid(), signal.SIGUSR1)
        os._exit(0 if right and came else 3)
    status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    done.set()

came, status = [], []
signal.signal(signal.SIGUSR1, lambda *_: came.append(1))
threads = [threading.Thread(target=work) for work in (learn, fork)]
with signals_wait:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
sys.exit(abs(status[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_while_another_thread_learns():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()


def _beside(patch, owner, method, work):
    """Lists of a thread that does the work when a method of ``owner`` ends, and of its findings."""
    threads, found, whole = [], [], getattr(owner, method)

    def done(self, *args):
        of_these = whole(self, *args)
        threads.append(threading.Thread(target=lambda: found.append(work())))
        threads[0].start()
        threads[0].join(0.5)
        return of_these

    patch.setattr(owner, method, done)
    return threads, found


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("in_table", [False, True])
def test_a_copy_made_while_another_thread_learns_is_of_whole_blocks(in_table, copied, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] > 0
    model = make("fogd", gamma=0.5, random_state=0)
    model = (StreamModel(model) if in_table else model).partial_fit(X[:30], y[:30])
    with monkeypatch.context() as patch:
        threads, copies = _beside(patch, Model, "learn", lambda: copied(model))
        model.partial_fit(X[30:], y[30:])
    threads[0].join()
    assert copies[0].to_bytes() == model.to_bytes()


def test_a_file_written_while_another_thread_learns_rows_knows_whole_blocks(monkeypatch):
    rows = [{"size": float(k % 7)} for k in range(60)]
    y = [float(k % 5) for k in range(60)]
    model = StreamModel(make("pa", "regression")).partial_fit(rows[:50], y[:50])
    before = model.to_bytes()
    with monkeypatch.context() as patch:
        threads, files = _beside(patch, OneRow, "block", model.to_bytes)
        model.partial_fit(rows[50:], y[50:])
    threads[0].join()
    assert files[0] in (before, model.to_bytes())
