"""Features computed ahead by threads give the same model; the work ends with the call."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from onkel import KernelRLSClassifier
from onkel.errors import DivergenceError
from onkel.explicit import features_ahead
from onkel.explicit.weights import Weights
from onkel.learners import ExplicitKernelClassifier
from onkel.maps import (
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FourierFeatures,
    IdentityFeatures,
    LearnedLandmarks,
    NystroemFeatures,
    RegeneratedFeatures,
    SignProjection,
)
from onkel.numerics import threads
from onkel.rules import Gradient

pytestmark = pytest.mark.compiled

EACH = [
    IdentityFeatures(),
    FourierFeatures(30, gamma=1.0, random_state=0),
    NystroemFeatures(30, gamma=1.0),
    LearnedLandmarks(20, 128, 4),
    AlignedFourier(40, 80, n_align=200, gamma=1.0, random_state=0),
    FastfoodFeatures(32, gamma=1.0, random_state=0),
    RegeneratedFeatures(30, gamma=1.0, random_state=0),
    AdaptiveNystroem(30, gamma=1.0),
    SignProjection(40, random_state=0),
]
N = 3000
X = np.random.default_rng(0).uniform(-2, 2, (N, 3)).astype(np.float32)
Y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] > 0.0


@pytest.fixture
def four_cores(monkeypatch):
    """Four threads, whatever this machine has."""
    monkeypatch.setattr(threads, "n_cores", lambda: 4)
    threads.helpers.cache_clear()
    with threadpool_limits(4, user_api="blas"):
        yield
    threads.helpers().shutdown()
    threads.helpers.cache_clear()


def learned(feature_map, rule):
    model = ExplicitKernelClassifier(map=feature_map, rule=rule, random_state=0)
    rows = [slice(0, 1100), slice(1100, 1101), slice(1101, N)]
    scores = [model.predict_then_learn(X[part], Y[part], classes=[False, True]) for part in rows]
    return np.concatenate(scores), model.coef_


@pytest.mark.parametrize("rule", ["gradient", "least_squares"])
@pytest.mark.parametrize("feature_map", EACH, ids=lambda m: m.name)
def test_threads_do_not_change_a_bit(feature_map, rule, four_cores):
    predicted, coef = learned(clone(feature_map), rule)
    with threadpool_limits(1, user_api="blas"):
        alone, coef_alone = learned(clone(feature_map), rule)
    np.testing.assert_array_equal(predicted, alone)
    np.testing.assert_array_equal(coef, coef_alone)


def test_features_are_made_in_other_threads(four_cores, monkeypatch):
    makers = set()
    features = FourierFeatures.features

    def noted(self, X, out=None):
        makers.add(threading.current_thread().name)
        return features(self, X, out)

    model = ExplicitKernelClassifier(map=FourierFeatures(400, gamma=1.0), random_state=0)
    monkeypatch.setattr(FourierFeatures, "features", noted)
    model.partial_fit(X, Y)
    assert len(makers) > 1


def parts(n):
    return [(a, a + 10) for a in range(0, n, 10)]


def test_an_error_is_raised_where_its_part_is_asked_for(four_cores):
    def make(a, b, out):
        if a == 50:
            raise MemoryError("no room")
        out[:] = a
        return out

    with threads.one_blas_thread():
        line = features_ahead.features_in_turn(make, parts(200), 2, np.dtype(float))
        taken = [next(line)[0, 0] for _ in range(5)]
        with pytest.raises(MemoryError, match="no room"):
            next(line)
    assert taken == [0, 10, 20, 30, 40]


def test_large_least_squares_is_the_same_by_one_thread_and_by_four(four_cores):
    found = []
    for most in (4, 1):
        with threadpool_limits(most, user_api="blas"):
            model = KernelRLSClassifier(n_components=300, gamma=1.0)
            found.append(np.append(model.predict_then_learn(X, Y), model.coef_))
    np.testing.assert_array_equal(*found)


def test_a_line_that_is_left_ends_its_threads(four_cores):
    running = threading.Semaphore(0)

    def make(a, b, out):
        running.release()
        return out

    with threads.one_blas_thread():
        line = features_ahead.features_in_turn(make, parts(1000), 2, np.dtype(float))
        next(line)
        line.close()
    begun = running._value
    # a buffer for each of four threads and three that wait; no more fit
    assert begun <= 7
    assert running._value == begun


def test_an_error_while_learning_ends_the_threads(four_cores, monkeypatch):
    def fails(self, Z, y, weight, P):
        raise RuntimeError("no learning today")

    model = ExplicitKernelClassifier(map=FourierFeatures(400, gamma=1.0), random_state=0)
    model.partial_fit(X[:100], Y[:100])
    monkeypatch.setattr(Weights, "learn", fails)
    with pytest.raises(RuntimeError) as kept:
        model.partial_fit(X, Y)
    # no thread waits, although the traceback is kept
    threads.helpers().shutdown(wait=False)
    waiting = [one for one in threading.enumerate() if one.name.startswith("onkel")]
    for one in waiting:
        one.join(timeout=5.0)
    assert not any(one.is_alive() for one in waiting)
    assert kept.traceback


def test_a_row_that_diverges_is_the_same_one(four_cores):
    rows = X.copy()
    rows[2500:2510] = 5e18
    found = []
    for most in (4, 1):
        with threadpool_limits(most, user_api="blas"), warnings.catch_warnings():
            warnings.simplefilter("error")
            model = ExplicitKernelClassifier(
                map=IdentityFeatures(), rule=Gradient(0.01), loss="squared_hinge"
            )
            with pytest.raises(DivergenceError) as error:
                model.partial_fit(rows, Y)
            found.append((error.value.row, model.coef_.tolist()))
    assert found[0] == found[1]
    assert 2500 <= found[0][0] < 2510


def test_as_many_threads_as_blas_was_given(four_cores):
    assert threads.n_threads() == 1
    with threads.one_blas_thread():
        assert threads.n_threads() == 4
        with threads.one_blas_thread():
            assert threads.n_threads() == 4
    with threadpool_limits(1, user_api="blas"), threads.one_blas_thread():
        assert threads.n_threads() == 1
    with threads.one_blas_thread(3):
        assert threads.n_threads() == 1
