"""How far a climb steps: by the slopes of all landmarks, less at its end and after a vain try."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.maps.landmarks import climb as climb_module
from onkel.maps.landmarks.climb import Judged, climb
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.gradient import Gradient
from onkel.numerics.in_steps import finished


class Slope:
    """Rows whose evidence has the same slopes everywhere, (m, d) in the landmarks."""

    n = 10

    def __init__(self, slopes):
        self.slopes = slopes

    def sums(self, at):
        yield True
        return at

    def gradient(self, at, sums, every, first, factor):
        yield True
        return Gradient(self.slopes, np.zeros(self.slopes.shape[1]))


@pytest.fixture
def climbed(monkeypatch):
    """The landmarks at each check of a climb, given the errors there, and those it returns."""

    def climbed(errors, steps, slopes, **more):
        left, seen = list(errors), []

        def judged(at, sums, rows):
            seen.append(at.S)
            yield True
            error = left.pop(0)
            return Judged(at, np.array([error]), error, None)

        monkeypatch.setattr(climb_module, "judged", judged)
        start = Landmarks(np.zeros(slopes.shape), np.zeros(slopes.shape[1]), 0.0)
        best, squares = finished(climb(start, Slope(slopes), steps, **more))
        if not more:
            assert squares.sum() == min(errors[: len(seen)])
        return np.array(seen), best.S

    return climbed


def test_steps_shrink_in_the_second_half(climbed):
    seen, best = climbed([9.0, 8.0, 7.0, 6.0, 5.0], 24, np.ones((1, 1)))
    # down the slope
    first, second, third, fourth = -np.diff(seen[:, 0, 0])
    assert first > 0.0
    assert second == pytest.approx(first)
    assert 0.5 * first < third < 0.9 * first
    assert 0.1 * first < fourth < 0.4 * first
    np.testing.assert_array_equal(best, seen[-1])


def test_after_two_checks_in_vain_it_goes_on_from_its_best_point_in_smaller_steps(climbed):
    seen, best = climbed([9.0, 5.0, 7.0, 8.0, 6.0, 4.0, *[6.0] * 5], 60, np.ones((1, 1)))
    step = seen[0] - seen[1]
    np.testing.assert_allclose(seen[3], seen[1] - 2.0 * step)
    # the check that is in vain is followed by no step
    smaller = (seen[1] - seen[4]) / (5.0 / 6.0 * step)
    assert 0.1 < float(smaller[0, 0]) < 0.5
    # one more in vain does not send it back again
    np.testing.assert_allclose(seen[1] - seen[5], 11.0 / 5.0 * (seen[1] - seen[4]))
    np.testing.assert_array_equal(best, seen[5])
    # in the second half the first in vain ends it
    assert len(seen) == 7


def test_squared_slopes_are_half_of_all_landmarks_column_by_column(climbed):
    slopes = np.array([[1.0, 10.0], [3.0, 0.0]])
    seen, _ = climbed([2.0, 1.0], 1, slopes)
    squares = 0.5 * slopes**2 + 0.5 * (slopes**2).mean(axis=0)
    moved = (seen[0] - seen[1]) / (slopes / np.sqrt(squares) + (slopes == 0.0))
    assert moved[1, 1] == 0.0
    np.testing.assert_allclose(moved[slopes > 0.0], moved[0, 0])
    assert moved[0, 0] > 0.0


@pytest.mark.parametrize(
    ("errors", "n_checks"), [([9.0, 5.0, 6.0, 4.0, 3.0], 5), ([9.0, 5.0, 4.0, 6.0, 3.0], 4)]
)
def test_a_check_in_vain_ends_it_only_beyond_the_middle(errors, n_checks, climbed):
    seen, _ = climbed(errors, 24, np.ones((1, 1)))
    assert len(seen) == n_checks


@pytest.mark.parametrize(("to_beat", "n_checks"), [(3.5, 5), (2.5, 3)])
def test_a_climb_goes_on_where_twice_the_gain_of_two_checks_would_do(to_beat, n_checks, climbed):
    # 7 is less than twice 9 - 7 above what is to beat, or more
    seen, _ = climbed([9.0, 8.0, 7.0, 5.0, 3.0], 24, np.ones((1, 1)), to_beat=to_beat)
    assert len(seen) == n_checks
