"""Every learner as shipped learns: on a nonlinear stream it beats the mean or the majority."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from onkel import BOGDRegressor, datasets
from onkel.algorithms import ALGORITHMS, make

pytestmark = pytest.mark.slow

# f is linear in the columns
LINEAR = {"pa", "adagrad"}


def stream(task, n=3000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    f = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1]
    if task == "regression":
        return X, f / f.std() + 0.1 * rng.standard_normal(n)
    return X, np.digitize(f, [0.0] if task == "binary" else np.quantile(f, [0.33, 0.67]))


@pytest.mark.parametrize(
    ("name", "task"),
    [(name, task) for name, row in ALGORITHMS.items() for task in row.tasks if name not in LINEAR],
)
def test_a_learner_as_shipped_beats_the_mean_or_the_majority_by_a_tenth(name, task):
    X, y = stream(task)
    seeded = "random_state" in ALGORITHMS[name].estimator(task)._get_param_names()
    model = make(name, task, **({"random_state": 0} if seeded else {}))
    before = model.predict_then_learn(X, y)
    if task == "regression":
        assert np.mean((before - y) ** 2) < 0.9 * y.var()
    else:
        assert np.mean(before != y) < 0.9 * (1.0 - np.bincount(y).max() / len(y))


@pytest.mark.parametrize(
    "name", ["housing", "mg", "abalone", "parkinsons", "cpusmall", "cadata", "casp"]
)
def test_bogd_as_shipped_beats_the_mean_of_real_targets(real_data, name):
    """Rows and targets standardised; the bound of its coefficients is for such targets."""
    rows = datasets.load(name, scaling="none")
    order = np.random.default_rng(0).permutation(len(rows.y))[:5000]
    X, y = (StandardScaler().fit_transform(part) for part in (rows.X[order], rows.y[order, None]))
    before = BOGDRegressor(random_state=0).predict_then_learn(X, y[:, 0])
    assert np.mean((before - y[:, 0]) ** 2) < 1.0
