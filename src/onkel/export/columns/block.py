"""What a column gives: some features side by side, and which features they are."""

from __future__ import annotations

from typing import NamedTuple

from onkel.export.graph import Value

#: which feature of the encoder, and which of its statistics
Place = tuple[int, int]


class Block(NamedTuple):
    """Features (n, p) and the place of each."""

    values: Value
    places: list[Place]
