"""A moment as features: a trend, and its phase in the day, the week and the year."""

from __future__ import annotations

import numpy as np

#: seconds
DAY = 86_400.0
#: 1970-01-01 was a Thursday; weeks begin on Monday
MONDAY = 3.0
#: mean length of a Gregorian year in days
YEAR = 365.2425
QUARTER = YEAR / 4


def time_features(seconds: np.ndarray, origin: float) -> np.ndarray:
    """The trend, and sine and cosine of the phases in the day, the week and the year.

    The trend is asinh of the days since the origin: linear at first and slow later, because kernels
    predict nothing far from the rows they learned. For the same reason the phase in the year is
    (0, 0) within a quarter of a year of the origin: by then a stream has seen only a short arc of
    that circle.

    Parameters
    ----------
    seconds : ndarray of shape (n,)
        Seconds since 1970; NaN if missing.
    origin : float
        The first moment, in seconds since 1970.

    Returns
    -------
    ndarray of shape (n, 7)
        Trend; hour; weekday, in whole days from Monday; day of the year.
    """
    days = seconds / DAY
    since = (seconds - origin) / DAY
    phases = days % 1.0, (np.floor(days) + MONDAY) % 7.0 / 7.0, days % YEAR / YEAR
    angles = 2.0 * np.pi * np.stack(phases, axis=1)
    circles = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(seconds), 6)
    circles[np.abs(since) < QUARTER, 4:] = 0.0
    return np.column_stack([np.arcsinh(since), circles])
