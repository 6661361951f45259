"""How classifiers learn labels: codes, classes that come in mid-stream, class weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onkel.errors import DataError, MergeError
from onkel.learners.base import OnlineEstimator
from onkel.learners.checking import LARGEST_WEIGHT, first_error, too_heavy
from onkel.learners.declaration import declared, param
from onkel.learners.labels import (
    balanced_weights,
    class_weight_table,
    classes_given,
    labels,
    refuse_unknown,
    required_target,
    same_kind,
)
from onkel.merging import joined, require_same
from onkel.model.guard import restore, snapshot
from onkel.model.lock import locked
from onkel.state import Array, Flag, Text, check, require

# Scores before learning, with the classes known at the time, segment by segment.
Parts = list[tuple[np.ndarray, np.ndarray]]


@declared
class CodedClasses(OnlineEstimator):
    """A classifier that learns labels as codes of the classes known at the time."""

    class_weight: Any = param(
        default=None,
        kind='dict, "balanced" or None',
        doc='Multiplies the weight of a row by that of its class; "balanced" uses the counts up to '
        "each row.",
    )

    def _read_targets(self, y: Any) -> tuple[np.ndarray, DataError | None]:
        return labels(required_target(self, y))

    def _begin(self, d: int, y: np.ndarray, classes: Any, whole: bool) -> None:
        """Begin over rows of d columns with the classes known so far."""
        self.classes_fixed_ = classes is not None
        known = np.unique(y) if whole else np.empty(0, y.dtype)
        if classes is not None:
            known = classes_given(classes)
        class_weight_table(self.class_weight, known)
        if whole or classes is not None:
            refuse_unknown(self.class_weight, known)
        self._start(d, 1 if len(known) <= 2 else len(known))
        self.classes_ = known
        self.class_counts_ = np.zeros(len(known))

    def _unknown_target(
        self, y: np.ndarray, weight: np.ndarray, classes: Any, error: DataError | None
    ) -> DataError | None:
        if classes is not None and not np.array_equal(classes_given(classes), self.classes_):
            raise ValueError(
                f"classes={list(classes)!r} differ from those of the first call, "
                f"{self.classes_.tolist()!r}"
            )
        error = first_error(same_kind(y, self.classes_), error)
        stop = len(y) if error is None else error.row
        bad = self._new_classes(y[:stop], weight[:stop]) if self.classes_fixed_ else y[:0]
        if bad.size == 0:
            return error
        row = int(bad[0])
        return DataError(
            f"class {y[row].item()!r} is not one of the classes given, {self.classes_.tolist()!r}",
            row=row,
            column="y",
            value=y[row].item(),
        )

    def _new_classes(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The rows of weight above 0 whose class is not known."""
        unknown = np.ones(len(y), np.bool_)
        if len(self.classes_) and len(y):
            unknown = self.classes_[self._codes(y)] != y
        return np.flatnonzero(unknown & (weight > 0.0))

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """The index of each label in the classes; for an unknown label, any index."""
        last = max(len(self.classes_) - 1, 0)
        return np.asarray(np.minimum(self.classes_.searchsorted(y), last))

    def _learn_rows(self, X: Any, y: np.ndarray, weight: np.ndarray) -> Parts:
        """Learn rows; returns the scores before, in segments with the classes known at the time.

        A segment ends where a class is first seen: its row is predicted without it, and learned
        with it.
        """
        parts: Parts = []
        done = 0
        while done < X.shape[0]:
            known = self.classes_
            new = y[:0] if self.classes_fixed_ else self._new_classes(y[done:], weight[done:])
            row = done + int(new[0]) if new.size else len(y)
            if row > done:
                parts.append((self._learn_known(X, y, weight, done, row, parts), known))
            if row < X.shape[0]:
                if len(known):
                    parts.append((self._next_scores(X[row : row + 1], 0), known))
                with self._class_added(y[row]):
                    P = self._learn_known(X, y, weight, row, row + 1, parts)
                if not len(known):
                    parts.append((P, self.classes_))
            done = row + 1
        return parts

    @contextmanager
    def _class_added(self, label: Any) -> Iterator[None]:
        """Add a class, and remove it again if its first row is refused."""
        position = int(np.searchsorted(self.classes_, label))
        before = self.classes_, self.class_counts_
        kept = None if self.model_.cannot_diverge else snapshot(self.model_)
        dtype = np.result_type(self.classes_, np.asarray(label))
        self.classes_ = np.insert(before[0].astype(dtype), position, label)
        self.class_counts_ = np.insert(before[1], position, 0.0)
        if len(before[0]) >= 2:
            self.model_.add_output(position)
        try:
            yield
        except DataError:
            if kept is not None:
                restore(self.model_, kept)
            self.classes_, self.class_counts_ = before
            raise

    def _learn_known(
        self, X: Any, y: np.ndarray, weight: np.ndarray, a: int, b: int, before: Parts
    ) -> np.ndarray:
        """Learn rows a to b, of known classes; returns the scores before each.

        ``before`` are the scores of the rows up to a, which a refusal reports, too.
        """
        P, refused = self._learn_codes(X[a:b], self._codes(y[a:b]), weight[a:b])
        if refused is not None:
            error = type(refused)(
                refused.message,
                row=a + (refused.row or 0),
                column=refused.column,
                value=refused.value,
            )
            self._tell(error, [*before, (P, self.classes_)])
            raise error
        return P

    def _learn_codes(
        self, X: Any, codes: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, DataError | None]:
        """Learn rows until one is refused; returns the scores before, and the refusal."""
        counts, learned = self.class_counts_, weight > 0.0
        weight = self._by_class(codes, weight)
        if len(self.classes_) < 2:
            # one class: there is nothing to tell apart yet
            self.n_rows_ += int(np.count_nonzero(learned))
            return np.zeros((X.shape[0], 1)), None
        heavy = None if self.class_weight is None else too_heavy(weight)
        stop = len(codes) if heavy is None else heavy.row
        y = 2.0 * codes - 1.0 if len(self.classes_) == 2 else codes.astype(np.float64)
        P, refused = self._learn_weighted(X[:stop], y[:stop], weight[:stop])
        # rows of a class of weight 0 count as learned, too
        self.n_rows_ += int(np.count_nonzero(learned[: len(P)]))
        refused = refused or heavy
        if refused is not None:
            self.class_counts_ = counts
            self._by_class(codes[: len(P)], learned[: len(P)].astype(np.float64))
        return P, refused

    @locked
    def _learn_row(self, X: np.ndarray, code: int, weight: float = 1.0) -> None:
        """Learn one row X (1, d), already checked and of the learner's dtype."""
        rare = self.class_weight is not None or len(self.classes_) < 2
        if rare or weight > LARGEST_WEIGHT:
            self._learn_codes_row(X, code, weight)
            return
        y = 2.0 * code - 1.0 if len(self.classes_) == 2 else float(code)
        self.model_.learn_row(X, y, weight)
        self.n_rows_ += weight > 0.0

    def _learn_codes_row(self, X: np.ndarray, code: int, weight: float) -> None:
        """As :meth:`_learn_row`, by :meth:`_learn_codes`."""
        weights = np.array([weight])
        refused = too_heavy(weights)
        if refused is None:
            _, refused = self._learn_codes(X, np.array([code]), weights)
        if refused is not None:
            raise refused

    def _by_class(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Row weights times ``class_weight``; "balanced" by the counts up to each row."""
        if self.class_weight is None or not len(self.classes_):
            return weight
        table = class_weight_table(self.class_weight, self.classes_)
        if table is not None:
            return weight * table[codes]
        balance, self.class_counts_ = balanced_weights(codes, weight > 0.0, self.class_counts_)
        return weight * balance

    # ---- learners of several parts ----------------------------------------------------

    def fix_map(self) -> Self:
        """As for any learner; the classes known now are fixed, and an unknown one is an error."""
        if self.__sklearn_is_fitted__() and len(self.classes_) < 2:
            raise MergeError(f"only {len(self.classes_)} class is known: learn rows of two first")
        super().fix_map()
        self.classes_fixed_ = True
        return self

    def _require_alike(self, other: Any) -> None:
        if type(other) is type(self):
            check_is_fitted(self)
            check_is_fitted(other)
            require_same("the classes", list(self.classes_), list(other.classes_))
        super()._require_alike(other)

    def _take_in(self, other: Any, since: Any) -> None:
        super()._take_in(other, since)
        known = 0.0 if since is None else since.class_counts_
        self.class_counts_ = joined((self.class_counts_, other.class_counts_, known))

    # ---- state ------------------------------------------------------------------------

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        state["classes"] = [_item(c) for c in self.classes_]
        state["classes_dtype"] = self.classes_.dtype.str
        state["classes_fixed"] = self.classes_fixed_
        state["class_counts"] = self.class_counts_
        return state

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        classes = _classes_of(state)
        counts = Array(shape=(len(classes),), low=0.0)
        check(state, {"classes_fixed": Flag(), "class_counts": counts})
        class_weight_table(self.class_weight, classes)
        super()._set_fitted_state(state)
        self.classes_, self.classes_fixed_ = classes, state["classes_fixed"]
        self.class_counts_ = np.array(state["class_counts"])

    def _n_outputs(self, state: dict[str, Any]) -> int:
        return 1 if len(state["classes"]) <= 2 else len(state["classes"])


def _classes_of(state: dict[str, Any]) -> np.ndarray:
    """The classes of a saved state: numbers or strings, in order."""
    check(state, {"classes_dtype": Text()})
    labels, dtype = state.get("classes"), np.dtype(state["classes_dtype"])
    kinds = {"U": str, "b": bool, "i": int, "u": int, "f": float}
    require(dtype.kind in kinds, f"classes_dtype: is {dtype}, of neither numbers nor strings")
    right = isinstance(labels, list) and all(type(c) is kinds[dtype.kind] for c in labels)
    require(right, f"classes: must be a list of {dtype}")
    classes = np.array(labels, dtype=dtype)
    require(classes.tolist() == labels, f"classes: hold labels that are none of {dtype}")
    require(np.array_equal(np.unique(classes), classes), "classes: must differ, and be in order")
    return classes


def _item(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
