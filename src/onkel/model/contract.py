"""What both representations share: rows learned in order, the first ones kept for a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.errors import DivergenceError, MergeError
from onkel.fields import Sizes
from onkel.losses import Loss
from onkel.model.transaction import RowLog
from onkel.model.warmup import Warmup
from onkel.numerics.arrays import as_dense, end_of_counted, next_power_of_two
from onkel.numerics.notices import working
from onkel.numerics.threads import one_blas_thread
from onkel.rules import base as places
from onkel.rules.base import Rule, UpdateContext, vector
from onkel.state import Stateful

#: every model learns so many rows in well under a second
FEW_AT_ONCE = 2048
# What a model that keeps no sum of its iterates passes to the loops.
_NO_TOTAL = np.empty((0, 0))

#: the few arrays that learning writes to, each with a copy; None: there is a log
Before = list[tuple[np.ndarray, np.ndarray]] | None


def diverged(row: int, scores: np.ndarray | None = None) -> DivergenceError:
    """The error for a row that makes a model diverge; ``scores`` of the rows before it."""
    error = DivergenceError(
        "learning this row makes the model diverge (its scores are no longer finite numbers); try "
        "a smaller learning_rate, another loss, or scaled features and targets",
        row=row,
    )
    error.scores = scores
    return error


class WorkOfFits(NamedTuple):
    """How much work fits on first rows are, in multiplications; 0 where they take little time."""

    #: of those so far
    so_far: float = 0.0
    #: of those that are due while some more rows come
    to_come: float = 0.0
    #: of `Model.consolidate` after these rows
    last: float = 0.0


class Model(Stateful):
    """K outputs f, moved by a rule along a loss.

    A subclass defines ``_fit_first(X, y, weight)``, ``_reset()``, ``ready``,
    ``_learn_in_order(X, y, weight, P)`` and ``is_finite()``.
    """

    state: np.ndarray
    warmup: Warmup | None
    #: whether every row with finite squares leaves the model finite
    cannot_diverge = False
    #: whether every row moves the features, too
    moves_features = False

    def __init__(self, rule: Rule | None, loss: Loss, epsilon: float, n_outputs: int) -> None:
        self.rule = rule
        self.loss: int = int(loss)
        self.epsilon: float = float(epsilon)
        self.par: np.ndarray = vector() if rule is None else rule.parameters()
        self.n_outputs = n_outputs
        self.undo_log: RowLog = RowLog()

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.n_outputs}

    def _new_state(self) -> np.ndarray:
        """The loops' state vector for f = 0."""
        own = () if self.rule is None else self.rule.first_state(Loss(self.loss), self.epsilon)
        state = np.array([0.0] * places.OWN_STATE + list(own))
        state[places.SCALE] = 1.0
        return state

    @property
    def coef(self) -> np.ndarray:
        """Weights of the features or stored rows, (K, m)."""
        raise NotImplementedError

    @property
    def fits(self) -> str:
        """What progress notices call a fit on the first rows."""
        return "fitting"

    @property
    def ready(self) -> bool:
        """False before the first row of a model that is fitted on first rows."""
        raise NotImplementedError

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Fit on the first rows X (n, d), with their labels and weights."""
        raise NotImplementedError

    def _reset(self) -> None:
        """Set f = 0 over what is fitted now."""
        raise NotImplementedError

    def _learn_in_order(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        """Learn the rows in order; P (n, K), which is 0, gets the scores before each.

        Before a model is :attr:`ready` nothing is learned.
        """
        raise NotImplementedError

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``."""
        raise NotImplementedError

    def add_columns(self, n: int) -> None:
        """As :meth:`widen`, for columns that may matter: a model may start afresh or search."""
        self.widen(n)

    def widen(self, n: int) -> None:
        """Append n columns, 0 in all rows so far; f(x) is unchanged where they are 0."""
        if self.warmup is not None:
            self.warmup.add_columns(n)

    # ---- models of several parts ---------------------------------------------------------------

    #: why models of this kind cannot be merged
    not_merged = "its updates depend on the order of the rows, and no sums of two models add up"

    def fix_map(self) -> None:
        """Freeze what was fitted on first rows: models over it can be merged; or a MergeError."""
        raise MergeError(f"this learner cannot be merged: {self.not_merged}")

    def require_alike(self, other: Self) -> None:
        """Raise a MergeError that names the difference, unless ``other`` can be taken in."""
        raise MergeError(f"this learner cannot be merged: {self.not_merged}")

    def take_in(self, other: Self, origin: Self | None) -> None:
        """Add what ``other`` learned since both were ``origin`` (None: since the first row)."""
        raise NotImplementedError

    # ---- what undoing asks ---------------------------------------------------------------------

    def is_finite(self) -> bool:
        """Whether all numbers that enter the scores are finite."""
        raise NotImplementedError

    def few_weights(self) -> list[np.ndarray] | None:
        """The arrays that learning writes to, if these are a few vectors; else None.

        The first holds all numbers that enter the scores, unless :attr:`moves_features`.
        """
        return None

    # ---- one row -------------------------------------------------------------------------------

    def row_to_learn(self, X: np.ndarray) -> np.ndarray | None:
        """What one compiled call can learn of the row X (1, d); None where that takes more."""
        return None

    def learn_made_row(self, Z: np.ndarray, y: float, weight: float) -> None:
        """Learn what :meth:`row_to_learn` gave, in one compiled call."""
        raise NotImplementedError

    def made_rows(self) -> float:
        """A number that changes with each row that :meth:`learn_made_row` learns."""
        raise NotImplementedError

    def score_row(self, X: np.ndarray) -> np.ndarray:
        """f(x), (K,) in float64, of one row X (1, d), finite and of the model's dtype."""
        return self.scores(X)[0]

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        """Learn one row X (1, d), finite and of the model's dtype."""
        self.learn(X, np.array([y]), np.array([weight]))

    # ---- learning ------------------------------------------------------------------------------

    @property
    def rows_at_once(self) -> int:
        """As many rows as are learned in well under a second: signals wait for their end."""
        return FEW_AT_ONCE

    def scores(self, X: Matrix) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        raise NotImplementedError

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn rows X (n, d) in order; returns the scores (n, K) before each.

        y, float64: -1 and +1 (K = 1), class codes (K > 2) or targets. Weights, float64, are at
        least 0. A DivergenceError holds the row, and the scores of the rows before it, which have
        been learned.
        """
        if self.cannot_diverge or X.shape[0] == 0:
            return self.learn_rows(X, y, weight)
        few = self.few_weights()
        before = None if few is None else [(values, values.copy()) for values in few]
        if before is None:
            self.undo_log.begin(self, self.n_outputs, X, y, weight)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            cause: Exception | None = None
            try:
                P = self.learn_rows(X, y, weight)
            except (ArithmeticError, ValueError) as error:
                # a number too large for a formula: OverflowError, LinAlgError and the like; or a
                # fault in a part of the user's own
                P, cause = None, error
            except BaseException:
                self._rewind(before)
                self.undo_log.forget()
                raise
            if P is not None and np.isfinite(P).all() and self._stayed_finite(before):
                return P
            row, P = self._up_to_the_last_good(before, P, X, y, weight)
        self.undo_log.forget()
        raise diverged(row, P) from cause

    def _up_to_the_last_good(
        self, before: Before, P: np.ndarray | None, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[int, np.ndarray]:
        """Learn rows for as long as the model stays finite; returns their number and scores."""

        def learned(n: int) -> np.ndarray | None:
            self._rewind(before)
            if n == 0:
                return np.zeros((0, self.n_outputs))
            try:
                P = self.learn_rows(X[:n], y[:n], weight[:n])
            except (ArithmeticError, ValueError):
                return None
            return P if np.isfinite(P).all() and self._stayed_finite(before) else None

        n = X.shape[0]
        good, bad = 0, n
        if P is not None and not np.isfinite(P).all():
            # the first row that finds the model broken, or breaks it
            bad = int(np.argmin(np.isfinite(P).all(axis=1))) + 1
            for near in (bad - 1, bad - 2):
                if near >= 0 and (scores := learned(near)) is not None:
                    return near, scores
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if learned(middle) is not None else (good, middle)
        scores = learned(good)
        assert scores is not None
        return good, scores

    def _stayed_finite(self, before: Before) -> bool:
        """Whether all numbers that enter the scores, or stand beside them, are finite."""
        if before is None or self.moves_features:
            return self.is_finite()
        finite = True
        for values, _ in before:
            finite &= math.isfinite(np.add.reduce(values, axis=None))
        return finite

    def _rewind(self, before: Before) -> None:
        """Set the model back to what it was before this block."""
        if before is None:
            self.undo_log.replay(self, self.learn_rows)
            return
        for values, then in before:
            values[...] = then

    def learn_rows(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """As :meth:`learn`, without a check for divergence."""
        P = np.zeros((X.shape[0], self.n_outputs))
        with one_blas_thread(X.shape[0]):
            if self.warmup is None:
                # one part: a row passes fewer calls than through the generator
                self._learn_in_order(X, y, weight, P)
            else:
                for rows in self.between_fits(X, y, weight):
                    self._learn_in_order(X[rows], y[rows], weight[rows], P[rows])
        return P

    def between_fits(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> Iterator[slice]:
        """Rows in parts, each up to the next fit, which the caller learns one after the other.

        When it asks for the next part, this one is kept. A fit that is then due is made, and all
        rows so far are replayed.
        """
        done = 0
        while self.warmup is not None and done < X.shape[0]:
            due = self._next_fit()
            rows = slice(done, end_of_counted(weight, done, due - self.warmup.count))
            yield rows
            self.warmup.keep(as_dense(X[rows]), y[rows], weight[rows])
            if self.warmup.count == due:
                self.refit()
            done = rows.stop
        if done < X.shape[0]:
            yield slice(done, X.shape[0])

    def work_of_fits(self, rows: int) -> WorkOfFits:
        """The work of fits so far, and of those to come with the next ``rows`` rows."""
        return WorkOfFits()

    def rows_before_fit(self) -> float:
        """Rows that can be learned before the next row with which a long fit, or a part of it, is
        made."""
        return math.inf

    def fit_ahead(self) -> bool:
        """Make a small part of a long fit before its rows come; False if there is none to make.

        The model will be the same, and learn some rows faster.
        """
        return False

    def rows_kept(self) -> np.ndarray:
        """How many rows ago each row came that is kept for a fit: the last one, 1."""
        n = 0 if self.warmup is None else self.warmup.count
        return np.arange(n, 0, -1)

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        """Replace columns of the rows that a last fit uses, in the order of :meth:`rows_kept`."""

    def rows_before_anew(self) -> float:
        """Rows that count until those kept are fitted anew, with columns as they are known then.

        At 0 columns of the rows kept may be replaced (:meth:`change_rows_kept`).
        """
        return math.inf

    def consolidate(self) -> None:
        """Fit once more on all rows that are kept, where that may help, and replay them."""

    def _next_fit(self) -> int:
        """How many first rows there are at the next fit; part of it may be made ahead of time.

        Asked when the next row comes: after the last row of a file nothing is done in vain.
        """
        assert self.warmup is not None
        return min(next_power_of_two(self.warmup.count), self.warmup.n_rows)

    def refit(self) -> None:
        """Fit on the first rows that have come and replay them; does nothing after the warm-up."""
        if self.warmup is None:
            return
        first, labels, weights = self.warmup.rows()
        # also for few rows: the search amplifies rounding differences between threads
        with one_blas_thread(), working(f"{self.fits} to {self.warmup.count:,} rows"):
            self._fit_first(first, labels, weights)
            self._reset()
            self._learn_again(first, labels, weights)
        if self.warmup.complete:
            self.warmup = None

    def _learn_again(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Learn rows in order that have been predicted already."""
        self._learn_in_order(X, y, weight, np.zeros((len(X), self.n_outputs)))

    def context(self) -> UpdateContext:
        """How f moves, as passed to every loop."""
        assert self.rule is not None
        return UpdateContext(
            self.state, self.loss, self.epsilon, self.rule.number, self.par, _NO_TOTAL
        )
