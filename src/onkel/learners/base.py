"""What all estimators share: checking rows, driving the model, giving out and taking state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from onkel.errors import DataError, DivergenceError
from onkel.learners.checking import check_rows, first_error, new_columns, weights
from onkel.learners.components import params_from_state, params_to_state
from onkel.learners.declaration import Row, declared, param
from onkel.losses import Loss, parse_loss
from onkel.model.lock import locked
from onkel.rules import Rule
from onkel.state import Whole, check, inside, require

__all__ = ["OnlineEstimator"]


@declared
class OnlineEstimator(BaseEstimator):
    """A learner that takes rows in order, each predicted before it is learned.

    Threads may share it. One call learns or predicts at a time and the others wait, so what
    predicts sees the model before a block or after it, never between.

    Attributes
    ----------
    n_rows_ : int
        Rows learned (weight above 0).
    n_features_in_ : int
        Columns of a row.
    nbytes_ : int
        Size of the model in bytes.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range, or for parts that do not go together: the
        message names it and says why.
    """

    _task: ClassVar[str]
    _losses: ClassVar[tuple[str, ...]]
    _representation: ClassVar[str]
    #: what the table of algorithms says of the learner
    _rows: ClassVar[tuple[Row, ...]] = ()
    # of learners that have no such parameter
    epsilon = 0.0
    random_state = 0

    dtype: str = param(
        default="float32",
        kind='{"float32", "float64"}',
        doc="Of the features or stored rows, the kernel values and the weights.",
    )

    # ---- what a named learner says ---------------------------------------------------------------

    def _make_rule(self) -> Rule:
        raise NotImplementedError(f"{type(self).__name__} names no rule")

    def _make_model(self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> Any:
        """f = 0 in the learner's representation."""
        raise NotImplementedError(f"{type(self).__name__} names no representation")

    # ---- the model -------------------------------------------------------------------------------

    def _start(self, d: int, n_outputs: int) -> None:
        """Check all parameters and begin with f = 0 over rows of d columns."""
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype={self.dtype!r} must be 'float32' or 'float64'")
        epsilon = self.epsilon
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

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features or stored rows, (K, m): one row for binary and regression."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def nbytes_(self) -> int:
        """Bytes of everything the model holds."""
        check_is_fitted(self)
        return _nbytes(self.model_.get_state())

    # ---- learning --------------------------------------------------------------------------------

    @locked
    def _learn(
        self, X: Any, y: Any, sample_weight: Any, whole: bool = False, classes: Any = None
    ) -> Any:
        """Check the rows, then learn those before the first bad one; what was predicted before.

        ``whole``: begin anew, and learn nothing of a block with a bad row.
        """
        reset = whole or not hasattr(self, "model_")
        with self._or_as_before() if whole else nullcontext():
            with self._or_as_before() if reset else nullcontext():
                y, error = self._read_targets(y)
                X, row_error = check_rows(self, X, reset)
                if row_error is None and X.shape[0] != len(y):
                    raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; they must agree")
                weight, weight_error = weights(sample_weight, len(y), needed=whole)
                error = first_error(row_error, error, weight_error)
                if error is not None and (whole or (reset and not error.row)):
                    raise error
                if reset:
                    self._begin(X.shape[1], y, classes, whole)
                error = first_error(self._unknown_target(y, weight, classes, error), error)
            stop = len(y) if error is None else error.row
            out = self._learn_rows(X[:stop], y[:stop], weight[:stop])
            if error is not None:
                error.predictions = self._predicted(out)
                raise error
            return out

    def _read_targets(self, y: Any) -> tuple[np.ndarray, DataError | None]:
        """Targets (n,) as they are learned, and the error of the first that cannot be."""
        raise NotImplementedError

    def _begin(self, d: int, y: np.ndarray, classes: Any, whole: bool) -> None:
        """Begin with f = 0 over rows of d columns."""
        raise NotImplementedError

    def _unknown_target(
        self, y: np.ndarray, weight: np.ndarray, classes: Any, error: DataError | None
    ) -> DataError | None:
        """The error of the first target, before that of ``error``, that the model cannot take."""
        return None

    def _learn_rows(self, X: Any, y: np.ndarray, weight: np.ndarray) -> Any:
        """Learn checked rows."""
        raise NotImplementedError

    def _predicted(self, out: Any) -> np.ndarray:
        """Predictions before learning, from what :meth:`_learn_rows` gave."""
        raise NotImplementedError

    def _learn_weighted(
        self, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        """Learn rows until one is refused: the scores before each, and the refusal."""
        refused: DataError | None = None
        try:
            P = self.model_.learn(X, y, weight)
        except DivergenceError as error:
            P, refused = error.scores, error
        return P, refused

    # ---- checking --------------------------------------------------------------------------------

    def _check_scoring(self, X: Any) -> Any:
        check_is_fitted(self)
        X, error = check_rows(self, X, reset=False)
        if error is not None:
            raise error
        return X

    @locked
    def _scores(self, X: Any) -> np.ndarray:
        X = self._check_scoring(X)
        return self.model_.scores(X)

    def _next_scores(self, X: Any, ahead: int) -> np.ndarray:
        """Scores (n, K) of checked rows that come next, in order, their labels not yet known."""
        return self.model_.scores(X)

    def _next_row(self, X: np.ndarray) -> np.ndarray:
        """Scores (K,) of the one row of X (1, d), of the learner's dtype, that comes next."""
        return self.model_.score_row(X)

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

    @locked
    def add_columns(self, columns: Any, *, quietly: bool = False) -> Self:
        """Take rows with columns more, after those there are; all rows so far had 0 in them.

        The model is then the one that had these columns, always 0, from the start (to rounding;
        what was fitted on first rows stays): a row with 0 in them is predicted as before. Fourier
        maps draw frequencies for them from the same seeded stream (orthogonal ones are orthogonal
        among the first columns only), stored rows and landmarks are filled up with zeros, a linear
        model with zero weights. Fixed landmarks (Nyström) barely use a new column: a row with a
        value there is only farther from all of them. The default learner begins anew beside
        itself, with landmarks there. A column that vanishes is 0 in the rows to come.

        Parameters
        ----------
        columns : int or list of str
            Their number, or their names where the learner knows its columns by name.
        quietly : bool, default=False
            Whether the default learner goes on as it is: for columns that are no news, such as one
            more value of a category.

        Raises
        ------
        ValueError
            Nothing has been learned yet; no name where names are known, or one that is there.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        n, names = new_columns(columns, known)
        (self.model_.widen if quietly else self.model_.add_columns)(n)
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
        """How many outputs a model has that was fitted to this state."""
        raise NotImplementedError

    def _check_sizes(self, d: int, state: dict[str, Any]) -> None:
        """ModelFileError where parameters ask for much more memory than the state has."""
        most = max(1 << 27, 64 * _nbytes(state))
        for name, value in self.get_params().items():
            size = name.split("__")[-1] in _SIZES and isinstance(value, int)
            require(not size or value * d <= most, f"{name}: is {value}, more than the state holds")

    @locked
    def get_state(self) -> dict[str, Any]:
        """A copy of everything, as a nested dict of arrays and plain values; see `from_state`."""
        state: dict[str, Any] = {"params": params_to_state(self)}
        if hasattr(self, "model_"):
            state["fitted"] = copy.deepcopy(self._fitted_state())
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """A learner that goes on bit for bit where the one of :meth:`get_state` stood."""
        with inside(state, "params") as params:
            check(params, {})
            estimator = cls(**params_from_state(params))
        if "fitted" in state:
            with inside(state, "fitted") as fitted:
                check(fitted, {})
                # a copy: loops write into the arrays, and a state may be taken up more than once
                estimator._set_fitted_state(copy.deepcopy(fitted))
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

    #: whether the learner scales features and targets by itself
    scales_itself: ClassVar[bool] = False


# Parameters that arrays are as large as, from the start.
_SIZES = ("n_components", "n_candidates", "n_mixtures", "n_transfer", "n_per_row", "n_parts")


def _nbytes(state: Any) -> int:
    if isinstance(state, dict):
        return sum(map(_nbytes, state.values()))
    return int(state.nbytes) if isinstance(state, np.ndarray) else 0
