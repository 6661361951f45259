"""Classifiers: labels, scores and probabilities for rows; classes may come in mid-stream."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.metaestimators import available_if

from onkel.annotations import Ahead, ArrayLike, Matrix, MatrixLike
from onkel.default.calibration import Calibration
from onkel.errors import DataError, DivergenceError
from onkel.fields import Array, Field, Fields, Flag, Listed, Sizes, State, Text
from onkel.learners.base import OnlineEstimator
from onkel.learners.checking import LARGEST_WEIGHT, too_heavy
from onkel.learners.declaration import declared, param
from onkel.learners.labels import (
    balanced_weights,
    class_weight_table,
    classes_given,
    classes_of_state,
    labels,
    not_exact,
    refuse_unknown,
    required_target,
    same_kind,
    unknown_class,
)
from onkel.learners.learning import Rows, count_rows, learn, learn_checked_row, refusal
from onkel.learners.predictions import (
    Forecast,
    Part,
    Predictions,
    attach_predictions,
    labels_of,
    scores_of,
)
from onkel.losses import CLASSIFICATION, PROBABILISTIC
from onkel.merging import joined
from onkel.model.transaction import locked, restore, signals_wait, snapshot
from onkel.numerics.arrays import decide, inserted
from onkel.sklearn_bases import ClassifierMixin
from onkel.state import Part as StatePart


class _Labels(Field):
    """The classes (:func:`classes_of_state`)."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        return Listed(Field(), "classes").check(value, sizes)

    def saved(self, value: np.ndarray) -> Any:
        return value.tolist()


def _gives_probabilities(self: OnlineClassifier) -> bool:
    if self.probability_link is None:
        raise AttributeError(
            f"predict_proba needs loss='logistic' (or 'softmax'); this is loss={self.loss!r}"
        )
    return True


