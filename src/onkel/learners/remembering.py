"""Learners that remember their targets: what is predicted of the rows that come next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.default.remembering import Remembering
from onkel.errors import DataError
from onkel.model.lock import locked

__all__ = ["RemembersClasses", "RemembersValues"]


class _Remembers:
    """Where the model's predictions of the next rows go through a memory."""

    if TYPE_CHECKING:
        # parameters are declared by the learner
        memory: str | bool
        model_: Any
        n_features_in_: int
        classes_: np.ndarray
        _task: str
    #: None without memory
    memory_: Remembering | None = None

    def _make_second(self, d: int) -> Any:
        """A least squares model of one output over rows of d columns."""
        raise NotImplementedError

    def _start(self, d: int, n_outputs: int) -> None:
        if self.memory not in ("auto", False):
            raise ValueError(f"memory={self.memory!r} must be 'auto' or False")
        super()._start(d, n_outputs)  # type: ignore[misc]
        self.memory_ = self._new_memory(n_outputs) if self.memory == "auto" else None

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        raise NotImplementedError

    def _remember(self, X: Any, P: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Scores with memory of the rows that P are the scores of; then it learns them."""
        if self.memory_ is None:
            return P
        n = len(P)
        return self.memory_.learn(X[:n], P, y[:n], weight[:n])

    def _next_scores(self, X: Any, ahead: int) -> np.ndarray:
        P = self.model_.scores(X)
        if self.memory_ is None or (self._task == "classification" and len(self.classes_) < 2):
            return P
        return self.memory_.predict(X, P, ahead)

    def _next_row(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._next_scores(X, 0)[0])

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the learner holds, its memory included."""
        own = 0 if self.memory_ is None else _nbytes(self.memory_.get_state())
        return int(super().nbytes_) + own  # type: ignore[misc]

    @locked
    def add_columns(self, columns: Any, *, quietly: bool = False) -> Any:
        """As of any learner; see :meth:`onkel.learners.base.OnlineEstimator.add_columns`."""
        before = self.n_features_in_ if self.memory_ is not None else 0
        super().add_columns(columns, quietly=quietly)  # type: ignore[misc]
        if self.memory_ is not None:
            self.memory_.add_columns(self.n_features_in_ - before)
        return self

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()  # type: ignore[misc]
        if self.memory_ is not None:
            state["memory"] = self.memory_.get_state()
        return dict(state)

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        super()._set_fitted_state(state)  # type: ignore[misc]
        if self.memory_ is not None and "memory" in state:
            self.memory_.set_state(state["memory"], self.n_features_in_)


class RemembersValues(_Remembers):
    """A regressor with a memory."""

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        return Remembering(self._make_second, None)

    def _learn_weighted(
        self, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        P, refused = super()._learn_weighted(X, y, weight)  # type: ignore[misc]
        return self._remember(X, P, y, weight), refused

    @locked
    def _learn_row(self, X: np.ndarray, y: float, weight: float = 1.0) -> None:
        if self.memory_ is None:
            super()._learn_row(X, y, weight)  # type: ignore[misc]
        else:
            self.partial_fit(X, [y], [weight])  # type: ignore[attr-defined]


class RemembersClasses(_Remembers):
    """A classifier with a memory; with weights by class there is none, which would undo them."""

    if TYPE_CHECKING:
        class_weight: Any
        loss: str
        classes_: np.ndarray

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        if self.class_weight is not None:
            return None
        return Remembering(self._make_second, max(n_outputs, 2), self.loss == "logistic")

    def _learn_codes(
        self, X: Any, codes: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        P, refused = super()._learn_codes(X, codes, weight)  # type: ignore[misc]
        if len(self.classes_) < 2:
            return P, refused
        return self._remember(X, P, codes, weight), refused

    @contextmanager
    def _class_added(self, label: Any) -> Iterator[None]:
        with super()._class_added(label):  # type: ignore[misc]
            if self.memory_ is not None and len(self.classes_) > 2:
                self.memory_.add_class(int(np.searchsorted(self.classes_, label)))
            yield


def _nbytes(state: Any) -> int:
    if isinstance(state, dict):
        return sum(map(_nbytes, state.values()))
    return int(state.nbytes) if isinstance(state, np.ndarray) else 0
