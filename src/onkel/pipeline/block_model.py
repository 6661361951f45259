"""An online learner behind running statistics: it learns and predicts encoded features."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import is_regressor

from onkel.annotations import Ahead, ArrayLike, Matrix
from onkel.columns.encoding import Encoder
from onkel.columns.scaling import OnlineScaler
from onkel.columns.target_scaling import OnlineTargetScaler
from onkel.errors import DataError
from onkel.fields import Field, Fields, Flag, Group, Named, State, Text, require
from onkel.intervals.feedback import Feedback, check_tracked
from onkel.learners.base import OnlineEstimator
from onkel.learners.checking import by_group
from onkel.learners.predictions import Forecast, Predictions, predictions_of
from onkel.model.transaction import locked
from onkel.numerics.arrays import as_dense
from onkel.numerics.signals import signals_wait
from onkel.persistence.contents import Model
from onkel.pipeline.inputs import Inputs
from onkel.pipeline.learning import learn_rows, rows_kept
from onkel.pipeline.one_row import OneRow
from onkel.pipeline.rows import Keys
from onkel.pipeline.sample import SampledRows
from onkel.pipeline.statistics import RunningStatistics, is_fitted, located
from onkel.sklearn_bases import BaseEstimator
from onkel.state import Part, Stateful

if TYPE_CHECKING:
    from onkel.streams import Block

_SCALINGS = ("auto", "standard", "minmax", "none")


class BlockModel(Stateful):
    """Learner, scaler and target scaler as one model; for the parameters see `StreamModel`."""

    GIVEN: ClassVar[Fields] = {
        "estimator": Model(),
        "scaling": Text(among=_SCALINGS),
        "settings": Named(Field()),
    }
    STATE: ClassVar[Fields] = {
        "_statistics": Part(among="scaler"),
        "encoder": Part(begin=lambda _: Encoder(), empty=True),
        "_widening": Part(begin=lambda m: Inputs(m.encoder, m.task), empty=True),
        "_sample": Part(),
        "_feedback": Part(),
        "keys": Group(Keys, dict.fromkeys(Keys._fields, Text(empty=True)), where="keys"),
        "map_fixed": Flag(where="map_fixed"),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        scaling: str = "auto",
        scale_target: bool | None = None,
        encoder: Encoder | None = None,
        settings: dict[str, Any] | None = None,
        missing: str | None = None,
        extra: str | None = None,
    ) -> None:
        if not isinstance(estimator, BaseEstimator) or isinstance(estimator, BlockModel):
            kind = "a class; make one of it" if isinstance(estimator, type) else "no learner"
            raise TypeError(f"estimator={estimator!r} is {kind}: give onkel.make('krls'), say")
        if scaling not in _SCALINGS:
            raise ValueError(f"scaling={scaling!r}: must be one of {', '.join(_SCALINGS)}")
        #: the parameters besides the estimator, as they were given
        self._given: dict[str, object] = {
            "scaling": scaling,
            "scale_target": scale_target,
            "encoder": encoder,
            "settings": settings,
        }
        self.keys: Keys = Keys(missing, extra).checked()
        scales_itself = isinstance(estimator, OnlineEstimator) and estimator.scales_itself
        if scaling == "auto" and scales_itself:
            scaling = "none"
        if scale_target is None:
            scale_target = not scales_itself
        self.estimator: Any = estimator
        self.settings: dict[str, Any] = dict(settings or {})
        self.task = "regression" if is_regressor(estimator) else "classification"
        self._inputs = Inputs(encoder, self.task)
        self._statistics = RunningStatistics(scaling, scale_target and self.task == "regression")
        self._sample = SampledRows()
        self._one_row = OneRow()
        self._feedback = Feedback(self.task)
        #: whether columns, scales and the learner's map are fixed
        self.map_fixed: bool = False

    @property
    def encoder(self) -> Encoder | None:
        """Turns columns into features."""
        return self._inputs.encoder

    @encoder.setter
    def encoder(self, encoder: Encoder | None) -> None:
        self._inputs.encoder = encoder

    @property
    def scaling(self) -> str:
        """How the features are scaled: "auto", "standard", "minmax" or "none"."""
        return self.scaler.mode

    @property
    def missing(self) -> str | None:
        """What becomes of rows without a key: "gap", "error", or None."""
        return self.keys.missing

    @property
    def extra(self) -> str | None:
        """What becomes of keys that the model never had: "ignore", "error", or None."""
        return self.keys.extra

    @property
    def scaler(self) -> OnlineScaler:
        """Running statistics of the features."""
        return self._statistics.scaler

    @property
    def target_scaler(self) -> OnlineTargetScaler | None:
        """Running statistics of the target; None where it is not scaled."""
        return self._statistics.target_scaler

    @property
    def feature_names(self) -> list[str]:
        """Names of the learner's columns; empty without an encoder."""
        return self._inputs.names

    @property
    def n_rows(self) -> int:
        """Rows learned so far."""
        return int(self.estimator.n_rows_) if is_fitted(self.estimator) else 0

    @property
    def changes_(self) -> list[int]:
        """Rows learned at each time the learner began anew because the stream had changed."""
        return self.estimator.changes_ if is_fitted(self.estimator) else []

    @property
    def feedback(self) -> Feedback:
        """What labels that came say of predictions: the learner's own, if in the target's units."""
        own = getattr(self.estimator, "feedback_", None)
        return own if own is not None and self.target_scaler is None else self._feedback

    @property
    def alarms_(self) -> list[int]:
        """Rows scored at each ring of the alarm on larger errors (`onkel.Alarm`); the last 64."""
        return self.feedback.alarm.alarms_

    @property
    def nbytes(self) -> int:
        """Bytes of the learner's state."""
        return int(self.estimator.nbytes_) if is_fitted(self.estimator) else 0

    def learn(self, block: Block, source: str | None = None) -> np.ndarray:
        """Predict each row of a block from the rows before it, then learn it.

        Returns the labels (n,), or values in the target's own units. DataError: a row is bad; the
        rows before it have been learned, it and later rows have not. Errors name the ``source``, by
        default that of the ``settings``.
        """
        return self.predictions_then_learn(block, source).predictions

    @locked
    def predictions_then_learn(self, block: Block, source: str | None = None) -> Predictions:
        """As `learn`; a classifier also returns the scores behind its predictions."""
        if block.y is None:
            raise DataError("there is no target to learn: give y, or name its column (target=)")
        X, y = block.X, np.asarray(block.y)
        if not len(y):
            return Predictions(y)
        # what the very first row was predicted says nothing
        before = self.n_rows
        first = int(not before)
        with signals_wait:
            try:
                found = learn_rows(self, X, y, block.late, block.groups)
            except BaseException as error:
                n = self.n_rows - before
                if block.means is not None:
                    block.means.learn(block, n, self.encoder)
                made = predictions_of(error)
                if made is not None:
                    self._feed_back(y, made.predictions[:n], made.alone, first)
                if not isinstance(error, DataError):
                    raise
                where = source or self.settings.get("source")
                raise self.located(error, block.start, where) from error.__cause__
            if block.means is not None:
                block.means.learn(block, len(y), self.encoder)
            self._feed_back(y, found.predictions, found.alone, first)
        return found

    def located(self, error: DataError, start: int, source: str | None = None) -> DataError:
        """The error of features that begin at row ``start``, with the source's rows and columns."""
        if isinstance(error.column, int):
            error.column = self._inputs.encoded(error.column)
        return located(error, start, source, self.settings, self.encoder)

    def _feed_back(
        self, y: np.ndarray, predictions: np.ndarray, alone: np.ndarray | None, first: int
    ) -> None:
        """Learn how far predictions were off, unless the learner does."""
        if self.feedback is not self._feedback:
            return
        y, found = y[first : len(predictions)], predictions[first:]
        if self.task == "classification":
            self._feedback.learn_classes(np.asarray(found) != y, None, None)
        else:
            self._feedback.learn_values(y, found, found if alone is None else alone[first:])

    @locked
    def intervals_then_learn(self, block: Block, level: float, source: str | None) -> np.ndarray:
        """As `learn`; returns predictions and bounds (n, 3), each made before its row."""
        check_tracked(level)
        known, first = copy.deepcopy(self.feedback), int(not self.n_rows)
        p = self.learn(block, source)
        return np.column_stack([p, known.replayed(np.asarray(block.y), p, first, level)])

    @locked
    def proba_then_learn(
        self, block: Block, source: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `learn`; returns labels (n,) and probabilities (n, n_classes), before each row.

        The probabilities of the rows before a bad one are those of the error.
        """
        self._require("classification", "predict_interval_then_learn gives its bounds")
        known, y = self.classes, np.asarray(block.y)
        if len(known) < 2 or (known.dtype.kind == "U") != (y.dtype.kind == "U"):
            raise ValueError("probabilities before learning need two classes that are known")
        if not np.isin(y, known).all():
            raise ValueError("a label is of no known class: learn a row of each class first")
        replay = self.estimator.replayed()
        try:
            found = self.predictions_then_learn(block, source)
        except DataError as error:
            if error.scores is not None:
                error.probabilities = replay(error.scores, y[: len(error.scores)])
            raise
        return found.predictions, replay(found.scores, y)

    @property
    def classes(self) -> np.ndarray:
        """The labels of a classifier so far; none before the first row."""
        found: np.ndarray = vars(self.estimator).get("classes_", np.empty(0))
        return found

    @locked
    def predict_features(self, X: Matrix) -> np.ndarray:
        """Labels (n,), or values in the target's own units, of rows that are not learned.

        X (n, d), dense or CSR: unscaled features, as the encoder makes them.
        """
        return self._in_units(self.estimator.predict(self.scaled(X)))

    @locked
    def predict_scaled(self, X: Matrix) -> np.ndarray:
        """As `predict_features`, for rows that are scaled already."""
        return self._in_units(self.estimator.predict(X))

    def _in_units(self, predictions: np.ndarray) -> np.ndarray:
        """The learner's predictions in the target's own units."""
        target = self._statistics.target_scaler
        return predictions if target is None else target.inverse_transform(predictions)

    @locked
    def interval_features(self, X: Matrix, level: float = 0.9) -> np.ndarray:
        """Bounds (n, 2) around a share ``level`` of the targets; X as for `predict_features`."""
        self._require("regression", "predict_set gives the labels that may come")
        return self.feedback.alone.bounds(self.predict_features(X), level)

    def _require(self, task: str, instead: str) -> None:
        if self.task != task:
            kind = {"regression": "regressor", "classification": "classifier"}[self.task]
            raise ValueError(f"this model is a {kind}: {instead}")

    @locked
    def around(self, found: Forecast, level: float, comes_next: bool) -> np.ndarray:
        """Bounds (n, 2), or sets (n, n_classes), around what was predicted of rows.

        ``comes_next``: by `next_forecast`; else of each row by itself.
        """
        of_labels = self.task == "classification"
        feedback = self._sets() if of_labels else self.feedback
        kept = feedback.next if comes_next else feedback.alone
        if of_labels:
            return np.asarray(kept.sets(found.probabilities, level))
        return np.asarray(kept.bounds(found.predictions, level))

    @locked
    def set_features(self, X: Matrix, level: float = 0.9) -> np.ndarray:
        """Sets (n, n_classes) that hold a share ``level`` of the labels of each row by itself."""
        return self._sets().alone.sets(self.proba_features(X), level)

    @locked
    def next_sets(
        self, X: Matrix, level: float = 0.9, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Sets (n, n_classes) of the labels that come next; see `next_features`."""
        return self._sets().next.sets(self.next_proba(X, ahead, groups), level)

    def _sets(self) -> Feedback:
        self._require("classification", "predict_interval gives bounds around its values")
        if self.feedback is self._feedback:
            raise ValueError(
                f"{type(self.estimator).__name__} has kept no thresholds for sets: make it with "
                "feedback=True, and a loss with probabilities"
            )
        return self.feedback

    @locked
    def next_features(
        self, X: Matrix, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the rows that come next, in order, without learning them.

        A learner with a memory also uses the labels learned so far; for others this is
        `predict_features`. ``ahead``: rows (of the group) between the last learned row and the
        first of X; ``groups`` (n,): the series of each row, if the model was learned by group.
        """
        more = {} if groups is None else by_group(self.estimator, groups)
        return self._in_units(self.estimator.predict_next(self.scaled(X), ahead, **more))

    @locked
    def next_intervals(
        self, X: Matrix, level: float = 0.9, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Bounds (n, 2) around a share ``level`` of the next targets; see `next_features`.

        The bounds' coverage is kept by feedback for the row that comes next. Rows farther ahead
        have the same width.
        """
        self._require("regression", "predict_set_next gives the labels that may come")
        return self.feedback.next.bounds(self.next_features(X, ahead, groups), level)

    @locked
    def next_proba(
        self, X: Matrix, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Class probabilities (n, n_classes); arguments as of `next_features`."""
        more = by_group(self.estimator, groups)
        return self.estimator.predict_proba_next(self.scaled(X), ahead, **more)

    @locked
    def next_forecast(
        self, X: Matrix, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> Forecast:
        """What `next_features` and `next_proba` say of rows, which are scored once."""
        more = {} if groups is None else by_group(self.estimator, groups)
        found: Forecast = self.estimator.forecast_next(self.scaled(X), ahead, **more)
        return found._replace(predictions=self._in_units(found.predictions))

    @locked
    def decision_features(self, X: Matrix) -> np.ndarray:
        """Scores (n,) or (n, n_classes) of a classifier; X as for `predict_features`."""
        return self.estimator.decision_function(self.scaled(X))

    @locked
    def proba_features(self, X: Matrix) -> np.ndarray:
        """Class probabilities (n, n_classes); X as for `predict_features`."""
        return self.estimator.predict_proba(self.scaled(X))

    @property
    @locked
    def feature_importances_(self) -> np.ndarray:
        """How much each input column moves the predictions, over rows of the whole stream.

        In the order of the model's columns, summing to 1: the mean squared slope of f, in standard
        deviations of the column (`onkel.learners.importance`). Up to 128 of the rows so far are
        kept for it, each as likely as any other, but none with more than 131 072 features. Without
        kept rows all are 0.
        """
        X, groups = self.sampled_by_column()
        return self.estimator.feature_importances(X, groups) if len(X) else np.zeros(len(groups))

    @locked
    def sampled_by_column(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Rows (n, d) drawn from those learned, scaled, and the features of each input column."""
        d = int(self.estimator.n_features_in_) if is_fitted(self.estimator) else 0
        X, groups = self._sample.X, self._inputs.by_column(d)
        if not len(X):
            return X, groups
        return as_dense(self.scaled(csr_matrix(X) if self.scaler.sparse_ else X)), groups

    @property
    def _widening(self) -> Inputs | None:
        """The learner's columns, where they are not simply those of the encoder."""
        return None if self._inputs.n_first is None else self._inputs

    @_widening.setter
    def _widening(self, inputs: Inputs | None) -> None:
        self._inputs = inputs or self._inputs

    @locked
    def get_state(self) -> State:
        """All that was learned, as nested dicts of arrays and scalars: a copy."""
        if self._inputs.kept is not None:
            # which codes are kept besides these depends on the blocks
            self._inputs.kept.keep_only(rows_kept(self))
        return super().get_state()

    def state_is_set(self) -> None:
        """Refuse columns that do not fit together; fix them if they were."""
        encoder, known = self.encoder, self.scaler.n_features_in_ if is_fitted(self.scaler) else 0
        wide = (self._inputs.n_first or 0) + len(self._inputs.late)
        require(wide <= known, f"widening/late: the rows have {known} columns, not {wide}")
        width = encoder.n_features if encoder and encoder.statistics else known
        d = self._sample.X.shape[1]
        require(not width or d <= width, f"sample/X: has {d} columns, and rows have {width}")
        named = encoder is not None and encoder.n_vector is None
        sparse = known and self.scaler.sparse_
        require(not (named and sparse), "scaler/sparse: named columns are not sparse")
        self.keys.checked()
        self._given["scale_target"] = self.target_scaler is not None
        if self.map_fixed:
            self._fix_columns()

    def _fix_columns(self) -> None:
        """Fix columns, categories and scales."""
        self.map_fixed = self._statistics.fixed = True
        self._inputs.fix()

    def as_tables(self) -> tuple[list[tuple[int, int]], dict[int, np.ndarray]]:
        """As `Inputs.as_tables`, for the columns that the learner has learned from."""
        places, means = self._inputs.as_tables()
        known = int(self.scaler.n_features_in_)
        # late columns that nothing was learned from are cut; columns that rows lack are 0
        return [*places, *[(-1, 0)] * known][:known], means

    def scaled(self, X: Matrix) -> Matrix:
        """Features as the encoder makes them, as the learner takes them."""
        return self._statistics.transform(self._inputs.now(X), self._inputs)
