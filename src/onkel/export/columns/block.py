"""What a column gives: some features side by side, and which features they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onkel.export.graph import Value

#: which feature of the encoder, and which of its statistics
Place = tuple[int, int]


class Block(NamedTuple):
    """Features (n, p) and the place of each."""

    values: Value
    places: list[Place]


def statistics_of(codes: Sequence[int], means: np.ndarray) -> np.ndarray:
    """Of ``means`` (all codes, J) those of some codes; 0 of a code that was never learned from."""
    known = np.array([code < len(means) for code in codes])
    table = np.zeros((len(codes), means.shape[1]))
    table[known] = means[np.asarray(codes)[known]]
    return table
