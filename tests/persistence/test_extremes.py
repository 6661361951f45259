"""Values at the ends of what learners take: refused when they come, or the file loads again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fuzz.states import small

from onkel import ALGORITHMS, StreamModel, from_bytes, make
from onkel.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: values of rows, targets, and weights
EXTREMES = {
    "large float64": ("float64", 5e150, 1.0, 1.0),
    "too large for float64": ("float64", 3e153, 1.0, 1.0),
    "large float32": ("float32", 5e18, 1.0, 1.0),
    "smallest": ("float64", 5e-324, 5e-324, 1.0),
    "large targets": ("float64", 1.0, 1e140, 1.0),
    "too large targets": ("float64", 1.0, 1.2e153, 1.0),
    "heavy": ("float64", 1.0, 1.0, 1e12),
    "light": ("float64", 1.0, 1.0, 1e-12),
    "heavy large targets": ("float64", 1.0, 1e140, 1e12),
}


def _rows(n=100):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X / np.linalg.norm(X, axis=1)[:, None]


def _goes_on(model, X, y, parts, **more):
    """Learn parts of rows, or have them refused; the file loads after each of them."""
    for a, b in parts:
        try:
            model.partial_fit(X[a:b], y[a:b], **{name: w[a:b] for name, w in more.items()})
        except DataError:
            if not hasattr(model, "n_rows_"):
                return
        content = model.to_bytes()
        again = from_bytes(content)
        assert again.to_bytes() == content
        found = model.predict(X[:9])
        np.testing.assert_array_equal(again.predict(X[:9]), found)
        assert found.dtype.kind != "f" or np.isfinite(found).all()


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("name", [n for n, row in ALGORITHMS.items() if "regression" in row.tasks])
def test_a_learner_of_extreme_values_loads_again(name, extreme):
    dtype, x, t, w = EXTREMES[extreme]
    model, X = small(name, "regression"), _rows()
    if "dtype" in model.get_params():
        model.set_params(dtype=dtype)
    _goes_on(model, x * X, t * X[:, 0], [(0, 12), (12, 100)], sample_weight=np.full(100, w))


@pytest.mark.parametrize("x", [5e-324, 1e-310, 1e75, 9e149])
@pytest.mark.parametrize("name", ["okl", "krls", "fogd", "pa"])
def test_a_model_of_a_table_of_extreme_values_loads_again(name, x):
    X = _rows()
    _goes_on(StreamModel(small(name, "regression")), x * X, X[:, 0], [(0, 12), (12, 100)])


@pytest.mark.parametrize("target", [0.1, 3.7, 1e120])
def test_heavy_rows_of_one_target_leave_the_memory_finite(target):
    weight = np.full(160, 1e6)
    model = make("okl", "regression", n_components=8, random_state=3)
    _goes_on(model, _rows(160), np.full(160, target), [(0, 100), (100, 160)], sample_weight=weight)


def test_too_large_values_are_refused_and_change_nothing():
    X = _rows()
    for name in ("okl", "pa"):
        model = make(name, "regression").set_params(dtype="float64").partial_fit(X, X[:, 0])
        before = model.to_bytes()
        with pytest.raises(DataError, match="column 'y': 1e\\+141 is too large for float64"):
            model.partial_fit(X[:1], [1e141])
        with pytest.raises(DataError, match=r"at most 1.0e\+151 long") as error:
            model.partial_fit([[1.0, 2e151, 1.0]], [1.0])
        assert (error.value.row, error.value.column) == (0, 1)
        assert model.to_bytes() == before
