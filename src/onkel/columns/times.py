"""A moment as features: a trend, and where it stands in the day, the week and the year."""

from __future__ import annotations

import numpy as np

__all__ = ["circles"]

_DAY = 86_400.0
# 1970-01-01 was a Thursday; weeks begin on Monday.
_MONDAY = 3.0
# Mean length of a Gregorian year in days.
_YEAR = 365.2425


def circles(seconds: np.ndarray) -> np.ndarray:
    """Sine and cosine of the phase in the day, the week and the year.

    Parameters
    ----------
    seconds : ndarray of shape (n,)
        Since 1970; NaN where there is none.

    Returns
    -------
    ndarray of shape (n, 6)
        The hour stands in the day, the weekday in the week (whole days, from Monday), the day in
        the year.
    """
    days = seconds / _DAY
    phases = days % 1.0, (np.floor(days) + _MONDAY) % 7.0 / 7.0, days % _YEAR / _YEAR
    angles = 2.0 * np.pi * np.stack(phases, axis=1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(seconds), 6)
