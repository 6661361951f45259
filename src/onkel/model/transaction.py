"""A block is learned whole, or up to the row that is refused, or not at all.

Four things come in the way of learning, and each has its answer here:

* another thread: a method that is :func:`locked` runs alone;
* a signal, such as Ctrl-C: it waits until the rows in hand are learned
  (:mod:`onkel.numerics.signals`);
* a row after which the model would not be finite: it is undone and refused, and so is anything else
  that breaks off the learning of rows (:meth:`onkel.model.contract.Model.learn`);
* any other failure: what it began is as it was before (:func:`undone_on_failure`).

To undo rows costs little. If learning changes only a few vectors, they are copied before each
block. Any other model has a snapshot and a log of the rows learned since (:class:`RowLog`). To undo
a block the snapshot is restored and the log learned again, in the same pieces, which gives the same
bits. A snapshot of a large model is taken less often, so that the copy costs each row a bounded
amount. A model that cannot diverge undoes nothing by itself; its learner has the log, and also
undoes what it learned beside the model.
"""

from __future__ import annotations

import copy
import os
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from onkel.annotations import Matrix
from onkel.numerics.signals import signals_wait

_T = TypeVar("_T")
_Method = TypeVar("_Method", bound=Callable[..., Any])

# Chosen once and never changed: a snapshot shares them.
_SHARED = ("kernel", "rule", "budget", "undo_log", "_lock")


# ---- other threads -----------------------------------------------------------------------------


class Lock:
    """A re-entrant lock; a copy or a pickle of its owner gets its own."""

    def __init__(self) -> None:
        self.held: threading.RLock = threading.RLock()
        _locks.add(self)

    def __reduce__(self) -> tuple[object, ...]:
        return Lock, ()


#: all locks there are
_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def locked(method: _Method) -> _Method:
    """A method that holds its owner's lock: no other thread learns or scores meanwhile."""

    @wraps(method)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        # made when it is first asked for; setdefault is atomic: two threads get the same lock
        with (own.get("_lock") or own.setdefault("_lock", Lock())).held:
            return method(self, *args, **kwargs)

    return alone  # type: ignore[return-value]


@locked
def copied_whole(model: _T, memo: dict[int, object]) -> _T:
    """``__deepcopy__``: while another thread learns, the model before or after a block."""
    other = memo[id(model)] = type(model).__new__(type(model))
    vars(other).update(copy.deepcopy(vars(model), memo))
    return other


@locked
def state_whole(model: object) -> dict[str, object]:
    """``__getstate__``: a copy, as it is pickled when the lock is free again."""
    return copy.deepcopy(vars(model), {id(model): model})


def _after_fork() -> None:
    """The one thread of a forked process waits for none of its parent's."""
    for lock in list(_locks):
        lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# ---- learning that breaks off -------------------------------------------------------------------


class RowLog:
    """A snapshot of a model or a learner, and the rows it has learned since.

    There are at least ``period`` rows between two snapshots, and one row pays for ``bytes_a_row``.
    """

    def __init__(self, period: int = 256, bytes_a_row: int = 1 << 14) -> None:
        self.least: int = period
        self.bytes_a_row: int = bytes_a_row
        self.forget()

    def __reduce__(self) -> tuple[object, ...]:
        # a copied or loaded model begins with a new snapshot
        return RowLog, (self.least, self.bytes_a_row)

    def forget(self) -> None:
        """Drop the snapshot and the rows."""
        self._kept: dict[str, object] | None = None
        self._blocks: list[tuple[Any, ...]] = []
        self._shape: tuple[int, ...] = ()
        self._rows, self._bytes, self._learned = 0, 0, 0
        self._period, self._most_bytes = self.least, 0

    def begin(
        self, owner: object, n_outputs: int, X: Matrix, *more: np.ndarray | list[Hashable] | None
    ) -> None:
        """Log the rows X that are learned next, and what comes with them.

        A snapshot is taken first, unless a recent one has the same number of outputs and columns.
        """
        whole = self._rows + X.shape[0] > self._period or self._bytes > self._most_bytes
        shape = n_outputs, X.shape[1]
        if self._kept is None or whole or self._shape != shape:
            self.forget()
            self._kept, self._shape = snapshot(owner), shape
            size = _nbytes(self._kept)
            self._period = max(self.least, size // self.bytes_a_row)
            self._most_bytes = max(size, 1 << 20)
        self._learned = len(self._blocks)
        self._rows += X.shape[0]
        if self._rows < self._period:
            # else the next rows begin with a snapshot
            self._bytes += X.nbytes if isinstance(X, np.ndarray) else 2 * X.data.nbytes
            self._blocks.append(tuple([None if of is None else of.copy() for of in (X, *more)]))

    def replay(self, owner: object, learn: Callable[..., object]) -> None:
        """Set the owner back to the snapshot, and learn the rows between it and the last once more.

        The last rows are those that :meth:`begin` was called for.
        """
        assert self._kept is not None
        # a copy, as the rows may be learned once more
        restore(owner, _copied(owner, self._kept))
        for block in self._blocks[: self._learned]:
            learn(*block)


def snapshot(model: object) -> dict[str, object]:
    """A copy of all that the model holds; :func:`restore` brings it back."""
    return _copied(model, model.__dict__)


def _copied(model: object, own: dict[str, object]) -> dict[str, object]:
    # references to the model and to its shared parts are kept, not copied
    memo = {id(own[name]): own[name] for name in _SHARED if name in own}
    memo[id(model)] = model
    return {name: copy.deepcopy(value, memo) for name, value in own.items()}


def restore(model: object, kept: dict[str, object]) -> None:
    """Set the model back to the snapshot, whose arrays it then owns."""
    model.__dict__.clear()
    model.__dict__.update(kept)


def _nbytes(kept: dict[str, object]) -> int:
    """Bytes of the arrays in a snapshot."""
    total, seen, todo = 0, set(), list(kept.values())
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list | tuple):
            todo += value
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            todo += vars(value).values()
    return total


# ---- any other failure -------------------------------------------------------------------------


@contextmanager
def undone_on_failure(owner: object) -> Iterator[None]:
    """If what is inside fails, set the owner back to what it was.

    What is inside gives attributes new values; it changes no object that was there before.
    """
    before = dict(owner.__dict__)
    try:
        yield
    except BaseException:
        with signals_wait:
            restore(owner, before)
        raise
