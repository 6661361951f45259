"""A model of a stream as a scikit-learn estimator: parameters, clones, fitting and scoring."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.learners.base import OnlineEstimator
from onkel.model.transaction import copied_whole, locked, state_whole
from onkel.numerics.arrays import as_values
from onkel.pipeline.learning import take_means_anew
from onkel.pipeline.merging import MergeableModel
from onkel.pipeline.rows import Keys, open_to_predict
from onkel.pipeline.statistics import is_fitted
from onkel.sklearn_bases import BaseEstimator


class StreamEstimator(BaseEstimator, MergeableModel):
    """A model whose parameters are those of its constructor; see `onkel.StreamModel`.

    ``clone`` and ``fit`` begin anew with the same parameters, so `cross_val_score`, `GridSearchCV`
    and pipelines take it. Parameters of the learner are named ``estimator__gamma`` and so on.
    """

    __deepcopy__ = copied_whole
    __getstate__ = state_whole

    estimator: Any
    keys: Keys
    # of `onkel.StreamModel`
    partial_fit: Any
    predict: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name.

        Parameters
        ----------
        deep : bool, default=True
            Also those of the learner, as ``estimator__NAME``.
        """
        params = {"estimator": self.estimator} | self._given | self.keys._asdict()
        if deep and isinstance(self.estimator, BaseEstimator):
            own = self.estimator.get_params(deep=True)
            params |= {f"estimator__{name}": value for name, value in own.items()}
        return params

    @locked
    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of the learner are ``estimator__NAME``.

        What was learned stays. ``missing`` and ``extra`` count at once; ``scaling``,
        ``scale_target``, ``encoder`` and ``settings`` from the next `fit` on, or at once if nothing
        was learned.

        Raises
        ------
        ValueError
            There is no such parameter, or a value is wrong.
        """
        known = self.get_params(deep=False)
        own = {name: value for name, value in params.items() if "__" not in name}
        wrong = sorted(own.keys() - known.keys())
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no parameter; these are: {', '.join(known)}")
        begun = type(self)(**known | own)
        nested = {name.split("__", 1)[1]: params[name] for name in params if "__" in name}
        strange = [name for name in params if "__" in name and not name.startswith("estimator__")]
        if strange:
            raise ValueError(f"{strange[0]!r} is no parameter; the learner's are estimator__NAME")
        begun.estimator.set_params(**nested)
        if is_fitted(self.estimator):
            self.estimator, self.keys, self._given = begun.estimator, begun.keys, begun._given
        else:
            self._become(begun)
        return self

    def fit(
        self, X: object, y: object = None, *, target: str | None = None, group: str | None = None
    ) -> Self:
        """Begin anew, learn rows in order, in one pass, and `consolidate`.

        Parameters
        ----------
        X : frame, table, dict, list of dicts, path or array
            As `predict` takes it.
        y : array-like of shape (n,), optional
            Targets, if they are not a column of X.
        target : str, optional
            The target column, if the targets are one.
        group : str, optional
            As for `partial_fit`.

        Raises
        ------
        DataError
            A row is bad, or there are none. The model is as it was.
        """
        begun = clone(self)
        begun.partial_fit(X, y, target=target, group=group)
        if not begun.n_rows:
            raise DataError("there are no rows to learn: X is empty, or no row has a target")
        self._become(begun.consolidate())
        return self

    @locked
    def consolidate(self) -> Self:
        """One more fit of the learner on all rows it keeps, before the model is frozen.

        See :meth:`onkel.learners.base.OnlineEstimator.consolidate`. ``onkel learn`` does this at
        the end of its sources. The rows get target means of all other rows. A learner that is not
        onkel's, or has learned nothing, stays as it is.
        """
        if isinstance(self.estimator, OnlineEstimator) and is_fitted(self.estimator):
            take_means_anew(self)
            self.estimator.consolidate()
        return self

    def score(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Share of right labels of a classifier, or R² of a regressor, over rows by themselves.

        Parameters
        ----------
        X : frame, table, dict, list of dicts, path or array
            As `predict` takes it.
        y : array-like of shape (n,), optional
            Targets; by default those in the target's column of X, rows without one left out.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            Larger is better.
        """
        # takes a fifth of the time of all imports
        from sklearn.metrics import accuracy_score, r2_score

        if y is None:
            y, predictions = self._with_targets(X)
        else:
            y, predictions = as_values(y), self.predict(X)
        measured = accuracy_score if self.task == "classification" else r2_score
        return float(measured(y, predictions, sample_weight=sample_weight))

    def _with_targets(self, X: object) -> tuple[np.ndarray, np.ndarray]:
        """Targets that X itself holds, and predictions of their rows."""
        if self.encoder is None or self.encoder.target is None:
            raise DataError("there are no targets to score: give y")
        stream = open_to_predict(X, self.encoder, self.settings, self.keys)
        if stream.target is None:
            name = self.encoder.target
            raise DataError(f"there are no targets to score: give y, or the column {name!r}")
        predicted = [(block.y, self.predict_features(block.X)) for block in stream]
        y, predictions = (np.concatenate(parts) for parts in zip(*predicted, strict=True))
        there = np.array([value is not None and value == value for value in y.tolist()], dtype=bool)
        return np.array(y[there].tolist()), predictions[there]

    @locked
    def _become(self, other: Self) -> None:
        """Take all of another model, which is given up, but its lock."""
        own = {name: value for name, value in vars(other).items() if name != "_lock"}
        self.__dict__.update(own)

    # ---- what scikit-learn asks ----------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self.estimator)

    def __sklearn_tags__(self) -> Any:
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.input_tags.dict = True
        return tags

    @property
    def n_features_in_(self) -> int:
        """Columns of a row; those of the table, where they have names."""
        if not is_fitted(self.estimator):
            raise AttributeError("n_features_in_: the model has learned no rows yet")
        if self.encoder is None or self.encoder.n_vector is not None:
            return int(self.estimator.n_features_in_)
        return len(self.encoder.columns)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns (n_features_in_,), where they have some."""
        if self.encoder is None or not self.encoder.columns:
            raise AttributeError("feature_names_in_: the model knows no names of columns")
        return np.array([column.name for column in self.encoder.columns], dtype=object)
