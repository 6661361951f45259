"""Work shared by two threads: BLAS lets other threads run; the model is the same to the bit."""

from __future__ import annotations

import copy
import threading
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri, spotrf, spotri
from threadpoolctl import threadpool_limits

from onkel.default.corrected_by_cells import CorrectedModel
from onkel.learners import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.maps.landmarks import searched
from onkel.maps.landmarks.competing_widths import best_widths
from onkel.numerics import threads
from onkel.numerics.in_steps import finished, together
from onkel.numerics.linalg import (
    add_gram,
    cholesky_lower,
    cholesky_upper,
    inverse_in_place,
    inverse_of_factor,
    lower_gram,
    whole_gram,
)


@pytest.fixture
def two_cores(monkeypatch):
    """Two threads, whatever this machine has."""
    monkeypatch.setattr(threads, "n_cores", lambda: 2)
    threads.helpers.cache_clear()
    with threadpool_limits(2, user_api="blas"):
        yield
    threads.helpers().shutdown()
    threads.helpers.cache_clear()


def rows(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def rows_and_learner(n, classes):
    X, y = rows(n)
    if classes:
        return X, np.digitize(y, [-0.5, 0.5]), OnlineKernelClassifier
    return X, y, OnlineKernelRegressor


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_rows_are_added_to_the_upper_triangle(dtype, order):
    A = rows(40, 9)[0].astype(dtype)
    C = np.zeros((9, 9), dtype, order=order)
    C += np.tril(np.ones((9, 9), dtype), -1)
    add_gram(C, A[:25])
    add_gram(C, A[25:])
    expected = A.T.astype(float) @ A
    near = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(np.triu(C), np.triu(expected), rtol=near, atol=near)
    assert (np.tril(C, -1) == np.tril(np.ones((9, 9)), -1)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 100])  # tiles have 32 rows
def test_products_of_rows_in_both_triangles(dtype, n):
    A = np.random.default_rng(0).standard_normal((40, n)).astype(dtype)
    found = whole_gram(A, np.full((n, n), np.nan, dtype))
    near = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, A.T.astype(float) @ A, rtol=near, atol=near)
    np.testing.assert_array_equal(found, found.T)


def test_products_and_factors_are_those_of_scipy():
    U = rows(30, 12)[0]
    G = lower_gram(U)
    assert np.array_equal(np.tril(G), np.tril(dsyrk(1.0, U.T, lower=1)))
    expected, _ = dpotrf(G, lower=1)
    assert cholesky_lower(G)
    assert np.array_equal(np.tril(G), expected)
    assert not cholesky_lower(np.asfortranarray(-np.eye(3)))


@pytest.mark.parametrize(("potrf", "potri"), [(dpotrf, dpotri), (spotrf, spotri)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_inverses_are_those_of_scipy(potrf, potri, order):
    dtype = np.float32 if potrf is spotrf else np.float64
    U = rows(90, 60)[0]
    R = np.array(U.T @ U, dtype, order=order)
    before, (factor, _) = R.copy(), potrf(R, lower=1)
    lower, _ = potri(factor, lower=1)
    inverse = np.tril(lower) + np.tril(lower, -1).T
    found = cholesky_upper(R)
    assert np.array_equal(found, factor.T)
    assert np.array_equal(R, before)
    assert np.array_equal(inverse_of_factor(found), inverse)
    assert np.array_equal(found, factor.T)
    assert np.array_equal(inverse_in_place(np.ascontiguousarray(R)), inverse)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 259, 500])  # LAPACK inverts 64 columns itself
def test_inverses_of_many_columns(dtype, n):
    U = np.random.default_rng(0).standard_normal((2 * n, n))
    R = (U.T @ U).astype(dtype)
    expected = np.linalg.inv(R.astype(np.float64))
    near = 1e-5 if dtype == "float32" else 1e-13
    for found in (inverse_of_factor(cholesky_upper(R)), inverse_in_place(R.copy())):
        assert abs(found - expected).max() < near * abs(expected).max()
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("C", [np.zeros((4, 4))[:3, :3], np.zeros((5, 5)), np.zeros((3, 3), "f")])
def test_what_would_write_elsewhere_is_refused(C):
    with pytest.raises(ValueError, match=r"matrix"):
        add_gram(C, np.ones((2, 3)))


def test_both_threads_work_and_an_error_waits_for_the_other(two_cores):
    together = threading.Barrier(2, timeout=10)

    def fails():
        together.wait()
        raise RuntimeError("of the first")

    with threads.one_blas_thread():
        # each waits for the other: a single thread would never end
        assert threads.side_by_side([together.wait, together.wait]) != [0, 0]
        with pytest.raises(RuntimeError, match="of the first"):
            threads.side_by_side([fails, together.wait])
        halves = list(threads.in_halves(lambda i: i * i, 11, 4))
    assert halves == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81, 100]]


def test_what_no_thread_has_time_for_is_done_by_the_caller(two_cores):
    busy = threading.Event()
    with threads.one_blas_thread():
        waiting = [threads.helpers().submit(busy.wait, 10) for _ in range(8)]
        assert threads.side_by_side([lambda: 1, threading.current_thread]) == [
            1,
            threading.current_thread(),
        ]
        busy.set()
        assert all(future.result() for future in waiting)


def test_a_line_is_worked_off_in_order_while_the_caller_does_other_work(two_cores):
    together, seen = threading.Barrier(2, timeout=10), []
    with closing(threads.Line()) as line:
        line.give(together.wait)
        # it is under way before anything is taken
        together.wait()
        for i in range(3):
            line.give(partial(seen.append, i))
            line.give(threading.get_ident)
        line.take()
        makers = [line.take() for _ in range(6)][1::2]
    assert seen == [0, 1, 2]
    assert set(makers) != {threading.get_ident()}
    assert len(set(makers)) == 1


