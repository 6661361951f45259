"""Locks on files: one process at a time; a lock ends with its process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def locked(lock: Path) -> int:
    """The handle of a lock file, which is made if there is none; closing it ends the lock.

    BlockingIOError: another process has the lock. ModuleNotFoundError: there are no such locks.
    """
    import fcntl

    while True:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # who had it may have removed the file meanwhile
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), lock.stat()):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock on a file that is written again and again; ValueError if another process does.

    The lock is a file beside it, and gone at the end. A folder that knows no locks has none.
    """
    path = Path(os.path.realpath(path))
    lock = path.with_name(f".{path.name}.lock")
    try:
        file = locked(lock)
    except BlockingIOError:
        raise ValueError(
            f"{path}: another process learns this model and writes its file; end it, or name "
            "another file"
        ) from None
    except (OSError, ModuleNotFoundError):
        # what is wrong with the folder is said where the file is written
        file = -1
    try:
        yield
    finally:
        if file >= 0:
            with suppress(OSError):
                lock.unlink()
            os.close(file)
