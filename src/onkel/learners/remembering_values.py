"""Regressors that remember their targets, to predict the rows that come next."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.default.remembering import Remembering
from onkel.errors import DataError
from onkel.learners.remembering import Remembers
from onkel.model.lock import locked


class RemembersValues(Remembers):
    """A regressor with a memory."""

    @locked
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """As for any regressor; ``groups`` (n,): the series each row belongs to, see `fit`."""
        with self._by_group(groups):
            return super().partial_fit(X, y, sample_weight)  # type: ignore[misc]

    @locked
    def predict_then_learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        return_scores: bool = False,
        groups: Any = None,
    ) -> np.ndarray:
        """As for any regressor; ``groups`` (n,): the series each row belongs to, see `fit`."""
        with self._by_group(groups):
            told = super().predict_then_learn(X, y, sample_weight)  # type: ignore[misc]
            return np.asarray(told)

    @locked
    def predict_next(self, X: Any, ahead: int = 0, groups: Any = None) -> np.ndarray:
        """As for any regressor; rows ahead are counted within each of the ``groups`` (n,)."""
        with self._by_group(groups):
            return np.asarray(super().predict_next(X, ahead))  # type: ignore[misc]

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        return Remembering(self._make_second, None, most=self.max_groups)

    def _learn_weighted(
        self, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        keys = self._take_keys(len(y))
        P, refused = super()._learn_weighted(X, y, weight)  # type: ignore[misc]
        return self._remember(X, P, y, weight, keys), refused

    @locked
    def _learn_row(self, X: np.ndarray, y: float, weight: float = 1.0) -> None:
        if self.memory_ is None:
            super()._learn_row(X, y, weight)  # type: ignore[misc]
        else:
            self.partial_fit(X, [y], [weight])  # type: ignore[attr-defined]
