"""Rows that stand in for new ones, and their predictions by a model that was not fitted to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

# Folds of rows that no search has seen.
_FOLDS = 5


class HeldOut(NamedTuple):
    """Rows, their predictions (n, K), the fold of each, held out as a whole, and ``unseen``.

    unseen (n,): whether the model that predicts them has never been fitted to them, in no part.
    """

    rows: np.ndarray
    predictions: np.ndarray
    folds: np.ndarray
    unseen: np.ndarray

    @classmethod
    def at_once(
        cls, rows: np.ndarray, predictions: np.ndarray, unseen: np.ndarray | None = None
    ) -> HeldOut:
        """Rows that were all held out together."""
        unseen = np.ones(len(rows), bool) if unseen is None else unseen
        return cls(rows, predictions, np.zeros(len(rows), np.int64), unseen)

    @classmethod
    def by_least_squares(
        cls,
        Z: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        penalty: np.ndarray,
        rng: np.random.Generator,
    ) -> HeldOut:
        """All rows, of features Z (n, m) that no target chose; each fold is predicted by the rest.

        ``penalty`` (m, m): that of ridge regression.
        """
        folds, predictions = rng.permutation(len(Z)) % _FOLDS, np.empty(Y.shape)
        for fold in range(_FOLDS):
            held = folds == fold
            of_others = (Z[~held] * weight[~held, None]).T
            R = of_others @ Z[~held] + penalty
            predictions[held] = Z[held] @ solve(R, of_others @ Y[~held], assume_a="sym")
        return cls(np.arange(len(Z)), predictions, folds, np.ones(len(Z), bool))

    def parts(self) -> list[np.ndarray]:
        """Places of the rows of each fold."""
        return [np.flatnonzero(self.folds == fold) for fold in range(int(self.folds.max()) + 1)]
