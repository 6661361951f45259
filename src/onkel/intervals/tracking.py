"""Quantile tracking: bounds around forecasts whose coverage feedback keeps.

A row has a forecast p. From the errors before it come a bias c and a deviation d. The bounds of
level 1 - α are p + c ± q·d. When the target y comes, the score is s = |y - p - c|/d, and

    q ← q + η (1[s > q] - α).

Each miss widens the bounds, each hit narrows them a little. Summed over the m rows of a window,
misses - αm = Σ Δq/η. With a constant η the share of misses is therefore within
(max q - min q)/(ηm) of α, whatever the stream does. Here η is a twentieth of the largest recent
score; below 90 % it is smaller, as then a typical score is far below the largest. Scores above 20
count as 20 in η, so that one outlier does not blow q up; if q is there itself, as 2q. Where scores
stay alike, q only trembles by such steps. So two more q, each moved by its own misses, try a third
of the step and the whole of it. Their quantile losses over the last thousand rows or so, summed
over the levels, say how much of the step is taken.

d follows the errors. At three speeds (half-lives of 1, 30 and 1000 rows) the mean r of √|error| is
kept, so that one outlier counts little. Large errors come in clusters, on some streams more than on
others. So three mixtures of the speeds compete, from one with a short memory to one without: each
is judged by the logarithm of an exponential density of its mean, log r + √|error|/r, over the last
thousand rows or so. d is the square of their r, weighted by the exponential of these sums. None
falls further behind than three: so another one is soon followed after a change.
c is the mean of the last 150 errors or so, shrunk to 0 where it is not clearly different from 0.

Bounds stay inside what the target can be, as far as targets show it: they end at 0 as long as none
was negative. The first negative target ends that; so it costs at most one row of coverage, and no
step of q depends on it.

Where targets come late, others have moved c, d and q since the forecast. Its miss is judged by
those of then: feedback keeps the coverage of the bounds that were made. The more targets come
between a forecast and its own, in the mean of recent rows, the smaller the steps: else bounds would
swing, as each miss is answered too late. The largest score is then that of more rows, ten times as
many as come between or more: else q, which is never far beyond it, would fall in each quiet time,
long before it is known that errors have grown. And c is the smaller, as the last errors are old.
Targets that never come change nothing.

Several levels are nested: their q are projected to be in order. Each miss is judged by the
projected q and moves the level's own q (lazy projection).

Source: Angelopoulos, Candès & Tibshirani 2023, arXiv:2307.16895 (quantile tracking); Corsi 2009
(deviations at several speeds); Herbster & Warmuth 1998 (none falls too far behind).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from onkel.intervals.levels import in_order
from onkel.numerics.jit import jit_in_order, jit_inline_in_order

#: η in units of the largest recent score, for α up to FULL_STEP; above, it falls as FULL_STEP/α
STEP, FULL_STEP = 0.05, 0.1
#: parts of η that compete, and by what their difference in loss, in units of the largest score, is
#: multiplied
SMALL_PART, TRUST_IN_PARTS = 1.0 / 3.0, 3.0
#: where so many targets come between a forecast and its own, a step is half as large: they may all
#: miss as this one
FEW_BETWEEN = 8.0
#: rows that stand alone may come at any time: their q is to be steady
ALONE_STEP = 0.1
#: the largest score of the last 300 rows, kept as the largest of ten blocks of rows; where targets
#: come late, a block has as many rows as come between, or more
BLOCKS, BLOCK_ROWS = 10, 30
#: scores above this count as this in the step, or as twice q if that is more
LARGEST_SCORE = 20.0
#: where the largest of the last 300 scores is below this, d is too large by far; it then becomes
#: such that the largest is this
NEXT_TO_0, USUAL_LARGEST = 0.05, 4.0
#: what is kept of a score: it must be finite
LARGEST_KEPT = 1e300
#: an error counts as this many deviations at most in the next ones: one of 1e12 would widen the
#: bounds of thousands of rows
LARGEST_ERROR = 1e4
HALF_LIVES = (1.0, 30.0, 1000.0)
#: weights of the speeds in the mixtures that compete; the first is that of rows that stand alone
MIXTURES = np.array([[0.0, 0.0, 1.0], [0.1, 0.2, 0.7], [0.3, 0.2, 0.5]])
#: by which differences of the mixtures' losses are multiplied; errors are less spread than an
#: exponential distribution
TRUST = 2.0
#: the largest √|error|/r in a loss: an outlier decides nothing
LARGEST_LOSS = 10.0
#: how far a mixture's loss may be above the least one
LARGEST_LEAD = 3.0
BIAS_HALF_LIFE = 100.0
#: standard errors, squared, by which a bias is shrunk
SHRINKING = 4.0
# (E √|z|)² of a standard normal z: a deviation d of normal errors is this times their σ
_NORMAL = 0.6760

_KEPT = np.array([0.5 ** (1.0 / rows) for rows in HALF_LIVES])
_KEPT_BIAS = 0.5 ** (1.0 / BIAS_HALF_LIFE)
_KEPT_LOSS = _KEPT[2]
_KEPT_BLOCK = _KEPT_LOSS**BLOCK_ROWS

# The numbers of a tracker, in one array: a call from Python then hands over one array.
# rows, the target's range, its least value, whether that may raise the range's lower end; largest
# scores (10); sums and weights of √|error| (3 + 3); losses of the mixtures (3); sums of errors and
# squared errors, weights and squared weights (4); what does not change: η if it is constant, else
# 0, and whether rows stand alone; what trying parts of η said: the losses of the small part and of
# all, and the part that is taken; the mean number of targets between a forecast and its own; for
# each level q, q in order, α, and the q that try the two parts
N_ROWS, LOW, HIGH, LEAST, AUTO = 0, 1, 2, 3, 4
RECENT = 5
SUMS = RECENT + BLOCKS
WEIGHTS = SUMS + 3
LOSSES = WEIGHTS + 3
ERRORS = LOSSES + 3
CONSTANT = ERRORS + 4
APART = CONSTANT + 1
TRIAL = APART + 1
BETWEEN = TRIAL + 3
Q = BETWEEN + 1
OF_LEVEL = 5
# of a row that was predicted: rows learned by then, d, the bias; then the q of each level in order
THEN_ROWS, THEN_D, THEN_BIAS, THEN_Q = 0, 1, 2, 3


def begun(alphas: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    """The numbers of a tracker before its first row: q as if errors were normal."""
    numbers = np.zeros(Q + OF_LEVEL * len(alphas))
    numbers[LOW] = -np.inf if low is None else low
    numbers[HIGH] = np.inf if high is None else high
    numbers[LEAST], numbers[AUTO] = np.inf, low is None
    q = ndtri(1.0 - 0.5 * alphas) / _NORMAL
    numbers[RECENT] = min(q.max(), LARGEST_SCORE)
    numbers[TRIAL + 2] = 1.0
    numbers[Q:] = np.concatenate([q, q, alphas, q, q])
    return numbers


@jit_inline_in_order
def _in_time(numbers):
    """1 where targets come before the next row; the smaller, the more rows come between."""
    return 1.0 / (1.0 + numbers[BETWEEN] / FEW_BETWEEN)


@jit_inline_in_order
def _bias(numbers):
    """The mean of recent errors, shrunk by its standard error; 0 for rows that stand alone."""
    weight = numbers[ERRORS + 2]
    if numbers[APART] > 0.0 or numbers[N_ROWS] < 2.0:
        return 0.0
    mean = numbers[ERRORS] / weight
    variance = max(numbers[ERRORS + 1] / weight - mean * mean, 0.0)
    of_mean = SHRINKING * variance * numbers[ERRORS + 3] / (weight * weight)
    square = mean * mean
    return _in_time(numbers) * mean * (1.0 - of_mean / square) if square > of_mean else 0.0


@jit_inline_in_order
def _root(numbers, mixture):
    """r of a mixture: the weighted mean of √|error| at three speeds; 0 before the first row."""
    r = 0.0
    for k in range(3):
        if numbers[WEIGHTS + k] > 0.0:
            r += MIXTURES[mixture, k] * numbers[SUMS + k] / numbers[WEIGHTS + k]
    return r


@jit_inline_in_order
def _deviation(numbers):
    """d; 0 before an error above 0."""
    r = _root(numbers, 0)
    if numbers[APART] == 0.0:
        total = 0.0
        weighted = 0.0
        for k in range(3):
            # the least of the losses is 0
            weight = np.exp(-TRUST * numbers[LOSSES + k])
            total += weight
            weighted += weight * _root(numbers, k)
        r = weighted / total
    return r * r


@jit_inline_in_order
def _bound(numbers, q, centre, d, out, t):
    """out[t] ← the bounds centre ± q·d of each level, inside what the target can be."""
    low, high = numbers[LOW], numbers[HIGH]
    if numbers[AUTO] > 0.0 and numbers[N_ROWS] > 0.0 and numbers[LEAST] >= 0.0:
        low = 0.0
    for i in range(q.shape[0]):
        reach = max(q[i], 0.0) * d if numbers[N_ROWS] > 0.0 else np.inf
        out[t, i, 0] = min(max(centre - reach, low), high)
        out[t, i, 1] = min(max(centre + reach, low), high)


@jit_inline_in_order
def _moved(q, eta, moved, alpha, largest):
    """q + η·moved; at most one step beyond all recent scores, from where it soon comes back."""
    return max(min(q + eta * moved, largest + eta), -eta * alpha)


@jit_inline_in_order
def _try_parts(numbers, at, L, score, alpha, eta, most, largest):
    """Move the two q of a level that try parts of η, from ``at`` on, and add up their losses."""
    # a score further away decides nothing
    seen = min(score, most)
    for k in range(2):
        q = numbers[at + k * L]
        numbers[TRIAL + k] += (seen - q) * ((1.0 if seen > q else 0.0) - alpha)
        part = eta if k else SMALL_PART * eta
        numbers[at + k * L] = _moved(q, part, (1.0 if score > q else 0.0) - alpha, alpha, largest)


@jit_inline_in_order
def _weigh_parts(numbers, most):
    """Take so much of η as the losses of its parts say; they fade."""
    lead = (numbers[TRIAL + 1] - numbers[TRIAL]) / max(most, 1.0 / LARGEST_KEPT)
    # above e^700 is no number
    weight = 1.0 / (1.0 + np.exp(min(-TRUST_IN_PARTS * lead, 700.0)))
    numbers[TRIAL + 2] = weight * SMALL_PART + (1.0 - weight)
    for k in range(2):
        numbers[TRIAL + k] *= _KEPT_BLOCK


@jit_inline_in_order
def _largest(numbers, t, score):
    """The largest score of the last ten blocks of rows, with that of row t."""
    rows = BLOCK_ROWS
    while rows < numbers[BETWEEN]:
        rows *= 2
    at = RECENT + (t // rows) % BLOCKS
    if t % rows == 0:
        numbers[at] = 0.0
    numbers[at] = max(numbers[at], min(score, LARGEST_KEPT))
    largest = 0.0
    for k in range(BLOCKS):
        largest = max(largest, numbers[RECENT + k])
    return largest


@jit_inline_in_order
def _follow(numbers, score, judged, between, L):
    """Move the q of each level; misses are judged by q in order (L,).

    ``between``: how many targets came between the row's forecast and its target.
    """
    numbers[BETWEEN] += (1.0 - _KEPT[1]) * (between - numbers[BETWEEN])
    share = _in_time(numbers)
    t = int(numbers[N_ROWS])
    largest = _largest(numbers, t, score)
    for i in range(L):
        q, alpha = numbers[Q + i], numbers[Q + 2 * L + i]
        moved = (1.0 if score > judged[i] else 0.0) - alpha
        if numbers[CONSTANT] > 0.0:
            numbers[Q + i] += numbers[CONSTANT] * moved
        else:
            most = min(largest, max(LARGEST_SCORE, 2.0 * q))
            eta = share * STEP * most * min(1.0, FULL_STEP / alpha)
            if numbers[APART] > 0.0:
                eta *= ALONE_STEP
            else:
                _try_parts(numbers, Q + 3 * L + i, L, score, alpha, eta, most, largest)
                eta *= numbers[TRIAL + 2]
            numbers[Q + i] = _moved(q, eta, moved, alpha, largest)
    if t % BLOCK_ROWS == BLOCK_ROWS - 1:
        _weigh_parts(numbers, min(largest, max(LARGEST_SCORE, 2.0 * numbers[Q + L - 1])))
        if t >= BLOCKS * BLOCK_ROWS:
            _shrink(numbers, largest, L)
    in_order(numbers[Q : Q + L], L, numbers[Q + L : Q + 2 * L])


@jit_inline_in_order
def _shrink(numbers, largest, L):
    """Make d smaller where all recent scores are next to 0; q grows, so the bounds stay.

    After a fall of the errors to a millionth, d would take 20 000 rows to follow, and q would have
    to grow all the time: by misses.
    """
    if numbers[CONSTANT] == 0.0 and 0.0 < largest < NEXT_TO_0:
        factor = largest / USUAL_LARGEST
        for k in range(3):
            numbers[SUMS + k] *= np.sqrt(factor)
        for k in range(BLOCKS):
            numbers[RECENT + k] /= factor
        for i in range(L):
            numbers[Q + i] /= factor
        for i in range(Q + 3 * L, Q + 5 * L):
            numbers[i] /= factor
        for k in range(2):
            numbers[TRIAL + k] /= factor


@jit_inline_in_order
def _remember(numbers, y, error, bias, d):
    """Let the means of errors take in a row."""
    far = abs(error - bias)
    root = np.sqrt(min(far, LARGEST_ERROR * d) if d > 0.0 else far)
    if d > 0.0 and numbers[APART] == 0.0:
        least = np.inf
        for k in range(3):
            r = _root(numbers, k)
            loss = _KEPT_LOSS * numbers[LOSSES + k] + np.log(r) + min(root / r, LARGEST_LOSS)
            numbers[LOSSES + k] = loss
            least = min(least, loss)
        for k in range(3):
            numbers[LOSSES + k] = min(numbers[LOSSES + k] - least, LARGEST_LEAD)
    for k in range(3):
        numbers[SUMS + k] += (1.0 - _KEPT[k]) * (root - numbers[SUMS + k])
        numbers[WEIGHTS + k] += (1.0 - _KEPT[k]) * (1.0 - numbers[WEIGHTS + k])
    new = 1.0 - _KEPT_BIAS
    numbers[ERRORS] += new * (error - numbers[ERRORS])
    numbers[ERRORS + 1] += new * (error * error - numbers[ERRORS + 1])
    numbers[ERRORS + 2] += new * (1.0 - numbers[ERRORS + 2])
    numbers[ERRORS + 3] = _KEPT_BIAS * _KEPT_BIAS * numbers[ERRORS + 3] + new * new
    numbers[LEAST] = min(numbers[LEAST], y)
    numbers[N_ROWS] += 1.0


@jit_inline_in_order
def learn_row(numbers, prediction, y, L, d, bias):
    """Learn a row around which d and the bias are those of the rows before it."""
    error = y - prediction
    far = abs(error - bias)
    judged = numbers[Q + L : Q + 2 * L]
    if d > 0.0:
        _follow(numbers, far / d, judged, 0.0, L)
    elif numbers[N_ROWS] > 0.0 and numbers[CONSTANT] > 0.0:
        # without an error so far, any error is a miss
        _follow(numbers, np.inf if far > 0.0 else 0.0, judged, 0.0, L)
    _remember(numbers, y, error, bias, d)


@jit_inline_in_order
def follow_row(numbers, prediction, y):
    """Learn a row whose bounds nobody asks for."""
    L = (numbers.shape[0] - Q) // OF_LEVEL
    learn_row(numbers, prediction, y, L, _deviation(numbers), _bias(numbers))


@jit_inline_in_order
def follow_late(numbers, prediction, y, way):
    """Learn a row whose target comes late, judged by the bounds of the time of its forecast.

    ``way`` (3 + L,): how they were made (`way_now`); inf where that is not known.
    """
    between = numbers[N_ROWS] - way[THEN_ROWS]
    if between < 0.0:
        follow_row(numbers, prediction, y)
        return
    d, bias = _deviation(numbers), _bias(numbers)
    error = y - prediction
    if way[THEN_D] > 0.0:
        score = abs(error - way[THEN_BIAS]) / way[THEN_D]
        _follow(numbers, score, way[THEN_Q:], between, way.shape[0] - THEN_Q)
    _remember(numbers, y, error, bias, d)


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
def learn_late_rows(numbers, predictions, y, ways):
    """As :func:`follow_late`, of rows (n,) with ways (n, 3 + L)."""
    for t in range(predictions.shape[0]):
        follow_late(numbers, predictions[t], y[t], ways[t])


@jit_in_order
def way_now(numbers, way):
    """way (3 + L,) ← how the bounds of the next row are made."""
    L = way.shape[0] - THEN_Q
    way[THEN_ROWS], way[THEN_D] = numbers[N_ROWS], _deviation(numbers)
    way[THEN_BIAS] = _bias(numbers)
    way[THEN_Q:] = numbers[Q + L : Q + 2 * L]


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
def put_in_order(numbers, L):
    """After q was set from outside."""
    in_order(numbers[Q : Q + L], L, numbers[Q + L : Q + 2 * L])
