"""Following changes never costs more than learning itself, whatever the stream."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.explicit.model import ExplicitModel
from onkel.maps.landmarks import competing_widths, learned
from onkel.maps.landmarks.first_widths import work_of_widths
from onkel.maps.landmarks.search import work_of_search


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
