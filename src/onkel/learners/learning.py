"""How a learner learns a block: its rows are checked, and learned in order by its model.

These are functions over any learner; :mod:`onkel.model.transaction` says what comes in the way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from onkel.annotations import ArrayLike, Matrix, MatrixLike
from onkel.columns.failures import count
from onkel.errors import DataError
from onkel.learners.checking import check_keys, check_rows, first_error, group_keys, weights
from onkel.model.contract import FEW_AT_ONCE
from onkel.model.transaction import RowLog, locked, signals_wait, undone_on_failure

#: the targets of rows, and the error of the first that cannot be learned
Targets = tuple[np.ndarray, DataError | None]


class Rows(NamedTuple):
    """Checked rows of a block, as they are learned."""

    X: Matrix
    y: np.ndarray
    weight: np.ndarray
    #: the group of each row; None without groups
    keys: list[Hashable] | None

    def part(self, a: int, b: int) -> Rows:
        """The rows a to b."""
        keys = None if self.keys is None else self.keys[a:b]
        return Rows(self.X[a:b], self.y[a:b], self.weight[a:b], keys)


class Learner(Protocol):
    """What learning asks of a learner; see :class:`onkel.learners.base.OnlineEstimator`."""

    takes_groups: ClassVar[bool]
    dtype: str
    n_rows_: int
    n_features_in_: int
    model_: Any
    memory_: Any
    _undo_log: RowLog

    def _begin(
        self, d: int, y: np.ndarray, classes: Iterable[Hashable] | None, whole: bool
    ) -> None: ...
    def _check_classes(self, classes: Iterable[Hashable]) -> None: ...
    def _learn_rows(self, rows: Rows, a: int, out: list[Any]) -> None: ...
    def _attach_predictions(self, error: BaseException, out: list[Any]) -> None: ...


@locked
def learn(
    learner: Learner,
    X: MatrixLike,
    targets: Targets,
    sample_weight: ArrayLike | None,
    *,
    whole: bool = False,
    classes: Iterable[Hashable] | None = None,
    groups: ArrayLike | None = None,
) -> list[Any]:
    """Check the rows and learn those before the first bad one; returns what was predicted.

    ``targets`` (n,) come with the error of the first that cannot be learned. ``whole``: start
    afresh, and learn nothing of a block with a bad row. A long block is learned in pieces, and a
    signal is answered between two of them. An error holds what was predicted of the rows before it,
    which have been learned, and so does whatever else breaks off a block after one of its pieces.
    """
    out: list[Any] = []
    with undone_on_failure(learner) if whole else nullcontext():
        rows, error = _checked(learner, X, targets, sample_weight, whole, classes, groups)
        stop = len(rows.y) if error is None else error.row or 0
        at_once = learner.model_.rows_at_once if stop > FEW_AT_ONCE else FEW_AT_ONCE
        # a whole fit is undone by what is around it; other models undo by themselves, and nothing
        # but counts is learned beside them
        log = learner._undo_log if learner.model_.cannot_diverge and not whole else None
        try:
            for a in range(0, stop, at_once):
                if a:
                    signals_wait.answer()
                piece, done = rows.part(a, min(a + at_once, stop)), len(out)
                with signals_wait:
                    if log is not None:
                        log.begin(learner, 0, *piece)
                    try:
                        learner._learn_rows(piece, a, out)
                    except BaseException as failure:
                        if log is not None:
                            if not isinstance(failure, DataError):
                                log.replay(learner, partial(_again, learner))
                                del out[done:]
                            log.forget()
                        raise
        except DataError:
            raise
        except BaseException as failure:
            if out and not whole:
                learner._attach_predictions(failure, out)
            raise
        if error is not None:
            learner._attach_predictions(error, out)
            raise error
    return out


def _again(learner: Learner, *of: Any) -> None:
    """Learn logged rows once more."""
    learner._learn_rows(Rows(*of), 0, [])


def _checked(
    learner: Learner,
    X: MatrixLike,
    targets: Targets,
    sample_weight: ArrayLike | None,
    whole: bool,
    classes: Iterable[Hashable] | None,
    groups: ArrayLike | None,
) -> tuple[Rows, DataError | None]:
    """The rows as they are learned, and the error of the first bad one; begins the model."""
    reset = whole or "model_" not in vars(learner)
    with undone_on_failure(learner) if reset else nullcontext():
        y, error = targets
        X, row_error = check_rows(learner, X, reset)
        if row_error is None and X.shape[0] != len(y):
            rows = count(X.shape[0], "row")
            raise ValueError(f"X has {rows} and y has {len(y)}; they must agree")
        if sample_weight is None:
            weight, weight_error = np.ones(len(y)), None
        else:
            weight, weight_error = weights(sample_weight, len(y), needed=whole)
        keys, wrong_key = None if groups is None else group_keys(groups), None
        if learner.takes_groups or keys is not None:
            wrong_key = key_error(learner, keys, len(y), reset)
        if row_error or error or weight_error or wrong_key:
            error = first_error(row_error, error, weight_error, wrong_key)
            assert error is not None
            if whole or (reset and not error.row):
                raise error
        if reset:
            learner._begin(X.shape[1], y, classes, whole)
        elif classes is not None:
            learner._check_classes(classes)
        return Rows(X, y, weight, keys), error


def key_error(
    learner: Learner, keys: list[Hashable] | None, n: int, reset: bool = False
) -> DataError | None:
    """The error of the first of n rows without a valid group.

    A ValueError for groups after rows that had none, the reverse, and for a learner without use
    for them.
    """
    if not learner.takes_groups:
        raise ValueError("groups= are for learners that remember the labels (okl): leave them out")
    memory = None if reset else learner.memory_
    if memory is not None and memory.grouped not in (None, keys is not None):
        raise ValueError(
            "the rows so far were learned by group: give groups="
            if memory.grouped
            else "the rows so far were learned without groups=: leave it out, or begin anew"
        )
    return None if keys is None else check_keys(keys, n)


def refusal(learner: Learner, refused: DataError, a: int, out: list[Any]) -> DataError:
    """The refusal of a row of a piece that begins at row a, with the predictions before it."""
    row = a + (refused.row or 0)
    error = type(refused)(refused.message, row=row, column=refused.column, value=refused.value)
    error.__cause__ = refused.__cause__
    learner._attach_predictions(error, out)
    return error


def count_rows(learner: Learner, weight: np.ndarray) -> None:
    """Count the rows that were learned: those of weight above 0.

    Subclasses call this. ``self.n_rows_ += 1`` in one would declare ``n_rows_`` again, without a
    type.
    """
    learner.n_rows_ += int(np.count_nonzero(weight))


def learn_checked_row(learner: Learner, X: np.ndarray, y: float, weight: float) -> None:
    """Learn one row X (1, d), already checked and of the learner's dtype."""
    model, counted = learner.model_, weight > 0.0
    Z = model.row_to_learn(X)
    if Z is None:
        with signals_wait:
            learner._undo_log.forget()
            model.learn_row(X, y, weight)
            learner.n_rows_ += counted
        return
    before, n_rows = model.made_rows(), learner.n_rows_
    try:
        model.learn_made_row(Z, y, weight)
        learner.n_rows_ = n_rows + counted
    except BaseException:
        # a signal comes before or after the one compiled call
        learner.n_rows_ = n_rows + (model.made_rows() != before)
        raise
