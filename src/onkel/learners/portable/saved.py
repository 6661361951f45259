"""The state of a learner: everything it holds as named arrays and plain values, and back."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from onkel.learners.checking import column_names
from onkel.learners.components import params_from_state, params_to_state
from onkel.model.lock import locked
from onkel.state import Whole, check, inside, require

# Parameters that set the size of arrays from the start.
_SIZES = ("n_components", "n_candidates", "n_mixtures", "n_transfer", "n_per_row", "n_parts")
# Columns that a file may have, however little it holds.
_MANY = 1 << 24


class SavedLearner(BaseEstimator):
    """A learner that returns its state, and restores one after checking it."""

    dtype: str
    model_: Any
    n_rows_: int
    _n_features_first: int

    def _start(self, d: int, n_outputs: int) -> None:
        """Begin with f = 0 over rows of d columns."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _fitted_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"n_features_in": self.n_features_in_, "n_rows": self.n_rows_}
        names = column_names(self)
        if names is not None:
            state["feature_names_in"] = [str(name) for name in names]
        state["n_features_first"] = self._n_features_first
        state["seed"] = self.model_.seed
        state["model"] = self.model_.get_state()
        return state

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        columns = Whole(low=1, high=2**31)
        fields = {"n_features_in": columns, "n_features_first": columns, "n_rows": Whole()}
        check(state, fields | {"seed": Whole()})
        d, first = state["n_features_in"], state["n_features_first"]
        require(first <= d, f"n_features_first: is {first}, more than the {d} columns in all")
        self._check_sizes(d, state)
        if "feature_names_in" in state:
            names = state["feature_names_in"]
            right = isinstance(names, list) and len(names) == d
            right = right and all(isinstance(name, str) for name in names)
            require(right, f"feature_names_in: must be the names of {d} columns")
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_: int = d
        K = self._n_outputs(state)
        self._start(first, K)
        self.n_rows_ = state["n_rows"]
        if d > first:
            self.model_.add_columns(d - first)
        self.model_.seed = state["seed"]
        with inside(state, "model") as model:
            check(model, {"n_outputs": Whole(low=K, high=K)})
            self.model_.set_state(model)
        rows = np.stack([np.zeros(d), np.ones(d)]).astype(self.dtype)
        finite = np.isfinite(self.model_.scores(rows)).all()
        require(finite, "model: scores rows with numbers that are not finite")

    def _n_outputs(self, state: dict[str, Any]) -> int:
        """The number of outputs of a model with this fitted state."""
        raise NotImplementedError

    def _check_sizes(self, d: int, state: dict[str, Any]) -> None:
        """Raise a ModelFileError if parameters ask for much more memory than the state has."""
        held = nbytes(state)
        # some learners store nothing per column, so any file may have many columns
        require(d <= max(_MANY, held), f"n_features_in: is {d}, more than the state holds")
        most = max(1 << 27, 64 * held)
        for name, value in self.get_params().items():
            size = name.split("__")[-1] in _SIZES and isinstance(value, int)
            require(not size or value * d <= most, f"{name}: is {value}, more than the state holds")

    @locked
    def get_state(self) -> dict[str, Any]:
        """A copy of everything, as a nested dict of arrays and plain values; see `from_state`."""
        state: dict[str, Any] = {"params": params_to_state(self)}
        if self.__sklearn_is_fitted__():
            state["fitted"] = copy.deepcopy(self._fitted_state())
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """A learner that continues, bit for bit, where that of :meth:`get_state` stood."""
        with inside(state, "params") as params:
            check(params, {})
            estimator = cls(**params_from_state(params))
        if "fitted" in state:
            with inside(state, "fitted") as fitted:
                check(fitted, {})
                # a copy: loops write into the arrays, and a state may be used more than once
                estimator._set_fitted_state(copy.deepcopy(fitted))
        return estimator

    def save(self, path: Any) -> None:
        """Write the learner to one file, atomically; :func:`onkel.load` reads it."""
        from onkel.persistence import save

        save(self, path)


def nbytes(state: Any) -> int:
    if isinstance(state, dict):
        return sum(map(nbytes, state.values()))
    return int(state.nbytes) if isinstance(state, np.ndarray) else 0
