"""Following changes never costs more than learning itself, whatever the stream."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default.compute_budget import ComputeBudget
from onkel.explicit.model import ExplicitModel
from onkel.maps.landmarks import competing_widths, learned
from onkel.maps.landmarks.first_widths import work_of_widths
from onkel.maps.landmarks.search import work_of_search


class Planned:
    """A map with fits at some rows, which use some of them; a row takes 2 multiplications."""

    def __init__(self, **fits):
        #: rows of each fit, by when it is due
        self.fits, self.postponed = {int(due[1:]): rows for due, rows in fits.items()}, []

    def next_fit(self, n, last):
        due = min(due for due in (*self.fits, last) if due > n)
        return due, self.fits.get(due, due)

    def work_of_fit(self, due):
        return 10 * due

    def work_between(self, start, end):
        return 2 * (end - start), sum(10 * due for due in self.fits if start < due <= end)

    def postpone(self, on, rows=0):
        self.postponed.append((on, rows))


def test_work_is_charged_where_the_budget_covers_it():
    budget, unfitted = ComputeBudget(), Planned(r64=64, r128=128, r192=192)
    assert not budget.charge(1)
    budget.count_rows(unfitted, 0, 128, challenged=False)
    assert (budget.learned, budget.followed) == (256 + 640 + 1280, 0)
    # of a challenger its rows count: its fits were charged when it began
    budget.count_rows(unfitted, 128, 198, challenged=True)
    assert (budget.learned, budget.followed) == (2176 + 140 + 1920, 140)
    assert not budget.charge(4097)
    assert budget.left == 4096
    assert budget.charge(4096)
    assert budget.left == 0


# fits that begin while the next 64 rows come, those of 50 to 114 rows, count; and while one of them
# lasts, those of 64 rows more, and so on
@pytest.mark.parametrize(
    ("fits", "last", "begun"),
    [
        ({"r100": 100, "r200": 115}, 1000, [100]),
        ({"r100": 100, "r240": 114, "r300": 243}, 1000, [100, 240]),
        ({"r100": 100, "r240": 114, "r300": 242, "r500": 307}, 1000, [100, 240, 300]),
        ({"r100": 100, "r240": 114, "r300": 242}, 240, [100, 240]),
    ],
)
def test_a_search_waits_until_three_quarters_of_the_budget_cover_it(fits, last, begun):
    work = 10 * sum(begun)
    for missing in (0, 4):
        budget, planned = ComputeBudget(), Planned(**fits)
        budget.learned = work * 4 // 3 + 1 - missing
        budget.search(SimpleNamespace(map=planned, warmup=SimpleNamespace(count=50, n_rows=last)))
        assert budget.followed == (0 if missing else work)
        assert planned.postponed == [(False, 50), *([(True, 0)] if missing else [])]


def test_a_search_that_is_being_made_is_not_charged_again():
    budget, planned = ComputeBudget(), Planned(r100=50)
    budget.learned = 10**6
    budget.search(SimpleNamespace(map=planned, warmup=SimpleNamespace(count=50, n_rows=1000)))
    assert (budget.followed, planned.postponed) == (0, [])


def flipping(n, period, seed=0):
    """Two classes that swap places again and again."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    return X, (X[:, 0] > 0.0) ^ (np.arange(n) // period % 2 == 1)


@pytest.fixture
def done(monkeypatch):
    """A list of the work actually done."""
    work, widths, search = [], learned.first_widths, learned.improve
    competing = competing_widths.widths_in_steps
    learn = ExplicitModel._learn_in_order

    def counted_widths(X, Y, weight, start, steps, groups, *more):
        work.append(work_of_widths(len(X), min(steps, 8)))
        return widths(X, Y, weight, start, steps, groups, *more)

    def counted_competing(X, Y, weight, start, steps, groups, *more):
        work.append(work_of_widths(len(X), steps))
        return competing(X, Y, weight, start, steps, groups, *more)

    def counted_search(starts, X, Y, weight, steps, rng, units, *how, **more):
        work.append(work_of_search(len(X), len(starts[0].S), steps))
        return search(starts, X, Y, weight, steps, rng, units, *how, **more)

    def counted_learning(self, X, y, weight, P):
        work.append(len(y) * self.map.work_of_row())
        learn(self, X, y, weight, P)

    monkeypatch.setattr(learned, "first_widths", counted_widths)
    monkeypatch.setattr(competing_widths, "widths_in_steps", counted_competing)
    monkeypatch.setattr(learned, "improve", counted_search)
    monkeypatch.setattr(ExplicitModel, "_learn_in_order", counted_learning)
    return work


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("speed", ["fast", "balanced"])
def test_a_stream_that_flips_costs_at_most_twice_its_learning(speed, done):
    X, y = flipping(9024, 600)
    model = OnlineKernelClassifier(n_components=25, speed=speed, memory=False)
    waited = False
    for a in range(0, len(y), 64):
        model.partial_fit(X[a : a + 64], y[a : a + 64], classes=[False, True])
        budget = model.model_.budget
        assert budget.followed <= budget.learned
        waited |= model.map_.postponed_
    assert sum(done) <= budget.learned + budget.followed
    assert len(model.changes_) >= 1
    if speed == "balanced":
        assert waited


@pytest.mark.slow
@pytest.mark.compiled
def test_columns_that_keep_coming_set_off_no_more_challengers_than_can_be_paid(done):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9024, 2)), rng.standard_normal(9024)
    model = OnlineKernelRegressor(n_components=25, speed="fast", memory=False).fit(
        X[:2048], y[:2048]
    )
    begun, running = 0, None
    for a in range(2048, 9024, 64):
        model.add_columns(1)
        X = np.c_[X, np.zeros(len(X))]
        model.partial_fit(X[a : a + 64], y[a : a + 64])
        both = model.model_
        begun += both.challenger is not None and both.challenger is not running
        running, budget = both.challenger, both.budget
        assert budget.followed <= budget.learned
    assert sum(done) <= budget.learned + budget.followed
    assert 1 <= begun < 10
    assert model.model_.column_waits


@pytest.mark.slow
@pytest.mark.compiled
def test_what_is_spent_is_saved():
    X, y = flipping(4000, 600)
    model = OnlineKernelClassifier(n_components=25, memory=False).fit(X[:3000], y[:3000])
    again = OnlineKernelClassifier.from_state(model.get_state())
    for each in (model, again):
        each.partial_fit(X[3000:], y[3000:])
    assert again.model_.budget.get_state() == model.model_.budget.get_state()
    np.testing.assert_array_equal(again.coef_, model.coef_)
