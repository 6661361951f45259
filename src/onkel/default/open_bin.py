"""The losses of model and challenger on the rows since the last whole bin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from onkel.default.loss_history import BIN_ROWS, losses_of
from onkel.explicit.model import ExplicitModel


class OpenBin:
    """Losses (n, 2) of up to ``BIN_ROWS`` rows: model and challenger (0 where there is none)."""

    def __init__(self) -> None:
        self.losses = np.zeros((0, 2))

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def missing(self) -> int:
        """Rows up to a whole bin."""
        return BIN_ROWS - len(self.losses)

    def parts(self, weight: np.ndarray) -> Iterator[tuple[int, int]]:
        """Where the bins of rows of these weights begin and end."""
        ends = np.flatnonzero(weight > 0.0)[self.missing - 1 :: BIN_ROWS] + 1
        cuts = [0, *ends.tolist(), len(weight)]
        return ((a, b) for a, b in pairwise(cuts) if a < b)

    def add(
        self,
        model: ExplicitModel,
        P: np.ndarray,
        Q: np.ndarray | None,
        y: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        """Add losses of ``model``'s scores P and a challenger's Q, for rows of positive weight."""
        losses = np.zeros((len(y), 2))
        losses[:, 0] = losses_of(model, P, y)
        if Q is not None:
            losses[:, 1] = losses_of(model, Q, y)
        self.losses = np.concatenate([self.losses, losses[weight > 0.0]])

    def count_as_equal(self) -> None:
        """A challenger begins: on the rows so far, which it has not seen, it counts as equal."""
        self.losses[:, 1] = self.losses[:, 0]

    def close(self) -> np.ndarray:
        """Return the losses of the whole bin, and begin the next."""
        losses, self.losses = self.losses, np.zeros((0, 2))
        return losses
