"""The period of a series, from the autocorrelation of its differences.

A period is a narrow peak in that of differences, but a broad one in that of levels. It is searched
for at row numbers that double, then at every :data:`WINDOW`-th row, in the last ``WINDOW`` rows.
"""

from __future__ import annotations

import numpy as np

#: rows that are remembered
WINDOW = 2048
#: the shortest strong period and the strongest
N_PERIODS = 2
_FIRST = 128
_SHORTEST = 3
# A peak counts above this autocorrelation and above so many standard errors.
_LEAST, _STANDARD_ERRORS = 0.1, 4.0
# A period is strong if its peak has at least this share of the highest peak's height.
_NEARLY = 0.9


def rows_until_search(n: int) -> int:
    """How many rows after the n-th the period is looked for next."""
    if n >= WINDOW:
        return WINDOW - n % WINDOW
    due = _FIRST
    while due <= n:
        due *= 2
    return due - n


def find_periods(values: np.ndarray) -> np.ndarray:
    """(2,): the shortest strong period of values (n, K) and the strongest; 0 where none shows."""
    found = np.zeros(N_PERIODS, np.int64)
    steps = np.diff(values, axis=0)
    steps = steps - steps.mean(axis=0)
    n = len(steps)
    transformed = np.fft.rfft(steps, 2 * n, axis=0)
    products = np.fft.irfft(np.sum(np.abs(transformed) ** 2, axis=1))[: n // 2]
    if not products[0] > 0.0 or not np.isfinite(products[0]):
        return found
    correlation = products / products[0] * n / (n - np.arange(n // 2))
    inner = correlation[1:-1]
    peak = (inner > correlation[:-2]) & (inner >= correlation[2:])
    peak &= inner > max(_LEAST, _STANDARD_ERRORS / np.sqrt(n))
    peaks = np.flatnonzero(peak) + 1
    peaks = peaks[peaks >= _SHORTEST]
    if peaks.size:
        heights = correlation[peaks]
        found[:] = peaks[np.argmax(heights >= _NEARLY * heights.max())], peaks[heights.argmax()]
    return found
