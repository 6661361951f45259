"""Details of a classification: recall and confusion, AUC, log loss and calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from onkel.default.calibration import Calibration
from onkel.evaluation.bounds import RunSets
from onkel.evaluation.formatting import label_text
from onkel.fields import Array, Field, Fields, Listed, Number, Sizes, State, Whole, require
from onkel.state import Part, Stateful

MOST_CLASSES = 50
"""With more classes neither a confusion matrix is kept (their number squared) nor bins for AUC."""


@dataclass(frozen=True)
class _Label(Field):
    """The name of a class."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        ok = isinstance(value, str | int | float)
        return None if ok else f"is a {type(value).__name__}, not a label"


class Labels(Stateful):
    """Labels as codes, in the order in which they first appear."""

    STATE: ClassVar[Fields] = {"names": Listed(_Label())}

    def __init__(self) -> None:
        self.names: list[object] = []
        self.state_is_set()

    def check_state(self, state: State, sizes: Sizes) -> None:
        """Raise a ModelFileError where a label stands twice."""
        require(len(set(state["names"])) == len(state["names"]), "names: a label stands twice")

    def state_is_set(self) -> None:
        self._codes = {name: code for code, name in enumerate(self.names)}

    def codes(self, labels: np.ndarray) -> np.ndarray:
        """Codes (n,) of labels; -1 for None, which means that nothing was predicted."""
        if labels.dtype.kind == "O":
            return np.array([self._code(label) for label in labels.tolist()], dtype=np.int64)
        values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        named = values.tolist()
        for i in np.argsort(first):
            self._code(named[i])
        return np.array([self._codes[name] for name in named], dtype=np.int64)[inverse]

    def _code(self, label: Any) -> int:
        if label is not None and label not in self._codes:
            self._codes[label] = len(self.names)
            self.names.append(label)
        return self._codes.get(label, -1)


class ClassCounts(Stateful):
    """Rows and right predictions of each class, and the confusion matrix of few classes."""

    STATE: ClassVar[Fields] = {
        "right": Array(np.int64, ("classes",), low=0),
        "total": Array(np.int64, ("classes",), low=0),
        "confusion": Array(np.int64, ("classes", "classes"), low=0, empty=True),
    }

    def __init__(self) -> None:
        self.right: np.ndarray = np.zeros(0, dtype=np.int64)
        self.total: np.ndarray = np.zeros(0, dtype=np.int64)
        #: rows by true (first) and predicted class; None above `MOST_CLASSES`
        self.confusion: np.ndarray | None = np.zeros((0, 0), dtype=np.int64)

    def add(self, y: np.ndarray, p: np.ndarray, n_classes: int) -> None:
        """Codes (n,) of true and of predicted labels; -1: nothing was predicted."""
        K = n_classes
        self.right = _grown(self.right, (K,)) + np.bincount(y[y == p], minlength=K)
        self.total = _grown(self.total, (K,)) + np.bincount(y, minlength=K)
        if K > MOST_CLASSES:
            self.confusion = None
        if self.confusion is not None:
            predicted = p >= 0
            pairs = np.bincount(y[predicted] * K + p[predicted], minlength=K * K)
            self.confusion = _grown(self.confusion, (K, K)) + pairs.reshape(K, K)

    def summary(self, names: list[object]) -> dict[str, Any]:
        """Recall of each class seen, their mean, and the confusion matrix; sorted by label."""
        order = sorted(range(len(self.total)), key=lambda k: (str(type(names[k])), names[k]))
        seen = np.asarray(self.total) > 0
        if self.confusion is not None:
            seen |= self.confusion.any(axis=0)
        order = [k for k in order if seen[k]]
        recall = {
            label_text(names[k]): self.right[k] / self.total[k] for k in order if self.total[k]
        }
        found: dict[str, Any] = {
            "balanced_accuracy": 100.0 * float(np.mean(list(recall.values()))),
            "recall": {name: 100.0 * float(value) for name, value in recall.items()},
        }
        if self.confusion is not None:
            found["confusion"] = {
                "labels": [label_text(names[k]) for k in order],
                "rows": self.confusion[np.ix_(order, order)].tolist(),
            }
        return found


