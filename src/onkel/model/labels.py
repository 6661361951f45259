"""Labels as targets of a model's outputs, and how both change when a new class comes.

A fit on first rows sees no more than :data:`MOST_COLUMNS` columns of targets. What it computes from
indicators Y (n, C) are squared errors of linear predictions, summed over the classes: they follow
from Y Yᵀ. So many classes are replaced by random sums of them, Y S with S (C, q) of random signs
over √q: Y S Sᵀ Yᵀ is Y Yᵀ on average. Source: Johnson & Lindenstrauss 1984, with the signs of
Achlioptas 2003; of classes these are the error-correcting output codes of Dietterich & Bakiri 1995.
"""

from __future__ import annotations

import math

import numpy as np

from onkel.numerics.arrays import targets_of

#: columns of targets in a fit, at most: so a fit for a thousand classes costs no more
MOST_COLUMNS = 64


def targets_of_fit(y: np.ndarray, n_outputs: int, seed: int) -> np.ndarray:
    """Targets (n, C) of rows that a map is fitted on, C ≤ :data:`MOST_COLUMNS`.

    Classes that no row has are left out: so a fit is the same whether a class is known already, or
    comes after its rows.
    """
    if n_outputs == 1:
        return y[:, None]
    present, codes = np.unique(y, return_inverse=True)
    n = len(present)
    if n <= MOST_COLUMNS:
        return targets_of(codes, n)
    signs = np.random.default_rng([seed, n]).integers(2, size=(n, MOST_COLUMNS))
    return np.asarray(((2.0 * signs - 1.0) / math.sqrt(MOST_COLUMNS))[codes])


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
