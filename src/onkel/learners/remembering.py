"""Learners that remember their targets: what regressors and classifiers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.default.remembering import Remembering
from onkel.errors import DataError
from onkel.learners.grouping import check_keys, group_keys
from onkel.learners.portable.saved import nbytes
from onkel.learners.told import Told
from onkel.model.lock import locked
from onkel.parameters import whole

_MOST_GROUPS = 10**9


class Remembers:
    """A learner whose predictions of the next rows go through a memory."""

    if TYPE_CHECKING:
        # parameters are declared by the learner
        memory: str | bool
        max_groups: int
        model_: Any
        n_features_in_: int
        classes_: np.ndarray
        _task: str
    takes_groups = True
    #: None without memory
    memory_: Remembering | None = None
    # groups of the rows that a call has still to learn or predict; None without groups
    _keys: list[Any] | None = None

    def _make_second(self, d: int) -> Any:
        """A least squares model of one output over rows of d columns."""
        raise NotImplementedError

    def _start(self, d: int, n_outputs: int) -> None:
        if self.memory not in ("auto", False):
            raise ValueError(f"memory={self.memory!r} must be 'auto' or False")
        whole(self, "max_groups", most=_MOST_GROUPS)
        super()._start(d, n_outputs)  # type: ignore[misc]
        self.memory_ = self._new_memory(n_outputs) if self.memory == "auto" else None

    def _new_memory(self, n_outputs: int) -> Remembering | None:
        raise NotImplementedError

    # ---- groups --------------------------------------------------------------------------------

    @locked
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Forget everything, then learn the rows once, in order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weights ≥ 0; a row of weight 0 changes nothing.
        groups : array of shape (n,), optional
            The series that each row belongs to, as texts or numbers. Each series has a memory of
            its own labels; the model, and what follows from a past, are learned from all rows. Only
            the ``max_groups`` groups seen last have a memory.
        """
        with self._by_group(groups):
            return super().fit(X, y, sample_weight)  # type: ignore[misc]

    @contextmanager
    def _by_group(self, groups: Any) -> Iterator[None]:
        """The rows of calls inside belong to these groups."""
        self._keys = None if groups is None else group_keys(groups)
        try:
            yield
        finally:
            self._keys = None

    @locked
    def tell_then_learn(self, X: Any, y: Any, groups: Any = None) -> Told:
        """As for any learner; ``groups`` (n,): the series each row belongs to, see `fit`."""
        with self._by_group(groups):
            return super().tell_then_learn(X, y)  # type: ignore[misc, no-any-return]

    def _check_scoring(self, X: Any) -> Any:
        X = super()._check_scoring(X)  # type: ignore[misc]
        error = None if self._keys is None else check_keys(self._keys, X.shape[0])
        if error is not None:
            raise error
        return X

    def _key_error(self, n: int, whole: bool) -> DataError | None:
        if self.memory_ is not None and not whole:
            self._check_grouped(self.memory_)
        return None if self._keys is None else check_keys(self._keys, n)

    def _check_grouped(self, memory: Remembering) -> None:
        """Refuse keys after rows that had none, and the reverse."""
        if memory.grouped is not None and memory.grouped != (self._keys is not None):
            raise ValueError(
                "the rows so far were learned by group: give groups="
                if memory.grouped
                else "the rows so far were learned without groups=: leave it out, or begin anew"
            )

    def _take_keys(self, n: int) -> list[Any] | None:
        """The groups of the next n rows to be learned."""
        if self._keys is None:
            return None
        keys, self._keys = self._keys[:n], self._keys[n:]
        return keys

    # ---- what goes through the memory ----------------------------------------------------------

    def _remember(
        self, X: Any, P: np.ndarray, y: np.ndarray, weight: np.ndarray, keys: list[Any] | None
    ) -> np.ndarray:
        """Scores with memory of rows with model scores P; then the memory learns the rows."""
        if self.memory_ is None:
            return P
        n = len(P)
        return self.memory_.learn(X[:n], P, y[:n], weight[:n], None if keys is None else keys[:n])

    def _next_scores(self, X: Any, ahead: int) -> np.ndarray:
        P = self.model_.scores(X)
        if self.memory_ is None or (self._task == "classification" and len(self.classes_) < 2):
            return P
        return self.memory_.predict(X, P, ahead, self._keys_of(self.memory_, len(P)))

    def _keys_of(self, memory: Remembering, n: int) -> list[Any] | None:
        """The groups of the next n rows, to predict them."""
        self._check_grouped(memory)
        return None if self._keys is None else self._keys[:n]

    def _next_row(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._next_scores(X, 0)[0])

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the learner holds, its memory included."""
        own = 0 if self.memory_ is None else nbytes(self.memory_.get_state())
        return int(super().nbytes_) + own  # type: ignore[misc]

    @locked
    def add_columns(self, columns: Any, *, quietly: bool = False) -> Any:
        """As for any learner; see :meth:`onkel.learners.base.OnlineEstimator.add_columns`."""
        before = self.n_features_in_ if self.memory_ is not None else 0
        super().add_columns(columns, quietly=quietly)  # type: ignore[misc]
        if self.memory_ is not None:
            self.memory_.add_columns(self.n_features_in_ - before)
        return self

    def fix_map(self) -> Any:
        """As for any learner; the memory of the last labels is dropped."""
        super().fix_map()  # type: ignore[misc]
        self.memory_ = None
        return self

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()  # type: ignore[misc]
        if self.memory_ is not None:
            state["memory"] = self.memory_.get_state()
        return dict(state)

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        super()._set_fitted_state(state)  # type: ignore[misc]
        if self.map_fixed_:  # type: ignore[attr-defined]
            self.memory_ = None
        if self.memory_ is not None and "memory" in state:
            self.memory_.set_state(state["memory"], self.n_features_in_)
