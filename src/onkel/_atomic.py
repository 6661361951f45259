"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_file"]


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, moved to its place when the block ends well and removed when it does not.

    It is written beside its place, so the move stays within one file system, and flushed to disk
    before it, so that a crash leaves the old file or the new one, never half of either.

    Parameters
    ----------
    path : Path
        Its folder must exist.

    Yields
    ------
    binary file
        For writing.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself last through a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
