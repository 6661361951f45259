"""When fits of widths and searches are due, of how many rows, and how much work they are."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks.competing_widths import work_of_best
from onkel.maps.landmarks.search import work_of_search


def scheduled(m=50, d=5, **params):
    fitted = LearnedLandmarks(m, **params)
    fitted.start(d, np.dtype(np.float64))
    return fitted


def resumed(rows, **params):
    """A map that owes a search, since postponing ended after so many rows."""
    fitted = scheduled(**params)
    fitted._taught = fitted._owing = True
    fitted.postpone(False, rows)
    return fitted


def test_while_searches_are_postponed_widths_are_learned_up_to_512_rows():
    fitted = scheduled()
    fitted._taught = True
    fitted.postpone(True)
    assert fitted.next_fit(511, 131_072)[0] == 512
    assert fitted.fit_is_due(512)
    assert fitted.next_fit(512, 131_072)[0] == 131_072
    assert not fitted.fit_is_due(1024)
    # what is not made is no work
    assert fitted.work_between(600, 131_072)[1] == 0


@pytest.mark.parametrize(("rows", "due"), [(20, 21), (315, 325), (6210, 6410)])
def test_a_search_that_is_owed_is_due_after_a_31st_more_rows(rows, due):
    assert resumed(rows).next_fit(rows, 131_072) == (due, rows)


def test_no_fit_sees_more_rows_than_there_are():
    fitted = resumed(900)
    assert [fitted.rows_of_fit(due) for due in (512, 900, 929)] == [512, 900, 900]


def test_an_owed_search_has_the_budget_of_those_that_were_not_made():
    budget, n = 2.0, 62_000
    fitted, after = (scheduled(500, search_steps=40, search_budget=budget) for _ in range(2))
    fitted._owing = True
    left = budget * fitted.work_of_row() * n
    assert fitted._steps_for(n) == left // work_of_search(n, 500, 1)
    assert after._steps_for(n) < fitted._steps_for(n)


def test_widths_compete_once_and_where_a_search_was_owed():
    fitted = scheduled()
    assert [due for due in (512, 1024, 2048) if fitted.chooses(due)] == [1024, 2048]
    fitted._taught = True
    assert [due for due in (512, 1024, 2048) if fitted.chooses(due)] == [1024]
    assert resumed(6210).chooses(6410)
    assert not resumed(6210).chooses(8192)
    # one column cannot part from others
    assert not scheduled(d=1).chooses(1024)
    alone = scheduled()
    alone.spare_work()
    assert not alone.chooses(1024)
    assert fitted.work_of_fit(1024) > work_of_best(512) > alone.work_of_fit(1024)


@pytest.mark.parametrize(
    ("m", "d", "n_warmup", "rows"),
    [
        (50, 5, 3000, 3000),
        # 64 MB hold 419 rows
        (50, 20_000, 3000, 256),
        # as many as landmarks are kept all the same
        (1000, 20_000, 3000, 1000),
        (1000, 20_000, 800, 800),
    ],
)
def test_as_many_rows_are_kept_as_the_memory_holds(m, d, n_warmup, rows):
    fitted = scheduled(m, d, n_warmup=n_warmup)
    assert fitted.warmup_rows() == rows
    # the last of them end in a fit, whatever their number
    assert fitted._due(rows)


def test_a_last_fit_is_work_from_the_rows_on_from_which_it_is_a_search():
    fitted = scheduled()
    fitted._taught = True
    assert [n for n in (575, 576) if fitted.fits_last(n)] == [576]
    assert [n for n in (1023, 1024) if fitted.searches_last(n)] == [1024]
    assert [n for n in (1023, 1024) if fitted.work_of_last_fit(n)] == [1024]


@pytest.mark.parametrize(("n", "learned"), [(7, False), (8, True)])
def test_a_handful_of_rows_says_nothing_about_widths(n, learned):
    X = np.random.default_rng(0).standard_normal((n, 3))
    width = LearnedLandmarks(5).fit(X, X[:, 0]).width_
    standardised = width * X.std(axis=0)
    assert bool(np.ptp(standardised) > 1e-6) is learned


@pytest.mark.parametrize(
    ("rows", "owed", "n_starts"), [(992, False, 2), (1984, False, 1), (2100, True, 2)]
)
def test_only_a_first_search_may_begin_at_the_first_rows(rows, owed, n_starts, monkeypatch):
    found = []

    def improve(starts, *of, device):
        found.append(len(starts))
        return starts[0]
        yield

    monkeypatch.setattr("onkel.maps.landmarks.learned.improve", improve)
    X = np.random.default_rng(0).standard_normal((rows, 3))
    fitted = LearnedLandmarks(20, random_state=0)
    fitted.start(3, np.dtype(np.float64))
    fitted.spare_work()
    fitted.fit_labelled(X[:64], X[:64, :1], np.ones(64))
    if owed:
        fitted._owing = True
        fitted.postpone(False, rows)
    due = fitted.next_fit(rows, 131_072)[0]
    for _ in fitted.fit_in_steps(X, X[:, :1], np.ones(rows), due):
        pass
    assert found == [n_starts]


def test_a_broken_promise_is_known_at_the_next_search(monkeypatch):
    def improve(starts, X, Y, weight, steps, rng, units, wanted, device):
        wanted.learn(0.1, gains.pop(0))
        return starts[0]
        yield

    gains = [0.04, 0.06]
    monkeypatch.setattr("onkel.maps.landmarks.learned.improve", improve)
    X, fitted = np.random.default_rng(0).standard_normal((1984, 3)), scheduled(20, 3)
    fitted.spare_work()
    fitted.fit_labelled(X[:64], X[:64, :1], np.ones(64))
    for broken in (True, False):
        for _ in fitted.fit_in_steps(X, X[:, :1], np.ones(1984), 2048):
            pass
        assert fitted._promises().broken is broken


def test_a_last_search_ends_with_the_penalty_of_later_rows_and_is_no_longer_owed(monkeypatch):
    def improve(starts, *of, last, device):
        return starts[0]
        yield

    def with_best_penalty(at, *of):
        return at._replace(log_ridge=np.log(7.0))
        yield

    monkeypatch.setattr("onkel.maps.landmarks.last_fit.improve", improve)
    monkeypatch.setattr("onkel.maps.landmarks.last_fit.with_best_penalty", with_best_penalty)
    X, fitted = np.random.default_rng(0).standard_normal((1100, 3)), scheduled(20, 3)
    fitted.fit_labelled(X[:64], X[:64, :1], np.ones(64))
    for n, owing in ((1000, True), (1100, False)):
        fitted._owing = True
        for _ in fitted.fit_last(X[:n], X[:n, :1], np.ones(n)):
            pass
        # so few rows are not searched
        assert fitted._owing is owing
    assert fitted.ridge_ == pytest.approx(7.0)
