"""Generated streams whose concept changes: abruptly, gradually, or back and forth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onkel.streams import Block

#: ways to change
DRIFTS = ("none", "abrupt", "gradual", "recurring")

_BLOCK_ROWS = 4096
_RECURRING = 2
"""Concepts that a recurring stream goes back and forth between."""


def drift_stream(
    kind: str = "abrupt",
    n_rows: int = 100_000,
    seed: int = 0,
    *,
    period: int = 20_000,
    n_features: int = 5,
    noise: float = 0.05,
) -> Iterator[Block]:
    """Two classes with a nonlinear border that changes every ``period`` rows.

    Concept k is ``y = x_a·x_b + sin(2·x_c) > 0`` with standard normal x. The features (a, b, c) are
    drawn anew for each k: both the pair and the feature in the sine differ from those of the
    concept before. A model of one concept is right on about half of the rows of the next. The
    distribution of x never changes, so only the labels show a change.

    Use it to see how fast a learner forgets, and what forgetting costs if nothing changes
    (``kind="none"``).

    Parameters
    ----------
    kind : {"none", "abrupt", "gradual", "recurring"}, default="abrupt"
        "none": concept 0 throughout. "abrupt": concept k from row k·period on. "gradual": the same,
        but from the second period on, the share of rows of the new concept grows linearly from 0
        to 1 over the first half of the period. "recurring": concepts 0 and 1 alternate abruptly.
    n_rows : int, default=100000
        Total number of rows; at most one block of them is in memory.
    seed : int, default=0
        Seed of the rows. Streams of different kinds with the same seed have the same x.
    period : int, default=20000
        Rows of a concept, at least 1.
    n_features : int, default=5
        At least 4; three of them matter at a time.
    noise : float, default=0.05
        Share of labels flipped, in [0, 0.5): the lowest possible error.

    Yields
    ------
    Block
        X (n, n_features) float32, y (n,) bool.

    Raises
    ------
    ValueError
        A parameter is out of its range.

    Examples
    --------
    >>> from onkel import KernelRLSClassifier, StreamModel, prequential
    >>> from onkel.datasets import drift_stream
    >>> for forgetting in (1.0, 0.998):
    ...     model = StreamModel(KernelRLSClassifier(n_components=100, forgetting=forgetting))
    ...     result = prequential(model, drift_stream("abrupt", 12_000, period=4000))
    ...     print(f"{forgetting}: {result.value:.0f} % mistakes")
    1.0: 30 % mistakes
    0.998: 17 % mistakes
    """
    _check(kind, n_rows, period, n_features, noise)
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, _BLOCK_ROWS):
        # draw whole blocks, so that a shorter stream is the beginning of a longer one
        X = rng.standard_normal((_BLOCK_ROWS, n_features), dtype=np.float32)
        mixed, turned = rng.random((2, _BLOCK_ROWS))
        rows = np.arange(start, start + _BLOCK_ROWS)
        which = _concept_of(rows, kind, period, mixed)
        y = np.empty(_BLOCK_ROWS, dtype=bool)
        for k in np.unique(which):
            of_k, (a, b, c) = which == k, concept(int(k), seed, n_features)
            y[of_k] = X[of_k, a] * X[of_k, b] + np.sin(2.0 * X[of_k, c]) > 0.0
        y ^= turned < noise
        n = min(_BLOCK_ROWS, n_rows - start)
        yield Block(X[:n], y[:n], start)


def concept(k: int, seed: int, n_features: int) -> tuple[int, int, int]:
    """The features (a, b, c) of concept k: ``y = x_a·x_b + sin(2·x_c) > 0``."""
    features = (0, 0, 0)
    for i in range(k + 1):
        rng = np.random.default_rng([seed, i])
        before = features
        while features[2] == before[2] or set(features[:2]) == set(before[:2]):
            a, b, c = rng.permutation(n_features)[:3]
            features = (int(a), int(b), int(c))
    return features


def _concept_of(rows: np.ndarray, kind: str, period: int, mixed: np.ndarray) -> np.ndarray:
    """The number of each row's concept; ``mixed`` is uniform in [0, 1)."""
    if kind == "none":
        return np.zeros_like(rows)
    k, since = np.divmod(rows, period)
    if kind == "gradual":
        still_old = mixed >= since / (0.5 * period)
        return np.maximum(k - still_old, 0)
    return k % _RECURRING if kind == "recurring" else k


def _check(kind: str, n_rows: int, period: int, n_features: int, noise: float) -> None:
    if kind not in DRIFTS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(DRIFTS)}")
    if n_rows < 0:
        raise ValueError(f"n_rows={n_rows} must not be negative")
    if period < 1:
        raise ValueError(f"period={period} must be at least 1")
    if n_features < 4:
        raise ValueError(f"n_features={n_features} must be at least 4")
    if not 0.0 <= noise < 0.5:
        raise ValueError(f"noise={noise} must be at least 0 and below 0.5")
