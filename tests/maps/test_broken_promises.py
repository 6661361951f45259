"""After a broken promise a small search must promise twice as much."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps.landmarks import search as search_module
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import TailCurves, Units
from onkel.maps.landmarks.search import improve
from onkel.maps.landmarks.small_search import Promises
from onkel.numerics.in_steps import finished


def test_a_search_that_gains_less_than_half_of_what_was_promised_breaks_the_promise():
    wanted = Promises(0.02)
    for gained, broken in ((0.049, True), (0.051, False), (0.0, True)):
        wanted.learn(0.1, gained)
        assert wanted.broken is broken
        assert wanted.least(new=False) == (0.04 if broken else 0.02)
        assert wanted.least(new=True) == 0.02


def searched(wanted, n=600, m=60):
    """Where a search begins and ends."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    Y = np.sin(2.0 * X[:, :1]) * X[:, 1:2] + 0.3 * rng.standard_normal((n, 1))
    units = Units(TailCurves(*np.zeros((2, 4))), np.zeros(4), np.ones(4))
    start = Landmarks(X[:m], np.full(4, np.log(0.4)), np.log(0.1))
    return start, finished(improve([start], X, Y, np.ones(n), 12, rng, units, wanted))


@pytest.fixture
def promised(monkeypatch):
    """What small searches promised."""
    found, promises = [], search_module.promises

    def noted(*of):
        found.append((yield from promises(*of)))
        return found[-1]

    monkeypatch.setattr(search_module, "promises", noted)
    return found


@pytest.mark.parametrize("m", [60, 30])
def test_after_a_broken_promise_a_small_search_must_promise_more(m, promised):
    wanted = Promises(0.02)
    start, found = searched(wanted, m=m)
    assert found is not start
    assert promised[0] > 0.02
    assert not wanted.broken

    wanted = Promises(0.8 * promised[0], broken=True)
    start, found = searched(wanted, m=m)
    # landmarks' own widths are tried for the first time with 15 to 30 rows a landmark
    assert (found is start) is (m == 60)
    assert (promised[1] == 0.0) is (m == 60)
    assert wanted.broken is (m == 60)


@pytest.mark.parametrize(("m", "new"), [(60, False), (30, True), (15, False)])
def test_only_the_first_search_for_widths_of_landmarks_is_new(m, new):
    class Asked(Promises):
        def least(self, new):
            asked.append(new)
            return super().least(new)

    asked = []
    searched(Asked(0.02), m=m)
    # widths of their own are tried from 15 rows a landmark on; the search before saw 300 rows
    assert asked == [new]
