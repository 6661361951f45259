"""Numbers out of CSV text, straight into a row-major array: several times pyarrow's speed."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["POWERS", "parse_numbers"]

# 10^0 .. 10^22 are exact in float64; the rest are right to half a unit in the last place.
POWERS = np.array([float(f"1e{k}") for k in range(61)])


@njit(cache=True, nogil=True)
def _null(buf, i):
    """Length of NA, NaN, nan, null or NULL at i; 0 if none. (The text ends with a line end.)"""
    a, b = buf[i], buf[i + 1]
    if a == 78 and b == 65:
        return 2
    if (a == 78 or a == 110) and b == 97 and buf[i + 2] == a:
        return 3
    if a == 110 and b == 117 and buf[i + 2] == 108 and buf[i + 3] == 108:
        return 4
    if a == 78 and b == 85 and buf[i + 2] == 76 and buf[i + 3] == 76:
        return 4
    return 0


@njit(cache=True, nogil=True)
def _exponent(buf, i):
    """Exponent that starts at i, after the ``e``: (next position, value); 9999 if none."""
    minus = buf[i] == 45
    if minus or buf[i] == 43:
        i += 1
    first, k = i, 0
    while 48 <= buf[i] <= 57 and k < 1000:
        k = k * 10 + int(buf[i]) - 48
        i += 1
    if i == first:
        return i, 9999
    return i, -k if minus else k


@njit(cache=True, nogil=True)
def parse_numbers(buf, end, delimiter, place, powers, exact, X, y):
    """Rows of numbers from the first ``end`` bytes of CSV text; a line end and 8 bytes follow.

    place : for each field of a row its column in X; -1 the target; -2 not wanted.
    Returns the number of rows; -1 if anything is not a plain number (nothing is said about what
    X and y hold then). An empty field or null in X is NaN.

    The digits of a number make a whole number m, the rest a power of ten: m * 10^e. With m < 2^53
    and |e| <= 22 the result is the nearest float64 (Clinger). Otherwise it is off by at most two
    units in the last place of float64: good for float32, refused in y and where ``exact``.
    """
    # One function on purpose: helpers that take the buffer cost three times the loop's own time.
    i, row, last = 0, 0, len(place) - 1
    while i < end:
        for f in range(last + 1):
            j = place[f]
            c = np.int64(buf[i])
            if j == -2:
                while c != delimiter and c != 10 and c != 34:
                    i += 1
                    c = np.int64(buf[i])
            elif c == delimiter or c == 10 or c == 13:
                if j == -1 or last == 0:
                    return -1
                X[row, j] = np.nan
            else:
                start = i
                negative = c == 45
                if negative or c == 43:
                    i += 1
                m, e, first = np.int64(0), 0, i
                c = np.int64(buf[i]) - 48
                while c >= 0 and c < 10:
                    m = m * 10 + c
                    i += 1
                    c = np.int64(buf[i]) - 48
                digits = i - first
                if c == -2:
                    i += 1
                    first = i
                    c = np.int64(buf[i]) - 48
                    while c >= 0 and c < 10:
                        m = m * 10 + c
                        i += 1
                        c = np.int64(buf[i]) - 48
                    e = i - first
                    digits += e
                if c == 53 or c == 21:
                    i, k = _exponent(buf, i + 1)
                    e -= k
                value = np.float64(m)
                if digits == 0 or digits > 18 or e > 60 or e < -60:
                    # Eighteen digits fit in an int64.
                    null = _null(buf, start) if digits == 0 and j >= 0 else 0
                    if null == 0:
                        return -1
                    value = np.float64(np.nan)
                    i = start + null
                elif (exact or j == -1) and (m > (1 << 53) or e > 22 or e < -22):
                    return -1
                elif e >= 0:
                    value /= powers[e]
                else:
                    value *= powers[-e]
                if negative:
                    value = -value
                if j >= 0:
                    X[row, j] = value
                else:
                    y[row] = value
            if f < last:
                if buf[i] != delimiter:
                    return -1
                i += 1
        if buf[i] == 13:
            i += 1
        if buf[i] != 10:
            return -1
        i += 1
        row += 1
    return row
