"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# A temporary file this old (seconds) belongs to a write that was killed.
_STALE = 3600.0


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, moved to its place when the block ends well and removed when it does not.

    It is written beside its place, so the move stays within one file system, and flushed to disk
    before it, so that a crash leaves the old file or the new one, never half of either. A link
    stays: the file it names is replaced. A file that is replaced keeps its permissions. What killed
    writes of the same file have left more than an hour ago is removed.

    Parameters
    ----------
    path : Path
        Its folder must exist.

    Yields
    ------
    binary file
        For writing.

    Raises
    ------
    OSError
        Something is there that is no regular file: a device, a pipe, a folder.
    """
    path = Path(os.path.realpath(path))
    mode = _mode(path)
    _remove_stale(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """The permissions of the file that is there; None where there is none."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        kind = "a folder" if stat.S_ISDIR(found) else "a device, pipe or socket"
        raise OSError(None, f"it is {kind}, not a regular file")
    return stat.S_IMODE(found)


def _remove_stale(path: Path) -> None:
    """Remove what killed writes of this very file have left."""
    start, end = f".{path.name}.", ".tmp"
    for other in path.parent.glob("*" + end):
        token = other.name[len(start) : -len(end)]
        ours = other.name == start + token + end and len(token) == 8
        if not ours or set(token) - set("0123456789abcdef") or other.is_symlink():
            continue
        try:
            if time.time() - other.stat().st_mtime > _STALE:
                other.unlink()
        except OSError:
            continue  # another process was faster, or it is not ours to remove


def _sync_folder(folder: Path) -> None:
    """Make the new name itself last through a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
