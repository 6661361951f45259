"""Find the files that a path, folder, glob, list or URL stands for."""

from __future__ import annotations

import glob
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from onkel.errors import DataError

FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
}
COMPRESSION = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file that can be opened: on disk, on standard input, or behind a URL."""

    name: str
    opener: Callable[[], BinaryIO]
    size: int | None = None
    once: bool = False

    @property
    def compression(self) -> str | None:
        """Name of the compression, by the file's last suffix."""
        return COMPRESSION.get(os.path.splitext(self.name)[1].lower())

    def open(self) -> BinaryIO:
        """The file's raw bytes."""
        try:
            return self.opener()
        except OSError as error:
            raise DataError(
                f"cannot be opened: {error.strerror or error}", source=self.name
            ) from None


def joint_name(files: list[FileRef]) -> str:
    """One name for all the files."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return files[0].name + more


def joint_size(files: list[FileRef]) -> int | None:
    """Bytes of all the files, if all sizes are known."""
    sizes = [file.size for file in files if file.size is not None]
    return sum(sizes) if len(sizes) == len(files) else None


def find_files(source: Any) -> list[FileRef]:
    """All files of a path, folder, glob, URL, ``"-"``, or a list of these."""
    if isinstance(source, (list, tuple)):
        return [ref for one in source for ref in find_files(one)]
    text = os.fspath(source)
    if text == "-":
        return [FileRef("standard input", _standard_input, once=True)]
    if "://" in text:
        return _from_url(text)
    if os.path.isdir(text):
        return _from_folder(text)
    if not os.path.exists(text) and glob.has_magic(text):
        paths = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p))
        if not paths:
            raise DataError("no file matches this pattern", source=text)
        return [_local(p) for p in paths]
    return [_local(text)]


_ended = threading.Event()
"""Set once a signal has ended standard input."""


def end_standard_input() -> None:
    """From now on standard input has no more bytes; a reader that waits for some goes on.

    What was read is handed over, but not a last line that is cut off.
    """
    _ended.set()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def standard_input_was_ended() -> bool:
    """Whether `end_standard_input` was called: the last line may be cut off."""
    return _ended.is_set()


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("it is closed; give a file, or pipe data into the command")
    return sys.stdin.buffer


def _local(path: str) -> FileRef:
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", source=path) from None
    return FileRef(path, lambda: open(path, "rb"), size)


def _from_folder(folder: str) -> list[FileRef]:
    found = [
        p
        for p in sorted(Path(folder).rglob("*"))
        if p.is_file() and not p.name.startswith((".", "_")) and _format_of(p.name)
    ]
    if not found:
        raise DataError("the folder has no data file with a known ending", source=folder)
    return [_local(str(p)) for p in found]


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


def find_format(refs: Iterable[FileRef], asked: str | None) -> str:
    """The format asked for, or the one that the file names show."""
    if asked is not None:
        if asked not in FORMATS:
            raise DataError(f"unknown format {asked!r}; the formats are {', '.join(FORMATS)}")
        return asked
    found: dict[str, str] = {}
    for ref in refs:
        one = _format_of(ref.name)
        if one is None:
            raise DataError(
                "its name does not tell the format; give format= (on the command line --format), "
                f"one of {', '.join(FORMATS)}",
                source=ref.name,
            )
        found.setdefault(one, ref.name)
    if len(found) > 1:
        raise DataError(f"files of several formats ({', '.join(found.values())}); give format=")
    return next(iter(found))