def test_what_fails_in_a_line_is_raised_where_it_is_taken(two_cores):
    with closing(threads.Line()) as line:
        line.give(lambda: 1 / 0)
        line.give(lambda: 2)
        with pytest.raises(ZeroDivisionError):
            line.take()
        assert line.take() == 2


def test_a_line_that_no_thread_has_time_for_is_worked_off_by_the_caller(two_cores):
    busy = threading.Event()
    waiting = [threads.helpers().submit(busy.wait, 10) for _ in range(8)]
    with closing(threads.Line()) as line:
        for _ in range(2):
            line.give(threading.current_thread)
        assert [line.take(), line.take()] == [threading.current_thread()] * 2
    busy.set()
    assert all(future.result() for future in waiting)


def test_what_nothing_waits_for_is_done_in_order_by_whoever_has_time(two_cores):
    held, seen, makers = threading.Event(), [], set()

    def later(i):
        seen.append(i)
        makers.add(threading.get_ident())

    with closing(threads.Line()) as line:
        line.give(partial(held.wait, 10))
        line.give_later(partial(later, 0))
        assert not seen
        # two wait, and the other thread is busy
        line.give_later(partial(later, 1))
        assert (seen, makers) == ([0], {threading.get_ident()})
        held.set()
        line.take()
        for i in range(2, 50):
            line.give_later(partial(later, i))
            line.give(partial(pow, i, 2))
            assert line.take() == i * i
    assert seen == list(range(50))
    assert len(makers) == 2


@pytest.mark.parametrize("free", [True, False])
def test_what_fails_though_nothing_waits_for_it_is_raised_at_the_end(two_cores, free):
    busy, seen = threading.Event(), []
    waiting = [] if free else [threads.helpers().submit(busy.wait, 10) for _ in range(8)]
    line = threads.Line()
    line.give_later(lambda: 1 / 0)
    line.give_later(partial(seen.append, 1))
    with pytest.raises(ZeroDivisionError):
        line.close()
    assert seen == [1]
    busy.set()
    assert all(future.result() for future in waiting)


def counting(most, beside, seen):
    for i in range(most):
        seen.append((most, i, threading.get_ident()))
        beside()
        yield i != 1
    return most


def test_works_in_steps_go_one_after_the_other_on_one_thread():
    seen = []
    works = [counting(3, lambda: None, seen), counting(2, lambda: None, seen)]
    run = together(works)
    assert list(run) == [True, False, True, True, False]
    assert [step[:2] for step in seen] == [(3, 0), (3, 1), (3, 2), (2, 0), (2, 1)]
    assert finished(
        together([counting(3, lambda: None, seen), counting(0, lambda: None, seen)])
    ) == [3, 0]


def test_works_in_steps_go_side_by_side_on_two(two_cores):
    barrier, seen = threading.Barrier(2, timeout=10), []
    # each step waits for the other: a single thread would never end
    with threads.one_blas_thread():
        run = together([counting(3, barrier.wait, seen), counting(3, barrier.wait, seen)])
        assert list(run) == [True, False, True]
        barrier.reset()
        with pytest.raises(ZeroDivisionError):
            finished(together([counting(9, lambda: None, seen), counting(9, lambda: 1 // 0, seen)]))


@pytest.mark.compiled
def test_widths_compete_alike_on_one_thread_and_on_two(two_cores):
    X, y = rows(900)
    of = X, y[:, None], np.ones(900), np.append(np.full(6, -1.5), -1.0), 500, np.arange(6)
    with threadpool_limits(1, user_api="blas"):
        alone = finished(best_widths(*of))
    with threads.one_blas_thread():
        assert threads.n_threads() == 2
        assert np.array_equal(finished(best_widths(*of)), alone)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("classes", [True, False])
def test_a_search_and_least_squares_by_two_threads_are_the_same(classes, two_cores, monkeypatch):
    X, y, kind = rows_and_learner(5000, classes)
    used = set()
    sums = searched.sums_in_steps

    def watched(*args):
        used.add(threads.n_threads())
        return sums(*args)

    monkeypatch.setattr(searched, "sums_in_steps", watched)
    found = []
    for most in (1, 2):
        with threadpool_limits(most, user_api="blas"):
            model = kind(n_components=150, random_state=0)
            predicted = model.predict_then_learn(X, y)
            found.append((predicted, model.predict(X), model.model_.get_state()))
    assert used == {1, 2}
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


@pytest.mark.compiled
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("classes", [True, False])
def test_corrections_by_another_thread_are_the_same(classes, fixed, two_cores, monkeypatch):
    X, y, kind = rows_and_learner(4000, classes)
    with threadpool_limits(1, user_api="blas"):
        begun = kind(n_components=150, speed="fast", random_state=0).partial_fit(X[:1500], y[:1500])
    if fixed:
        # else fits are still to come
        begun.fix_map()
    found, parts, correct = [], [], CorrectedModel._correct

    def watched(self, X, *of):
        parts.append(len(X))
        correct(self, X, *of)

    monkeypatch.setattr(CorrectedModel, "_correct", watched)
    for most in (1, 2):
        parts.clear()
        with threadpool_limits(most, user_api="blas"):
            model = copy.deepcopy(begun)
            predicted = model.predict_then_learn(X[1500:], y[1500:])
        found.append((predicted, model.predict(X)))
        # with two threads they follow each part of f's rows
        assert (max(parts) <= 256) == (most == 2)
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
