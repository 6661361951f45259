"""Labels as targets of a model's outputs, and how both change when a new class comes."""

from __future__ import annotations

import numpy as np


def targets_of(y: np.ndarray, n_outputs: int) -> np.ndarray:
    """Targets (n, K) as numbers: y itself, or the indicators of the classes."""
    if n_outputs == 1:
        return y[:, None]
    return (y[:, None] == np.arange(n_outputs)).astype(np.float64)


def with_class(labels: np.ndarray, position: int, from_signs: bool) -> np.ndarray:
    """Codes (n,) after a class is inserted at ``position``; ``from_signs``: labels were ±1."""
    codes = (labels > 0.0).astype(np.float64) if from_signs else labels
    return np.asarray(codes + (codes >= position))


def outputs_with_class(A: np.ndarray, position: int) -> np.ndarray:
    """Weights (K, m) of the outputs after a class that scores zero is inserted at ``position``.

    One output f (two classes) first becomes -f/2 and f/2.
    """
    both = np.concatenate([-0.5 * A, 0.5 * A]) if len(A) == 1 else A
    return np.ascontiguousarray(np.insert(both, position, 0, axis=0))
