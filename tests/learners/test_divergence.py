"""A learner that would leave the floating-point range says so and stays unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from onkel import (
    AdaGradClassifier,
    DataError,
    DivergenceError,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    FOGDRegressor,
    KernelRLSRegressor,
    NOGDClassifier,
    NOGDRegressor,
    OGDRegressor,
    PAClassifier,
    RRFRegressor,
    StreamModel,
)
from onkel.maps import IdentityFeatures
from onkel.rules import Gradient
from onkel.streams import Block

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 8))
Y = X[:, 0] + np.sin(X[:, 1])
LABELS = np.digitize(X[:, 0] * X[:, 1], [-1, 0, 1])

DIVERGING = [
    (ExplicitKernelRegressor(map="identity", random_state=0), Y),
    (FOGDRegressor(learning_rate=10.0, random_state=0), Y),
    (FOGDRegressor(learning_rate=10.0, gamma=0.1, random_state=0), Y),
    (NOGDRegressor(learning_rate=10.0), Y),
    (OGDRegressor(gamma=0.1, loss="squared", learning_rate=10.0), Y),
    (RRFRegressor(learning_rate=1e3, loss="squared", random_state=0), Y),
    (NOGDClassifier(learning_rate=10.0, loss="squared_hinge"), LABELS),
    (
        ExplicitKernelClassifier(map="identity", rule=Gradient(2.0), loss="squared_hinge",
                                 class_weight="balanced", random_state=0),
        LABELS > 1,
    ),
]  # fmt: skip


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return np.array_equal(a, b)


@pytest.mark.parametrize(("estimator", "y"), DIVERGING, ids=lambda v: type(v).__name__)
def test_divergence_is_refused_with_the_row_and_undone(estimator, y):
    model = clone(estimator)
    with pytest.raises(DivergenceError, match="diverge") as caught:
        model.predict_then_learn(X, y)
    row = caught.value.row
    assert 0 < row < len(y)
    # exactly the rows before were learned, and the state is finite
    other = clone(estimator).partial_fit(X[:row], y[:row])
    assert model.n_rows_ == other.n_rows_ == row
    assert same(model.get_state(), other.get_state())
    assert np.isfinite(model.coef_).all()
    # the next row is the one that diverges
    for again in (other, model):
        with pytest.raises(DivergenceError, match=r"row 0: .*diverge"):
            again.partial_fit(X[row : row + 40], y[row : row + 40])
    assert same(model.get_state(), other.get_state())


def test_rows_are_undone_once_more_soon_after_others():
    def learner():
        return OGDRegressor(gamma=0.1, loss="squared", learning_rate=10.0)

    with pytest.raises(DivergenceError) as caught:
        learner().partial_fit(X, Y)
    # few rows: one copy of the model serves both
    last = caught.value.row
    assert 10 < last < 200
    model, other = learner(), learner()
    for a, b in ((0, last - 5), (last - 5, last)):
        other.partial_fit(X[a:b], Y[a:b])
    model.partial_fit(X[: last - 5], Y[: last - 5])
    for a in (last - 5, last):
        with pytest.raises(DivergenceError):
            model.partial_fit(X[a : last + 5], Y[a : last + 5])
        assert same(model.get_state(), other.get_state())


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_fault_of_a_part_of_your_own_is_the_cause(wrapped):
    class Faulty(IdentityFeatures):
        def features(self, X, out=None):
            raise ValueError("shapes do not fit")

    model = ExplicitKernelRegressor(map=Faulty())
    with pytest.raises(DivergenceError) as caught:
        StreamModel(model).learn(Block(X, Y, 0)) if wrapped else model.fit(X, Y)
    assert str(caught.value.__cause__) == "shapes do not fit"


def test_fit_refuses_the_whole():
    model = FOGDRegressor(learning_rate=10.0, random_state=0)
    with pytest.raises(DivergenceError, match="diverge"):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    "model",
    [
        ExplicitKernelRegressor(map="identity"),
        FOGDRegressor(n_components=20, gamma=0.1, learning_rate=10.0, average=True, random_state=0),
    ],
)
@pytest.mark.parametrize("as_block", [True, False])
def test_rows_one_by_one(model, as_block):
    model, before = clone(model).partial_fit(X[:1], Y[:1]), []

    def learn_all():
        for i in range(1, len(X)):
            before[:] = [model.get_state()]
            x, y = X[i : i + 1].astype(np.float32), Y[i : i + 1]
            model.partial_fit(x, y) if as_block else model._learn_row(x, y[0])

    with pytest.raises(DivergenceError, match="diverge"):
        learn_all()
    assert 0 < model.n_rows_ < len(X)
    assert np.isfinite(model.coef_).all()
    assert same(model.get_state(), before[0])


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("as_block", [True, False])
def test_squares_of_gradients_that_are_not_finite_are_refused(n, as_block):
    """They used to stay infinite: the weights moved no more, and no file could be read again."""
    model, other = (AdaGradClassifier().partial_fit(X[:50], LABELS[:50] > 1) for _ in range(2))
    rows, weight = X[50 : 50 + n].astype(np.float32), np.ones(n)
    rows[-1] *= 1e9
    weight[-1] = 1e12
    y = ~model.predict(rows)

    def learn(model, n):
        if as_block:
            model.partial_fit(rows[:n], y[:n], sample_weight=weight[:n])
        for t in range(0 if as_block else n):
            model._learn_row(rows[t : t + 1], int(y[t]), weight[t])

    with pytest.raises(DivergenceError):
        learn(model, n)
    if n > 1:
        learn(other, n - 1)
    assert same(model.get_state(), other.get_state())


def test_stream_model_stays_at_the_row_before():
    model = StreamModel(ExplicitKernelRegressor(map="identity"))
    with pytest.raises(DivergenceError, match="diverge") as caught:
        model.learn(Block(X, Y, 0))
    assert model.scaler.n_rows_ == model.n_rows == caught.value.row


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_without_a_finite_square_are_refused(sparse):
    from scipy.sparse import csr_matrix

    bad = X.copy()
    bad[7, 3] = 3e19
    rows = csr_matrix(bad) if sparse else bad
    model = PAClassifier()
    with pytest.raises(DataError, match="too large for float32") as caught:
        model.partial_fit(rows, LABELS)
    assert (caught.value.row, caught.value.column, model.n_rows_) == (7, 3, 7)
    PAClassifier(dtype="float64").partial_fit(rows, LABELS)
    # a long block of large numbers is not too large
    PAClassifier().partial_fit(X * 1e17, LABELS)


@pytest.mark.parametrize(
    ("model", "value"),
    [(FOGDRegressor(random_state=0), 1e30), (KernelRLSRegressor(n_components=20), 1e200)],
)
def test_targets_without_a_finite_square_are_refused(model, value):
    bad = Y.copy()
    bad[5] = value
    with pytest.raises(DataError, match="scale the target") as caught:
        model.partial_fit(X, bad)
    assert (caught.value.row, caught.value.column, model.n_rows_) == (5, "y", 5)
