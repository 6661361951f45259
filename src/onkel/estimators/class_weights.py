"""Weights of rows by their class."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["balanced_weights", "class_weight_table"]


def class_weight_table(class_weight: Any, classes: np.ndarray) -> np.ndarray | None:
    """The weight of each class (K,), 1 where none is given; None for "balanced".

    Raises
    ------
    ValueError
        For what is no ``class_weight``.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return None
    if class_weight is not None and not isinstance(class_weight, dict):
        raise ValueError(f"class_weight={class_weight!r} must be None, 'balanced' or a dict")
    table = class_weight or {}
    for value in table.values():
        if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < np.inf:
            raise ValueError(f"class_weight={class_weight!r} must hold numbers of at least 0")
    return np.array([float(table.get(label, 1.0)) for label in classes.tolist()])


def balanced_weights(
    codes: np.ndarray, counted: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows so far / (classes so far * rows of the own class so far), and the counts at the end.

    ``codes`` (n,), ``counted`` (n,) False for rows that are not learned, ``counts`` (K,) of the
    rows before.
    """
    onehot = np.zeros((len(codes), len(counts)))
    onehot[np.arange(len(codes)), codes] = counted
    sums = counts + np.cumsum(onehot, axis=0)
    own = np.maximum(sums[np.arange(len(codes)), codes], 1.0)
    seen = np.maximum((sums > 0.0).sum(axis=1), 1)
    return sums.sum(axis=1) / (seen * own), sums[-1] if len(codes) else counts
