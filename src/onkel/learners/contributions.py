"""What each column contributes to one score: Shapley values, by sampling.

    φ_j = mean over rows z and orders π of f(x on the columns up to j, z elsewhere) − f(the same
          without j)

For each row z of a sample the columns are replaced by those of x, one after the other, in a random
order. What the score gains when a column is replaced is its contribution. The steps of one row z
add up to f(x) − f(z), so the contributions add up to f(x) minus the mean score of the sample, to
rounding. Every second order is the reverse of the one before, which halves the noise where columns
act in pairs.

Source: Štrumbelj & Kononenko 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]

_MOST_SCORES = 1 << 15
"""Rows to score: with many columns, fewer rows of the sample are used."""
_PART = 4096


def contributions(
    score: Score, x: np.ndarray, Z: np.ndarray, groups: Sequence[np.ndarray]
) -> tuple[np.ndarray, float]:
    """The contribution of each column to the score of a row, and the mean score of the sample.

    ``score`` gives scores (n,) of rows (n, d). The sample are the rows Z (n, d), n > 0; with many
    columns some of them, evenly spaced. ``groups``: the features of each column.
    """
    p = len(groups)
    most = max(8, _MOST_SCORES // (p + 1))
    Z = Z[np.unique(np.linspace(0, len(Z) - 1, min(most, len(Z))).astype(int))]
    rng, order = np.random.default_rng(0), np.arange(p)
    found, base = np.zeros(p), 0.0
    at_once = max(1, _PART // (p + 1))
    for start in range(0, len(Z), at_once):
        part, orders = Z[start : start + at_once], list[np.ndarray]()
        for i in range(start, start + len(part)):
            order = order[::-1] if i % 2 else rng.permutation(p)
            orders.append(order)
        rows = np.repeat(part, p + 1, axis=0).reshape(len(part), p + 1, -1)
        for own, order in zip(list(rows), orders, strict=True):
            for k, j in enumerate(order.tolist()):
                own[k + 1 :, groups[j]] = x[groups[j]]
        scores = np.asarray(score(rows.reshape(len(part) * (p + 1), -1)), dtype=np.float64)
        scores = scores.reshape(len(part), p + 1)
        base += scores[:, 0].sum()
        for gained, order in zip(np.diff(scores, axis=1), orders, strict=True):
            found[order] += gained
    return found / len(Z), float(base / len(Z))
