"""The first rows are kept in arrays that grow."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from onkel import NOGDRegressor
from onkel.errors import ModelFileError
from onkel.model.warmup import KeptRows, Warmup, largest_number


def rows(n=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)).astype(np.float32)
    return X, rng.standard_normal(n), rng.integers(0, 3, n).astype(float)


def kept(step, n=300):
    X, y, weight = rows(n)
    warmup = Warmup(1000, 3, np.float32)
    for a in range(0, n, step):
        part = slice(a, a + step)
        warmup.keep(X[part], y[part], weight[part])
    return warmup


@pytest.mark.parametrize("step", [1, 7, 300])
def test_rows_that_count_are_kept_in_order_however_they_come(step):
    warmup = kept(step)
    X, y, weight = rows()
    used = weight > 0.0
    assert warmup.count == np.count_nonzero(used)
    for held, given in zip(warmup.rows(), (X, y, weight), strict=True):
        np.testing.assert_array_equal(held, given[used])
        assert held.dtype == given.dtype


def test_what_was_given_out_stays_as_more_rows_come():
    X, y, weight = rows()
    warmup = kept(1, 50)
    given = warmup.rows()
    before = copy.deepcopy(given)
    warmup.keep(X, y, weight)
    warmup.add_class(1, from_signs=False)
    warmup.add_columns(2)
    for held, was in zip(given, before, strict=True):
        np.testing.assert_array_equal(held, was)
    assert warmup.rows()[0].shape == (warmup.count, 5)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda w: pickle.loads(pickle.dumps(w))])
def test_a_copy_has_the_rows_and_no_room_beside_them(again):
    warmup = kept(1, 150)
    other = again(warmup)
    assert sum(of.nbytes for of in other._held.values()) == sum(of.nbytes for of in warmup.rows())
    X, y, weight = rows()
    for each in (warmup, other):
        each.keep(X[150:], y[150:], weight[150:])
    for mine, own in zip(other.rows(), warmup.rows(), strict=True):
        np.testing.assert_array_equal(mine, own)


def test_columns_are_replaced_by_what_their_precision_holds():
    warmup = kept(300)
    given = warmup.rows()[0]
    before, n = given.copy(), warmup.count
    # column 7 does not exist
    values = np.column_stack([np.full(n, 1e30), np.full(n, 9.0), np.full(n, -1e30)])
    warmup.replace(np.array([2, 7, 0]), values)
    most = largest_number(np.float32)
    expected = np.column_stack([np.full(n, -most), before[:, 1], np.full(n, most)])
    np.testing.assert_array_equal(warmup.X, expected.astype(np.float32))
    np.testing.assert_array_equal(given, before)


def test_a_state_with_all_rows_that_are_waited_for_is_refused():
    warmup = kept(300)
    state = warmup.get_state()
    for more, refused in ((1, False), (0, True)):
        state["n_rows"] = warmup.count + more
        if refused:
            with pytest.raises(ModelFileError, match="as many as are waited for"):
                Warmup(1, 3, np.float32).set_state(state)
        else:
            Warmup(1, 3, np.float32).set_state(dict(state))


def test_a_model_knows_how_long_ago_the_rows_of_its_warm_up_came():
    X, y, weight = rows(5)
    model = NOGDRegressor().partial_fit(X, y, sample_weight=1.0 + weight).model_
    assert model.rows_kept().tolist() == [5, 4, 3, 2, 1]


def test_rows_kept_for_a_short_time_are_all_replaced():
    rows = KeptRows(10, 1, float, seed=0, memory=3.0)
    rows.add(np.arange(200.0)[:, None], np.zeros(200), np.ones(200))
    np.testing.assert_array_equal(rows.X[:, 0], rows.born)
    assert rows.born.min() > 100
