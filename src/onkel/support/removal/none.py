"""No budget: every row with a gradient is stored."""

from __future__ import annotations

import numpy as np

from onkel.support.removal.family import Removal, RemovalKind


class NoBudget(Removal):
    """Every row with a gradient is stored: exact, in memory that grows with the stream."""

    name = "none"
    kind = RemovalKind.NONE

    def limit(self) -> int | None:
        return None

    def needs_gram(self, par: np.ndarray) -> bool:
        return False
