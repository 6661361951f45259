"""Records of a journal as bytes: each has its length, its number and a CRC-32.

The name of a segment is the number of its first cut. Its first record tells the format and which
model file it follows; each other one is a cut, as JSON.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Any

from onkel.errors import JournalError
from onkel.serve import notation

SUFFIX = ".journal"
_MARK = b"\xa5oj1"
# mark, bytes of the content, number, CRC-32 of both and the content
_HEAD = Struct("<4sIQI")
_LONGEST = 1 << 31
_FORMAT = 1


def as_json(content: Any) -> tuple[bytes, Any]:
    """A content as bytes, and as it will be read again; TypeError if JSON cannot hold it."""
    data, again = notation.exact(content)
    if len(data) >= _LONGEST:
        raise TypeError(f"a cut of {len(data):,} bytes is too large: {_LONGEST:,} at most")
    return data, again


def record(number: int, data: bytes) -> bytes:
    """The bytes of a record."""
    check = zlib.crc32(data, zlib.crc32(_HEAD.pack(_MARK, len(data), number, 0)))
    return _HEAD.pack(_MARK, len(data), number, check) + data


def frames(path: Path, content: bytes, first: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of each record's content; that before ``first`` is of the segment.

    It ends before a torn record at the end. JournalError if good ones follow a bad one.
    """
    start, number = 0, first - 1
    while start < len(content):
        end = _end(content, start, number)
        if end is None:
            following = start
            while (following := content.find(_MARK, following + 1)) >= 0:
                if _end(content, following, None) is not None:
                    raise damaged(path, start)
            return
        yield number, start + _HEAD.size, end
        start, number = end, number + 1


def _end(content: bytes, start: int, number: int | None) -> int | None:
    """Where a record ends, if a good one (of that number) starts there."""
    begin = start + _HEAD.size
    if begin > len(content):
        return None
    mark, size, own, check = _HEAD.unpack(content[start:begin])
    if mark != _MARK or begin + size > len(content) or number not in (None, own):
        return None
    data = content[begin : begin + size]
    found = zlib.crc32(data, zlib.crc32(_HEAD.pack(_MARK, size, own, 0)))
    return begin + size if found == check else None


def damaged(path: Path, byte: int) -> JournalError:
    """The error for a record that no crash can have left so."""
    return JournalError(
        f"{path}: the record at byte {byte:,} is damaged, and good ones follow it; restore the "
        "file, or begin with a new folder from the last model file"
    )


def first_number(path: Path) -> int:
    """The number of a segment's first cut, from its name."""
    try:
        return int(path.name.removesuffix(SUFFIX))
    except ValueError:
        raise JournalError(f"{path}: is no segment of a journal; remove it") from None


def beginning(after: int, model: str | None) -> bytes:
    """The first record of a segment that begins after a cut, and follows a model file."""
    return record(after, as_json({"format": _FORMAT, "model": model})[0])


def noted_model(path: Path) -> str | None:
    """The digest of the model file that a segment follows."""
    with path.open("rb") as file:
        size = _HEAD.unpack(file.read(_HEAD.size))[1]
        about = notation.decoded(file.read(size))
    if about.get("format") != _FORMAT:
        raise JournalError(
            f"{path}: written in format {about.get('format')}; this onkel reads format {_FORMAT}"
        )
    found: str | None = about["model"]
    return found
