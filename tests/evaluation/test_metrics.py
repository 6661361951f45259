"""Metrics: how their values are written and compared, and sums of them over rows that come."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.metrics import METRICS, Score


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("mistakes", 3.418, "3.42 %"),
        ("mae", 0.18734, "0.1873"),
        ("mae", 9999.0, "9999"),
        ("mae", 10_000.0, "10,000"),
        ("mae", -47_739.6, "-47,740"),
        ("mae", 1e9, "1e+09"),
        ("rmse", np.nan, "-"),
        ("accuracy", -np.inf, "-"),
    ],
)
def test_a_value_has_the_digits_that_mean_something(name, value, text):
    assert METRICS[name].format(value) == text


def test_an_equal_value_is_not_better():
    for name, better in (("mistakes", 1.0), ("accuracy", 3.0)):
        assert METRICS[name].better(better, 2.0)
        assert not METRICS[name].better(2.0, better)
        assert not METRICS[name].better(2.0, 2.0)


@pytest.mark.parametrize(
    ("y", "predictions", "mistakes", "n_rows"),
    [
        (["a", "b", "b"], ["a", "a", "b"], 1.0, 3),
        ([1, 0, 1], ["1", "1", "1"], 1.0, 3),
        ([1.0, np.nan, 0.0], [1.0, 1.0, 1.0], 1.0, 2),
        (np.array(["a", None, "b", np.nan], dtype=object), ["a", "a", "a", "a"], 1.0, 2),
        (np.array([None, None], dtype=object), ["a", "a"], 0.0, 0),
        (None, ["a"], 0.0, 0),
    ],
)
def test_rows_without_a_target_are_left_out(y, predictions, mistakes, n_rows):
    score = Score("classification")
    score.add(y, np.array(predictions))
    assert (score.sums["mistakes"], score.n_rows) == (mistakes, n_rows)


def test_a_score_goes_on_from_sums_that_stay_as_they_are():
    score, sums = Score("regression"), [8.0, 4.0]
    score.restore(2, sums)
    score.add(np.array([1.0]), np.array([4.0]))
    assert score.sums == {"rmse": 17.0, "mae": 7.0}
    assert sums == [8.0, 4.0]
    assert score.text() == "RMSE 2.38, MAE 2.333"
