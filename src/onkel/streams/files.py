"""Find the files that a path, folder, glob, list or URL stands for; pipes are read once."""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeGuard

from onkel.errors import DataError

FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
}
COMPRESSION = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file that can be opened: on disk, on standard input, or behind a URL.

    ``once``: it is a pipe, and its rows can be read only once.
    """

    name: str
    opener: Callable[[], BinaryIO]
    size: int | None = None
    once: bool = False

    @property
    def compression(self) -> str | None:
        """Name of the compression, by the file's last suffix."""
        return COMPRESSION.get(os.path.splitext(self.name)[1].lower())

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The file's raw bytes; closed at the end, except standard input."""
        try:
            raw = _PIPES.open(self.opener) if self.once else self.opener()
        except OSError as error:
            raise DataError(
                f"cannot be opened: {error.strerror or error}", source=self.name
            ) from None
        try:
            yield raw
        finally:
            if self.once:
                _PIPES.close(raw)
            else:
                raw.close()


def joint_name(files: list[FileRef]) -> str:
    """One name for all the files."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return files[0].name + more


def joint_size(files: list[FileRef]) -> int | None:
    """Bytes of all the files, if all sizes are known."""
    sizes = [file.size for file in files if file.size is not None]
    return sum(sizes) if len(sizes) == len(files) else None


#: a path, folder, glob or URL, or several
Files: TypeAlias = "str | os.PathLike[str] | list[Any] | tuple[str | os.PathLike[str], ...]"


def find_files(source: Files) -> list[FileRef]:
    """All files of a path, folder, glob, URL, ``"-"``, or a list of these."""
    if isinstance(source, (list, tuple)):
        return [ref for one in source for ref in find_files(one)]
    text = os.fspath(source)
    if text == "-":
        return [FileRef("standard input", _standard_input, once=True)]
    if "://" in text:
        return _from_url(text)
    if os.path.isdir(text):
        every = (p for p in sorted(Path(text).rglob("*")) if p.is_file())
        named = [p for p in every if not p.name.startswith((".", "_")) and _format_of(p.name)]
        if not named:
            raise DataError("the folder has no data file with a known ending", source=text)
        return [_local(str(p)) for p in named]
    if not os.path.exists(text) and glob.has_magic(text):
        paths = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p))
        if not paths:
            raise DataError("no file matches this pattern", source=text)
        return [_local(p) for p in paths]
    return [_local(text)]


class _Pipes:
    """The pipes that are open, so that a signal can end them."""

    def __init__(self) -> None:
        self.ended = False
        self._descriptors: dict[BinaryIO, int] = {}
        # opening a named pipe waits for its writer
        self._opens = False

    def open(self, opener: Callable[[], BinaryIO]) -> BinaryIO:
        self._opens = True
        try:
            raw = opener()
        finally:
            self._opens = False
        try:
            self._descriptors[raw] = raw.fileno()
        except OSError:
            return raw  # standard input that is held in memory
        if self.ended:
            self.end()
        return raw

    def close(self, raw: BinaryIO) -> None:
        self._descriptors.pop(raw, None)
        if raw is not getattr(sys.stdin, "buffer", None):
            raw.close()

    def end(self) -> bool:
        self.ended = True
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor in self._descriptors.values():
            os.dup2(nothing, descriptor)
        os.close(nothing)
        return not self._opens


_PIPES = _Pipes()


def end_pipes() -> bool:
    """From now on pipes have no more bytes; a reader that waits for some goes on.

    What was read is handed over, but not a last line that is cut off. False while a reader waits
    for somebody to open the other end: only an exception wakes it.
    """
    return _PIPES.end()


def pipes_were_ended() -> bool:
    """Whether `end_pipes` was called: the last line may be cut off."""
    return _PIPES.ended


def is_files(source: Any) -> TypeGuard[Files]:
    """Whether a source is a path, or a list of paths."""
    several = isinstance(source, (list, tuple)) and bool(source)
    return all(isinstance(one, (str, os.PathLike)) for one in (source if several else [source]))


def is_pipe(path: str) -> bool:
    """Whether a path is ``"-"``, a named pipe, a terminal or a socket: it is read once."""
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("it is closed; give a file, or pipe data into the command")
    return sys.stdin.buffer


def _local(path: str) -> FileRef:
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", source=path) from None
    once = is_pipe(path)
    return FileRef(path, lambda: open(path, "rb"), None if once else size, once)


def _from_url(url: str) -> list[FileRef]:
    try:
        import fsspec
    except ImportError:
        raise DataError(
            "a URL needs the package fsspec: pip install onkel[url]", source=url
        ) from None
    try:
        opened = fsspec.open_files(url, "rb")
        return [_remote(one) for one in opened]
    except (OSError, ValueError, ImportError) as error:
        raise DataError(f"cannot be opened: {error}", source=url) from None


def _remote(one: Any) -> FileRef:
    size = one.fs.size(one.path)
    return FileRef(one.full_name, lambda: one.fs.open(one.path, "rb"), size)


def _format_of(name: str) -> str | None:
    stem, suffix = os.path.splitext(name.lower())
    if suffix in COMPRESSION:
        suffix = os.path.splitext(stem)[1]
    for known, endings in FORMATS.items():
        if suffix in endings:
            return known
    return None


_SHEETS = (".xlsx", ".xls", ".xlsm", ".ods")


def find_format(refs: Iterable[FileRef], wanted: str | None) -> str:
    """The format asked for, or the one that the file names show."""
    if wanted is not None:
        if wanted not in FORMATS:
            raise DataError(f"unknown format {wanted!r}; the formats are {', '.join(FORMATS)}")
        return wanted
    found: dict[str, str] = {}
    for ref in refs:
        one = _format_of(ref.name)
        if one is None:
            if ref.name.lower().endswith(_SHEETS):
                raise DataError("is a spreadsheet; save it as CSV", source=ref.name)
            raise DataError(
                "its name does not tell the format; give format= (on the command line --format), "
                f"one of {', '.join(FORMATS)}",
                source=ref.name,
            )
        found.setdefault(one, ref.name)
    if len(found) > 1:
        raise DataError(
            f"files of several formats ({', '.join(found.values())}); name those of one format"
        )
    return next(iter(found))
