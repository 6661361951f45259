"""How much each column moves the scores: the diagonal of the average gradient outer product.

    I_j = σ_j² · mean over rows and outputs of (∂f/∂x_j)²,   normalised to Σ_j I_j = 1

σ_j is the column's standard deviation over the rows, so that units do not matter. The derivative is
a central difference over half a σ_j: it exists for every learner, and counts a jump between two
cells, which has no derivative. A column of two values, or one that became several features (a
text), has nothing between its values. Its term is half the mean squared difference of f between the
values of two other rows, which is the same number if f is linear.

Source: Radhakrishnan, Beaglehole, Pandit & Belkin 2024 (recursive feature machines), who learn
metrics from the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]

_STEP = 0.25
"""Of a standard deviation, to each side."""
_MOST_SCORES = 1 << 15
"""Rows to score: with many columns, fewer of the rows are looked at."""
_PART = 4096


def importances(
    score: Score, X: np.ndarray, groups: Sequence[np.ndarray] | None = None
) -> np.ndarray:
    """Importances of the columns, summing to 1; zeros where nothing moves f.

    ``score`` gives scores (n,) or (n, K) of rows (n, d). It is differentiated at the rows X (n, d);
    with many columns at some of them, evenly spaced. ``groups``: the features of each column; every
    feature is a column if not given.
    """
    groups = [np.array([j]) for j in range(X.shape[1])] if groups is None else groups
    most = max(8, _MOST_SCORES // (2 * max(1, len(groups))))
    X = X[:: -(-len(X) // most)] if len(X) else X
    found = np.zeros(len(groups))
    varies = X.min(axis=0) < X.max(axis=0)
    moved = [k for k, group in enumerate(groups) if varies[group].any()]
    at_once = max(1, _PART // (2 * len(X)))
    for start in range(0, len(moved), at_once):
        part = moved[start : start + at_once]
        found[part] = _squares(score, X, [groups[k] for k in part])
    total = found.sum()
    return found / total if total > 0.0 else found


def _squares(score: Score, X: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """σ² (∂f/∂x)² of each of the groups, the mean over rows summed over outputs."""
    n, k = len(X), len(groups)
    both = np.tile(X, (2 * k, 1)).reshape(2, k, n, X.shape[1])
    factors = np.empty(k)
    for i, group in enumerate(groups):
        values = X[:, group]
        if len(group) == 1 and len(np.unique(values)) > 2:
            step = _STEP * values.std(dtype=np.float64)
            both[0, i, :, group] += step
            both[1, i, :, group] -= step
            factors[i] = 0.25 / _STEP**2
        else:
            both[0, i][:, group] = np.roll(values, n // 3, axis=0)
            both[1, i][:, group] = np.roll(values, 2 * n // 3, axis=0)
            factors[i] = 0.5
    scores = score(both.reshape(2 * k * n, -1)).reshape(2, k, n, -1)
    return np.asarray(factors * np.square(scores[0] - scores[1]).mean(axis=1).sum(axis=1))
