"""Work made ahead, a little with each row that comes; above all the next fit of a map.

A search for landmarks takes seconds, and a stream cannot stand still for so long. A map may fit on
fewer rows than have come when the fit is due (``rows_of_fit``). The fit, and the replay in which
the new model learns all rows, are then made while the rest of them come. The result depends on the
rows alone: steps still missing when the fit is due are made then. So nothing of it is saved: a
copied or loaded model begins it again.

The replay learns rows that have been predicted already. Least squares predicts each row from those
before it, which takes most of its time. A replay needs no predictions, so rows are summed,
and the matrix is factored once. The noise is the same up to rounding: the minimum of
J = Σ w (y - zᵀu)² + uᵀ K₀ u grows with each row by e²/(1 + zᵀ P z), and it equals Σ w y² - bᵀ u.

Corrections of f, such as cells, have learned what the former fit left. They may learn anew what the
new one leaves, from the same rows and in the same steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Protocol, Self

import numpy as np

from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.explicit.training_loop import TrainingLoop
from onkel.numerics.arrays import targets_of
from onkel.numerics.in_steps import finished
from onkel.numerics.notices import reached
from onkel.numerics.threads import one_blas_thread

#: rows of a replay that are learned at once
REPLAYED = 256
# The share of the fit in all of the work, and the share with its rows learned again. Those that
# follow are a few, but some time must be left for them.
_OF_FIT, _OF_FIRST = 0.87, 0.98


class Ahead:
    """Work that needs ``rows`` rows and is due at ``due`` rows; it yields the share done."""

    def __init__(self, work: Generator[float, None, Any], rows: int, due: int) -> None:
        self.rows: int = rows
        self.due: int = due
        self._work = work
        #: of the work that has been done
        self.share: float = 0.0

    @classmethod
    def of_fit(cls, model: Any, rows: int, due: int) -> Self:
        """A fit of ``model`` on its first ``rows`` rows, and the replay of all ``due``."""
        return cls(_refit(model, rows, due), rows, due)

    def __reduce__(self) -> tuple[Any, ...]:
        # a copied model begins again
        return type(None), ()

    def advance(self, count: int) -> None:
        """Do what has to be done by the time ``count`` rows have come."""
        share = (count - self.rows) / (self.due - self.rows)
        if self.share < share:
            with one_blas_thread():
                while self.share < share:
                    self.share = next(self._work)

    def go_on(self) -> bool:
        """Do a small part of the fit before its time; False if none is left to do."""
        if self.share >= _OF_FIT:
            # the replay waits for rows
            return False
        with one_blas_thread():
            self.share = next(self._work)
        return True

    def rows_covered(self) -> int:
        """How many rows may come until `advance` has something to do."""
        return self.rows + int(self.share * (self.due - self.rows))

    def finish(self) -> Any:
        """Do the rest; of a fit: a model with the fitted map that has learned all ``due`` rows."""
        with one_blas_thread():
            return finished(self._work)


def _refit(model: Any, rows: int, due: int | None) -> Generator[float, None, Any]:
    """The model after the fit on ``rows`` that is ``due`` (None: the last); yields shares done."""
    first = tuple(part[:rows] for part in model.warmup.rows())
    new = yield from _scaled(model.fit_anew(*first, due))
    if not new.ready:
        # what was learned stays
        yield 1.0
        return new
    yield _OF_FIT
    n = rows if due is None else due
    while not (yield from _replayed(model, new, rows, n)):
        # a class has come, and codes are others: sums over rows begin again
        new.begin_anew(model.n_outputs)
    return new


def _replayed(model: Any, new: Any, rows: int, n: int) -> Generator[float, None, bool]:
    """Let ``new`` learn the first n rows, as they come; False if a class has come meanwhile.

    What corrects f learns anew what f leaves of the ``rows`` of the fit; then of those that follow,
    before f learns them.
    """
    replay, start, done = new.replay(), 0, 0
    anew = new.corrections_anew() if rows < n else None
    work = rows if anew is None else rows + anew.work(rows)
    while start < n:
        end = min(start + REPLAYED, rows if start < rows else n)
        if model.warmup.count < end:
            # wait until the rows have come
            yield 1.0
        if new.n_outputs < model.n_outputs:
            return False
        some = tuple(part[start:end] for part in model.warmup.rows())
        if anew is not None and start >= rows:
            anew.learn(*some)
        replay.learn(*some)
        if end > rows:
            yield _OF_FIRST + (1.0 - _OF_FIRST) * (end - rows) / (n - rows)
        else:
            done += end - start
            yield _OF_FIT + (_OF_FIRST - _OF_FIT) * done / work
        if anew is not None and end == rows:
            replay.finish()
            for learned in anew.learn_first(*(part[:rows] for part in model.warmup.rows())):
                done += learned
                yield _OF_FIT + (_OF_FIRST - _OF_FIT) * done / work
        start = end
    replay.finish()
    return True


def fitted_last(model: Any) -> Any:
    """The model after the last fit of its map on all rows kept, which it has learned again."""
    with one_blas_thread():
        return finished(_refit(model, model.warmup.count, None), reached)


def _scaled(fit: Generator[float, None, Any]) -> Generator[float, None, Any]:
    """The fit's shares as those of all of the work."""
    while True:
        try:
            share = next(fit)
        except StopIteration as end:
            return end.value
        yield _OF_FIT * share


class CorrectionsAnew(Protocol):
    """What corrects f and learns anew what it leaves."""

    def work(self, n: int) -> int:
        """About how much work it is to learn n rows: that of a replay of so many."""
        ...

    def learn_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Iterator[int]:
        """Learn what f leaves of all rows that it has learned; yields how many are done."""
        ...

    def learn(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Learn what f leaves of rows that it has not learned."""
        ...


class Replay:
    """Takes the rows in order; afterwards ``training`` is as if it had learned them."""

    def __init__(self, training: TrainingLoop) -> None:
        self._training = training
        self._pending: _Summed | None = None

    def learn(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows X (n, d); only their sums where these suffice."""
        weights = self._training.weights
        matrix = weights.matrix
        if matrix is not None and matrix.can_sum(weight):
            if self._pending is None:
                self._pending = _Summed(matrix)
            Z = np.asarray(self._training.features(X), dtype=np.float64)
            self._pending.take(Z, targets_of(y, weights.shape[0]) - weights.level, weight)
            weights.count(weight)
            return
        self.finish()
        self._training.learn(X, y, weight, np.zeros((len(y), weights.shape[0])))

    def finish(self) -> None:
        """Factor what has been summed."""
        if self._pending is not None:
            self._pending.finish()
            self._pending = None


class _Summed:
    """Rows summed into a matrix that is not factored."""

    def __init__(self, matrix: RecursiveLeastSquares) -> None:
        self.matrix, self.rows, self.squares = matrix, 0, 0.0
        self.explained = float(np.vdot(matrix.sums.b, matrix.w0))

    def take(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        root = np.sqrt(weight)
        Zs, Ys = Z * root[:, None], Y * root[:, None]
        self.matrix.sums.add(Zs, Ys)
        self.matrix.sums.z_sum += Zs.T @ root
        self.squares += float(np.vdot(Ys, Ys))
        self.rows += len(Z)

    def finish(self) -> None:
        matrix = self.matrix
        matrix.factor_anew()
        explained = float(np.vdot(matrix.sums.b, matrix.w0)) - self.explained
        residual = max(self.squares - explained, 0.0) / matrix.sums.b.shape[1]
        matrix.sums.noise += [residual, self.rows]
