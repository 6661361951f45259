"""The lock that keeps learning and scoring of one learner apart."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Lock:
    """A re-entrant lock; a copy or a pickle of its owner gets its own."""

    def __init__(self) -> None:
        self.held = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Lock, ()


def _lock_of(owner: Any) -> Any:
    """The owner's lock, made when it is first asked for."""
    own = owner.__dict__
    # setdefault is atomic: two threads get the same lock
    return (own.get("_lock") or own.setdefault("_lock", Lock())).held


def locked(method: _Method) -> _Method:
    """A method that holds its owner's lock: no other thread learns or scores meanwhile."""

    @wraps(method)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _lock_of(self):
            return method(self, *args, **kwargs)

    return alone  # type: ignore[return-value]
