"""A queue of which no more than so much is in memory; the rest is on disk."""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Generic, TypeVar

Entry = TypeVar("Entry")

# Entries in memory at most, but for those on their way to the disk, of which so many go at once.
_MOST, _PIECE = 100_000, 256
# Bytes of a file. One that was read gives its room back.
_FILE = 1 << 26


class Backlog(Generic[Entry]):
    """Entries, first in, first out.

    Parameters
    ----------
    folder : path-like
        Where the files are. They have no names, so nothing is left of them, however this ends.
    say : callable
        Takes a line about a disk that cannot be written. Then entries stay in memory.

    Examples
    --------
    >>> backlog = Backlog(".", print)
    >>> backlog.append("first")
    >>> backlog.append("second")
    >>> backlog.popleft(), len(backlog)
    ('first', 1)
    """

    def __init__(self, folder: str | Path, say: Callable[[str], object]) -> None:
        self._folder, self._say = Path(folder), say
        # the oldest, those on disk by files, and the youngest
        self._first: deque[Entry] = deque()
        self._files: deque[_File] = deque()
        self._last: list[Entry] = []
        self._n_on_disk = 0
        self._fails = False

    def __len__(self) -> int:
        return len(self._first) + self._n_on_disk + len(self._last)

    @property
    def is_full(self) -> bool:
        """Whether too many entries are in memory, as the disk cannot be written."""
        return self._fails and len(self._first) + len(self._last) >= _MOST

    def append(self, entry: Entry) -> None:
        """Add the youngest entry."""
        if len(self._first) < _MOST and not (self._files or self._last):
            self._first.append(entry)
            return
        self._last.append(entry)
        if len(self._last) >= _PIECE and not self._fails:
            self._write()

    def popleft(self) -> Entry:
        """Remove the oldest entry, and return it."""
        if not self._first and self._files:
            self._first.extend(self._files[0].read())
            self._n_on_disk -= len(self._first)
            if not self._files[0].pieces:
                self._files.popleft().file.close()
        elif not self._first:
            self._first.extend(self._last)
            self._last = []
        return self._first.popleft()

    def _write(self) -> None:
        """Move the youngest entries to the disk."""
        try:
            if not self._files or self._files[-1].size >= _FILE:
                self._files.append(_File(self._folder))
            self._files[-1].write(self._last)
        except OSError as error:
            self._fails = True
            if self._files and not self._files[-1].pieces:
                self._files.pop().file.close()
            self._say(f"labels that wait cannot be written to {self._folder}, so from now on rows "
                      f"wait if there are many: {error.strerror or error}")  # fmt: skip
            return
        self._n_on_disk += len(self._last)
        self._last = []


class _File(Generic[Entry]):
    """A file of pieces, which are read in their order."""

    def __init__(self, folder: Path) -> None:
        # it lives as long as its entries
        self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        #: where each piece that was not read begins and ends
        self.pieces: deque[tuple[int, int]] = deque()
        self.size = 0

    def write(self, entries: list[Entry]) -> None:
        """Add a piece; OSError if it could not be written as a whole."""
        content = pickle.dumps(entries, pickle.HIGHEST_PROTOCOL)
        self.file.seek(self.size)
        left = memoryview(content)
        while left:
            left = left[self.file.write(left) :]
        self.pieces.append((self.size, self.size + len(content)))
        self.size += len(content)

    def read(self) -> list[Entry]:
        """Take the first piece."""
        start, end = self.pieces.popleft()
        self.file.seek(start)
        content = b""
        while len(content) < end - start:
            content += self.file.read(end - start - len(content))
        found: list[Entry] = pickle.loads(content)
        return found
