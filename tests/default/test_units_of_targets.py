"""Targets in any units: the same model, though squares of squares would be out of range."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor, from_bytes

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("error")]


def _rows(n, changes):
    """Rows of a smooth rule with a step, and of another one from half-way on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = np.sin(2.0 * X[:, 0]) + (X[:, 1] > 0.5) + 0.1 * rng.standard_normal(n)
    if changes:
        y[n // 2 :] = 5.0 - 3.0 * X[n // 2 :, 2] + 0.1 * rng.standard_normal(n - n // 2)
    return X, y


def _learned(unit, changes, speed):
    """What is predicted on the way, after the last fit, and how the model changed."""
    X, y = _rows(4600, changes)
    model = OnlineKernelRegressor(n_components=30, speed=speed)
    found = [model.predict_interval_then_learn(X[:2000], unit * y[:2000])]
    # a saved model goes on in the same units
    model = from_bytes(model.to_bytes())
    found.append(model.predict_interval_then_learn(X[2000:], unit * y[2000:]))
    values = np.concatenate([np.column_stack(own[:2]) for own in found]) / unit
    return values, model.consolidate().predict(X) / unit, model.changes_


# powers of two change no digit
@pytest.mark.parametrize("power", [240, 333, 455, -240, -455])
@pytest.mark.parametrize("changes", [True, False])
def test_targets_of_any_size_make_the_same_model(power, changes):
    expected, last, changed = _learned(1.0, changes, "fast")
    assert bool(changed) == changes
    got, got_last, got_changed = _learned(2.0**power, changes, "fast")
    assert got_changed == changed
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got_last, last, rtol=1e-9, atol=1e-9)


def test_targets_of_any_size_make_the_same_model_with_a_search():
    expected, last, _ = _learned(1.0, False, "balanced")
    got, got_last, _ = _learned(2.0**333, False, "balanced")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got_last, last, rtol=1e-9, atol=1e-9)
