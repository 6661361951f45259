"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from onkel.errors import UnwrittenModelFileError

# A temporary file this old (seconds) belongs to a write that was killed.
_STALE = 3600.0


@contextmanager
def atomic_file(path: Path, named: Callable[[Path], Path] | None = None) -> Iterator[IO[bytes]]:
    """A temporary file to write in bytes; renamed to ``path`` if the block succeeds, else removed.

    It is in the same folder, which must exist, so the rename stays within one file system, and is
    flushed to disk first, so that a crash leaves the old file or the new one, never half of either.
    A link stays: the file it points to is replaced. A replaced file keeps its permissions.
    Temporary files that killed writes of the same file left more than an hour ago are removed.
    OSError if ``path`` exists and is not a regular file but a device, a pipe or a folder.

    When the block has succeeded, ``named`` turns the path into that of another file in its folder.
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
        os.replace(temporary, path if named is None else named(path))
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """The permissions of an existing file; None if there is none."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        kind = "a folder" if stat.S_ISDIR(found) else "a device, pipe or socket"
        raise OSError(None, f"it is {kind}, not a regular file")
    return stat.S_IMODE(found)


def _remove_stale(path: Path) -> None:
    """Remove temporary files that killed writes of this file have left."""
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


def sync_folder(folder: Path) -> None:
    """Make the rename survive a power cut, on POSIX systems."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically; if that fails, raise an UnwrittenModelFileError that says why."""
    if not path.parent.is_dir():
        raise UnwrittenModelFileError(path, f"the folder {path.parent} does not exist")
    try:
        with atomic_file(path) as file:
            file.write(content)
    except OSError as error:
        raise UnwrittenModelFileError(path, error.strerror or str(error)) from error
