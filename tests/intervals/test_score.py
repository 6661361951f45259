"""The measures of bounds, and the rivals that benchmarks measure against."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import conformal
from tests.intervals import oracles

from onkel import ModelFileError
from onkel.intervals.score import IntervalScore


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    p = np.cumsum(rng.standard_normal(n)) / 10
    return p, p + rng.standard_normal(n) * (1.0 + (np.arange(n) > n / 2))


def test_measures_as_defined_whatever_the_blocks():
    p, y = rows(2600)
    bounds = np.stack([p - 1.5, p + 1.5], axis=1)
    bounds[0] = -np.inf, np.inf
    score = IntervalScore(0.8)
    for a in range(0, 2600, 97):
        score.add(y[a : a + 97], bounds[a : a + 97])
    found = score.summary()
    y, bounds = y[1:], bounds[1:]
    inside = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    below, above = bounds[:, 0] - y, y - bounds[:, 1]
    winkler = 3.0 + 10.0 * np.maximum(np.maximum(below, above), 0.0)
    windows = [inside[a : a + 500].mean() for a in range(500, len(y) - 499)]
    assert found["rows"] == 2599
    assert found["coverage"] == pytest.approx(inside.mean())
    assert found["width"] == pytest.approx(3.0)
    assert found["winkler"] == pytest.approx(winkler.mean())
    assert found["worst_window"] == pytest.approx(min(windows))
    again = IntervalScore(0.5)
    again.set_state(score.get_state())
    assert again.summary() == score.summary()
    with pytest.raises(ModelFileError, match="worst"):
        again.set_state({**score.get_state(), "worst": 501})


def test_short_runs_have_no_window():
    score = IntervalScore(0.9)
    assert np.isnan(score.summary()["coverage"])
    score.add(np.zeros(999), np.tile([-1.0, 1.0], (999, 1)))
    assert np.isnan(score.summary()["worst_window"])
    score.add(np.zeros(1), np.array([[-1.0, 1.0]]))
    assert score.summary()["worst_window"] == 1.0


@pytest.mark.parametrize("block", [1, 7, 1200])
def test_the_worst_window_begins_after_the_first_500_rows(block):
    inside, targets = np.tile([-1.0, 1.0], (1200, 1)), np.zeros(1200)

    def worst(*missed):
        y, score = targets.copy(), IntervalScore(0.9)
        for rows in missed:
            y[rows] = 5.0
        for a in range(0, 1200, block):
            score.add(y[a : a + block], inside[a : a + block])
        return score.summary()["worst_window"]

    assert worst(slice(0, 500)) == 1.0
    assert worst(slice(0, 501)) == 0.998
    assert worst(slice(0, 500), slice(1190, 1200)) == 0.98


def test_rows_with_an_infinite_bound_do_not_count():
    score = IntervalScore(0.9)
    score.add(np.zeros(3), np.array([[-1.0, np.inf], [-np.inf, 1.0], [-1.0, 1.0]]))
    found = score.summary()
    assert (found["rows"], found["width"], found["winkler"]) == (1, 2.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiled", "naive"),
    [
        (lambda p, y: conformal.aci(p, y, 0.1), lambda p, y: oracles.aci(y, p, 0.1)),
        (lambda p, y: conformal.dtaci(p, y, 0.1), lambda p, y: oracles.dtaci(y, p, 0.1)),
        (lambda p, y: conformal.tracking(p, y, 0.1), lambda p, y: oracles.tracking(y, p, 0.1)),
    ],
    ids=["ACI", "DtACI", "tracking"],
)
def test_rivals_as_naive_loops(compiled, naive):
    p, y = rows(900)
    np.testing.assert_allclose(compiled(p, y), naive(p, y), rtol=1e-9)
