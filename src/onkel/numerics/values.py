"""Labels and targets of any library as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_values(values: Any) -> np.ndarray:
    """Values as an array in which each is what it was: object where they are of several kinds.

    NumPy makes text of a whole list where one value is text, of NaN, too. scikit-learn makes floats
    of pandas' own integers and booleans.
    """
    array = np.asarray(values)
    listed = array.dtype.kind == "U" and isinstance(values, (list, tuple))
    if listed and not all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    return array
