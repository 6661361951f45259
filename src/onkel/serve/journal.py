"""A journal: cuts of events on disk before a model learns them, so that no crash loses one.

It is a folder of segments. A segment is a file of records (`serve/records.py`), and a record is one
cut: its running number, the position of the source after it, and its events. A new segment begins
with each snapshot of the model; older ones are removed when the snapshot is safe on disk.

A crash in the middle of writing leaves a torn record at the very end. Nobody got an answer to
it, so it is dropped. A record that is damaged and has good ones after it is an error. A segment
without a cut that others follow is what earlier versions left on a full disk; it is dropped, too,
if the others have all cuts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from onkel.errors import JournalError
from onkel.persistence.atomic import sync_folder
from onkel.persistence.locking import locked
from onkel.serve import notation
from onkel.serve.records import (
    SUFFIX,
    as_json,
    beginning,
    damaged,
    first_number,
    frames,
    noted_model,
    record,
)

# A segment that is being begun; and the bytes that it may have by then.
_BEGUN = ".begun"
_LONGEST_BEGINNING = 200


class Cut(NamedTuple):
    """Events that were taken together, and where the source stood after them."""

    number: int
    position: object
    events: Any


class Journal:
    """Records on disk that are only appended; one process at a time may use their folder.

    Parameters
    ----------
    folder : path-like
        Made if there is none.
    segment_bytes : int
        A segment that has grown to so many bytes is followed by a new one.

    Attributes
    ----------
    first, last : int
        Numbers of the first and the last cut; ``first = last + 1`` if there is none.
    dropped : str or None
        What a crash or a full disk had left; it is of no cut that was acknowledged.

    Raises
    ------
    JournalError
        Another process uses the folder, or a record before others is damaged; the error names the
        file and the byte.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Journal(folder) as journal:
    ...     cut = journal.append([{"id": 1, "size": 70.0}], position={"orders": 1})
    ...     journal.commit()
    >>> with Journal(folder) as journal:
    ...     list(journal.records())
    [Cut(number=1, position={'orders': 1}, events=[{'id': 1, 'size': 70.0}])]
    """

    first: int
    last: int

    def __init__(self, folder: str | os.PathLike[str], *, segment_bytes: int = 64 << 20) -> None:
        self.folder: Path = Path(folder)
        self.dropped: str | None = None
        self.first, self.last = 1, 0
        self._segment_bytes = segment_bytes
        self._file = -1
        self._size = 0
        # the last cut that was written; later ones were appended
        self._on_disk = 0
        # where the last commit began
        self._before = 0
        self._broken: str | None = None
        # whether the folder is known to hold the segment that is written, whatever happens
        self._is_listed = True
        self._pending: list[bytes] = []
        # writes while others work; its thread begins when it is first needed
        self._writer = ThreadPoolExecutor(1, "onkel journal")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.folder)
        except OSError as error:
            raise JournalError(f"{folder}: cannot be used: {error.strerror or error}") from None
        try:
            self._segments = sorted(self.folder.glob(f"*{SUFFIX}"))
            self._find_end()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; what was appended and not committed is forgotten."""
        self._writer.shutdown()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def append(self, events: object, position: object = None) -> Cut:
        """Note a cut, which `commit` writes; returns it as it will be read again.

        TypeError for events that JSON cannot hold; nothing is noted then.
        """
        number = self.last + 1
        content, again = as_json([position, events])
        self._pending.append(record(number, content))
        self.last = number
        return Cut(number, *again)

    def commit(self) -> None:
        """Write what was appended; it is on disk when this returns.

        JournalError if it could not be written. Then it is not in the journal, and after an error
        that leaves it unsure what the disk holds, nothing more is taken.
        """
        self._commit(*self._taken())

    def _taken(self) -> tuple[int, list[bytes]]:
        """What was appended, and the number of the cut before it."""
        pending, self._pending = self._pending, []
        return self.last - len(pending), pending

    def _commit(self, before: int, pending: list[bytes]) -> None:
        if not pending:
            return
        content = b"".join(pending)
        try:
            if self._broken:
                raise OSError(None, self._broken)
            if before != self._on_disk:
                raise OSError(None, "cuts before it could not be written")
            if self.is_gone:
                raise OSError(None, "it was removed while it was used; save the model")
            if self._file < 0 or self._size >= self._segment_bytes:
                self._begin(before)
            if not self._is_listed:
                self._list()
            _write(self._file, content)
            _sync(self._file)
        except OSError as error:
            self.last = self._on_disk
            self._cut_back()
            raise JournalError(
                f"{self.folder}: the journal cannot be written ({error.strerror or error}); "
                "nothing of these events was taken"
            ) from error
        self._before, self._size = self._size, self._size + len(content)
        self._on_disk = before + len(pending)

    def take_back(self, number: int) -> None:
        """Remove the last cut, of this number, which the last commit wrote; nobody has learned it.

        JournalError if the disk cannot do that: nothing more is taken then.
        """
        if number != self.last or self._pending:
            raise ValueError(f"cut {number:,} is not the last one, which is {self.last:,}")
        self.last, self._size = number - 1, self._before
        self._on_disk = self.last
        self._cut_back()
        if self._broken:
            raise JournalError(f"{self.folder}: cut {number:,} stays in it: {self._broken}")

    def commit_meanwhile(self) -> Future[None]:
        """Begin to `commit` in another thread; until it has ended, cuts may only be appended."""
        return self._writer.submit(self._commit, *self._taken())

    def records(self, after: int = 0) -> Iterator[Cut]:
        """The cuts that were committed, from number ``after + 1``."""
        for path, following in zip(self._segments, [*self._segments[1:], None], strict=True):
            if following is not None and first_number(following) <= after + 1:
                continue
            content = path.read_bytes()
            for number, start, end in frames(path, content, first_number(path)):
                if number > after and number >= first_number(path):
                    position, events = notation.decoded(content[start:end])
                    yield Cut(number, position, events)

    def begin_segment(self, model: str | None = None) -> None:
        """Begin a new segment; ``model``: the digest of the model file that knows all before it."""
        try:
            self._begin(self.last, model)
        except OSError as error:
            raise JournalError(
                f"{self.folder}: no new segment can be begun: {error.strerror or error}"
            ) from error

    def _begin(self, after: int, model: str | None = None) -> None:
        path = self.folder / f"{after + 1:020d}{SUFFIX}"
        content = beginning(after, model)
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            os.close(self._lock)
            self._lock = _locked(self.folder)
        # what a full disk leaves of it is no segment yet
        begun = path.with_suffix(_BEGUN)
        file = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            _write(file, content)
            os.fsync(file)
            begun.replace(path)
        except OSError:
            os.close(file)
            with suppress(OSError):
                begun.unlink(missing_ok=True)
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file, self._size = file, len(content)
        if path not in self._segments:
            self._segments.append(path)
        self._is_listed = False
        self._list()

    def _list(self) -> None:
        """Make sure that the folder holds the segment that is written."""
        sync_folder(self.folder)
        self._is_listed = True

    def forget(self, number: int) -> None:
        """Remove the segments that hold nothing after a number: a model file has all of that.

        One that cannot be removed does no harm, and the next call tries again.
        """
        with suppress(OSError):
            while len(self._segments) > 1 and first_number(self._segments[1]) <= number + 1:
                self._segments[0].unlink(missing_ok=True)
                self._segments.pop(0)
                self.first = first_number(self._segments[0])
            sync_folder(self.folder)

    def follow(self, number: int, model: str | None) -> None:
        """Number the next cuts after a model file, which knows the cuts up to ``number``.

        JournalError if the journal is that of another model, or lacks cuts that follow.
        """
        if not self._segments or (self.is_empty and self.last < number):
            self.first, self.last = number + 1, number
            self._on_disk = number
            self._remove_all()
            self.begin_segment(model)
            return
        before = self.first - 1
        if before > number or self.last < number:
            raise JournalError(
                f"{self.folder}: the journal has cuts {self.first:,} to {self.last:,}, and the "
                f"model file knows those up to {number:,}: they are not of each other; give the "
                "folder of this model, or a new one"
            )
        for path in self._segments:
            noted = noted_model(path)
            if first_number(path) == number + 1 and None not in (noted, model) and noted != model:
                raise JournalError(
                    f"{self.folder}: the journal follows another model file than this one; give "
                    "the folder of this model, or a new one"
                )

    @property
    def is_gone(self) -> bool:
        """Whether the segment that is written was removed, or its folder: a crash would lose it."""
        if self._file < 0:
            return False
        try:
            return not os.path.samestat(os.fstat(self._file), self._segments[-1].stat())
        except OSError:
            return True

    @property
    def is_empty(self) -> bool:
        """Whether there is no cut."""
        return self.first > self.last

    @property
    def nbytes(self) -> int:
        """Bytes of the segments."""
        return sum(path.stat().st_size for path in self._segments if path.exists())

    def _find_end(self) -> None:
        """Check all records, and drop what a crash or a full disk left."""
        self.first, self.last = 1, 0
        # segments without a cut, and where the good part of the last one ends
        left: list[tuple[Path, int, int]] = []
        is_first = True
        for path in self._segments:
            content, first = path.read_bytes(), first_number(path)
            last, end = first - 2, 0
            for number, _, stop in frames(path, content, first):
                last, end = number, stop
            final = path == self._segments[-1]
            begun = end == 0 and len(content) <= _LONGEST_BEGINNING
            if end < len(content) and not (final or begun):
                raise damaged(path, end)
            goes_on = final and (is_first or first > self.last)
            if end == 0 or (last < first and not goes_on):
                left.append((path, 0, len(content)))
                continue
            if end < len(content):
                left.append((path, end, len(content)))
            if is_first:
                self.first, is_first = first, False
            elif first != self.last + 1:
                raise JournalError(
                    f"{path}: begins with cut {first:,}, and the segment before it ends with "
                    f"{self.last:,}; a segment is missing"
                )
            self.last = last
        self._on_disk = self.last
        for path, end, size in left:
            self._drop(path, end, size)
        for path in self.folder.glob(f"*{_BEGUN}"):
            path.unlink(missing_ok=True)
        self._segments = [path for path in self._segments if path.exists()]
        if self._segments:
            noted_model(self._segments[-1])
            self._file = os.open(self._segments[-1], os.O_WRONLY | os.O_APPEND)
            self._size = os.fstat(self._file).st_size

    def _drop(self, path: Path, end: int, size: int) -> None:
        """Cut off a torn record, or remove a segment that had not begun."""
        if end == 0:
            path.unlink()
        else:
            os.truncate(path, end)
            file = os.open(path, os.O_WRONLY)
            _sync(file)
            os.close(file)
        sync_folder(self.folder)
        if size > end:
            self.dropped = f"{path}: {size - end:,} bytes of no cut that was acknowledged"

    def _cut_back(self) -> None:
        """Remove what a failed commit wrote; a disk that cannot do that is trusted no more."""
        try:
            os.ftruncate(self._file, self._size)
            _sync(self._file)
        except OSError as error:
            self._broken = f"an earlier failure could not be undone: {error.strerror or error}"

    def _remove_all(self) -> None:
        for path in self._segments:
            path.unlink(missing_ok=True)
        self._segments = []


def _locked(folder: Path) -> int:
    """A lock on the folder, which ends with the process."""
    try:
        return locked(folder / "lock")
    except ModuleNotFoundError:
        raise JournalError(f"{folder}: a journal needs file locks as POSIX has them") from None
    except BlockingIOError:
        raise JournalError(
            f"{folder}: another process uses this journal; end it, or give another folder"
        ) from None


def _write(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _sync(file: int) -> None:
    getattr(os, "fdatasync", os.fsync)(file)
