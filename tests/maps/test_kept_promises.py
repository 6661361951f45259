"""Small searches promise less where the last whole one kept little of its promise."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps.landmarks import search as search_module
from onkel.maps.landmarks import small_search
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import TailCurves, Units
from onkel.maps.landmarks.search import improve
from onkel.maps.landmarks.small_search import KeptPromise
from onkel.numerics.in_steps import finished


def test_a_promise_counts_at_the_share_that_the_last_one_kept():
    kept = KeptPromise()
    assert kept.least(0.02) == 0.02
    for gained, share in ((0.075, 0.75), (0.2, 1.0), (0.0, small_search._LEAST_KEPT)):
        kept.learn(0.1, gained)
        assert kept.share == pytest.approx(share)
        assert kept.least(0.02) == pytest.approx(0.02 / share)


def searched(kept, n=600, m=60, least_gain=0.02):
    """Where a search begins and ends."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    Y = np.sin(2.0 * X[:, :1]) * X[:, 1:2] + 0.3 * rng.standard_normal((n, 1))
    units = Units(TailCurves(*np.zeros((2, 4))), np.zeros(4), np.ones(4))
    start = Landmarks(X[:m], np.full(4, np.log(0.4)), np.log(0.1))
    how = 12, rng, units, False, None, least_gain, False, None, kept
    return start, finished(improve([start], X, Y, np.ones(n), *how))


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
def test_after_broken_promises_a_small_search_must_promise_more(m, promised):
    kept = KeptPromise()
    start, found = searched(kept, m=m)
    assert found is not start
    assert promised[0] > 0.02
    assert small_search._LEAST_KEPT <= kept.share <= 1.0

    broken = KeptPromise(0.5 * small_search._LEAST_KEPT)
    start, found = searched(broken, m=m, least_gain=0.6 * promised[0])
    # landmarks' own widths are tried for the first time with 15 to 30 rows a landmark
    assert (found is start) is (m == 60)
    assert (promised[1] == 0.0) is (m == 60)
    assert (broken.share == 0.5 * small_search._LEAST_KEPT) is (m == 60)
