"""onkel's learners as River models: ``learn_one``, ``predict_one`` and their kin.

River's mini-batch and one-row calls run the same algorithm here: rows are learned in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onkel.compat.columns import Row
from onkel.compat.over_tables import OverTables
from onkel.compat.wrappers import Frame, OverEstimator, Series, frame_like, series_like
from onkel.learners import FOGDClassifier, FOGDRegressor, OnlineClassifier, OnlineRegressor
from onkel.learners.labels import largest_target
from onkel.model.transaction import locked
from onkel.pipeline import StreamModel

try:
    from river import base
except ImportError as _missing:
    raise ImportError("onkel.compat.river needs River: pip install onkel[river]") from _missing


class RiverClassifier(OverEstimator, base.MiniBatchClassifier):
    """Any onkel classifier as a River classifier.

    Rows are dicts. Classes need not be announced (two, many, booleans, strings). Features keep
    their columns by name, whatever the order of a dict; a missing feature is 0, as in River's
    linear models. A feature first seen in mid-stream widens the model (``add_columns``), as if it
    had always been there as 0. Each value of a text is a feature ``NAME=TEXT`` of 1 or 0, as by
    River's ``OneHotEncoder``. A `onkel.StreamModel` as the estimator keeps many values in fewer
    columns, and reads times and gaps: a missing feature is a gap there.

    Parameters
    ----------
    estimator : onkel classifier, or StreamModel of one
        It is copied, and the copy, :attr:`model`, learns. If it has learned already, the copy
        continues from there.
    features : None, int or list of names, default=None
        None: as many as come. A number N: N at most, with columns for all of them from the start. A
        list: these and no others. A feature not learned from yet changes no prediction.
    group : str, optional
        The feature, a text or a number, that names the series a row belongs to. For learners with a
        memory (``OnlineKernelClassifier``), which keep one per series. The model does not see it.

    Attributes
    ----------
    model : onkel classifier
        ``wrapper.model.save(path)`` saves it.

    Raises
    ------
    DataError
        A feature beyond those of ``features``, a value that is neither text nor a finite number, or
        one too large for distances of rows to be finite (some 1e19 in float32). The message names
        the feature, and the model is unchanged.

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
    other losses it applies the same link to the scores, as River's own hinge learners do. These
    shares have the right order, for voting and ranking (bagging, one-vs-rest, ROC AUC), but are not
    fit for a log loss.
    """

    _takes = OnlineClassifier

    def __new__(cls, estimator: Any = None, *args: Any, **kwargs: object) -> Any:
        over = isinstance(estimator, StreamModel)
        return super().__new__(_TableClassifier if over and cls is RiverClassifier else cls)

    def __init__(
        self, estimator: Any, features: int | list[str] | None = None, group: str | None = None
    ) -> None:
        super().__init__(estimator, features, group)
        self._see_classes()

    def _see_classes(self) -> None:
        self._labels: list[Any] = self.model.classes_.tolist() if self._started else []
        self._codes = {label: code for code, label in enumerate(self._labels)}

    @locked
    def learn_one(self, x: Row, y: object, w: float = 1.0) -> None:
        """Learn one row; ``w`` ≥ 0 is its weight."""
        x, more = self._split(x)
        row = self._row(x)
        code = self._codes.get(y)
        if more or code is None or not 0.0 <= w < np.inf:
            self.model.partial_fit(row, [y], sample_weight=[w], **more)
            self._see_classes()
        else:
            self.model._learn_row(row, code, w)

    @locked
    def predict_one(self, x: Row, **kwargs: object) -> Any:
        """The label of one row; None before the first was learned."""
        labels = self._labels
        if len(labels) < 2:
            return labels[0] if labels else None
        x, more = self._split(x)
        if more:
            row = self._columns.read(x, learning=False)
            return self.model.predict_next(row, **more).tolist()[0]
        scores = self.model._next_row(self._columns.read(x, learning=False))
        if len(labels) == 2:
            return labels[int(scores[0] >= 0.0)]
        return labels[scores.argmax()]

    @locked
    def predict_proba_one(self, x: Row, **kwargs: object) -> dict[Any, float]:
        """Probability of each class seen so far; none before the first row (see the notes)."""
        if not self._labels:
            return {}
        x, more = self._split(x)
        row = self._columns.read(x, learning=False)
        if more:
            p = self.model.predict_proba_next(row, **more)[0]
        else:
            _, (p,) = self.model._next_shares(row, 0)
        return dict(zip(self._labels, p.tolist(), strict=True))

    @locked
    def predict_set_one(self, x: Row, level: float = 0.9) -> set[Any]:
        """Labels of which a share ``level`` holds that of a row; for an estimator with feedback.

        See `onkel.ClassSets`. Before two classes are known: those that are.
        """
        if len(self._labels) < 2:
            return set(self._labels)
        x, more = self._split(x)
        row = self._columns.read(x, learning=False)
        inside = self.model.predict_set_next(row, level, **more)[0]
        return {label for label, is_in in zip(self._labels, inside, strict=True) if is_in}

    @locked
    def learn_many(self, X: Frame, y: Series) -> None:
        """Learn the rows of a frame in order, as :meth:`learn_one` would."""
        try:
            self._learn_frame(X, y)
        finally:
            self._see_classes()

    @locked
    def predict_many(self, X: Frame) -> Series:
        """Labels of the rows of a frame, each by itself, as a series.

        A learner with a memory uses the last labels in :meth:`predict_one` only: there the row is
        the one that comes next.
        """
        if not self._labels:
            return series_like([None] * len(X), X)
        return series_like(self._scored(X, self.model.predict), X)

    @locked
    def predict_proba_many(self, X: Frame) -> Frame:
        """Probabilities of the rows of a frame, each by itself, one column per class."""
        if not self._labels:
            return frame_like({}, X)
        P = self._scored(X, lambda A: self.model._probabilities(self.model._scores(A)))
        return frame_like(dict(zip(self._labels, P.T, strict=True)), X)

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for loss in ("logistic", "hinge"):
            estimator = FOGDClassifier(n_components=20, loss=loss, dtype="float64", random_state=0)
            yield {"estimator": estimator, "features": 32}


class RiverRegressor(OverEstimator, base.MiniBatchRegressor):
    """Any onkel regressor as a River regressor; see :class:`RiverClassifier`.

    Parameters
    ----------
    estimator : onkel regressor, or StreamModel of one
        Targets should be of order 1: put ``river.preprocessing.TargetStandardScaler`` around it.
    features : None, int or list of names, default=None
    group : str, optional

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

    def __new__(cls, estimator: Any = None, *args: Any, **kwargs: object) -> Any:
        over = isinstance(estimator, StreamModel)
        return super().__new__(_TableRegressor if over and cls is RiverRegressor else cls)

    @locked
    def learn_one(self, x: Row, y: object, w: float = 1.0) -> None:
        """Learn one row; ``w`` ≥ 0 is its weight."""
        x, more = self._split(x)
        row = self._row(x)
        plain = isinstance(y, (int, float)) and abs(y) <= largest_target(self.model.dtype)
        if more or not self._started or not plain or not 0.0 <= w < np.inf:
            self.model.partial_fit(row, [y], sample_weight=[w], **more)
        else:
            self.model._learn_row(row, y, w)

    @locked
    def predict_one(self, x: Row, **kwargs: object) -> float:
        """The value of one row; 0 before the first was learned."""
        if not self._started:
            return 0.0
        x, more = self._split(x)
        row = self._columns.read(x, learning=False)
        if more:
            return float(self.model.predict_next(row, **more)[0])
        return float(self.model._next_row(row)[0])

    @locked
    def predict_interval_one(self, x: Row, level: float = 0.9) -> tuple[float, float]:
        """Bounds around a share ``level`` of the targets; for an estimator with feedback.

        See `onkel.Intervals`. Before the first learned row: -inf and inf.
        """
        if not self._started:
            return -np.inf, np.inf
        x, more = self._split(x)
        row = self._columns.read(x, learning=False)
        low, high = self.model.predict_interval_next(row, level, **more)[0].tolist()
        return low, high

    @locked
    def learn_many(self, X: Frame, y: Series) -> None:
        """Learn the rows of a frame in order, as :meth:`learn_one` would."""
        self._learn_frame(X, y)

    @locked
    def predict_many(self, X: Frame) -> Series:
        """Values of the rows of a frame, each by itself, as a series."""
        if not self._started:
            return series_like(np.zeros(len(X)), X)
        return series_like(self._scored(X, self.model.predict), X)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        estimator = FOGDRegressor(n_components=20, dtype="float64", random_state=0)
        yield {"estimator": estimator, "features": 32}


