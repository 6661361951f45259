"""Classifiers: labels to codes, classes that come in mid-stream, weights by class."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from onkel.errors import DataError, DivergenceError
from onkel.estimators.base import OnlineEstimator
from onkel.estimators.checking import check_rows, first_error, weights
from onkel.estimators.class_weights import balanced_weights, class_weight_table
from onkel.estimators.labels import labels, required_target, same_kind
from onkel.losses import CLASSIFICATION, PROBABILISTIC
from onkel.models.guard import diverged, learn_guarded
from onkel.models.one_row import learn_row

__all__ = ["OnlineClassifier"]


def _gives_probabilities(self: OnlineClassifier) -> bool:
    if not self._own_link and self.loss not in (*PROBABILISTIC, "softmax", "log_loss"):
        raise AttributeError(
            f"predict_proba needs loss='logistic' (or 'softmax'); this is loss={self.loss!r}"
        )
    return True


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """An online classifier, binary or multiclass, over any map and rule."""

    _task = "classification"
    _losses: tuple[str, ...] = CLASSIFICATION
    #: True where ``_link`` makes probabilities of the scores whatever the loss
    _own_link = False

    # ---- learning --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the rows once, in order; the classes are those of y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Labels: numbers, strings or booleans.
        sample_weight : array of shape (n,), optional
            Weights ≥ 0; a row of weight 0 changes nothing.
        """
        with self._or_as_before():
            self._learn(X, y, None, sample_weight, reset=True, whole=True)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows in order, going on from what was learned.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
        classes : array, optional
            All classes there will be; an unknown one is then an error. Left out, a class first
            seen in mid-stream is added with zero scores.
        sample_weight : array of shape (n,), optional

        Raises
        ------
        DataError
            At the first row with a NaN, an infinity or an unknown class; the rows before it have
            been learned.
        """
        self._learn(X, y, classes, sample_weight, reset=not hasattr(self, "model_"))
        return self

    def predict_then_learn(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        return_scores: bool = False,
    ) -> np.ndarray:
        """Learn the rows in order; returns what was predicted before each was learned.

        Returns
        -------
        ndarray
            Labels (n,), or with ``return_scores`` the scores: (n,) for two classes, else
            (n, n_classes), 0 for a class not seen by then. Where no class has been seen (the first
            row, ``classes`` left out) the label is the one about to be learned.
        """
        parts = self._learn(X, y, classes, sample_weight, reset=not hasattr(self, "model_"))
        if return_scores:
            scores = np.concatenate([self._in_final_classes(P, known) for P, known in parts])
            return scores[:, 0] if scores.shape[1] == 1 else scores
        return np.concatenate([known[_decide(P, len(known))] for P, known in parts])

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        reset: bool,
        whole: bool = False,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Scores before learning, with the classes known at the time, segment by segment."""
        with self._or_as_before() if reset else nullcontext():
            y, label_error = labels(required_target(self, y))
            X, error = check_rows(self, X, reset)
            if error is None and X.shape[0] != len(y):
                raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; they must agree")
            weight, weight_error = weights(sample_weight, len(y), needed=whole)
            error = first_error(error, label_error, weight_error)
            if error is not None and (whole or (reset and error.row == 0)):
                raise error
            if reset:
                self._start_classes(np.unique(y) if whole else classes, X.shape[1], y.dtype)
                self.classes_fixed_ = classes is not None
            elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"classes={list(classes)!r} differ from those of the first call, "
                    f"{self.classes_.tolist()!r}"
                )
            error = first_error(same_kind(y, self.classes_), error)
        stop = len(y) if error is None else error.row
        unknown = self._first_unknown(y[:stop], weight[:stop])
        if unknown is not None:
            error, stop = unknown, unknown.row
        parts = self._learn_segments(X[:stop], y[:stop], weight[:stop])
        if error is not None:
            raise error
        return parts

    def _start_classes(self, classes: Any, d: int, dtype: Any) -> None:
        """Begin over rows of d columns with the classes known so far."""
        known = np.empty(0, dtype) if classes is None else np.unique(classes)
        class_weight_table(self.class_weight, known)
        self._start(d, 1 if len(known) <= 2 else len(known))
        self.classes_ = known
        self.class_counts_ = np.zeros(len(known))

    def _first_unknown(self, y: np.ndarray, weight: np.ndarray) -> DataError | None:
        if not self.classes_fixed_:
            return None
        bad = np.flatnonzero(~np.isin(y, self.classes_) & (weight > 0.0))
        if bad.size == 0:
            return None
        row = int(bad[0])
        return DataError(
            f"class {y[row].item()!r} is not one of the classes given, {self.classes_.tolist()!r}",
            row=row,
            column="y",
            value=y[row].item(),
        )

    def _learn_segments(
        self, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Cut where a class is first seen: its row is predicted without it, learned with it."""
        parts = []
        done = 0
        while done < X.shape[0]:
            known = self.classes_
            row = self._next_new_class(y, weight, done)
            if row > done:
                parts.append((self._learn_known(X, y, weight, done, row), known))
            if row < X.shape[0]:
                if len(known):
                    parts.append((self._output_scores(X[row : row + 1]), known))
                self._add_class(y[row])
                P = self._learn_known(X, y, weight, row, row + 1)
                if not len(known):
                    parts.append((P, self.classes_))
            done = row + 1
        return parts

    def _next_new_class(self, y: np.ndarray, weight: np.ndarray, start: int) -> int:
        if self.classes_fixed_:
            return len(y)
        new = np.flatnonzero(~np.isin(y[start:], self.classes_) & (weight[start:] > 0.0))
        return start + int(new[0]) if new.size else len(y)

    def _add_class(self, label: Any) -> None:
        position = int(np.searchsorted(self.classes_, label))
        n_known = len(self.classes_)
        dtype = np.result_type(self.classes_, np.asarray(label))
        self.classes_ = np.insert(self.classes_.astype(dtype), position, label)
        self.class_counts_ = np.insert(self.class_counts_, position, 0.0)
        if n_known >= 2:
            self.model_.add_output(position)

    def _learn_known(self, X: Any, y: np.ndarray, weight: np.ndarray, a: int, b: int) -> np.ndarray:
        """Learn rows a to b, of known classes; returns the scores before each."""
        codes = np.searchsorted(self.classes_, y[a:b]).clip(max=max(len(self.classes_) - 1, 0))
        try:
            return self._learn_checked(X[a:b], codes, weight[a:b])
        except DivergenceError as error:
            raise diverged(a + (error.row or 0)) from None

    def _learn_checked(self, X: Any, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn rows of known class codes; returns the scores before each."""
        counts = self.class_counts_
        learned = weight > 0.0
        weight = self._by_class(codes, weight)
        if len(self.classes_) < 2:
            # one class: there is nothing to tell apart yet
            P = np.zeros((X.shape[0], 1))
        else:
            y = 2.0 * codes - 1.0 if len(self.classes_) == 2 else codes.astype(np.float64)
            try:
                P = learn_guarded(self.model_, X, y, weight)
            except DivergenceError as error:
                stop = error.row
                self.n_rows_ += int(np.count_nonzero(learned[:stop]))
                self.class_counts_ = counts
                self._by_class(codes[:stop], learned[:stop].astype(np.float64))
                raise
        self.n_rows_ += int(np.count_nonzero(learned))
        return P

    def _learn_row(self, X: np.ndarray, code: int, weight: float = 1.0) -> None:
        """Learn the one row of X (1, d), of the learner's dtype, with nothing left to check."""
        if self.class_weight is not None or len(self.classes_) < 2:
            self._learn_checked(X, np.array([code]), np.array([weight]))
            return
        self.n_rows_ += weight > 0.0
        y = 2.0 * code - 1.0 if len(self.classes_) == 2 else float(code)
        learn_row(self.model_, X, y, weight)

    def _by_class(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Row weights times ``class_weight``; "balanced" by the counts up to each row."""
        if self.class_weight is None or not len(self.classes_):
            return weight
        table = class_weight_table(self.class_weight, self.classes_)
        if table is not None:
            return weight * table[codes]
        balance, self.class_counts_ = balanced_weights(codes, weight > 0.0, self.class_counts_)
        return weight * balance

    # ---- prediction ------------------------------------------------------------------------------

    def _output_scores(self, X: Any) -> np.ndarray:
        return self.model_.scores(X)

    def _in_final_classes(self, P: np.ndarray, known: np.ndarray) -> np.ndarray:
        if len(known) == len(self.classes_) or len(self.classes_) <= 2:
            return P
        out = np.zeros((len(P), len(self.classes_)))
        if len(known) >= 2:
            columns = np.searchsorted(self.classes_, known)
            out[:, columns] = P * np.array([-0.5, 0.5]) if len(known) == 2 else P
        return out

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows X (n, d): (n,) for two classes (positive: the second), else (n, K)."""
        scores = self._output_scores(self._check_scoring(X))
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,) of the rows X (n, d)."""
        scores = self._output_scores(self._check_scoring(X))
        if len(self.classes_) == 0:
            raise ValueError("no class is known yet: learn at least one row first")
        return self.classes_[_decide(scores, len(self.classes_))]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, K) of the rows X (n, d).

        By the logistic or softmax link; for least squares by one calibrated on the rows learned.
        """
        return self._probabilities(self._output_scores(self._check_scoring(X)))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) <= 1:
            return np.ones((len(scores), len(self.classes_)))
        return self._link(scores)

    def _link(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities (n, K) of scores (n, 1 or K), K ≥ 2."""
        if scores.shape[1] == 1:
            positive = expit(scores[:, 0])
            return np.stack([1.0 - positive, positive], axis=1)
        return softmax(scores, axis=1)

    # ---- state ------------------------------------------------------------------------

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        state["classes"] = [_item(c) for c in self.classes_]
        state["classes_dtype"] = self.classes_.dtype.str
        state["classes_fixed"] = self.classes_fixed_
        state["class_counts"] = self.class_counts_
        return state

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        super()._set_fitted_state(state)
        self.classes_ = np.array(state["classes"], dtype=state["classes_dtype"])
        self.classes_fixed_ = state["classes_fixed"]
        self.class_counts_ = np.array(state["class_counts"])


def _item(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _decide(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class codes: of two, the second from a score of 0 up; of more, the first of the highest."""
    if n_classes <= 1:
        return np.zeros(len(scores), dtype=np.intp)
    if n_classes == 2:
        return (scores[:, 0] >= 0.0).astype(np.intp)
    return np.argmax(scores, axis=1)
