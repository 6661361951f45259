"""Compiled loops of the columns: running means, scales and tails, row by row.

**Tails.** In a column of counts or amounts a few outliers set the standard deviation, and by its
measure all other rows lie close together. The loops ``standard_...`` turn such a column into

    u = asinh((x - m)/a),   m = mean of x,   a = mean |x - m|,   then (u - mean of u)/std of u,

all over the rows so far. The curve is linear near m and logarithmic far out. It is used for columns
whose standardised values have a mean fourth power above 10 (3 for a normal column), if it more than
halves that. This is checked at rows 64, 128, ..., 4096 of the column; once drawn in, a column stays
so.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_as_written

#: A spread of at most this share of the values is rounding, as where a sum is constant: it is 0.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@jit_as_written
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


@jit_as_written
def means_of_codes(codes, Y, before, counts, sums, smoothing, rounding, out, learn):
    """Smoothed mean target of each row's code minus that of all rows, from the rows before.

    ``before`` (n, J) holds the means of all rows before each row; ``smoothing`` such rows are added
    to those of a code. A difference below the share ``rounding`` of a sum is 0. The result is 0 for
    code 0, and for a code without rows. If a row has several of the ``codes`` (n, m), it is their
    sum by the square root of their number.
    """
    for t in range(len(codes)):
        n_codes = 0
        for c in codes[t]:
            if c == 0:
                continue
            n_codes += 1
            for j in range(Y.shape[1]):
                away = sums[c, j] - counts[c] * before[t, j]
                # a column that knows one code so far stays constant
                if np.abs(away) > rounding * np.abs(sums[c, j]):
                    out[t, j] += away / (counts[c] + smoothing)
        if n_codes > 1:
            for j in range(Y.shape[1]):
                out[t, j] /= np.sqrt(n_codes)
        for c in codes[t]:
            if learn and c != 0:
                counts[c] += 1.0
                for j in range(Y.shape[1]):
                    sums[c, j] += Y[t, j]


@jit_as_written
def running_means(Y, total, n, before):
    """Mean of all rows before each row of Y (n, J), 0 before the first; adds Y to ``total``."""
    for t in range(len(Y)):
        for j in range(Y.shape[1]):
            before[t, j] = total[j] / n if n > 0.0 else 0.0
            total[j] += Y[t, j]
        n += 1.0
    return n


@jit_as_written
def _standardised(X, out, mean, m2, t):
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
            # s * w, not s: the smallest number times w is 0
            out[i, j] = (x - m) / np.sqrt(s * w) if s * w > (ROUNDING * m) ** 2 else 0.0
    return t


@jit_as_written
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
            if x != 0.0 and high[j] - low[j] > ROUNDING * abs(low[j]):
                out[i, j] = (x - low[j]) / (high[j] - low[j])


@jit_as_written
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
            out[i, j] = (x - a) / (b - a) if b - a > ROUNDING * abs(a) else 0.0


@jit_as_written
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
            out[k] = x / np.sqrt(s / t) if s / t > (ROUNDING * mean[j]) ** 2 else 0.0


@jit_as_written
def minmax_sparse(indptr, indices, data, out, top):
    """x_t / largest absolute value so far."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            x = np.float64(data[k])
            top[j] = max(top[j], abs(x))
            out[k] = x / top[j] if top[j] > 0.0 else 0.0


@jit_as_written
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


@jit_as_written
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


#: rows of ``tails`` (6, d): Σ|x - m|, Σz⁴, mean of u, Σ(u - mean)², Σ of u's z⁴, and whether heavy
AWAY, FOURTH, MEAN, SQUARES, OWN_FOURTH, HEAVY = range(6)
_FIRST, _LAST = 64, 4096
_LARGE, _TAKEN_AWAY = 10.0, 0.5


@jit_as_written
def _draw_in(x, m, away, t):
    return np.arcsinh((x - m) / (away / t)) if away / t > 0.0 else 0.0


