"""The features that a column becomes, side by side, and their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onkel.export.graph import Value

#: the encoder's feature, and the index of its statistic
Place = tuple[int, int]


class Block(NamedTuple):
    """Features (n, p) and the place of each."""

    values: Value
    places: list[Place]


def statistics_of(codes: Sequence[int], means: np.ndarray) -> np.ndarray:
    """The rows of ``means`` (all codes, J) for some codes; 0 for a code never learned from."""
    known = np.array([code < len(means) for code in codes])
    table = np.zeros((len(codes), means.shape[1]))
    table[known] = means[np.asarray(codes)[known]]
    return table