class _TableClassifier(OverTables, RiverClassifier):
    """A `RiverClassifier` of a StreamModel."""

    def _see_classes(self) -> None:
        """The model knows its labels."""

    def _classes(self) -> list[Any]:
        return self.model.classes_.tolist() if self._started else []

    @property
    def _gives_probabilities(self) -> bool:
        return self.model.estimator.probability_link is not None

    def _shares(self, X: Row | Frame) -> np.ndarray:
        """Shares (n, K) by the link of a logistic loss, where the learner has another loss."""
        scores = self.model.decision_function(X)
        many = scores.reshape(len(scores), -1)
        return np.asarray(self.model.estimator._probabilities(many))

    def predict_one(self, x: Row, **kwargs: object) -> Any:
        return self.model.predict_next(self._to_predict(x))[0].item() if self._started else None

    def predict_proba_one(self, x: Row, **kwargs: object) -> dict[Any, float]:
        known = self._classes()
        if len(known) < 2:
            return dict.fromkeys(known, 1.0)
        x = self._to_predict(x)
        p = self.model.predict_proba_next(x) if self._gives_probabilities else self._shares(x)
        return dict(zip(known, p[0].tolist(), strict=True))

    def predict_set_one(self, x: Row, level: float = 0.9) -> set[Any]:
        known = self._classes()
        if len(known) < 2:
            return set(known)
        inside = self.model.predict_set_next(self._to_predict(x), level)[0]
        return {label for label, is_in in zip(known, inside, strict=True) if is_in}

    def predict_many(self, X: Frame) -> Series:
        return series_like(self.model.predict(X) if self._started else [None] * len(X), X)

    def predict_proba_many(self, X: Frame) -> Frame:
        known = self._classes()
        if len(known) < 2:
            P = np.ones((len(X), len(known)))
        else:
            P = self.model.predict_proba(X) if self._gives_probabilities else self._shares(X)
        return frame_like(dict(zip(known, P.T, strict=True)), X)


class _TableRegressor(OverTables, RiverRegressor):
    """A `RiverRegressor` of a StreamModel."""

    def predict_one(self, x: Row, **kwargs: object) -> float:
        return float(self.model.predict_next(self._to_predict(x))[0]) if self._started else 0.0

    def predict_interval_one(self, x: Row, level: float = 0.9) -> tuple[float, float]:
        if not self._started:
            return -np.inf, np.inf
        low, high = self.model.predict_interval_next(self._to_predict(x), level)[0].tolist()
        return low, high

    def predict_many(self, X: Frame) -> Series:
        return series_like(self.model.predict(X) if self._started else np.zeros(len(X)), X)
