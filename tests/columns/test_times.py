"""Times become features: what stays the same in the data stays the same to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.columns.features import DAY, time_features

# 16 384 days after 1970, floats of days become coarser
NOVEMBER_2014 = 16_384


@pytest.mark.parametrize("first", [-1000, NOVEMBER_2014 - 1000])
@pytest.mark.parametrize("hour", [0.0, 10.0, 12.0, 10.0 + 1 / 60, 10.0 + 0.5 / 3600])
def test_the_same_hour_of_any_day_is_the_same_number(first, hour):
    days = np.arange(first, first + 2000)
    seconds = DAY * days + round(7200 * hour) / 2
    seconds[5] = np.nan
    X = time_features(seconds, seconds[0])
    assert np.isnan(X[5]).all()
    known = np.delete(X, 5, axis=0)
    assert np.ptp(known[:, 1:3], axis=0).tolist() == [0.0, 0.0]
    # so is the same weekday
    weeks = np.delete(days % 7, 5)
    assert len(np.unique(np.column_stack([weeks, known[:, 3:5]]), axis=0)) == 7
