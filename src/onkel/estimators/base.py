"""What all estimators share: checking rows, driving the model, giving out and taking state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from onkel.estimators.checking import check_rows, new_columns
from onkel.estimators.components import params_from_state, params_to_state
from onkel.losses import Loss, parse_loss
from onkel.maps import FeatureMap
from onkel.models.explicit import ExplicitModel
from onkel.rules import Rule

__all__ = ["OnlineEstimator"]


class OnlineEstimator(BaseEstimator):
    """A learner that takes rows in order, each predicted before it is learned."""

    _task: str
    _losses: tuple[str, ...]

    # ---- what a named learner says ---------------------------------------------------------------

    def _make_map(self) -> FeatureMap:
        raise NotImplementedError(f"{type(self).__name__} names no map")

    def _make_rule(self) -> Rule:
        raise NotImplementedError(f"{type(self).__name__} names no rule")

    # ---- the model -------------------------------------------------------------------------------

    def _start(self, d: int, n_outputs: int) -> None:
        """Check all parameters and begin with f = 0 over rows of d columns."""
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype={self.dtype!r} must be 'float32' or 'float64'")
        epsilon = getattr(self, "epsilon", 0.0)
        if isinstance(epsilon, str) or not 0.0 <= epsilon < np.inf:
            raise ValueError(f"epsilon={epsilon!r} must be a number of at least 0")
        rule = clone(self._make_rule())
        name = rule.loss_name(self.loss, self._task)
        loss = parse_loss(
            name, self._losses if rule.own_loss is None else tuple(rule.own_loss.values())
        )
        self.model_ = self._make_model(d, rule, loss, epsilon, n_outputs)
        self._n_features_first = d
        self.n_rows_ = 0

    def _make_model(self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        """f = 0 in the learner's representation: here, over the features of its map."""
        return ExplicitModel(self._new_map(d), rule, loss, epsilon, n_outputs)

    def _new_map(self, d: int) -> FeatureMap:
        """The learner's map, begun for rows of d columns."""
        feature_map = clone(self._make_map())
        if getattr(feature_map, "random_state", 0) is None:
            feature_map.set_params(random_state=getattr(self, "random_state", None))
        feature_map.start(d, self.dtype)
        return feature_map

    @property
    def map_(self) -> Any:
        """The map of the model that predicts, fitted."""
        return self.model_.map

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, (K, m): one row for binary and regression."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the model holds."""
        check_is_fitted(self)
        return _nbytes(self.model_.get_state())

    # ---- checking --------------------------------------------------------------------------------

    def _check_scoring(self, X: Any) -> Any:
        check_is_fitted(self)
        X, error = check_rows(self, X, reset=False)
        if error is not None:
            raise error
        return X

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """Where a start from nothing fails, the learner is what it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    # ---- columns that come in mid-stream ---------------------------------------------------------

    def add_columns(self, columns: Any) -> Self:
        """Take rows with columns more, after those there are; all rows so far had 0 in them.

        The model is then the one that had these columns, always 0, from the start (to rounding;
        what is fitted on first rows stays as it was fitted): a row with 0 in them is predicted as
        before. Fourier maps draw frequencies for them from the same seeded stream, stored rows and
        landmarks are filled up with zeros, a linear model with zero weights. Landmarks that stay
        (Nyström) see little of it: rows with a value there only move away from all of them. The
        default learner begins anew beside itself, with landmarks there. A column that vanishes is 0
        in the rows to come.

        Parameters
        ----------
        columns : int or list of str
            Their number, or their names where the learner knows its columns by name.

        Raises
        ------
        ValueError
            Nothing has been learned yet; no name where names are known, or one that is there.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        n, names = new_columns(columns, known)
        self.model_.add_columns(n)
        self.n_features_in_ += n
        if known is not None:
            self.feature_names_in_ = np.array([*known, *names], dtype=object)
        return self

    # ---- state -----------------------------------------------------------------------------------

    def _fitted_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"n_features_in": self.n_features_in_, "n_rows": self.n_rows_}
        if hasattr(self, "feature_names_in_"):
            state["feature_names_in"] = [str(name) for name in self.feature_names_in_]
        state["n_features_first"] = self._n_features_first
        state["seed"] = self.model_.seed
        state["model"] = self.model_.get_state()
        return state

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        self.n_features_in_ = state["n_features_in"]
        if "feature_names_in" in state:
            self.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
        first = state["n_features_first"]
        self._start(first, state["model"]["n_outputs"])
        if self.n_features_in_ > first:
            self.model_.add_columns(self.n_features_in_ - first)
        self.model_.seed = state["seed"]
        self.model_.set_state(state["model"])
        self.n_rows_ = state["n_rows"]

    def get_state(self) -> dict[str, Any]:
        """A copy of everything, as a nested dict of arrays and plain values; see `from_state`."""
        state: dict[str, Any] = {"params": params_to_state(self)}
        if hasattr(self, "model_"):
            state["fitted"] = copy.deepcopy(self._fitted_state())
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """A learner that goes on bit for bit where the one of :meth:`get_state` stood."""
        estimator = cls(**params_from_state(state["params"]))
        if "fitted" in state:
            # a copy: loops write into the arrays, and a state may be taken up more than once
            estimator._set_fitted_state(copy.deepcopy(state["fitted"]))
        return estimator

    def save(self, path: Any) -> None:
        """Write the learner to one file, atomically; :func:`onkel.load` reads it."""
        from onkel.persistence import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


def _nbytes(state: Any) -> int:
    if isinstance(state, dict):
        return sum(map(_nbytes, state.values()))
    return int(state.nbytes) if isinstance(state, np.ndarray) else 0
