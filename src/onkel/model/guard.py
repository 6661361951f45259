"""Divergence: learning that leaves the range of floats is undone and reported with its row.

If learning changes only a few vectors, they are copied before each block. For any other model the
guard keeps a snapshot and a log of the rows learned since. To undo a block it restores the snapshot
and learns the log again, in the same pieces, which gives the same bits. A snapshot is taken every
``_PERIOD`` rows, less often of a large model, so that the copy costs each row a bounded amount.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np

from onkel.errors import DivergenceError

# The fewest rows between two snapshots, and bytes of a snapshot that one row pays for.
_PERIOD, _BYTES_A_ROW = 256, 1 << 14
# Chosen once and never changed: a snapshot shares them.
_SHARED = ("kernel", "rule", "budget", "guard")


class Guarded(Protocol):
    """What the guard asks of a model; see :class:`onkel.model.contract.Model`."""

    n_outputs: int

    @property
    def cannot_diverge(self) -> bool: ...
    def is_finite(self) -> bool: ...
    def few_weights(self) -> dict[str, np.ndarray] | None: ...
    def take_few(self, few: dict[str, np.ndarray]) -> None: ...
    def learn_rows(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray: ...


Snapshot = dict[str, Any]
Rows = tuple[Any, np.ndarray, np.ndarray]


def diverged(row: int, scores: np.ndarray | None = None) -> DivergenceError:
    """The error for a row that makes a model diverge; ``scores`` of the rows before it."""
    error = DivergenceError(
        "learning this row makes the model diverge (its scores are no longer finite numbers); try "
        "a smaller learning_rate, another loss, or scaled features and targets",
        row=row,
    )
    error.scores = scores
    return error


def snapshot(model: Any) -> Snapshot:
    """A copy of all that the model holds; :func:`restore` brings it back."""
    own = model.__dict__
    # references to the model and to its shared parts are kept, not copied
    memo = {id(own[name]): own[name] for name in _SHARED if name in own}
    memo[id(model)] = model
    return {name: copy.deepcopy(value, memo) for name, value in own.items()}


def restore(model: Any, kept: Snapshot) -> None:
    """Set the model back to the snapshot, whose arrays it then owns."""
    model.__dict__.clear()
    model.__dict__.update(kept)


class Guard:
    """Keeps one model finite: a row that would make it infinite is undone and refused."""

    def __init__(self) -> None:
        self.forget()

    def __reduce__(self) -> tuple[Any, ...]:
        # a copied or loaded model begins with a new snapshot
        return Guard, ()

    def forget(self) -> None:
        """Drop the snapshot."""
        self._kept: Snapshot | None = None
        self._log: list[Rows] = []
        self._shape = 0, 0
        self._rows, self._bytes = 0, 0
        self._period, self._most_bytes = _PERIOD, 0

    def learn(self, model: Guarded, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each.

        Raises
        ------
        DivergenceError
            Holds the row, and the scores of the rows before it, which have been learned.
        """
        if model.cannot_diverge or X.shape[0] == 0:
            return model.learn_rows(X, y, weight)
        few = model.few_weights()
        if few is None:
            self._keep(model, X)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            P = _attempt(model, X, y, weight)
            if P is not None and np.isfinite(P).all() and model.is_finite():
                if few is None:
                    self._note(X, y, weight)
                return P
            row, P = self._last_good(model, few, P, X, y, weight)
        self.forget()
        raise diverged(row, P)

    # ---- undoing -------------------------------------------------------------------------------

    def _last_good(
        self, model: Guarded, few: Any, P: Any, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> tuple[int, np.ndarray]:
        """Learn rows for as long as the model stays finite; returns their number and scores."""

        def learned(n: int) -> np.ndarray | None:
            self._rewind(model, few)
            if n == 0:
                return np.zeros((0, model.n_outputs))
            P = _attempt(model, X[:n], y[:n], weight[:n])
            return P if P is not None and np.isfinite(P).all() and model.is_finite() else None

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

    def _rewind(self, model: Guarded, few: Any) -> None:
        """Set the model back to what it was before this block."""
        if few is not None:
            model.take_few({name: value.copy() for name, value in few.items()})
            return
        assert self._kept is not None
        # a copy, as the log may be learned once more
        memo = {id(self._kept[name]): self._kept[name] for name in _SHARED if name in self._kept}
        memo[id(model)] = model
        restore(model, copy.deepcopy(self._kept, memo))
        for rows in self._log:
            model.learn_rows(*rows)

    # ---- the snapshot and the log --------------------------------------------------------------

    def _keep(self, model: Guarded, X: Any) -> None:
        """Take a snapshot, unless a recent one has the same number of classes and columns."""
        whole = self._rows + X.shape[0] > self._period or self._bytes > self._most_bytes
        shape = model.n_outputs, X.shape[1]
        if self._kept is not None and not whole and self._shape == shape:
            return
        self.forget()
        self._kept, self._shape = snapshot(model), shape
        size = _nbytes(self._kept)
        self._period = max(_PERIOD, size // _BYTES_A_ROW)
        self._most_bytes = max(size, 1 << 20)

    def _note(self, X: Any, y: np.ndarray, weight: np.ndarray) -> None:
        """Log rows that were learned, as long as the snapshot may be needed."""
        if self._rows + X.shape[0] >= self._period:
            self.forget()
            return
        self._rows += X.shape[0]
        self._bytes += X.nbytes if isinstance(X, np.ndarray) else 2 * X.data.nbytes
        self._log.append((X.copy(), y.copy(), weight.copy()))


def _attempt(model: Guarded, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Learn the rows; returns the scores before, or None if the arithmetic failed."""
    try:
        return model.learn_rows(X, y, weight)
    except (ArithmeticError, ValueError):
        # a number too large for a formula: OverflowError, LinAlgError (a ValueError) and the like
        return None


def _nbytes(value: Any, depth: int = 4) -> int:
    """Approximate bytes of the arrays in a snapshot."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if depth == 0:
        return 0
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    else:
        parts = vars(value).values() if hasattr(value, "__dict__") else ()
    return sum(_nbytes(part, depth - 1) for part in parts)