@jit_as_written
def _learn_drawn(x, j, t, mean, tails):
    """Row t of column j, drawn in and standardised; ``mean`` already includes it."""
    tails[AWAY, j] += abs(x - mean[j])
    u = _draw_in(x, mean[j], tails[AWAY, j], t)
    d = u - tails[MEAN, j]
    tails[MEAN, j] += d / t
    tails[SQUARES, j] += d * (u - tails[MEAN, j])
    squares = tails[SQUARES, j]
    return (u - tails[MEAN, j]) / np.sqrt(squares / t) if squares / t > 0.0 else 0.0


@jit_as_written
def _judged(z, x, j, t, mean, tails):
    """Scaled value of row t of column j, z before; rows 64, 128, ... decide if j is heavy."""
    if t > _LAST and tails[HEAVY, j] == 0.0:
        return z
    own = _learn_drawn(x, j, t, mean, tails)
    if tails[HEAVY, j] == 0.0:
        tails[FOURTH, j] += z**4
        tails[OWN_FOURTH, j] += own**4
        if t >= _FIRST and t & (t - 1) == 0:
            heavy = tails[FOURTH, j] > _LARGE * t
            less = tails[OWN_FOURTH, j] < _TAKEN_AWAY * tails[FOURTH, j]
            tails[HEAVY, j] = 1.0 if heavy and less else 0.0
    return own if tails[HEAVY, j] > 0.0 else z


@jit_as_written
def standard_rows(X, out, mean, m2, tails, t):
    """Learn rows X (n, d) after t earlier ones, and write their scaled values to ``out``.

    ``tails`` has no columns if none is ever drawn in.
    """
    if not tails.shape[1]:
        _standardised(X, out, mean, m2, t)
        return
    columns = np.arange(X.shape[1])
    for i in range(X.shape[0]):
        _standardised(X[i : i + 1], out[i : i + 1], mean, m2, t)
        t += 1
        if t == _LAST + 1 or (i == 0 and t > _LAST):
            columns = np.flatnonzero(tails[HEAVY])
        for j in columns:
            out[i, j] = _judged(np.float64(out[i, j]), np.float64(X[i, j]), j, t, mean, tails)


@jit_as_written
def standard_late(X, out, mean, m2, tails, count):
    """As ``standard_rows`` from the first x in a column that is not 0; a 0 stays 0."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = 0.0
            if X[i, j] != 0.0 or count[j] > 0:
                count[j] += 1
                x, t = np.float64(X[i, j]), int(count[j])
                d = x - mean[j]
                mean[j] += d / t
                m2[j] += d * (x - mean[j])
                varies = m2[j] / t > (ROUNDING * mean[j]) ** 2
                z = (x - mean[j]) / np.sqrt(m2[j] / t) if varies else 0.0
                if tails.shape[1]:
                    z = _judged(z, x, j, t, mean, tails)
                if x != 0.0:
                    out[i, j] = z


@jit_as_written
def standard_now(X, out, mean, m2, tails, n_rows, first, count):
    """Write X (n, d), standardised, to ``out``; ``n_rows`` were learned so far.

    Columns from ``first`` on came late, and have ``count`` (d,) rows.
    """
    for j in range(X.shape[1]):
        rows = max(n_rows if j < first else count[j], 1.0)
        if j < tails.shape[1] and tails[HEAVY, j] > 0.0:
            scale = np.sqrt(rows / tails[SQUARES, j]) if tails[SQUARES, j] > 0.0 else 0.0
            for i in range(X.shape[0]):
                u = _draw_in(np.float64(X[i, j]), mean[j], tails[AWAY, j], rows)
                out[i, j] = (u - tails[MEAN, j]) * scale
            continue
        width = np.sqrt(m2[j] / rows)
        known = width > ROUNDING * abs(mean[j]) and np.isfinite(width)
        center = mean[j] if known else 0.0
        factor = 1.0 / width if known else 0.0
        for i in range(X.shape[0]):
            out[i, j] = (np.float64(X[i, j]) - center) * factor
