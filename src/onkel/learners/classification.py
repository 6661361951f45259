"""Classifiers: labels, scores and probabilities for rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from onkel.errors import DataError
from onkel.learners.classes import CodedClasses, Parts
from onkel.learners.declaration import declared
from onkel.learners.told import Told, in_classes
from onkel.losses import CLASSIFICATION, PROBABILISTIC
from onkel.model.lock import locked


def _gives_probabilities(self: OnlineClassifier) -> bool:
    if self.probability_link is None:
        raise AttributeError(
            f"predict_proba needs loss='logistic' (or 'softmax'); this is loss={self.loss!r}"
        )
    return True


@declared
class OnlineClassifier(ClassifierMixin, CodedClasses):
    """An online classifier, binary or multiclass, over any map and rule.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen or given so far, sorted.
    """

    _task = "classification"
    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION
    #: True if ``_link`` turns scores into probabilities, whatever the loss
    _own_link = False

    @property
    def probability_link(self) -> str | None:
        """How scores become probabilities: "softmax", "calibrated", or None if they do not."""
        if self._own_link:
            return "calibrated"
        return "softmax" if self.loss in (*PROBABILISTIC, "softmax", "log_loss") else None

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
        self._learn(X, y, sample_weight, whole=True)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows in order, continuing from what was learned.

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
        self._learn(X, y, sample_weight, classes=classes)
        return self

    @locked
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
            (n, n_classes), 0 for a class not seen by then. If no class has been seen (the first
            row, without ``classes``), the label is the one about to be learned.
        """
        parts = self._learn(X, y, sample_weight, classes=classes)
        if return_scores:
            scores = self._scores_of(parts)
            return scores[:, 0] if scores.shape[1] == 1 else scores
        return self._predicted(parts)

    @locked
    def tell_then_learn(self, X: Any, y: Any) -> Told:
        """As :meth:`predict_then_learn`, with the scores behind the labels."""
        parts = self._learn(X, y, None)
        return Told(self._predicted(parts), self._scores_of(parts), self.classes_)

    def _scores_of(self, parts: Parts) -> np.ndarray:
        """Scores (n, 1 or n_classes) of segments, in the classes known now."""
        scores = [in_classes(P, known, self.classes_) for P, known in parts]
        return np.concatenate(scores) if scores else np.zeros((0, max(1, len(self.classes_))))

    def _tell(self, error: DataError, out: Parts) -> None:
        error.predictions = self._predicted(out)
        error.scores, error.classes = self._scores_of(out), self.classes_

    def _predicted(self, out: Parts) -> np.ndarray:
        labels = [known[_decide(P, len(known))] for P, known in out if len(P)]
        return np.concatenate(labels) if labels else self.classes_[:0]

    # ---- prediction ------------------------------------------------------------------------------

    @locked
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows X (n, d): (n,) for two classes (positive: the second), else (n, K)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    @locked
    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,) of the rows X (n, d)."""
        scores = self._scores(X)
        if len(self.classes_) == 0:
            raise ValueError("no class is known yet: learn at least one row first")
        return self.classes_[_decide(scores, len(self.classes_))]

    @locked
    def predict_next(self, X: Any, ahead: int = 0, return_scores: bool = False) -> np.ndarray:
        """Labels (n,) of the rows X (n, d) that come next, in order; learns nothing.

        A learner with a memory also uses the labels learned so far, less for rows farther ahead.
        For other learners, and far ahead, this is :meth:`predict`. The first row of X comes
        ``ahead`` rows after the next one. ``return_scores`` gives the scores instead, in the form
        of :meth:`decision_function`.
        """
        scores = self._next_scores(self._check_next(X, ahead), ahead)
        if return_scores:
            return scores[:, 0] if len(self.classes_) <= 2 else scores
        if len(self.classes_) == 0:
            raise ValueError("no class is known yet: learn at least one row first")
        return self.classes_[_decide(scores, len(self.classes_))]

    @available_if(_gives_probabilities)
    @locked
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, K) of the rows X (n, d).

        By the logistic or softmax link; for least squares by one calibrated on the rows learned.
        """
        return self._probabilities(self._scores(X))

    @available_if(_gives_probabilities)
    @locked
    def predict_proba_next(self, X: Any, ahead: int = 0) -> np.ndarray:
        """Probabilities (n, K) of the rows X (n, d) that come next, in order; learns nothing.

        It differs from :meth:`predict_proba` as :meth:`predict_next` does from :meth:`predict`.
        """
        return self._next_probabilities(self._check_next(X, ahead), ahead)

    def _next_probabilities(self, X: Any, ahead: int) -> np.ndarray:
        """Probabilities (n, K) of checked rows that come next, in order."""
        return self._probabilities(self._next_scores(X, ahead))

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

    def _outputs_of(self, scores: Any) -> Any:
        from onkel.export.outputs import of_classes

        return of_classes(scores, self.classes_, self._exported_link())

    def _exported_link(self) -> Any:
        """How scores become probabilities, for :func:`onkel.export.outputs.of_classes`."""
        return self.probability_link


def _decide(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class codes: of two, the second if the score is ≥ 0; of more, the first of the highest."""
    if n_classes <= 1:
        return np.zeros(len(scores), dtype=np.intp)
    if n_classes == 2:
        return (scores[:, 0] >= 0.0).astype(np.intp)
    return np.argmax(scores, axis=1)
