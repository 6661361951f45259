"""Learners of other libraries as learners here: scikit-learn's with ``partial_fit``, River's.

They take rows one by one, each predicted before it is learned, on the same scaled features.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from onkel.annotations import ArrayLike, DTypeLike, Matrix
from onkel.learners.predictions import Predictions
from onkel.numerics.arrays import as_dense
from onkel.sklearn_bases import BaseEstimator, ClassifierMixin, RegressorMixin


@runtime_checkable
class _Partial(Protocol):
    """As scikit-learn's estimators that learn online."""

    def partial_fit(self, X: Matrix, y: ArrayLike) -> Any: ...

    def predict(self, X: Matrix) -> Any: ...


@runtime_checkable
class _OneByOne(Protocol):
    """As River's models."""

    def learn_one(self, x: Any, y: ArrayLike) -> Any: ...

    def predict_one(self, x: Any) -> Any: ...


class Adapter(BaseEstimator):
    """A learner of another library, behind the interface of a `StreamModel`'s estimator.

    Those with ``partial_fit`` keep the width of their first row. So rows are padded with zeros to
    ``room`` columns, which leaves place for columns that come in mid-stream.
    """

    n_features_in_: Any
    n_rows_: int

    nbytes_ = 0
    room = 0
    changes_: tuple[int, ...] = ()
    #: of predictions
    dtype: DTypeLike = object

    def __init__(self, learner: Any, classes: np.ndarray | None = None) -> None:
        self.learner = learner
        self.classes = classes

    def settings(self) -> dict[str, Any]:
        """The parameters of the learner itself; what it is, where it does not list them."""
        if isinstance(self.learner, BaseEstimator):
            return dict(self.learner.get_params(deep=False))
        return {"learner": " ".join(repr(self.learner).split())}

    def __sklearn_is_fitted__(self) -> bool:
        return "n_rows_" in vars(self)

    def predictions_then_learn(self, X: Matrix, y: ArrayLike) -> Predictions:
        """Predict each row, then learn it."""
        X, y = as_dense(X), np.asarray(y)
        if "n_rows_" not in vars(self):
            self.n_rows_, self.n_features_in_ = 0, X.shape[1]
        step = self._learn_one if isinstance(self.learner, _OneByOne) else self._learn_row
        rows = np.pad(X, ((0, 0), (0, max(self.room - X.shape[1], 0))))
        predicted = [step(rows[t : t + 1], y[t]) for t in range(len(y))]
        return Predictions(np.array(predicted, dtype=self.dtype))

    def add_columns(self, n: int, *, quietly: bool = False) -> Self:
        """Accept n more columns, which were 0 so far; for a new value of a text column, say.

        ValueError if the learner takes rows of one width only, and no room is left.
        """
        wide = self.n_features_in_ + n
        if wide > self.room and not isinstance(self.learner, _OneByOne):
            raise ValueError(
                f"{type(self.learner).__name__} takes no columns that come in mid-stream; hold all "
                "rows in memory (--memory on the command line)"
            )
        self.n_features_in_ = wide
        return self

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Learn the rows in their order, after those learned before."""
        self.predictions_then_learn(X, y)
        return self

    def predict_then_learn(self, X: Matrix, y: ArrayLike) -> np.ndarray:
        """Predictions made before each row was learned."""
        return self.predictions_then_learn(X, y).predictions

    def _learn_row(self, X: np.ndarray, y: ArrayLike) -> Any:
        """Predict and learn one row (1, d) with ``partial_fit``; the first counts as right."""
        predicted = self.learner.predict(X)[0] if self.n_rows_ else y
        first = {"classes": self.classes} if self.classes is not None and not self.n_rows_ else {}
        self.learner.partial_fit(X, np.array([y]), **first)
        self.n_rows_ += 1
        return predicted

    def _learn_one(self, X: np.ndarray, y: ArrayLike) -> Any:
        """Predict and learn one row (1, d) with a River model; the first counts as right."""
        row = {f"x{j}": value for j, value in enumerate(X[0].tolist())}
        label = y.item() if isinstance(y, np.generic) else y
        predicted = self.learner.predict_one(row) if self.n_rows_ else label
        self.learner.learn_one(row, label)
        self.n_rows_ += 1
        return predicted

    def copied(self, seed: int) -> Self:
        """A new one, its learner seeded where it has a seed."""
        learner = copy.deepcopy(self.learner)
        for name in ("random_state", "seed"):
            if name in vars(learner):
                setattr(learner, name, seed)
        return type(self)(learner, self.classes)


class AdaptedClassifier(ClassifierMixin, Adapter):
    """A classifier of another library."""


class AdaptedRegressor(RegressorMixin, Adapter):
    """A regressor of another library."""

    dtype: DTypeLike = np.float64


def adapted(learner: Any, task: str, name: str, classes: np.ndarray | None) -> Any:
    """A learner of another library as one of a comparison.

    It has ``partial_fit`` and ``predict``, or ``learn_one`` and ``predict_one``; else ValueError,
    with its ``name``. ``classes``: all that there are, for a classifier with ``partial_fit``.
    """
    if not isinstance(learner, _Partial | _OneByOne):
        raise ValueError(
            f"{name}: a rival needs partial_fit and predict, or River's learn_one and predict_one; "
            f"{type(learner).__name__} has neither"
        )
    if task == "regression":
        return AdaptedRegressor(learner)
    return AdaptedClassifier(learner, classes)