def _grown(counts: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Counts with zeros up to a shape."""
    if counts.shape == shape:
        return counts
    out = np.zeros(shape, dtype=counts.dtype)
    out[tuple(slice(n) for n in counts.shape)] = counts
    return out


_DIGITS = 6
_LOWEST, _HIGHEST = -20, 8
"""Powers of two: smaller scores are 0, larger ones go to the last bin."""
_HALF = (_HIGHEST - _LOWEST) << _DIGITS
_SCORE_BINS = 2 * _HALF + 1


class Ranking(Stateful):
    """Scores of each class in bins, those of its own rows and those of the others.

    A state has the bins that hold rows: few of them do.
    """

    STATE: ClassVar[Fields] = {
        "classes": Whole(high=MOST_CLASSES),
        "at": Array(np.int64, ("filled",), low=0),
        "rows": Array(np.int64, ("filled",), low=0),
    }

    def __init__(self) -> None:
        self.counts: np.ndarray = np.zeros((0, 2, _SCORE_BINS), dtype=np.int64)

    def add(self, codes: np.ndarray, scores: np.ndarray, known: np.ndarray) -> None:
        """Scores (n, K) of rows of class ``codes`` (n,), of which ``known`` (n,) classes count.

        A score of -inf, of a class that the model has not learned, counts for nothing.
        """
        K = scores.shape[1]
        if K > MOST_CLASSES:
            # an area of the rows before would not be that of the run
            self.counts = self.counts[:0]
            return
        if len(self.counts) < K:
            more = np.zeros((K - len(self.counts), 2, _SCORE_BINS), dtype=np.int64)
            self.counts = np.concatenate([self.counts, more])
        own = (codes[:, None] == np.arange(K)).astype(np.int64)
        cells = (2 * np.arange(K) + own) * _SCORE_BINS + _bin(scores)
        cells = cells[(np.arange(K) < known[:, None]) & np.isfinite(scores)]
        counts = np.bincount(cells, minlength=self.counts.size)
        self.counts += counts.reshape(self.counts.shape)

    def area(self) -> float:
        """AUC of two classes; of more, the mean of each against the rest. NaN: not known."""
        areas = [_area(own, others) for others, own in self.counts]
        if len(areas) == 2:
            areas = areas[1:]
        found = [area for area in areas if not math.isnan(area)]
        return float(np.mean(found)) if found else math.nan

    @property
    def classes(self) -> int:
        """Classes with bins."""
        return len(self.counts)

    @property
    def at(self) -> np.ndarray:
        """Which bins hold rows."""
        return np.flatnonzero(self.counts)

    @property
    def rows(self) -> np.ndarray:
        """How many rows these bins hold."""
        return self.counts.ravel()[self.at]

    def set_fields(self, values: State) -> None:
        counts = np.zeros((values["classes"], 2, _SCORE_BINS), dtype=np.int64)
        require((values["at"] < counts.size).all(), "at: is beyond the last bin")
        counts.ravel()[values["at"]] = values["rows"]
        self.counts = counts


def _bin(scores: np.ndarray) -> np.ndarray:
    """Bins of scores, in the order of the scores."""
    bits = np.abs(scores).astype(np.float32).view(np.uint32).astype(np.int64)
    size = (bits >> (23 - _DIGITS)) - ((127 + _LOWEST) << _DIGITS) + 1
    return _HALF + np.sign(scores).astype(np.int64) * size.clip(0, _HALF)


def _area(own: np.ndarray, others: np.ndarray) -> float:
    pairs = float(own.sum()) * float(others.sum())
    if not pairs:
        return math.nan
    below = np.cumsum(others) - 0.5 * others
    return float(own @ below) / pairs


_P_BINS = 20
_SMALLEST = 1e-15


class Probabilities(Stateful):
    """Log loss and calibration of the probabilities predicted before each row was learned.

    If they are ``calibrated``, the scores are those of a learner that calibrates them on the rows
    before; otherwise their softmax is the probability. A class never seen before has none: its
    first row is left out, and every row where the model has not learned it and does not learn.
    While one class is known, its probability is 1. ``level``: of sets of labels to be measured,
    too; None: there are none.
    """

    def state_fields(self) -> Fields:
        """Sums and bins, and the link of a learner that calibrates."""
        bins = Array(shape=(_P_BINS, 3), low=0.0)
        fields = {"loss": Number(low=0.0), "n_rows": Whole(), "bins": bins}
        fields["sets"] = Part(optional=True, begin=lambda _: RunSets())
        return fields if self.link is None else fields | {"link": Part()}

    def __init__(self, calibrated: bool, level: float | None = None) -> None:
        self.link: Calibration | None = Calibration() if calibrated else None
        self.level = level
        self.sets = None if level is None else RunSets(level)
        self.loss: float = 0.0
        self.n_rows: int = 0
        #: rows, right ones and summed probabilities of the predicted class, by that probability
        self.bins: np.ndarray = np.zeros((_P_BINS, 3))

    def forget_score(self) -> None:
        """Count rows from here on; the calibration stays."""
        self.loss, self.n_rows = 0.0, 0
        self.bins[:] = 0.0
        if self.sets is not None:
            self.sets.forget_score()

    def state_is_set(self) -> None:
        """A run that goes on with sets after rows without begins them now."""
        if self.sets is None and self.level is not None:
            self.sets = RunSets(self.level)

    def add(
        self, codes: np.ndarray, scores: np.ndarray, known: np.ndarray, names: list[object]
    ) -> None:
        """Scores (n, K) of rows of class ``codes`` (n,), when ``known`` (n,) classes were known.

        ``names`` (K,): the labels of the columns.
        """
        # rows that are learned with the same number of classes form a group; the link of a learner
        # learns the first row of a class, too
        now = np.maximum(known, codes + 1)
        for rows in np.split(np.arange(len(codes)), np.flatnonzero(np.diff(now)) + 1):
            K, counted = int(now[rows[0]]), codes[rows] < known[rows]
            counted &= np.isfinite(scores[rows, codes[rows]])
            if K == 1:
                # a learner that has learned more classes before the run has scores
                n = int((counted & ~scores[rows].any(axis=1)).sum())
                self._count(np.ones((n, 2)), np.ones(n, dtype=bool))
                continue
            # in the order that the learner has them in
            order = np.array(sorted(range(K), key=lambda k: (isinstance(names[k], str), names[k])))
            S, y = scores[np.ix_(rows, order)], np.argsort(order)[codes[rows]]
            if self.link is not None and K == 3:
                # a link for three classes takes shares: of two, (1 ± f)/2
                S[~counted] += np.where(np.arange(3) == y[~counted, None], 0.0, 0.5)
            p = self._probabilities(S, y, counted)
            self._count(p[counted], (S.argmax(axis=1) == y)[counted])

    def _count(self, p: np.ndarray, right: np.ndarray) -> None:
        """Take in the probabilities (n, 2) of the class that came and of the predicted one."""
        self.loss -= float(np.log(p[:, 0].clip(min=_SMALLEST)).sum())
        self.n_rows += len(p)
        bins = (p[:, 1] * _P_BINS).astype(np.int64).clip(0, _P_BINS - 1)
        for column, values in enumerate((np.ones(len(p)), right, p[:, 1])):
            self.bins[:, column] += np.bincount(bins, weights=values, minlength=_P_BINS)

    def _probabilities(self, S: np.ndarray, y: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """Probabilities (n, 2) of the class that came and of the predicted one.

        ``counted`` (n,): which rows the sets are measured on.
        """
        if self.link is not None:
            scores = np.ascontiguousarray(S[:, 1:] - S[:, :1] if S.shape[1] == 2 else S)
            if self.sets is None:
                return self.link.learn(scores, y, np.ones(len(y)))
            P = self.link.learn_all(scores, y, np.ones(len(y)))
        else:
            P = softmax(S, axis=1)
        if self.sets is not None:
            self.sets.add(y[counted], P[counted])
        return np.column_stack([P[np.arange(len(y)), y], P.max(axis=1)])

    def summary(self) -> dict[str, Any]:
        """Log loss in nats per row; for each non-empty bin: rows, mean probability, share right."""
        filled = self.bins[self.bins[:, 0] > 0]
        return {
            "log_loss": self.loss / self.n_rows if self.n_rows else math.nan,
            "calibration": [
                {"rows": int(n), "predicted": total / n, "observed": right / n}
                for n, right, total in filled.tolist()
            ],
            **({} if self.sets is None else {"sets": self.sets.summary()}),
        }
