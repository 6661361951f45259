"""An online learner behind running statistics: it learns and predicts encoded features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import is_regressor

from onkel.columns.encoding import Encoder
from onkel.columns.scaling import OnlineScaler
from onkel.columns.target_scaling import OnlineTargetScaler
from onkel.errors import DataError
from onkel.learners.base import OnlineEstimator
from onkel.learners.grouping import by_group
from onkel.learners.told import Told, joined
from onkel.model.lock import locked
from onkel.numerics.dense import with_zero_columns
from onkel.persistence.registry import class_name, resolve
from onkel.pipeline.locating import located
from onkel.pipeline.recent_rows import RecentRows
from onkel.pipeline.statistics import RunningStatistics, is_fitted
from onkel.pipeline.widening import Widening
from onkel.state import Text, check, inside, require

if TYPE_CHECKING:
    from onkel.streams import Block

_SCALINGS = ("auto", "standard", "minmax", "none")


class BlockModel:
    """Learner, scaler and target scaler as one; parameters as `StreamModel` has them."""

    def __init__(
        self,
        estimator: Any,
        *,
        scaling: str = "auto",
        scale_target: bool | None = None,
        encoder: Encoder | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        if scaling not in _SCALINGS:
            raise ValueError(f"scaling={scaling!r}: must be one of {', '.join(_SCALINGS)}")
        scales_itself = isinstance(estimator, OnlineEstimator) and estimator.scales_itself
        if scaling == "auto":
            scaling = "none" if scales_itself else "standard"
        if scale_target is None:
            scale_target = not scales_itself
        self.estimator = estimator
        self.scaling = scaling
        self.encoder = encoder
        self.settings = dict(settings or {})
        self.task = "regression" if is_regressor(estimator) else "classification"
        self._statistics = RunningStatistics(scaling, scale_target and self.task == "regression")
        self._recent = RecentRows()
        #: for an encoder with statistics, once there are rows
        self._widening: Widening | None = None
        #: whether columns, scales and the learner's map stay as they are
        self.map_fixed = False

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
        """What the learner's columns are called, where the model has an encoder."""
        names = [] if self.encoder is None else self.encoder.feature_names
        widening = self._widening
        if widening is None:
            return names
        late = [names[j] + (f" {k + 1}" if k else "") for j, k in widening.late]
        return names[: widening.n_first] + late

    @property
    def n_rows(self) -> int:
        """Rows learned so far."""
        return int(self.estimator.n_rows_) if is_fitted(self.estimator) else 0

    @property
    def changes_(self) -> list[int]:
        """Rows learned when the learner began anew, as the stream had changed."""
        return self.estimator.changes_ if is_fitted(self.estimator) else []

    @property
    def nbytes(self) -> int:
        """Bytes of the learner's state."""
        return int(self.estimator.nbytes_) if is_fitted(self.estimator) else 0

    def learn(self, block: Block, source: str | None = None) -> np.ndarray:
        """Predict each row of a block with the rows before it, and learn it.

        Parameters
        ----------
        block : Block
            With ``X`` (n, d), ``y`` (n,) in its own units or labels, ``start``; ``groups`` (n,)
            where rows belong to several series.
        source : str, optional
            Where the rows come from, for errors; the source in ``settings`` if not given.

        Returns
        -------
        ndarray of shape (n,)
            Predictions before learning: labels, or values in the target's own units.

        Raises
        ------
        DataError
            If a row is bad. The rows before it are learned, nothing of it or after it is.
        """
        return self.tell_then_learn(block, source).predictions

    @locked
    def tell_then_learn(self, block: Block, source: str | None = None) -> Told:
        """As `learn`; a classifier also tells the scores that decided."""
        if block.y is None:
            raise DataError("the stream has no target column to learn from", row=block.start)
        X, y = block.X, np.asarray(block.y)
        if not len(y):
            return Told(y)
        try:
            return self._learn_rows(X, y, block.late, block.groups)
        except DataError as error:
            where = source or self.settings.get("source")
            if isinstance(error.column, int) and self._widening is not None:
                error.column = self._widening.column(error.column)
            raise located(error, block.start, where, self.settings, self.encoder) from None

    @locked
    def predict_features(self, X: Any) -> np.ndarray:
        """Predict rows without learning them.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Unscaled features, as the encoder makes them.

        Returns
        -------
        ndarray of shape (n,)
            Labels, or values in the target's own units.
        """
        predictions = self.estimator.predict(self._scaled(X))
        if self.target_scaler is None:
            return predictions
        return self.target_scaler.inverse_transform(predictions)

    @locked
    def next_features(self, X: Any, ahead: int = 0, groups: Any = None) -> np.ndarray:
        """Predict the features of rows that come next, in order, without learning them.

        A learner with a memory also uses the labels learned so far; others predict as ever.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Unscaled features, as the encoder makes them.
        ahead : int, default=0
            How many rows after the next one (of its group) the first of X comes.
        groups : array of shape (n,), optional
            The series that each row belongs to, if the model was learned by group.

        Returns
        -------
        ndarray of shape (n,)
            Labels, or values in the target's own units.
        """
        more = by_group(self.estimator, groups)
        predictions = self.estimator.predict_next(self._scaled(X), ahead, **more)
        if self.target_scaler is None:
            return np.asarray(predictions)
        return self.target_scaler.inverse_transform(predictions)

    @locked
    def next_proba(self, X: Any, ahead: int = 0, groups: Any = None) -> np.ndarray:
        """Class probabilities (n, n_classes) of rows as of `next_features`."""
        more = by_group(self.estimator, groups)
        return self.estimator.predict_proba_next(self._scaled(X), ahead, **more)

    @locked
    def decision_features(self, X: Any) -> np.ndarray:
        """Scores (n,) or (n, n_classes) of a classifier, of features as the encoder makes them."""
        return self.estimator.decision_function(self._scaled(X))

    @locked
    def proba_features(self, X: Any) -> np.ndarray:
        """Class probabilities (n, n_classes), of features as the encoder makes them."""
        return self.estimator.predict_proba(self._scaled(X))

    @property
    @locked
    def feature_importances_(self) -> np.ndarray:
        """How much each input column moves the predictions, over the rows learned last.

        In the order of the model's columns, summing to 1: the mean squared slope of f, in standard
        deviations of the column (`onkel.learners.importance`). Up to 128 rows are kept for it, none
        of more than 131 072 features: then, and before the first row, all are 0.
        """
        groups = self._features_of_columns()
        X = self._recent.X
        if not len(X):
            return np.zeros(len(groups))
        X = self._scaled(csr_matrix(X) if self.scaler.sparse_ else X)
        return self.estimator.feature_importances(X, groups)

    def _features_of_columns(self) -> list[np.ndarray]:
        """The numbers of the features that each input column became."""
        d = int(self.estimator.n_features_in_) if is_fitted(self.estimator) else 0
        if self.encoder is None or self.encoder.n_vector is not None:
            return [np.array([j]) for j in range(d)]
        features: dict[Any, list[int]] = {column.name: [] for column in self.encoder.columns}
        for j in range(d):
            encoded = j if self._widening is None else self._widening.column(j)
            features[self.encoder.column_of(encoded)].append(j)
        return [np.array(of_column, dtype=np.int64) for of_column in features.values()]

    @locked
    def get_state(self) -> dict[str, Any]:
        """All that was learned, as nested dicts of arrays and scalars."""
        return {
            "estimator": {
                "class": class_name(self.estimator),
                "state": self.estimator.get_state(),
            },
            "scaling": self.scaling,
            **self._statistics.get_state(),
            "widening": self._widening and self._widening.get_state(),
            "encoder": self.encoder and self.encoder.get_state(),
            "settings": self.settings,
            "recent": self._recent.get_state(),
            **({"map_fixed": True} if self.map_fixed else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model of a state that `get_state` gave; it continues bit for bit."""
        check(state, {"scaling": Text()})
        with inside(state, "estimator") as part:
            check(part, {"class": Text()})
            kind: Any = resolve(part["class"])
            with inside(part, "state") as estimator_state:
                estimator = kind.from_state(estimator_state)
        scaled = state.get("target_scaler") is not None
        with inside(state, "settings") as settings:
            check(settings, {})
            model = cls(estimator, scaling=state["scaling"], scale_target=scaled, settings=settings)
        with inside(state, "recent") as recent:
            model._recent.set_state(recent)
        with inside(state, "encoder") as encoder:
            model.encoder = None if encoder is None else Encoder.from_state(encoder)
        model._statistics.set_state(state)
        with inside(state, "widening") as widening:
            if widening is not None:
                model._widening = model._widening_of(widening)
        if state.get("map_fixed"):
            model._fix_columns()
        return model

    def _fix_columns(self) -> None:
        """Keep columns, categories and scales as they are."""
        self.map_fixed = self._statistics.fixed = True
        if self.encoder is not None:
            self.encoder.fix()
        if self._widening is not None:
            self._widening.fixed = True

    def _widening_of(self, state: dict[str, Any]) -> Widening:
        require(self.encoder is not None, "is for an encoder, and there is none")
        require(is_fitted(self.scaler), "is for a model that has seen rows")
        assert self.encoder is not None
        widening = Widening.from_state(
            state, self.encoder.layout.n_first, self.encoder.n_features, self.task
        )
        widening.fixed = self.map_fixed
        known, wide = self.scaler.n_features_in_, widening.n_first + len(widening.late)
        require(wide <= known, f"late: the rows have {known} columns, not {wide}")
        return widening

    def _scaled(self, X: Any) -> Any:
        n_late = 0 if self.encoder is None else self.encoder.n_late
        if self._widening is not None and self.encoder is not None:
            X = self._widening.now(X, list(self.encoder.codes))
        return self._statistics.transform(X, n_late)

    def _take_late(self, d: int, late: int) -> None:
        """Widen the statistics and the learner by columns that came in mid-stream."""
        self._statistics.take_late(d, late)
        if is_fitted(self.estimator):
            new = d - self.estimator.n_features_in_
            if 0 < new <= late:
                self.estimator.add_columns(new, quietly=not self._is_news(range(d - new, d)))

    def _is_news(self, columns: range) -> bool:
        """Whether the learner's columns show an input column that was never there."""
        if self.encoder is None:
            return True
        layout, widening = self.encoder.layout, self._widening
        known = widening.n_first + len(widening.late) if widening else len(layout)
        own = [widening.column(j) if widening else j for j in columns if j < known]
        first = any(layout.is_first(j) for j in own)
        return first or len(own) < len(columns)

    def _learn_rows(self, X: Any, y: np.ndarray, late: int, groups: Any) -> Told:
        """Learn rows up to the first bad one."""
        try:
            told = self._learn_parts(X, y, late, groups)
        except DataError as error:
            self._recent.add(X[: error.row or 0])
            raise
        self._recent.add(X)
        return told

    def _learn_parts(self, X: Any, y: np.ndarray, late: int, groups: Any) -> Told:
        """Learn rows, in parts where columns of the target's means begin within them."""
        if self.encoder is None or not self.encoder.statistics:
            return self._learn_segment(X, y, late, groups)
        if self._widening is None:
            self._widening = Widening(self.task == "classification", self.encoder.layout.n_first)
        before, codes = self._widening.get_state(), list(self.encoder.codes)
        told: list[Told] = []
        for start, X_own, y_own, n_late in self._widening.learn(X, y, codes):
            own = None if groups is None else groups[start : start + len(y_own)]
            try:
                told.append(self._learn_segment(X_own, y_own, n_late, own))
            except DataError as error:
                # The learner stopped at that row; the means of the target must stop there, too.
                self._widening = self._widening_of(before)
                if error.row is not None:
                    error.row += start
                    self._widening.learn(X[: error.row], y[: error.row], codes)
                if error.predictions is not None:
                    told.append(Told(error.predictions, error.scores, error.classes))
                if told:
                    error.predictions, error.scores, error.classes = joined(told)
                raise
        return joined(told)

    def _learn_segment(self, X: Any, y: np.ndarray, late: int, groups: Any) -> Told:
        """Learn rows with the same columns up to the first bad one."""
        if late:
            if is_fitted(self.scaler):
                # columns that began in rows that were refused, and have no use yet
                spare = max(self.scaler.n_features_in_ - X.shape[1], 0)
                X, late = with_zero_columns(X, spare) if spare else X, late + spare
            self._take_late(X.shape[1], late)
        before = self._statistics.get_state()
        try:
            rows = self._statistics.learn_transform(X, y)
        except DataError as error:
            # The learner has seen nothing yet: give it the rows before the bad one.
            self._statistics.set_state(before)
            if error.row:
                head = None if groups is None else groups[: error.row]
                told = self._learn_segment(X[: error.row], y[: error.row], late, head)
                error.predictions, error.scores, error.classes = told
            raise
        try:
            more = by_group(self.estimator, groups)
            told = self.estimator.tell_then_learn(rows.X, rows.y, **more)
        except DataError as error:
            # The learner stopped at that row; the running statistics must stop there, too.
            self._statistics.set_state(before)
            if error.row:
                rows = self._statistics.learn_transform(X[: error.row], y[: error.row])
                if error.predictions is not None:
                    error.predictions = rows.in_units(error.predictions)
            raise
        return told._replace(predictions=rows.in_units(told.predictions))
