"""Naive loops of the papers, in plain Python: tracking, ACI, DtACI."""

from __future__ import annotations

import math

import numpy as np


def tracking(y, forecasts, alpha, eta=None, q0=0.0):
    """Quantile tracking of |y - forecast|; η constant, or 1/20 of the largest of 300 scores."""
    q, past, bounds = q0, [], []
    for p, truth in zip(forecasts, y, strict=True):
        bounds.append((p - q, p + q))
        score = abs(truth - p)
        past.append(score)
        step = 0.05 * max(past[-300:]) if eta is None else eta
        q += step * ((score > q) - alpha)
    return np.array(bounds)


def scaled_tracking(y, forecasts, alpha, q0):
    """What `Intervals` does: scores around a bias, in units of a deviation at three speeds."""
    mixtures = np.array([[0.0, 0.0, 1.0], [0.1, 0.2, 0.7], [0.3, 0.2, 0.5]])
    q, blocks, roots, errors, bounds, lost = q0, [[q0]], [], [], [], np.zeros(3)
    tries, of_tries, part = [q0, q0], [0.0, 0.0], 1.0
    for t, (p, truth) in enumerate(zip(forecasts, y, strict=True)):
        means = np.array([_faded_mean(roots, half) for half in (1, 30, 1000)])
        r = mixtures @ means
        weights = np.exp(-2.0 * lost)
        d, bias = float(weights @ r / weights.sum()) ** 2, _bias(errors)
        reach = max(q, 0.0) * d if t else math.inf
        bounds.append((p + bias - reach, p + bias + reach))
        far = abs(truth - p - bias)
        root = math.sqrt(min(far, 1e4 * d) if d > 0 else far)
        if d > 0:
            score = far / d
            if t % 30 == 0:
                blocks = [*blocks, []][-10:]
            blocks[-1].append(score)
            largest = max(max(block) for block in blocks)
            most = min(largest, max(20.0, 2.0 * q))
            step = 0.05 * most * min(1.0, 0.1 / alpha)
            seen = min(score, most)
            for k, share in enumerate((1 / 3, 1.0)):
                of_tries[k] += ((seen > tries[k]) - alpha) * (seen - tries[k])
                tries[k] = _moved(tries[k], share * step, score, alpha, largest)
            q = _moved(q, part * step, score, alpha, largest)
            if t % 30 == 29:
                lead = (of_tries[1] - of_tries[0]) / min(largest, max(20.0, 2.0 * q))
                small = 1.0 / (1.0 + math.exp(-3.0 * lead))
                part = small / 3 + 1.0 - small
                of_tries = [0.5 ** (30 / 1000) * one for one in of_tries]
            lost = 0.5 ** (1 / 1000) * lost
            lost += [math.log(one) + min(root / one, 10.0) for one in r]
            lost = np.minimum(lost - lost.min(), 3.0)
            if t % 30 == 29 and t >= 300 and 0.0 < largest < 0.05:
                factor = largest / 4.0
                q, blocks = q / factor, [[s / factor for s in block] for block in blocks]
                tries, of_tries = ([one / factor for one in of] for of in (tries, of_tries))
                roots = [one * math.sqrt(factor) for one in roots]
        roots.append(root)
        errors.append(truth - p)
    return np.array(bounds)


def _moved(q, step, score, alpha, largest):
    return max(min(q + step * ((score > q) - alpha), largest + step), -alpha * step)


def _weights(n, half_life):
    return np.array([0.5 ** ((n - 1 - i) / half_life) for i in range(n)])


def _faded_mean(values, half_life):
    if not values:
        return 0.0
    weights = _weights(len(values), half_life)
    return float(weights @ np.array(values) / weights.sum())


def _bias(errors):
    if len(errors) < 2:
        return 0.0
    weights, e = _weights(len(errors), 100), np.array(errors)
    weights /= weights.sum()
    mean = float(weights @ e)
    if mean == 0.0:
        return 0.0
    variance = max(float(weights @ e**2) - mean**2, 0.0) * float((weights**2).sum())
    return mean * max(0.0, 1.0 - 4.0 * variance / mean**2)


