"""What a stream is learned with: encoding, scaling, target scaling and a learner, as one model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel import persistence
from onkel._dense import with_zero_columns
from onkel._registry import class_name, resolve
from onkel.errors import DataError

if TYPE_CHECKING:
    from onkel.streams import Block, Encoder

__all__ = ["StreamModel"]

_TARGET = "y"
"""What errors call the target where its name is not known."""


class StreamModel:
    """An online learner together with the preprocessing its stream needs.

    For row t, in this order: the running statistics take in x_t, x_t is scaled with them, the
    learner predicts, the prediction is put into the target's own units with the statistics of
    y_1..y_{t-1}, and only then y_t is seen. So the predictions are strictly online and do not
    depend on how the stream was cut into blocks. This is what ``onkel learn`` learns and saves.

    A column that comes in mid-stream (``Block.late``) widens the learner. A row without it has a 0
    there, which is not scaled: it is predicted as by a model that never saw the column.

    Use it for raw streams whose columns have different scales. For data that are scaled already,
    use the estimators themselves.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of onkel. It is learned in place.
    scaling : {"auto", "standard", "minmax", "none"}, default="auto"
        How the features are scaled. "auto": "none" where the learner scales by itself (``okl``),
        else "standard".
    scale_target : bool or None, default=None
        Standardise the target of a regression by its past. None: as "auto" for the features. No
        effect in classification.
    encoder : Encoder, optional
        From columns to features, kept so that the model can read other files; ``stream.encoder``.
    settings : dict, optional
        JSON-able notes on how the stream was read, kept with the model.

    Attributes
    ----------
    task : {"classification", "regression"}
        What the estimator is for.
    n_rows : int
        Rows learned so far.
    nbytes : int
        Bytes of the learner's state.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.estimators import FOGDClassifier
    >>> from onkel.pipeline import StreamModel
    >>> from onkel.streams import open_stream
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2)) * [1, 1000]
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    >>> mistakes = 0
    >>> for block in open_stream((X, y)):
    ...     mistakes += np.sum(model.learn(block) != block.y)
    >>> bool(mistakes < 400)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scaling: str = "auto",
        scale_target: bool | None = None,
        encoder: Encoder | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        from sklearn.base import is_regressor

        from onkel.streams import OnlineScaler, OnlineTargetScaler

        if scaling not in ("auto", "standard", "minmax", "none"):
            raise ValueError(f"scaling={scaling!r}: must be 'auto', 'standard', 'minmax' or 'none'")
        scales_itself = getattr(estimator, "scales_itself", False)
        if scaling == "auto":
            scaling = "none" if scales_itself else "standard"
        if scale_target is None:
            scale_target = not scales_itself
        self.estimator = estimator
        self.scaling = scaling
        self.encoder = encoder
        self.settings = dict(settings or {})
        self.task = "regression" if is_regressor(estimator) else "classification"
        self.scaler: Any = OnlineScaler(scaling)
        self.target_scaler: Any = None
        if self.task == "regression" and scale_target:
            self.target_scaler = OnlineTargetScaler("standard")

    def __repr__(self) -> str:
        return f"StreamModel({self.estimator!r}, scaling={self.scaling!r}, n_rows={self.n_rows})"

    @property
    def n_rows(self) -> int:
        """Rows learned so far."""
        return int(getattr(self.estimator, "n_rows_", 0))

    @property
    def nbytes(self) -> int:
        """Bytes of the learner's state."""
        return int(getattr(self.estimator, "nbytes_", 0))

    def learn(self, block: Block) -> np.ndarray:
        """Predict each row of a block with the rows before it, and learn it.

        Parameters
        ----------
        block : Block
            With ``X`` (n, d), ``y`` (n,) in its own units or labels, ``start``.

        Returns
        -------
        ndarray of shape (n,)
            Predictions before learning: labels, or values in the target's own units.

        Raises
        ------
        DataError
            If a row is bad. The rows before it are learned, nothing of it or after it is.
        """
        if block.y is None:
            raise DataError("the stream has no target column to learn from", row=block.start)
        X, y = block.X, np.asarray(block.y)
        if getattr(block, "late", 0) and len(y):
            self._take_late(X.shape[1], block.late)
        return self._learn_rows(X, y, block.start) if len(y) else y

    def predict(self, X: Any) -> np.ndarray:
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

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of a classifier.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Unscaled features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Positive for ``classes_[1]`` where there are two classes.
        """
        return self.estimator.decision_function(self._scaled(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, where the learner's loss has them (logistic, softmax).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Unscaled features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``estimator.classes_``.
        """
        return self.estimator.predict_proba(self._scaled(X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; `onkel.load` reads it.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onkel``.
        """
        persistence.save(self, path)

    def get_state(self) -> dict[str, Any]:
        """All that was learned, as nested dicts of arrays and scalars."""
        return {
            "estimator": {
                "class": class_name(self.estimator),
                "state": self.estimator.get_state(),
            },
            "scaling": self.scaling,
            "scaler": self.scaler.get_state(),
            "target_scaler": self.target_scaler and self.target_scaler.get_state(),
            "encoder": self.encoder and self.encoder.get_state(),
            "settings": self.settings,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> StreamModel:
        """The model of a state that `get_state` gave; it continues bit for bit.

        Parameters
        ----------
        state : dict
            As from `get_state`.

        Returns
        -------
        StreamModel
            A new model.
        """
        from onkel.streams import Encoder, OnlineScaler, OnlineTargetScaler

        kind: Any = resolve(state["estimator"]["class"])
        model = cls(
            kind.from_state(state["estimator"]["state"]),
            scaling=state["scaling"],
            scale_target=state["target_scaler"] is not None,
            settings=state["settings"],
        )
        model.scaler = OnlineScaler.from_state(state["scaler"])
        if state["target_scaler"] is not None:
            model.target_scaler = OnlineTargetScaler.from_state(state["target_scaler"])
        if state["encoder"] is not None:
            model.encoder = Encoder.from_state(state["encoder"])
        return model

    def _scaled(self, X: Any) -> Any:
        """Rows as the learner knows them: without late columns that it has not learned from."""
        known = getattr(self.scaler, "n_features_in_", X.shape[1])
        late = 0 if self.encoder is None else self.encoder.n_late
        if known < X.shape[1] <= known + late:
            X = X[:, :known]
        elif X.shape[1] < known <= X.shape[1] + getattr(self.scaler, "n_late_", 0):
            X = with_zero_columns(X, known - X.shape[1])
        return self.scaler.transform(X)

    def _take_late(self, d: int, late: int) -> None:
        """Columns that came in mid-stream, the last of the d: the scaler and the learner widen."""
        if not hasattr(self.scaler, "n_rows_"):
            self.scaler.start(d - late)
            self.scaler.add_columns(late)
        new = d - self.scaler.n_features_in_
        if 0 < new <= late:
            self.scaler.add_columns(new)
        new = d - getattr(self.estimator, "n_features_in_", d)
        if 0 < new <= late:
            self.estimator.add_columns(new)

    def _learn_rows(self, X: Any, y: np.ndarray, start: int) -> np.ndarray:
        """Learn rows up to the first bad one."""
        before = self.scaler.get_state(), self.target_scaler and self.target_scaler.get_state()
        try:
            scaled, target, center, scale = self._prepare(X, y)
        except DataError as error:
            # Refused before the learner saw anything: give it the rows before the bad one.
            self._rewind(before, X[:0], y[:0])
            if error.row:
                self._learn_rows(X[: error.row], y[: error.row], start)
            raise self._located(error, start) from None
        try:
            predictions = self.estimator.predict_then_learn(scaled, target)
        except DataError as error:
            # The learner stopped at that row; the running statistics must stop there too.
            self._rewind(before, X[: error.row], y[: error.row])
            raise self._located(error, start) from None
        return predictions if self.target_scaler is None else predictions * scale + center

    def _prepare(self, X: Any, y: np.ndarray) -> tuple[Any, Any, Any, Any]:
        """Scaled rows, scaled targets, and what takes predictions back to the target's units."""
        scaled = self.scaler.learn_transform(X)
        if self.target_scaler is None:
            return scaled, y, None, None
        try:
            return scaled, *self.target_scaler.learn_transform(y)
        except DataError as error:
            error.column = _TARGET
            raise

    def _rewind(self, before: tuple[Any, Any], X: Any, y: np.ndarray) -> None:
        """Set the running statistics to where they were, and on by some rows."""
        self.scaler = type(self.scaler).from_state(before[0])
        if self.target_scaler is not None:
            self.target_scaler = type(self.target_scaler).from_state(before[1])
        if len(y):
            self._prepare(X, y)

    def _located(self, error: DataError, start: int) -> DataError:
        """The same error, told in the stream's rows and the columns' names."""
        column = error.column
        if column == _TARGET:
            column = self.settings.get("target") or _TARGET
        elif isinstance(column, int) and self.encoder is not None:
            column = self.encoder.column_of(column)
        return type(error)(
            error.message,
            source=error.source or self.settings.get("source"),
            row=None if error.row is None else error.row + start,
            column=column,
            value=error.value,
        )
