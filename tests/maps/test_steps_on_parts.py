"""Most steps of a climb look at a part of the rows, which stands for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks.climb import (
    _looked_at,
    climb,
    parts_of_many,
    rows_of_step,
    steps_of_climb,
)
from onkel.maps.landmarks.evidence import PART_ROWS, Landmarks
from onkel.maps.landmarks.searched import Rows, SearchedRows
from onkel.numerics.in_steps import finished

M = 20


def rows_of(n, copies=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]], axis=1)
    Y += 0.1 * rng.standard_normal(Y.shape)
    learn = Rows(*(np.concatenate([of] * copies) for of in (X, Y, rng.uniform(0.5, 2.0, n))))
    return SearchedRows(learn, Rows(X[:90], Y[:90], np.ones(90)), M)


def landmarks(own=False):
    S = np.random.default_rng(1).standard_normal((M, 4))
    return Landmarks(S, np.full((M, 4) if own else 4, -1.0), -1.0)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("number", [2, 3])
def test_the_gradient_of_a_part_is_that_of_rows_that_are_copies_of_it(own, number):
    rows, at = rows_of(120, copies=number), landmarks(own)
    expected = finished(rows.gradient(at, finished(rows.sums(at)), 1, 0, None))
    for part in rows.parts(number):
        found = finished(part.gradient(at, finished(part.sums(at)), 1, 0, None))
        for mine, whole in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, whole, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("own", [False, True])
def test_a_gradient_whose_dear_part_is_that_of_few_rows_is_right_in_the_mean(own):
    rows, at = rows_of(4 * PART_ROWS), landmarks(own)

    def slopes(every, first):
        return finished(rows.gradient(at, finished(rows.sums(at)), every, first, None))

    estimates = [slopes(4, first) for first in range(4)]
    for whole, *parts in zip(slopes(1, 0), *estimates, strict=True):
        np.testing.assert_allclose(np.mean(parts, axis=0), whole, rtol=1e-5, atol=1e-7)
        assert np.abs(parts[0] - whole).max() > 1e-3 * np.abs(whole).max()


@pytest.mark.parametrize(
    ("n", "number"), [(159, 1), (160, 2), (1919, 2), (1920, 3), (4000, 6), (9999, 8)]
)
def test_of_many_rows_steps_look_at_the_next_part_and_checks_at_all(n, number):
    rows = rows_of(n)
    assert parts_of_many(n, M) == number
    looked_at = list(_looked_at(rows, number, 12, 6))
    assert [step for step, checks, _ in looked_at if checks] == [0, 6, 12]
    assert all(some is rows for _, checks, some in looked_at if checks)
    others = [some for _, checks, some in looked_at if not checks]
    # as many rows each, and all rows by turns
    assert {some.n for some in others} <= {n // number, -(-n // number)}
    seen = np.concatenate([some._learn.X for some in others[:number]])
    np.testing.assert_array_equal(seen, rows._learn.X)
    assert others[number:] == others[: 10 - number]
    mean = np.mean([some.n for _, _, some in looked_at[:-1]])
    assert rows_of_step(n, number) == pytest.approx(mean, abs=1.0)


def climbed(rows, n_parts):
    """The squared errors of rows held out at the end, and how many steps it took."""
    work, steps = climb(landmarks(), rows, 12, n_parts=n_parts), 0
    while True:
        try:
            next(work)
            steps += 1
        except StopIteration as end:
            return float(end.value[1].sum()), steps


def test_a_climb_on_parts_gains_what_one_on_all_rows_gains_in_fewer_steps():
    rows = rows_of(4000)
    begun = float(finished(climb(landmarks(), rows, 0))[1].sum())
    error, steps = climbed(rows, 8)
    error_of_all, steps_of_all = climbed(rows, 1)
    assert steps <= steps_of_climb(rows.n, 12, n_parts=8) + 6
    assert steps < 0.8 * steps_of_all
    assert error < min(0.5 * begun, 1.1 * error_of_all)


def test_only_searches_while_rows_come_take_as_many_steps_of_more_rows():
    fitted = LearnedLandmarks(500)
    fitted.start(5, np.dtype(np.float64))
    due = (32_768, 65_536, 131_072)
    assert [fitted._steps_for(n * 31 // 32) for n in due] == [12, 12, 6]
    # and fewer where landmarks have few rows each
    assert [fitted._steps_for(n * 31 // 32) for n in (1024, 2048)] == [8, 12]
    # the last search looks at all rows in each step
    assert [fitted._steps_at_last(n) for n in due] == [48, 24, 12]
