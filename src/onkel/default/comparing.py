"""Whether a challenger's predictions are better than those of the model that predicts."""

from __future__ import annotations

import numpy as np

from onkel.default.loss_history import BIN_ROWS

#: rows after which a challenger that is not better is dropped
PATIENCE = 8192
_COMPARED_BINS = 8
_FEWEST_BINS = 2
_BETTER = 4.0


class Comparison:
    """Losses of two models on the same rows, in bins of ``BIN_ROWS``.

    Attributes
    ----------
    bins : ndarray of shape (n, 2)
        For each bin, the sum of the differences of the losses, and that of their squares.
    """

    def __init__(self) -> None:
        self.bins = np.zeros((0, 2))

    def add(self, losses: np.ndarray) -> None:
        """Take in the losses of a bin, (n, 2): the model's and the challenger's."""
        gain = losses[:, 0] - losses[:, 1]
        self.bins = np.concatenate([self.bins, [[gain.sum(), gain @ gain]]])

    def better(self) -> bool:
        """Whether the challenger gains more than 4 standard errors over the last 8 bins."""
        bins = self.bins[-_COMPARED_BINS:]
        if len(bins) < _FEWEST_BINS:
            return False
        n = len(bins) * BIN_ROWS
        mean = bins[:, 0].sum() / n
        spread = np.sqrt(max(bins[:, 1].sum() / n - mean**2, 0.0) / n)
        return bool(mean > _BETTER * spread)

    def too_long(self) -> bool:
        """Whether the challenger has had its ``PATIENCE`` rows."""
        return len(self.bins) * BIN_ROWS >= PATIENCE
