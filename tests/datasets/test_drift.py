"""Drift streams: properties of their rows, and that forgetting follows the change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onkel import KernelRLSClassifier, StreamModel, prequential
from onkel.datasets import DRIFTS, drift_stream
from onkel.datasets.drift import concept


def rows(*args, **parameters):
    """All rows of a drift stream as (X, y)."""
    blocks = list(drift_stream(*args, **parameters))
    return np.concatenate([b.X for b in blocks]), np.concatenate([b.y for b in blocks])


def right(X, y, k, seed=0):
    """Which rows concept k explains, by the formula, one at a time."""
    a, b, c = concept(k, seed, X.shape[1])
    return np.array(
        [(x[a] * x[b] + math.sin(2 * x[c]) > 0) == label for x, label in zip(X, y, strict=True)]
    )


@pytest.mark.parametrize("kind", DRIFTS)
def test_same_seed_same_rows_and_a_shorter_stream_is_the_beginning(kind):
    X, y = rows(kind, 9000, 3, period=2000)
    X_short, y_short = rows(kind, 5000, 3, period=2000)
    assert X.shape == (9000, 5)
    assert (X.dtype, y.dtype) == (np.float32, np.bool_)
    np.testing.assert_array_equal(X[:5000], X_short)
    np.testing.assert_array_equal(y[:5000], y_short)
    assert (rows(kind, 5000, 4, period=2000)[1] != y_short).mean() > 0.3


def test_blocks_say_where_they_begin():
    starts = [(block.start, len(block.y)) for block in drift_stream(n_rows=10_000)]
    assert starts == [(0, 4096), (4096, 4096), (8192, 1808)]


@pytest.mark.parametrize("seed", range(20))
def test_a_concept_shares_neither_pair_nor_sine_with_the_one_before(seed):
    for k in range(10):
        (a, b, c), (d, e, f) = concept(k, seed, 4), concept(k + 1, seed, 4)
        assert len({a, b, c}) == 3
        assert c != f
        assert {a, b} != {d, e}


def test_abrupt_changes_at_every_period():
    X, y = rows("abrupt", 3000, 1, period=1000, noise=0.0)
    for k in range(3):
        of_k = slice(1000 * k, 1000 * (k + 1))
        assert right(X[of_k], y[of_k], k, 1).all()
        assert right(X[of_k], y[of_k], k + 1, 1).mean() < 0.75


def test_recurring_goes_back_and_forth():
    X, y = rows("recurring", 4000, 0, period=1000, noise=0.0)
    for part in range(4):
        of_part = slice(1000 * part, 1000 * (part + 1))
        assert right(X[of_part], y[of_part], part % 2).all()


def test_gradual_mixes_over_half_a_period():
    X, y = rows("gradual", 8000, 0, period=4000, noise=0.0)
    assert right(X[:4000], y[:4000], 0).all()
    assert right(X[6000:], y[6000:], 1).all()
    mixed = slice(4000, 6000)
    old, new = right(X[mixed], y[mixed], 0), right(X[mixed], y[mixed], 1)
    assert (old | new).all()
    apart = new[old ^ new]  # rows on which the concepts differ
    first, last = apart[: len(apart) // 4], apart[-len(apart) // 4 :]
    assert first.mean() < 0.25
    assert last.mean() > 0.75


def test_none_never_changes_and_noise_is_the_lowest_error():
    X, y = rows("none", 20_000, 0, period=1000, noise=0.1)
    assert right(X, y, 0).mean() == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"kind": "sudden"}, "kind='sudden' must be one of none, abrupt"),
        ({"n_rows": -1}, "n_rows=-1"),
        ({"period": 0}, "period=0 must be at least 1"),
        ({"n_features": 3}, "n_features=3 must be at least 4"),
        ({"noise": 0.5}, "noise=0.5 must be at least 0 and below 0.5"),
    ],
)
def test_parameters_out_of_range(parameters, said):
    with pytest.raises(ValueError, match=said):
        next(drift_stream(**parameters))


def mistakes(kind, forgetting):
    """Percent of mistakes on 20 000 rows with a period of 5 000."""
    model = StreamModel(KernelRLSClassifier(n_components=200, forgetting=forgetting))
    return prequential(model, drift_stream(kind, 20_000, period=5000)).value


@pytest.mark.slow
def test_forgetting_follows_what_changes_and_costs_little_where_nothing_does():
    for kind in ("abrupt", "gradual", "recurring"):
        assert mistakes(kind, 0.999) < mistakes(kind, 1.0) - 5
    assert mistakes("none", 1.0) < mistakes("none", 0.999) < mistakes("none", 1.0) + 4
