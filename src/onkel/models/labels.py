"""The labels of rows that a model keeps."""

from __future__ import annotations

import numpy as np

__all__ = ["with_class"]


def with_class(labels: np.ndarray, position: int, from_signs: bool) -> np.ndarray:
    """Codes (n,) when a class is put in at ``position``; ``from_signs``: labels were ±1."""
    codes = (labels > 0.0).astype(np.float64) if from_signs else labels
    return np.asarray(codes + (codes >= position))
