"""Compiled hot loops of the columns: running statistics, row by row."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fill_means(X, means, counts):
    """Replace NaN with the running mean of the column so far (0 before the first); in place."""
    for t in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[t, j]
            if np.isnan(x):
                X[t, j] = means[j]
            else:
                counts[j] += 1
                means[j] += (x - means[j]) / counts[j]


@njit(cache=True, nogil=True)
def means_of_codes(codes, Y, before, counts, sums, smoothing, out, learn):
    """Smoothed mean target of each row's code minus that of all rows, from the rows before.

    ``before`` (n, J) holds the means of all rows before each row; ``smoothing`` such rows are added
    to those of a code. The result is 0 for code 0, and for a code without rows.
    """
    for t in range(len(codes)):
        c = codes[t]
        if c == 0:
            continue
        for j in range(Y.shape[1]):
            away = sums[c, j] - counts[c] * before[t, j]
            out[t, j] = away / (counts[c] + smoothing)
        if learn:
            counts[c] += 1.0
            for j in range(Y.shape[1]):
                sums[c, j] += Y[t, j]


@njit(cache=True, nogil=True)
def running_means(Y, total, n, before):
    """Mean of all rows before each row of Y (n, J), 0 before the first; adds Y to ``total``."""
    for t in range(len(Y)):
        for j in range(Y.shape[1]):
            before[t, j] = total[j] / n if n > 0.0 else 0.0
            total[j] += Y[t, j]
        n += 1.0
    return n


@njit(cache=True, nogil=True)
def standard_rows(X, out, mean, m2, t):
    """Welford's update with x_t, then (x_t - mean) / std; 0 where the variance is 0."""
    for i in range(X.shape[0]):
        t += 1
        w = 1.0 / t
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            d = x - mean[j]
            m = mean[j] + d * w
            s = m2[j] + d * (x - m)
            mean[j] = m
            m2[j] = s
            out[i, j] = (x - m) / np.sqrt(s * w) if s > 0.0 else 0.0
    return t


@njit(cache=True, nogil=True)
def standard_late(X, out, mean, m2, count):
    """As ``standard_rows`` from the first x in a column that is not 0; a 0 stays 0."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            out[i, j] = 0.0
            if x == 0.0 and count[j] == 0:
                continue
            count[j] += 1
            d = x - mean[j]
            mean[j] += d / count[j]
            m2[j] += d * (x - mean[j])
            if x != 0.0 and m2[j] > 0.0:
                out[i, j] = (x - mean[j]) / np.sqrt(m2[j] / count[j])


@njit(cache=True, nogil=True)
def minmax_late(X, out, low, high, count):
    """As ``minmax_rows`` from the first x in a column that is not 0; a 0 stays 0."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            out[i, j] = 0.0
            if x == 0.0 and count[j] == 0:
                continue
            count[j] += 1
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
            if x != 0.0 and high[j] > low[j]:
                out[i, j] = (x - low[j]) / (high[j] - low[j])


@njit(cache=True, nogil=True)
def minmax_rows(X, out, low, high, t):
    """Widen [low, high] by x_t, then (x_t - low) / (high - low); 0 where they are equal.

    ``t``, the number of rows so far, is unused.
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            a = min(low[j], x)
            b = max(high[j], x)
            low[j] = a
            high[j] = b
            out[i, j] = (x - a) / (b - a) if b > a else 0.0


@njit(cache=True, nogil=True)
def standard_sparse(indptr, indices, data, out, count, mean, m2, t):
    """x_t / std of rows 1..t, zeros counted; mean and m2 are those of the stored values alone.

    With n stored values of mean m among t rows, the t - n zeros add m² n (t - n) / t to m2.
    """
    for i in range(len(indptr) - 1):
        t += 1
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            x = np.float64(data[k])
            count[j] += 1
            d = x - mean[j]
            mean[j] += d / count[j]
            m2[j] += d * (x - mean[j])
            s = m2[j] + mean[j] * mean[j] * count[j] * (t - count[j]) / t
            out[k] = x / np.sqrt(s / t) if s > 0.0 else 0.0
    return t


@njit(cache=True, nogil=True)
def minmax_sparse(indptr, indices, data, out, top):
    """x_t / largest absolute value so far."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            x = np.float64(data[k])
            top[j] = max(top[j], abs(x))
            out[k] = x / top[j] if top[j] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def fill_means_sparse(indptr, indices, data, means, counts):
    """As ``fill_means``, counting zeros that are not stored as values; in place."""
    n = len(indptr) - 1
    sums = means * counts
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if np.isnan(data[k]):
                seen = counts[j] + i
                data[k] = sums[j] / seen if seen > 0 else 0.0
                counts[j] -= 1
            else:
                sums[j] += data[k]
    for j in range(len(means)):
        counts[j] += n
        if counts[j] > 0:
            means[j] = sums[j] / counts[j]


@njit(cache=True, nogil=True)
def target_rows(y, center, scale, a, b, t, minmax):
    """Center and scale after each y_t (in center[i + 1], scale[i + 1]); 1 where y has not varied.

    (a, b) are mean and sum of squared deviations, or minimum and maximum.
    """
    for i in range(len(y)):
        t += 1
        if minmax:
            a = min(a, y[i])
            b = max(b, y[i])
            s = b - a
        else:
            d = y[i] - a
            a += d / t
            b += d * (y[i] - a)
            s = np.sqrt(b / t)
        center[i + 1] = a
        scale[i + 1] = s if s > 0.0 else 1.0
    return a, b
