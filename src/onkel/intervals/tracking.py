"""Quantile tracking: bounds around forecasts whose coverage feedback keeps.

A row has a forecast p. From the errors before it come a bias c and a deviation d. The bounds of
level 1 - α are p + c ± q·d. When the target y comes, the score is s = |y - p - c|/d, and

    q ← q + η (1[s > q] - α).

Each miss widens the bounds, each hit narrows them a little. Summed over the m rows of a window,
misses - αm = Σ Δq/η. With a constant η the share of misses is therefore within
(max q - min q)/(ηm) of α, whatever the stream does. Here η is a twentieth of the largest recent
score; below 90 % it is smaller, as then a typical score is far below the largest.

d follows the errors at three speeds (half-lives of 1, 30 and 1000 rows), as volatility is forecast
in finance: large errors come in clusters. It averages √|error|, so that one outlier counts little.
c is the mean of the last 150 errors or so, shrunk to 0 where it is not clearly different from 0.

Bounds stay inside what the target can be, as far as targets show it: they end at 0 as long as none
was negative, and are whole as long as all were (from 30 rows on). The first target that is
otherwise ends that; so each of both costs at most one row of coverage, and no step of q depends on
it.

Several levels are nested: their q are projected to be in order. Each miss is judged by the
projected q and moves the level's own q (lazy projection).

Source: Angelopoulos, Candès & Tibshirani 2023, arXiv:2307.16895 (quantile tracking); Corsi 2009
(deviations at several speeds).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from onkel.intervals.levels import in_order
from onkel.numerics.jit import jit_in_order, jit_inline_in_order

#: η in units of the largest recent score, for α up to FULL_STEP; above, it falls as FULL_STEP/α
STEP, FULL_STEP = 0.05, 0.1
#: rows that stand alone may come at any time: their q is to be steady
ALONE_STEP = 0.1
#: the largest score of the last 300 rows, kept as the largest of ten blocks of rows
BLOCKS, BLOCK_ROWS = 10, 30
#: scores above this count as this in the step
LARGEST_SCORE = 20.0
HALF_LIVES = (1.0, 30.0, 1000.0)
#: weights of the deviations at the three speeds: of the row that comes next, of a row by itself
NEXT, ALONE = (0.3, 0.2, 0.5), (0.0, 0.0, 1.0)
BIAS_HALF_LIFE = 100.0
#: after so many whole targets, bounds are whole; above the largest, floats have no fractions
CERTAIN_ROWS, LARGEST_WHOLE = 30.0, 2.0**52
#: standard errors, squared, by which a bias is shrunk
SHRINKING = 4.0
# (E √|z|)² of a standard normal z: a deviation d of normal errors is this times their σ
_NORMAL = 0.6760

_KEPT = np.array([0.5 ** (1.0 / rows) for rows in HALF_LIVES])
_KEPT_BIAS = 0.5 ** (1.0 / BIAS_HALF_LIFE)

# The numbers of a tracker, in one array: a call from Python then hands over one array.
# rows, the target's range, its least value, whether that may raise the range's lower end, whether
# all targets were whole numbers; largest scores (10); sums and weights of deviations (3 + 3); sums
# of errors and squared errors, weights and squared weights (4); what does not change: η if it is
# constant, else 0, and the weights of the speeds (3); for each level q, q in order, and α
N_ROWS, LOW, HIGH, LEAST, AUTO, WHOLE = 0, 1, 2, 3, 4, 5
RECENT = 6
SUMS = RECENT + BLOCKS
WEIGHTS = SUMS + 3
ERRORS = WEIGHTS + 3
CONSTANT = ERRORS + 4
SHARES = CONSTANT + 1
Q = SHARES + 3


def begun(alphas: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    """The numbers of a tracker before its first row: q as if errors were normal."""
    numbers = np.zeros(Q + 3 * len(alphas))
    numbers[LOW] = -np.inf if low is None else low
    numbers[HIGH] = np.inf if high is None else high
    numbers[LEAST], numbers[AUTO], numbers[WHOLE] = np.inf, low is None, True
    q = ndtri(1.0 - 0.5 * alphas) / _NORMAL
    numbers[RECENT] = min(q.max(), LARGEST_SCORE)
    numbers[Q:] = np.concatenate([q, q, alphas])
    return numbers


@jit_inline_in_order
def _bias(numbers):
    """The mean of recent errors, shrunk by its standard error; 0 for rows that stand alone."""
    weight = numbers[ERRORS + 2]
    if numbers[SHARES] == 0.0 or numbers[N_ROWS] < 2.0 or numbers[ERRORS] == 0.0:
        return 0.0
    mean = numbers[ERRORS] / weight
    variance = max(numbers[ERRORS + 1] / weight - mean * mean, 0.0)
    of_mean = variance * numbers[ERRORS + 3] / (weight * weight)
    return mean * max(0.0, 1.0 - SHRINKING * of_mean / (mean * mean))


@jit_inline_in_order
def _deviation(numbers):
    """d: the weighted mean of √|error| at three speeds, squared; 0 before an error above 0."""
    root = 0.0
    for k in range(3):
        if numbers[WEIGHTS + k] > 0.0:
            root += numbers[SHARES + k] * numbers[SUMS + k] / numbers[WEIGHTS + k]
    return root * root


@jit_inline_in_order
def _bound(numbers, q, centre, d, out, t):
    """out[t] ← the bounds centre ± q·d of each level, inside what the target can be.

    Between whole bounds lie the same whole numbers. Where there is none, the nearest is given.
    """
    low, high = numbers[LOW], numbers[HIGH]
    if numbers[AUTO] > 0.0 and numbers[N_ROWS] > 0.0 and numbers[LEAST] >= 0.0:
        low = 0.0
    whole = numbers[WHOLE] > 0.0 and numbers[N_ROWS] >= CERTAIN_ROWS
    for i in range(q.shape[0]):
        reach = max(q[i], 0.0) * d if numbers[N_ROWS] > 0.0 else np.inf
        below, above = centre - reach, centre + reach
        if whole:
            below, above = np.ceil(below), np.floor(above)
            if below > above:
                below = above = np.rint(centre)
        out[t, i, 0] = min(max(below, low), high)
        out[t, i, 1] = min(max(above, low), high)


@jit_inline_in_order
def _follow(numbers, score, L):
    """Move the q of each level by a row's score."""
    t = int(numbers[N_ROWS])
    at = RECENT + (t // BLOCK_ROWS) % BLOCKS
    if t % BLOCK_ROWS == 0:
        numbers[at] = 0.0
    numbers[at] = max(numbers[at], min(score, LARGEST_SCORE))
    largest = 0.0
    for k in range(BLOCKS):
        largest = max(largest, numbers[RECENT + k])
    for i in range(L):
        alpha = numbers[Q + 2 * L + i]
        moved = (1.0 if score > numbers[Q + L + i] else 0.0) - alpha
        if numbers[CONSTANT] > 0.0:
            numbers[Q + i] += numbers[CONSTANT] * moved
        else:
            eta = STEP * largest * min(1.0, FULL_STEP / alpha)
            if numbers[SHARES] == 0.0:
                eta *= ALONE_STEP
            # above all recent scores, q would take long to come down
            numbers[Q + i] = min(numbers[Q + i] + eta * moved, largest)
    in_order(numbers[Q : Q + L], L, numbers[Q + L : Q + 2 * L])


@jit_inline_in_order
def _remember(numbers, y, error, bias):
    """Let the means of errors take in a row."""
    root = np.sqrt(abs(error - bias))
    for k in range(3):
        numbers[SUMS + k] += (1.0 - _KEPT[k]) * (root - numbers[SUMS + k])
        numbers[WEIGHTS + k] += (1.0 - _KEPT[k]) * (1.0 - numbers[WEIGHTS + k])
    new = 1.0 - _KEPT_BIAS
    numbers[ERRORS] += new * (error - numbers[ERRORS])
    numbers[ERRORS + 1] += new * (error * error - numbers[ERRORS + 1])
    numbers[ERRORS + 2] += new * (1.0 - numbers[ERRORS + 2])
    numbers[ERRORS + 3] = _KEPT_BIAS * _KEPT_BIAS * numbers[ERRORS + 3] + new * new
    numbers[LEAST] = min(numbers[LEAST], y)
    if abs(y) > LARGEST_WHOLE or y != np.floor(y):
        numbers[WHOLE] = 0.0
    numbers[N_ROWS] += 1.0


@jit_inline_in_order
def learn_row(numbers, prediction, y, L, d, bias):
    """Learn a row around which d and the bias are those of the rows before it."""
    error = y - prediction
    far = abs(error - bias)
    if numbers[N_ROWS] > 0.0:
        # without an error so far, any error is a miss
        score = far / d if d > 0.0 else (np.inf if far > 0.0 else 0.0)
        _follow(numbers, score, L)
    _remember(numbers, y, error, bias)


@jit_inline_in_order
def follow_row(numbers, prediction, y):
    """Learn a row whose bounds nobody asks for."""
    L = (numbers.shape[0] - Q) // 3
    learn_row(numbers, prediction, y, L, _deviation(numbers), _bias(numbers))


@jit_inline_in_order
def _track(numbers, prediction, y, out, t):
    d, bias, L = _deviation(numbers), _bias(numbers), out.shape[1]
    _bound(numbers, numbers[Q + L : Q + 2 * L], prediction + bias, d, out, t)
    learn_row(numbers, prediction, y, L, d, bias)


@jit_in_order
def track_rows(numbers, predictions, y, out):
    """Bounds (n, L, 2) of forecasts (n,), each made before its target y was learned."""
    for t in range(predictions.shape[0]):
        _track(numbers, predictions[t], y[t], out, t)


@jit_in_order
def track_row(numbers, prediction, y, out):
    """As :func:`track_rows`, of one row: out (1, L, 2)."""
    _track(numbers, prediction, y, out, 0)


@jit_in_order
def bound_rows(numbers, q, predictions, out):
    """Bounds (n, L, 2) of forecasts (n,), each as if its row came next; learns nothing."""
    d, bias = _deviation(numbers), _bias(numbers)
    for t in range(predictions.shape[0]):
        _bound(numbers, q, predictions[t] + bias, d, out, t)


@jit_in_order
def deviation(numbers):
    """d of the next row."""
    return _deviation(numbers)


@jit_in_order
def bias(numbers):
    """c of the next row."""
    return _bias(numbers)


@jit_in_order
def put_in_order(numbers, L):
    """After q was set from outside."""
    in_order(numbers[Q : Q + L], L, numbers[Q + L : Q + 2 * L])