@declared
class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """An online classifier, binary or multiclass, over any map and rule.

    Labels are learned as codes of the classes known at the time.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes seen or given so far, sorted.
    """

    _task = "classification"
    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION
    #: whether probabilities are calibrated on the learner's own predictions, whatever the loss
    _calibrated: ClassVar[bool] = False

    class_weight: Any = param(
        default=None,
        kind='dict, "balanced" or None',
        doc='Multiplies the weight of a row by that of its class; "balanced" uses the counts up to '
        "each row.",
    )

    @property
    def probability_link(self) -> str | None:
        """How scores become probabilities: "softmax", "calibrated", or None if they do not."""
        if self._calibrated:
            return "calibrated"
        return "softmax" if self.loss in (*PROBABILISTIC, "softmax", "log_loss") else None

    # ---- learning --------------------------------------------------------------------------------

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, continuing from what was learned.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
        classes : array, optional
            All classes there will be; an unknown one is then an error. Left out, a class first
            seen in mid-stream is added with zero scores.
        sample_weight : array of shape (n,), optional
        groups : array of shape (n,), optional
            As in :meth:`fit`.

        Raises
        ------
        DataError
            At the first row with a NaN, an infinity or an unknown class; the rows before it have
            been learned.
        """
        learn(self, X, self._read_targets(y), sample_weight, classes=classes, groups=groups)
        return self

    @locked
    def predict_then_learn(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        return_scores: bool = False,
        groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Learn the rows in order; returns what was predicted before each was learned.

        Returns
        -------
        ndarray
            Labels (n,), or with ``return_scores`` the scores: (n,) for two classes, else
            (n, n_classes), 0 for a class not seen by then. If no class has been seen (the first
            row, and those of weight 0 before it, without ``classes``), the label is the row's own.
        """
        targets = self._read_targets(y)
        out = learn(self, X, targets, sample_weight, classes=classes, groups=groups)
        if not return_scores:
            return labels_of(out, self.classes_)
        scores = scores_of(out, self.classes_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @locked
    def predictions_then_learn(
        self, X: MatrixLike, y: ArrayLike | None, groups: ArrayLike | None = None
    ) -> Predictions:
        """As :meth:`predict_then_learn`, with the scores behind the labels."""
        out = learn(self, X, self._read_targets(y), None, groups=groups)
        known = self.classes_
        return Predictions(labels_of(out, known), scores_of(out, known), known)

    def _read_targets(self, y: ArrayLike | None) -> tuple[np.ndarray, DataError | None]:
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu":
            return y, None
        return labels(required_target(self, y))

    def _begin(
        self, d: int, y: np.ndarray, classes: Iterable[Hashable] | None, whole: bool
    ) -> None:
        """Begin over rows of d columns with the classes known so far."""
        self.classes_fixed_: bool = classes is not None
        known = np.unique(y) if whole else np.empty(0, y.dtype)
        if classes is not None:
            known = classes_given(classes)
        class_weight_table(self.class_weight, known)
        if whole or classes is not None:
            refuse_unknown(self.class_weight, known)
        self._start(d, 1 if len(known) <= 2 else len(known))
        self.classes_: np.ndarray = known
        self.class_counts_: np.ndarray = np.zeros(len(known))

    def _start(self, d: int, n_outputs: int) -> None:
        super()._start(d, n_outputs)
        #: links of scores by themselves, and of those with memory; None where probabilities follow
        #: from the loss, or there are none
        self.calibration_: Calibration | None = Calibration() if self._calibrated else None
        self.calibration_next_: Calibration | None = Calibration() if self._calibrated else None

    def _check_classes(self, classes: Iterable[Hashable]) -> None:
        known = self.classes_
        if not np.array_equal(classes_given(classes), known):
            raise ValueError(
                f"classes={list(classes)!r} differ from those of the first call, {known.tolist()!r}"
            )

    def _codes(self, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The index of each label in the classes, and the rows of weight above 0 without one.

        The index of an unknown label means nothing.
        """
        known = self.classes_
        if not len(known) or not len(y):
            return np.zeros(len(y), np.intp), np.flatnonzero(weight > 0.0)
        codes = np.minimum(known.searchsorted(y), len(known) - 1)
        return codes, np.flatnonzero((known[codes] != y) & (weight > 0.0))

    def _learn_rows(self, rows: Rows, a: int, out: list[Part]) -> None:
        """Learn rows, from row a of the block on, in segments that end where a class is first seen.

        The row of a new class is predicted without it, and learned with it.
        """
        if (rows.y.dtype.kind == "U") != (self.classes_.dtype.kind == "U"):
            wrong = same_kind(rows.y, self.classes_)
            if wrong is not None:
                raise refusal(self, wrong, a, out)
        codes, new = self._codes(rows.y, rows.weight)
        while new.size:
            row, known = int(new[0]), self.classes_
            if row:
                self._learn_known(rows.part(0, row), codes[:row], a, out)
            if self.classes_fixed_:
                raise refusal(self, unknown_class(rows.y, row, known), a, out)
            one = rows.part(row, row + 1)
            wrong = not_exact(one.y[0], known)
            if wrong is not None:
                raise refusal(self, wrong, a + row, out)
            if len(known):
                out.append(Part(self._scores_before(one.X, one.keys), known))
            first: list[Part] = []
            with self._class_added(one.y[0]):
                codes, _ = self._codes(one.y, one.weight)
                self._learn_known(one, codes, a + row, first, out)
            if not len(known):
                out += first
            rows, a = rows.part(row + 1, len(rows.y)), a + row + 1
            codes, new = self._codes(rows.y, rows.weight)
        if len(codes):
            self._learn_known(rows, codes, a, out)

    def _scores_before(self, X: Matrix, keys: list[Hashable] | None) -> np.ndarray:
        """Scores of the next row, X (1, d), whose class is new."""
        P = self.model_.scores(X)
        if self.memory_ is None or len(self.classes_) < 2:
            return P
        # of weight 0: by the loop that learns, so that no other is compiled for one row
        return self.memory_.learn(X, P, np.zeros(1, np.intp), np.zeros(1), keys)

    @contextmanager
    def _class_added(self, label: Any) -> Iterator[None]:
        """Add a class, and remove it again if its first row is not learned."""
        known, counts, model = self.classes_, self.class_counts_, self.model_
        kept = None if model.cannot_diverge else snapshot(model)
        position = int(np.searchsorted(known, label))
        dtype = np.result_type(known, np.asarray(label))
        self.classes_ = inserted(known.astype(dtype), position, label)
        self.class_counts_ = inserted(counts, position)
        if len(known) >= 2:
            model.add_output(position)
            if self.memory_ is not None:
                self.memory_.add_class(position)
        try:
            yield
        except BaseException:
            self.classes_, self.class_counts_ = known, counts
            if kept is not None:
                restore(model, kept)
            raise

    def _learn_known(
        self,
        rows: Rows,
        codes: np.ndarray,
        a: int,
        out: list[Part],
        before: list[Part] | None = None,
    ) -> None:
        """Learn rows of known classes, from row a of the block on; ``out`` gets the scores before.

        ``before``: what a refusal also reports.
        """
        X, _, weight, keys = rows
        known, counts, learned = self.classes_, self.class_counts_, weight > 0.0
        if not len(known):
            # rows of weight 0 before the first that is learned: there is no label but their own
            out.extend(Part(np.zeros((1, 1)), rows.y[i : i + 1]) for i in range(len(codes)))
            return
        by_class = weight if self.class_weight is None else self._by_class(codes, weight)
        if len(known) < 2:
            # one class: there is nothing to tell apart yet
            count_rows(self, learned)
            if self.memory_ is not None:
                self.memory_.last_class.learn_alone(weight)
            if self.feedback_ is not None and self.feedback_.forecasts is not None:
                self.feedback_.forecasts = self.feedback_.forecasts[len(codes) :]
            out.append(Part(np.zeros((len(codes), 1)), known))
            return
        refused: DataError | None = None if self.class_weight is None else too_heavy(by_class)
        stop = len(codes) if refused is None else refused.row
        y = 2.0 * codes - 1.0 if len(known) == 2 else codes.astype(np.float64)
        try:
            P = self.model_.learn(X[:stop], y[:stop], by_class[:stop])
        except DivergenceError as error:
            P, refused = error.scores, error
        except BaseException:
            self.class_counts_ = counts
            raise
        n = len(P)
        # rows of a class of weight 0 count as learned, too
        count_rows(self, learned[:n])
        if refused is not None:
            self.class_counts_ = counts
            self._by_class(codes[:n], learned[:n].astype(np.float64))
        if self.calibration_ is not None or self.memory_ is not None or self.feedback_ is not None:
            keys = None if keys is None else keys[:n]
            P = self._learn_scores(X[:n], P, codes[:n], weight[:n], keys)
        out.append(Part(P, known))
        if refused is not None:
            raise refusal(self, refused, a, out if before is None else before + out)

    def _learn_scores(
        self,
        X: Matrix,
        P: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray,
        keys: list[Hashable] | None,
    ) -> np.ndarray:
        """Let links, memory and feedback learn the model's scores P; returns those with memory."""
        shares = alone = self._shares_learned(self.calibration_, P, codes, weight)
        if self.memory_ is not None:
            P = self.memory_.learn(X, P, codes, weight, keys)
            shares = self._shares_learned(self.calibration_next_, P, codes, weight)
        if self.feedback_ is not None:
            rows, K = weight > 0.0, len(self.classes_)
            best = decide(P, K)
            if self.feedback_.forecasts is not None and shares is not None and alone is not None:
                came = codes[rows], best[rows]
                self.feedback_.learn_late_classes(*came, shares[rows], alone[rows], K)
                return P
            of_rows = [None if p is None else p[rows] for p in (shares, alone)]
            self.feedback_.learn_classes((best != codes)[rows], *of_rows)
        return P

    def _shares_learned(
        self, link: Calibration | None, P: np.ndarray, codes: np.ndarray, weight: np.ndarray
    ) -> np.ndarray | None:
        """Let a link learn scores P; the probabilities (n,) of the labels, if anything asks."""
        if link is not None:
            return link.learn(P, codes, weight)[:, 0]
        if self.feedback_ is None or self.probability_link is None:
            return None
        if P.shape[1] == 1:
            return expit(np.where(codes > 0, P[:, 0], -P[:, 0]))
        return softmax(P, axis=1)[np.arange(len(P)), codes]

    @locked
    def _learn_row(self, X: np.ndarray, code: int, weight: float = 1.0) -> None:
        """Learn one row X (1, d), already checked and of the learner's dtype."""
        rare = self.class_weight is not None or len(self.classes_) < 2
        alone = self.calibration_ is None and self.feedback_ is None
        if not rare and alone and weight <= LARGEST_WEIGHT:
            y = 2.0 * code - 1.0 if len(self.classes_) == 2 else float(code)
            learn_checked_row(self, X, y, weight)
            return
        one = Rows(X, np.empty(0), np.array([weight]), None)
        refused = too_heavy(one.weight)
        if refused is not None:
            raise refused
        with signals_wait:
            self._undo_log.forget()
            self._learn_known(one, np.array([code]), 0, [])

    def _by_class(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Row weights times ``class_weight``; "balanced" by the counts up to each row."""
        if self.class_weight is None or not len(self.classes_):
            return weight
        table = class_weight_table(self.class_weight, self.classes_)
        if table is not None:
            return weight * table[codes]
        balance, self.class_counts_ = balanced_weights(codes, weight > 0.0, self.class_counts_)
        return weight * balance

    def _attach_predictions(self, error: BaseException, out: list[Part]) -> None:
        known = self.classes_
        found = Predictions(labels_of(out, known), scores_of(out, known), known)
        attach_predictions(error, found)

    # ---- prediction ------------------------------------------------------------------------------

    @locked
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores of the rows X (n, d): (n,) for two classes (positive: the second), else (n, K)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    @locked
    def predict(self, X: MatrixLike) -> np.ndarray:
        """Labels (n,) of the rows X (n, d)."""
        return self._best(self._scores(X))

    def _best(self, scores: np.ndarray) -> np.ndarray:
        """The labels (n,) of the highest scores."""
        if len(self.classes_) == 0:
            raise ValueError("no class is known yet: learn at least one row first")
        return self.classes_[decide(scores, len(self.classes_))]

    @locked
    def predict_next(
        self,
        X: MatrixLike,
        ahead: Ahead = 0,
        return_scores: bool = False,
        groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Labels (n,) of the rows X (n, d) that come next, in order; learns nothing.

        A learner with a memory also uses the labels learned so far, less for rows farther ahead.
        For other learners, and far ahead, this is :meth:`predict`. The first row of X comes
        ``ahead`` rows after the next one; with ``groups`` (n,), see :meth:`fit`, rows ahead are
        counted within each group, and ``ahead`` may be an array (n,), that of each row's group.
        ``return_scores`` gives the scores instead, in the form of :meth:`decision_function`.
        """
        scores = self._next_scores(*self._next_rows(X, ahead, groups))
        if return_scores:
            return scores[:, 0] if len(self.classes_) <= 2 else scores
        return self._best(scores)

    @locked
    def forecast_next(
        self, X: MatrixLike, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> Forecast:
        """What `predict_next` and `predict_proba_next` say of rows, which are scored once."""
        if self.probability_link is None:
            return Forecast(self.predict_next(X, ahead, groups=groups))
        scores, shares = self._next_shares(X, ahead, groups)
        return Forecast(self._best(scores), shares)

    @available_if(_gives_probabilities)
    @locked
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Probabilities (n, K) of the rows X (n, d).

        By the logistic or softmax link; for the default and for ``krls`` by a link that is learned
        from what was predicted before each row (:mod:`onkel.default.calibration`).
        """
        return self._probabilities(self._scores(X))

    @available_if(_gives_probabilities)
    @locked
    def predict_proba_next(
        self, X: MatrixLike, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Probabilities (n, K) of the rows X (n, d) that come next, in order; learns nothing.

        It differs from :meth:`predict_proba` as :meth:`predict_next` does from :meth:`predict`.
        """
        return self._next_shares(X, ahead, groups)[1]

    @available_if(_gives_probabilities)
    @locked
    def predict_set(self, X: MatrixLike, level: float = 0.9) -> np.ndarray:
        """Sets that hold a share ``level`` of the labels of rows X (n, d), each row by itself.

        A bool (n, n_classes) in the order of ``classes_``; a set may be empty. A label is in the
        set if its probability passes a threshold, which each label that came has moved; see
        :class:`onkel.ClassSets`. 50, 80, 90, 95 and 99 % are tracked; other levels are read between
        them. For rows that come next, :meth:`predict_set_next` has smaller sets. ValueError without
        ``feedback``, or for a level that is not in (0, 1).
        """
        return self._known_feedback().alone.sets(self.predict_proba(X), level)

    @available_if(_gives_probabilities)
    @locked
    def predict_set_next(
        self, X: MatrixLike, level: float = 0.9, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Sets (n, n_classes) of the rows X (n, d) that come next, in order; learns nothing.

        It differs from :meth:`predict_set` as :meth:`predict_next` does from :meth:`predict`.
        """
        sets = self._known_feedback().next
        return sets.sets(self._next_shares(X, ahead, groups)[1], level)

    def replayed(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A function that gives the probabilities before each of the rows that are learned next.

        It takes scores (n, 1 or K) made before each row, as of `predictions_then_learn`, and labels
        (n,), which are classes of now, and gives probabilities (n, n_classes).
        """
        link = self.calibration_ if self.memory_ is None else self.calibration_next_
        own = copy.deepcopy(link)

        def shares(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
            if own is None or not len(scores):
                return self._probabilities(scores)
            codes = self.classes_.searchsorted(y)
            return own.learn_all(np.ascontiguousarray(scores), codes, np.ones(len(codes)))

        return shares

    def _next_shares(
        self, X: MatrixLike, ahead: Ahead, groups: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores (n, 1 or K) of the rows that come next, and probabilities (n, K)."""
        X, ahead, keys = self._next_rows(X, ahead, groups)
        P = self.model_.scores(X)
        if self.memory_ is None or len(self.classes_) < 2:
            return P, self._probabilities(P)
        M, share = self.memory_.ask(X, P, ahead, keys)
        chances = self._probabilities(M, remembered=True)
        scores = share * M + (1.0 - share) * P
        return scores, share * chances + (1.0 - share) * self._probabilities(P)

    def _next_scores(
        self, X: Matrix, ahead: Ahead, keys: list[Hashable] | None = None
    ) -> np.ndarray:
        if len(self.classes_) < 2:
            return self.model_.scores(X)
        return super()._next_scores(X, ahead, keys)

    def _probabilities(self, scores: np.ndarray, remembered: bool = False) -> np.ndarray:
        """Probabilities (n, K) of scores (n, 1 or K), which may be those with memory."""
        if len(self.classes_) <= 1:
            return np.ones((len(scores), len(self.classes_)))
        link = self.calibration_next_ if remembered else self.calibration_
        if link is not None:
            return link.probabilities(scores)
        if scores.shape[1] == 1:
            positive = expit(scores[:, 0])
            return np.stack([1.0 - positive, positive], axis=1)
        return softmax(scores, axis=1)

    # ---- what is learned beside the model --------------------------------------------------------

    def _take_in_own(self, other: Self, since: Self | None) -> None:
        known = 0.0 if since is None else since.class_counts_
        self.class_counts_ = joined((self.class_counts_, other.class_counts_, known))
        if self.calibration_ is not None and other.calibration_ is not None:
            least = 0 if since is None else since.n_rows_
            self.calibration_.take_in(
                other.calibration_,
                None if since is None else since.calibration_,
                self.n_rows_ - least,
                other.n_rows_ - least,
            )

    def _own_fields(self) -> Fields:
        fields: dict[str, Field] = {
            "classes_": _Labels(),
            "_classes_dtype": Text(),
            "classes_fixed_": Flag(),
            "class_counts_": Array(shape=("classes",), low=0.0),
        }
        if self.calibration_ is not None:
            fields["calibration_"] = StatePart()
        if self.calibration_next_ is not None:
            fields["calibration_next_"] = StatePart(where="memory_")
        return fields

    @property
    def _classes_dtype(self) -> str:
        """The type of the labels; it is set after them."""
        return self.classes_.dtype.str

    @_classes_dtype.setter
    def _classes_dtype(self, name: str) -> None:
        self.classes_ = np.array(self.classes_, dtype=name)

    def _n_outputs(self, state: State) -> int:
        classes = classes_of_state(state)
        class_weight_table(self.class_weight, classes)
        return 1 if len(classes) <= 2 else len(classes)
