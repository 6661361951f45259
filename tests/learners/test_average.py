"""``average=True``: predictions are those of the mean of f after each row, by its definition."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import onkel
from onkel import rules
from onkel.errors import MergeError

N, D = 90, 3


def data(task):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    if task == "regression":
        return X, f
    return X, np.digitize(f, [0.0] if task == "binary" else [-0.5, 0.5])


def last_and_mean(make, X, y, Q, classes):
    """Scores of the rows Q by a learner without averaging, after the last row and on average."""
    model, scores = make(average=False), []
    score = "predict" if classes is None else "decision_function"
    for t in range(len(y)):
        model.partial_fit(
            X[t : t + 1], y[t : t + 1], **({} if classes is None else {"classes": classes})
        )
        scores.append(np.array(getattr(model, score)(Q)))
    return scores[-1], np.mean(scores, axis=0)


F = {"gamma": 0.5, "random_state": 0, "dtype": "float64"}
S = {"gamma": 0.5, "dtype": "float64"}
L = {"map": "identity", "dtype": "float64"}
LEARNERS = {
    "fogd": ("FOGD", {**F, "n_components": 20}),
    "decaying": ("FOGD", {**F, "n_components": 20, "alpha": 0.9, "learning_rate": 1.0}),
    "nogd": ("NOGD", {**S, "n_components": 12, "rank": 12}),
    "adagrad": ("AdaGrad", {"dtype": "float64"}),
    "pa": ("PA", {"dtype": "float64"}),
    "doubly-sgd": ("DoublySGD", {**F, "n_components": 24}),
    "ball": ("ExplicitKernel", {**L, "rule": rules.ProjectedGradient(0.4, 0.5)}),
    "pegasos": ("ExplicitKernel", {**L, "rule": rules.Pegasos(0.1)}),
    "ogd": ("OGD", S),
    "ogd-decaying": ("OGD", {**S, "alpha": 0.9, "learning_rate": 1.0}),
    "perceptron": ("KernelPerceptron", S),
    "olk": ("OLK", {**S, "radius": 0.4}),
    "olk-growing": ("OLKGrowing", {**S, "random_state": 0}),
}  # fmt: skip


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_mean_of_f_after_each_row(name, task, tmp_path):
    stem, params = LEARNERS[name]
    cls = getattr(onkel, stem + ("Regressor" if task == "regression" else "Classifier"))
    X, y = data(task)
    Q = np.random.default_rng(2).standard_normal((7, D))
    classes = None if task == "regression" else np.unique(y)
    more = {} if classes is None else {"classes": classes}
    score = "predict" if classes is None else "decision_function"

    def make(average):
        return cls(**params, average=average)

    last, mean = last_and_mean(make, X, y, Q, classes)
    model, plain = make(True), make(False)
    halves = [model.predict_then_learn(X[a:b], y[a:b], **more) for a, b in ((0, 1), (1, 40))]
    onkel.save(model, tmp_path / "model")
    model = onkel.load(tmp_path / "model")
    halves += [model.predict_then_learn(X[a:b], y[a:b]) for a, b in ((40, 41), (41, N))]
    np.testing.assert_allclose(getattr(model, score)(Q), mean, rtol=1e-9, atol=1e-10)
    # what it predicts while it learns is the last f
    before = plain.predict_then_learn(X, y, **more)
    np.testing.assert_allclose(np.concatenate(halves), before, rtol=1e-9, atol=1e-12)
    assert np.abs(last - mean).max() > 1e-3
    one = [np.ravel(getattr(model, score)(q[None])) for q in Q]
    np.testing.assert_allclose(np.ravel(one), np.ravel(mean), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["fogd", "adagrad", "ogd", "olk"])
def test_rows_without_weight_are_no_part_of_the_mean(name):
    stem, params = LEARNERS[name]
    X, y = data("binary")
    learner, weighted = (getattr(onkel, stem + "Classifier")(**params, average=True) for _ in "12")
    learner.partial_fit(X[::2], y[::2])
    weighted.partial_fit(X, y, sample_weight=(np.arange(N) % 2 == 0).astype(float))
    found, expected = (model.decision_function(X) for model in (weighted, learner))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["fogd", "adagrad", "ogd"])
def test_before_any_row_counts_the_mean_is_zero(name):
    stem, params = LEARNERS[name]
    X, y = data("binary")
    model = getattr(onkel, stem + "Classifier")(**params, average=True)
    model.partial_fit(X, y, sample_weight=np.zeros(N))
    np.testing.assert_array_equal(model.decision_function(X), 0.0)


@pytest.mark.parametrize("name", ["fogd", "adagrad", "ogd"])
def test_a_new_class_and_new_columns_come_into_the_mean(name):
    stem, params = LEARNERS[name]
    cls = getattr(onkel, stem + "Classifier")
    X, y = data("multiclass")
    y = np.where((np.arange(N) < 50) & (y == 2), 1, y)
    Q = np.random.default_rng(2).standard_normal((7, D))
    model, plain = cls(**params, average=True), cls(**params)
    sums, rows = np.zeros((7, 3)), 0
    for t in range(N):
        for learner in (model, plain):
            learner.partial_fit(X[t : t + 1], y[t : t + 1])
        if len(model.classes_) == 1:
            continue  # nothing is learned of one class
        f = plain.decision_function(Q)
        if f.ndim == 1:
            f = np.stack([-f / 2, f / 2, 0 * f], axis=1)
        sums, rows = sums + f, rows + 1
        if t == 70:
            before = model.decision_function(Q)
            for learner in (model, plain):
                learner.add_columns(2)
            X = np.pad(X, ((0, 0), (0, 2)))
            Q = np.pad(Q, ((0, 0), (0, 2)))
            np.testing.assert_allclose(model.decision_function(Q), before, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(Q), sums / rows, rtol=1e-8, atol=1e-9)


def test_sums_of_iterates_add_when_models_are_merged():
    X, y = data("regression")
    Q = np.random.default_rng(2).standard_normal((7, D))
    start = onkel.FOGDRegressor(**F, n_components=20, average=True).partial_fit(X[:10], y[:10])
    start.fix_map()
    parts = [copy.deepcopy(start).partial_fit(X[a:b], y[a:b]) for a, b in ((10, 40), (40, N))]
    own = [10 * start.predict(Q), 40 * parts[0].predict(Q), (N - 30) * parts[1].predict(Q)]
    merged = parts[0].merge(parts[1], since=start)
    np.testing.assert_allclose(merged.predict(Q), (own[1] + own[2] - own[0]) / N, rtol=1e-9)
    last = onkel.FOGDRegressor(**F, n_components=20).partial_fit(X[:10], y[:10])
    last.fix_map()
    with pytest.raises(MergeError, match="average"):
        merged.merge(last)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (onkel.BOGDClassifier(average=True), "drops or changes them"),
        (onkel.ProjectronClassifier(average=True), "drops or changes them"),
        (onkel.DualSGDRegressor(average=True), "drops or changes them"),
        (onkel.RRFClassifier(average=True), "features move with every row"),
        (onkel.KernelRLSRegressor(average=True), "solution of all rows so far"),
        (onkel.OnlineKernelRegressor(average=True), "solution of all rows so far"),
        (onkel.TVMClassifier(average=True), "solved anew after every row"),
        (onkel.FOGDClassifier(average="yes"), "average='yes' must be True or False"),
    ],
)
def test_where_no_mean_can_be_kept_the_reason_is_told(learner, reason):
    with pytest.raises(ValueError, match=reason):
        learner.partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
