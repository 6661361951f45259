"""onkel's learners as River models: ``learn_one``, ``predict_one`` and their kin.

River's mini-batch and one-row calls are the same algorithm here: rows in order, however they come.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from onkel.compat.columns import Columns, Row
from onkel.errors import DataError
from onkel.learners import FOGDClassifier, FOGDRegressor, OnlineClassifier, OnlineRegressor
from onkel.model.lock import locked

try:
    from river import base
except ImportError as error:
    raise ImportError("onkel.compat.river needs River: pip install onkel[river]") from error


class _OverEstimator:
    """What both wrappers share: columns, and frames in and out.

    The calls hold a lock: they share the buffer that rows are read into, and a thread that
    predicts sees the model before a row or after it.
    """

    _takes: Any

    def __init__(self, estimator: Any, features: int | list[str] | None = None) -> None:
        if not isinstance(estimator, self._takes):
            raise TypeError(
                f"{type(self).__name__} takes an onkel {self._takes.__name__[6:].lower()}, not "
                f"{type(estimator).__name__}"
            )
        self.estimator: Any = estimator
        self.features = features
        fitted = estimator.__sklearn_is_fitted__()
        self.model: Any = copy.deepcopy(estimator) if fitted else clone(estimator)
        names = _names(estimator)
        given: Any = features if names is None else list(names)
        if fitted and (given is None or isinstance(given, int)):
            raise ValueError(
                f"the estimator has learned {estimator.n_features_in_} columns without names: "
                "features must name them"
            )
        room = estimator.n_features_in_ if fitted else 0
        if fitted and features is None:
            self._columns = Columns(None, estimator.dtype, given, room)
        else:
            self._columns = Columns(given, estimator.dtype, room=room)

    @property
    def _started(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())

    def _row(self, x: Row) -> np.ndarray:
        """The row (1, d) to learn, with the model as wide."""
        row = self._columns.read(x, learning=True)
        self._widen(row.shape[1])
        return row

    def _widen(self, width: int) -> None:
        """Columns that are new, in a model that has learned others."""
        if not self._started or self.model.n_features_in_ >= width:
            return
        have = self.model.n_features_in_
        new = [str(name) for name in self._columns.names[have:]]
        self.model.add_columns(width - have if _names(self.model) is None else new)

    def _learn_frame(self, X: Any, y: Any) -> None:
        names = self._columns.columns_of(list(X.columns), learning=True)
        A = self._frame(X, names)
        if self._started and len(names) > len(self._columns.names):
            self._columns.commit(names)
            self._widen(A.shape[1])
        try:
            self.model.partial_fit(A, np.asarray(y))
        except DataError as error:
            if error.row:
                self._columns.commit(names)
            raise _named(error, names) from None
        self._columns.commit(names)

    def _scoring_frame(self, X: Any) -> np.ndarray:
        return self._frame(X, self._columns.columns_of(list(X.columns), learning=False))

    def _frame(self, X: Any, names: list[Any]) -> np.ndarray:
        """The frame's columns in their places; those it lacks are 0."""
        there = [(j, X[name].to_numpy()) for j, name in enumerate(names) if name in X.columns]
        plain = all(column.dtype.kind in "biuf" for _, column in there)
        shape = (len(X), self._columns.width(names))
        A = np.zeros(shape, np.float64 if plain else object)
        for j, column in there:
            A[:, j] = column
        return A

    def _scored(self, X: Any, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        A = self._scoring_frame(X)
        try:
            return score(A)
        except DataError as error:
            raise _named(error, self._columns.names) from None


class RiverClassifier(_OverEstimator, base.MiniBatchClassifier):
    """Any onkel classifier as a River classifier.

    Rows are dicts, classes come as they come (two, many, booleans, strings). Features keep their
    columns by name, whatever the order in a dict; one that is missing in a row is 0, as in
    River's linear models. A feature first seen in mid-stream widens the model (``add_columns``):
    it is the one that always had it, always 0.

    Parameters
    ----------
    estimator : onkel classifier
        Learned by copy: :attr:`model` is the one that learns. One that has learned already is gone
        on with.
    features : None, int or list of names, default=None
        None: as many as come. A number N: N at most, with columns for all of them from the start. A
        list: these and no others. A feature not learned from yet changes no prediction.

    Attributes
    ----------
    model : onkel classifier
        ``wrapper.model.save(path)`` writes it.

    Raises
    ------
    DataError
        A feature beyond those of ``features``, a value that isn't a finite number: the message
        names the feature, and the model is as before.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onkel import FOGDClassifier
    >>> from onkel.compat.river import RiverClassifier
    >>> model = preprocessing.StandardScaler() | RiverClassifier(
    ...     FOGDClassifier(n_components=100, loss="logistic", random_state=0)
    ... )
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> print(f"{accuracy.get():.2f}")
    0.89

    Notes
    -----
    With ``loss="logistic"``, and for least squares, ``predict_proba_one`` gives probabilities. For
    other losses it gives the same link of the scores, as River's own hinge learners do: shares in
    the right order, for what votes or ranks by them (bagging, one-vs-rest, ROC AUC), not fit for a
    log loss.
    """

    _takes = OnlineClassifier

    def __init__(self, estimator: Any, features: int | list[str] | None = None) -> None:
        super().__init__(estimator, features)
        self._see_classes()

    def _see_classes(self) -> None:
        self._labels: list[Any] = self.model.classes_.tolist() if self._started else []
        self._codes = {label: code for code, label in enumerate(self._labels)}

    @locked
    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Learn one row; ``w`` ≥ 0 is its weight."""
        row = self._row(x)
        code = self._codes.get(y)
        if code is None or not 0.0 <= w < np.inf:
            self.model.partial_fit(row, [y], sample_weight=[w])
            self._see_classes()
        else:
            self.model._learn_row(row, code, w)

    @locked
    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The label of one row; None before the first was learned."""
        labels = self._labels
        if len(labels) < 2:
            return labels[0] if labels else None
        scores = self.model._next_row(self._columns.read(x, learning=False))
        if len(labels) == 2:
            return labels[int(scores[0] >= 0.0)]
        return labels[scores.argmax()]

    @locked
    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Probability of each class seen so far; none before the first row (see the notes)."""
        if not self._labels:
            return {}
        p = self.model._next_probabilities(self._columns.read(x, learning=False), 0)[0]
        return dict(zip(self._labels, p.tolist(), strict=True))

    @locked
    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame in order, as :meth:`learn_one` would."""
        try:
            self._learn_frame(X, y)
        finally:
            self._see_classes()

    @locked
    def predict_many(self, X: Any) -> Any:
        """Labels of the rows of a frame, as a series."""
        if not self._labels:
            return _series([None] * len(X), X)
        return _series(self._scored(X, self.model.predict), X)

    @locked
    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities of the rows of a frame, a column a class (see the notes)."""
        if not self._labels:
            return _frame_of({}, X)
        P = self._scored(X, lambda A: self.model._probabilities(self.model._scores(A)))
        return _frame_of(dict(zip(self._labels, P.T, strict=True)), X)

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for loss in ("logistic", "hinge"):
            estimator = FOGDClassifier(n_components=20, loss=loss, dtype="float64", random_state=0)
            yield {"estimator": estimator, "features": 32}


class RiverRegressor(_OverEstimator, base.MiniBatchRegressor):
    """Any onkel regressor as a River regressor; see :class:`RiverClassifier`.

    Parameters
    ----------
    estimator : onkel regressor
        Targets should be of order 1: put ``river.preprocessing.TargetStandardScaler`` around it.
    features : None, int or list of names, default=None

    Attributes
    ----------
    model : onkel regressor

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onkel import FOGDRegressor
    >>> from onkel.compat.river import RiverRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(
    ...     RiverRegressor(FOGDRegressor(n_components=100, random_state=0))
    ... )
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> print(f"{error.get():.1f}")
    0.3
    """

    _takes = OnlineRegressor

    @locked
    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Learn one row; ``w`` ≥ 0 is its weight."""
        row = self._row(x)
        if not self._started or not _plain_number(y) or not 0.0 <= w < np.inf:
            self.model.partial_fit(row, [y], sample_weight=[w])
        else:
            self.model._learn_row(row, y, w)

    @locked
    def predict_one(self, x: Row, **kwargs: Any) -> float:
        """The value of one row; 0 before the first was learned."""
        if not self._started:
            return 0.0
        return float(self.model._next_row(self._columns.read(x, learning=False))[0])

    @locked
    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame in order, as :meth:`learn_one` would."""
        self._learn_frame(X, y)

    @locked
    def predict_many(self, X: Any) -> Any:
        """Values of the rows of a frame, as a series."""
        if not self._started:
            return _series(np.zeros(len(X)), X)
        return _series(self._scored(X, self.model.predict), X)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        estimator = FOGDRegressor(n_components=20, dtype="float64", random_state=0)
        yield {"estimator": estimator, "features": 32}


def _names(estimator: Any) -> Any:
    """Names of the columns an estimator has learned; None where it knows none."""
    return vars(estimator).get("feature_names_in_")


def _plain_number(y: Any) -> bool:
    return isinstance(y, (int, float)) and -np.inf < y < np.inf


def _named(error: DataError, names: list[Any]) -> DataError:
    """The error with the feature's name for its column."""
    column = str(names[error.column]) if isinstance(error.column, int) else error.column
    return DataError(error.message, row=error.row, column=column, value=error.value)


def _series(values: Any, like: Any) -> Any:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.Series(values)
    import pandas

    return pandas.Series(values, index=like.index)


def _frame_of(columns: dict[Any, Any], like: Any) -> Any:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.DataFrame({str(name): values for name, values in columns.items()})
    import pandas

    return pandas.DataFrame(columns, index=like.index)
