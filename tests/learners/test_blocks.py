"""A stream is a sequence of rows: cutting, stopping or storing it changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_regressor

from onkel import make
from onkel.kernels import Gaussian
from onkel.learners import NOGDClassifier
from onkel.maps.bandwidth import fit_gamma

few_examples = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
cuts = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def scores(model, X):
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


def blocks(sizes, n):
    """Slices of the given sizes, over and over, until n rows are covered."""
    a = 0
    while a < n:
        for size in sizes:
            yield slice(a, min(a + size, n))
            a += size
            if a >= n:
                return


def assert_same_state(a, b, where=""):
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same_state(a[key], b[key], f"{where}/{key}")
    else:
        np.testing.assert_array_equal(a, b, err_msg=where)


@pytest.fixture
def uncut(learner, X, y):
    """The learner of all rows in one block, and what it predicted."""
    whole = clone(learner)
    return whole, whole.predict_then_learn(X, y)


@pytest.mark.slow
@few_examples
@given(sizes=cuts)
def test_any_cut_into_blocks_is_the_same_learning(learner, uncut, X, y, sizes):
    (whole, expected), cut = uncut, clone(learner)
    before = [cut.predict_then_learn(X[b], y[b]) for b in blocks(sizes, len(X))]
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(np.concatenate(before), expected, rtol=1e-7, atol=1e-9)
    else:
        assert np.concatenate(before).tolist() == expected.tolist()
        assert cut.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c"]
    assert cut.n_rows_ == whole.n_rows_ == len(X)
    np.testing.assert_allclose(scores(cut, X), scores(whole, X), rtol=1e-7, atol=1e-9)


def test_prediction_before_learning_is_predict_next_and_then_partial_fit(learner, X, y):
    free, paid = clone(learner), clone(learner)
    before = [free.predict_then_learn(X[t : t + 1], y[t : t + 1])[0] for t in range(len(X))]
    for t in range(len(X)):
        if t:
            predicted = paid.predict_next(X[t : t + 1])[0]
            if isinstance(predicted, float):
                assert predicted == pytest.approx(before[t], rel=1e-7, abs=1e-9)
            else:
                assert predicted == before[t]
        paid.partial_fit(X[t : t + 1], y[t : t + 1])
    np.testing.assert_allclose(scores(free, X), scores(paid, X), rtol=1e-9, atol=1e-12)


def test_scores_before_learning(classifier, X, targets):
    y = targets["classification"]
    P = clone(classifier).predict_then_learn(X, y, return_scores=True)
    assert P.shape == (90, 3)
    first_a = int(np.flatnonzero(y == "a")[0])
    np.testing.assert_array_equal(P[: first_a + 1, 0], 0.0)
    labels = clone(classifier).predict_then_learn(X, y)
    assert np.array(["a", "b", "c"])[P[first_a + 1 :].argmax(axis=1)].tolist() == list(
        labels[first_a + 1 :]
    )
    p = clone(classifier).predict_then_learn(X, targets["binary"], return_scores=True)
    assert p.shape == (90,)


@pytest.mark.parametrize("stop", [1, 7, 21, 60])
def test_a_state_goes_on_bit_for_bit(learner, X, y, stop):
    model = clone(learner).partial_fit(X[:stop], y[:stop])
    state = model.get_state()
    twin = type(model).from_state(state)
    assert_same_state(twin.get_state(), state)
    for b in blocks([3, 11], len(X) - stop):
        rows = slice(stop + b.start, stop + b.stop)
        before = model.predict_then_learn(X[rows], y[rows])
        np.testing.assert_array_equal(before, twin.predict_then_learn(X[rows], y[rows]))
    assert_same_state(twin.get_state(), model.get_state())
    np.testing.assert_array_equal(scores(twin, X), scores(model, X))
    # the state was a snapshot: later rows have not changed it
    assert_same_state(clone(learner).partial_fit(X[:stop], y[:stop]).get_state(), state)
    late = type(model).from_state(state).partial_fit(X[stop:], y[stop:])
    np.testing.assert_allclose(scores(late, X), scores(model, X), rtol=1e-7, atol=1e-9)


def test_a_state_of_nothing_learned(learner):
    twin = type(learner).from_state(learner.get_state())
    assert repr(twin) == repr(learner)
    assert not hasattr(twin, "model_")


@pytest.mark.parametrize("name", ["fogd-median", "nogd-median", "rrf-median"])
def test_after_its_warm_up_a_learner_is_the_one_that_knew_gamma(learner, X, y):
    gamma = fit_gamma("median", Gaussian(), X[:20])
    knowing = clone(learner).set_params(gamma=gamma)
    np.testing.assert_allclose(
        scores(learner.fit(X, y), X), scores(knowing.fit(X, y), X), rtol=1e-7, atol=1e-9
    )


def test_a_support_set_that_fills_up_in_the_warm_up_is_gathered_again(X, targets):
    y = targets["binary"]
    params = {"n_components": 3, "rank": None, "dtype": "float64", "n_warmup": 60}
    model = NOGDClassifier(**params).fit(X, y)
    gamma = fit_gamma("median", Gaussian(), X[:60])
    knowing = NOGDClassifier(**params, gamma=gamma).fit(X, y)
    np.testing.assert_allclose(model.map_.landmarks_, knowing.map_.landmarks_)
    np.testing.assert_allclose(model.decision_function(X), knowing.decision_function(X))


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("name", ["bpa-nn", "bsgd-m", "bsgd-p", "projectron", "forgetron"])
def test_ties_of_repeated_rows_are_broken_by_a_rule(name, size):
    """Whole numbers in float32: many stored rows are tied or identical."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (600, 3)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=600) > 0.0).astype(int)
    whole, parts = (make(name, "binary", budget=20) for _ in range(2))
    whole.partial_fit(X, y, classes=[0, 1])
    for a in range(0, 600, size):
        parts.partial_fit(X[a : a + size], y[a : a + size], classes=[0, 1])
    scores = [model.decision_function(X[:50]) for model in (whole, parts)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("size", [1, 7])
def test_aligned_features_of_constant_and_extreme_columns(scale, size):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), np.ones(300), scale * rng.normal(size=300)])
    whole, parts = (make("aligned", "regression", dtype="float64", random_state=0) for _ in "ab")
    whole.partial_fit(X, X[:, 0])
    for a in range(0, 300, size):
        parts.partial_fit(X[a : a + size], X[a : a + size, 0])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-9)