def aci(y, forecasts, alpha, gamma=0.01, window=300):
    """Adaptive conformal inference (Gibbs & Candès 2021): the level follows the misses."""
    level, past, bounds = alpha, [], []
    for p, truth in zip(forecasts, y, strict=True):
        q = _quantile(past[-window:], 1.0 - level)
        bounds.append((p - q, p + q))
        score = abs(truth - p)
        level += gamma * (alpha - (score > q))
        past.append(score)
    return np.array(bounds)


def dtaci(y, forecasts, alpha, window=300, rows=500):
    """DtACI (Gibbs & Candès 2024): ACI at eight speeds, weighted by their past losses."""
    gammas = [0.001 * 2**k for k in range(8)]
    levels, weights = [alpha] * 8, [1.0 / 8] * 8
    spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
    eta = math.sqrt(3 / rows) * math.sqrt((math.log(8 * rows) + 2) / spread)
    sigma, past, bounds = 1 / (2 * rows), [], []
    for p, truth in zip(forecasts, y, strict=True):
        recent = sorted(past[-window:])
        level = sum(w * a for w, a in zip(weights, levels, strict=True))
        q = _quantile(recent, 1.0 - level)
        bounds.append((p - q, p + q))
        score = abs(truth - p)
        beta = sum(s >= score for s in recent) / (len(recent) + 1) if recent else 0.0
        losses = [alpha * (beta - a) - min(0.0, beta - a) for a in levels]
        raised = [w * math.exp(-eta * loss) for w, loss in zip(weights, losses, strict=True)]
        weights = [(1 - sigma) * w / sum(raised) + sigma / 8 for w in raised]
        weights = [w / sum(weights) for w in weights]
        levels = [a + g * (alpha - (a > beta)) for a, g in zip(levels, gammas, strict=True)]
        past.append(score)
    return np.array(bounds)


def _quantile(past, level):
    """The conformal quantile; the largest score where it would be infinite."""
    if not past:
        return 0.0
    ordered = sorted(past)
    if level <= 0.0:
        return 0.0
    rank = math.ceil((len(ordered) + 1) * level)
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def naive_alarm(scores, threshold, reference, quiet, seed):
    """`Alarm` by its formulas: the rings, and the sum of capitals at the end."""
    densities = [
        lambda p: p + 0.4 * (p / 2 - p * p / 2),
        lambda p: p + 1.2 * (p / 2 - p * p / 2),
        lambda p: p**0.5,
        lambda p: p ** (7 / 8),
    ]
    rings, wait, edges = [], 0, []
    worse, better = [0.0] * 4, [0.0] * 4
    for t, score in enumerate(scores):
        one = (score, _splitmix(seed, t))
        if wait > 0:
            wait -= 1
            continue
        if len(edges) < reference:
            edges.append(one)
            if len(edges) == reference:
                edges.sort()
                worse, better, later = [0.0] * 4, [0.0] * 4, []
            continue
        bins = [sum(edge < row for edge in edges) for row in later]
        shares = [1 + bins.count(k) for k in range(reference + 1)]
        mine = sum(edge < one for edge in edges)
        equal = [0 < k < reference and edges[k - 1][0] == edges[k][0] for k in range(reference + 1)]
        low = high = mine
        if equal[mine]:
            while equal[low - 1]:
                low -= 1
            while equal[high + 1]:
                high += 1
        a = sum(shares[high + 1 :]) / sum(shares)
        b = sum(shares[low:]) / sum(shares)
        later.append(one)
        worse = _bets(worse, densities, a, b)
        better = _bets(better, densities, 1 - b, 1 - a)
        if sum(worse) >= threshold:
            rings.append(t)
            wait, edges = quiet, []
        elif sum(better) >= threshold:
            edges = []
    return rings, sum(worse) if len(edges) == reference and later else 0.0


def _bets(capital, densities, a, b):
    capital = [c + 0.2 for c in capital]
    mean = sum(capital) / 4
    capital = [0.999 * c + 0.001 * mean for c in capital]
    return [c * (G(b) - G(a)) / (b - a) for c, G in zip(capital, densities, strict=True)]


def _splitmix(seed, number):
    mask = 2**64 - 1
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return ((z >> 11) + 0.5) / 2**53
