"""A file that a run writes, and that another process may write meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

from onkel.persistence.atomic import write_whole

Mark = tuple[int, ...] | None


def _mark(path: Path | None) -> Mark:
    """What differs between two files of one name, as each is written whole."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def place_of(path: Path | None) -> Mark:
    """What differs between two files, and stays while one is written; None if there is none."""
    mark = _mark(path)
    return mark and mark[:2]


class Untouched:
    """A file as it is when a run begins. If another process writes it, that stays.

    The run then writes beside it. ``mark`` tells files apart; by default, any change counts.
    """

    def __init__(self, path: Path | None, mark: Callable[[Path | None], Mark] = _mark) -> None:
        self._given = self._path = path
        self._mark = mark
        self._found = mark(path)

    def path(self) -> Path | None:
        """Where to write: the file, or a new name beside what another process wrote."""
        path = self._path
        if path is not None and self._mark(path) not in (self._found, None):
            assert self._given is not None
            stem, suffix = self._given.stem, self._given.suffix
            names = (path.with_name(f"{stem}.{k}{suffix}") for k in count(2))
            self._path = next(name for name in names if not name.exists())
            self._found = None
        return self._path

    def write(self, content: bytes) -> Path:
        """Write the file, or a new one beside it; which it is."""
        path = self.path()
        assert path is not None
        try:
            write_whole(path, content)
        except OSError:
            # it may be ours all the same, if only its folder could not be flushed
            with suppress(OSError):
                if path.read_bytes() == content:
                    self.is_written()
            raise
        self.is_written()
        return path

    def is_written(self) -> None:
        """Know the file as the run has just written it."""
        self._found = self._mark(self._path)

    @property
    def moved(self) -> str | None:
        """What there is to say if the run writes beside the file."""
        if self._path == self._given:
            return None
        return (
            f"{self._given} was written by another process since this run began, and stays: the "
            f"model of this run is in {self._path}"
        )
