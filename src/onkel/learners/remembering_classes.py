"""Classifiers that remember their labels, to predict the rows that come next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.default.remembering import Remembering
from onkel.errors import DataError
from onkel.learners.remembering import Remembers
from onkel.model.lock import locked


class RemembersClasses(Remembers):
    """A classifier with a memory; with class weights there is none, as it would undo them."""

    if TYPE_CHECKING:
        class_weight: Any
        loss: str
        classes_: np.ndarray

    @locked
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Any:
        """As for any classifier; ``groups`` (n,): the series each row belongs to, see `fit`."""
        with self._by_group(groups):
            return super().partial_fit(X, y, classes, sample_weight)  # type: ignore[misc]

    @locked
    def predict_then_learn(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        return_scores: bool = False,
        groups: Any = None,
    ) -> np.ndarray:
        """As for any classifier; ``groups`` (n,): the series each row belongs to, see `fit`."""
        with self._by_group(groups):
            told = super().predict_then_learn(  # type: ignore[misc]
                X, y, classes, sample_weight, return_scores
            )
            return np.asarray(told)

    @locked
    def predict_next(
        self, X: Any, ahead: int = 0, return_scores: bool = False, groups: Any = None
    ) -> np.ndarray:
        """As for any classifier; rows ahead are counted within each of the ``groups`` (n,)."""
        with self._by_group(groups):
            return np.asarray(super().predict_next(X, ahead, return_scores))  # type: ignore[misc]

    @locked
    def predict_proba_next(self, X: Any, ahead: int = 0, groups: Any = None) -> np.ndarray:
        """As for any classifier; rows ahead are counted within each of the ``groups`` (n,)."""
        with self._by_group(groups):
            return np.asarray(super().predict_proba_next(X, ahead))  # type: ignore[misc]

    def _next_probabilities(self, X: Any, ahead: int) -> np.ndarray:
        if self.memory_ is None or len(self.classes_) < 2:
            return np.asarray(super()._next_probabilities(X, ahead))  # type: ignore[misc]
        P = self.model_.scores(X)
        M, share = self.memory_.ask(X, P, ahead, self._keys_of(self.memory_, len(P)))
        return share * M + (1.0 - share) * self._probabilities(P)  # type: ignore[attr-defined]

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        if self.class_weight is not None:
            return None
        logistic = self.loss == "logistic"
        return Remembering(self._make_second, max(n_outputs, 2), logistic, self.max_groups)

    def _learn_codes(
        self, X: Any, codes: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        keys = self._take_keys(len(codes))
        P, refused = super()._learn_codes(X, codes, weight)  # type: ignore[misc]
        if len(self.classes_) < 2:
            if self.memory_ is not None:
                self.memory_.last_class.learn_alone(weight[: len(P)])
            return P, refused
        return self._remember(X, P, codes, weight, keys), refused

    @contextmanager
    def _class_added(self, label: Any) -> Iterator[None]:
        with super()._class_added(label):  # type: ignore[misc]
            if self.memory_ is not None and len(self.classes_) > 2:
                self.memory_.add_class(int(np.searchsorted(self.classes_, label)))
            yield
