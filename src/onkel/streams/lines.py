"""Read text files in chunks of whole records; a pipe that pauses hands over what has come."""

from __future__ import annotations

import codecs
import io
import lzma
import math
import os
import select
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from onkel.errors import DataError
from onkel.numerics import notices
from onkel.streams.files import FileRef, pipes_were_ended

_PAUSE = 0.2
"""Seconds without a byte after which what has come is handed over."""
_LATEST = 0.5
"""Seconds after the first byte when what has come is handed over, though more is coming."""
_LONG = 1.0
"""Seconds without a byte after which a message says what is waited for."""


class PipeReader:
    """Reads a file descriptor; it ``waits`` if the last `read` ended because nothing more came.

    The first ``first_lines`` lines are handed over together: the columns are inferred from them.
    """

    def __init__(self, descriptor: int, first_lines: float) -> None:
        self.waits: bool = False
        #: whether all was read
        self.ended: bool = False
        self._descriptor = descriptor
        self._first_lines = self._lines_left = first_lines
        self._said = False
        self._began = time.monotonic()

    def read(self, size: int) -> bytes:
        """``size`` bytes, or fewer at the end or when the pipe pauses."""
        parts, got = [], 0
        self.waits = False
        latest = math.inf
        while got < size:
            self._say_what_is_waited_for()
            part = os.read(self._descriptor, size - got)
            latest = min(latest, time.monotonic() + _LATEST)
            if not part:
                self.ended = True
                break
            parts.append(part)
            got += len(part)
            self._lines_left -= part.count(b"\n")
            if self._lines_left <= 0 and (
                time.monotonic() > latest
                or not select.select([self._descriptor], [], [], _PAUSE)[0]
            ):
                self.waits = True
                break
        return b"".join(parts)

    def _say_what_is_waited_for(self) -> None:
        """Say once that the reader is waiting for the first lines."""
        if self._said or self._lines_left <= 0 or math.isinf(self._lines_left):
            return
        left = max(self._began + _LONG - time.monotonic(), 0.0)
        if not (left and select.select([self._descriptor], [], [], left)[0]):
            self._said = True
            notices.say(
                f"waiting for the first {self._first_lines:,} lines, or for the end: they tell "
                f"what the columns are; {self._first_lines - self._lines_left:,} so far"
            )


def pipe_reader(raw: Any, first_lines: float) -> Any:
    """A reader of a pipe that does not wait for whole chunks; on POSIX systems only."""
    if os.name != "posix":
        return raw
    try:
        return PipeReader(raw.fileno(), first_lines)
    except (AttributeError, io.UnsupportedOperation):
        return raw


class _Decoded:
    """What a pipe brings, from another encoding to UTF-8."""

    def __init__(self, pipe: PipeReader, encoding: str) -> None:
        self._pipe = pipe
        self._decoder = codecs.getincrementaldecoder(encoding)()

    @property
    def waits(self) -> bool:
        return self._pipe.waits

    @property
    def ended(self) -> bool:
        return self._pipe.ended

    def read(self, size: int) -> bytes:
        while True:
            data = self._pipe.read(size)
            text = self._decoder.decode(data, final=self._pipe.ended)
            if text or not data:
                return text.encode()


# What unpackers say of bytes that are not packed, and of packed data without their end.
_NOT_PACKED = (
    "incorrect header", "unknown compression method", "Input format not supported",
    "not bz2-compressed", "Unknown frame descriptor",
)  # fmt: skip
_CUT_OFF = "Truncated compressed stream", "ended before the end-of-stream marker"
# How files begin that are no text, whatever they are called, and what to do then.
_PACKED = "holds {} data; unpack it, or let its name end in {}"
_NO_TEXT = {
    b"\x1f\x8b": _PACKED.format("gzip", ".gz"),
    b"\x28\xb5\x2f\xfd": _PACKED.format("zstd", ".zst"),
    b"\xfd7zXZ\x00": _PACKED.format("xz", ".xz"),
    b"BZh91AY&SY": _PACKED.format("bz2", ".bz2"),
    b"PK\x03\x04": "holds zip data (as spreadsheets do); unpack it, or write it as CSV",
    b"PAR1\x15": "holds Parquet data; say format='parquet' (on the command line --format parquet)",
    b"ARROW1\x00\x00": "holds Arrow data; say format='arrow' (on the command line --format arrow)",
}

# Large enough to keep a parser busy, small enough for the rows to stay in the cache.
CHUNK_BYTES = 1 << 20
_LONGEST = 1 << 26


class Chunk(NamedTuple):
    """Whole records; ``line`` is the line (from 1) in the file where the first one begins."""

    data: bytes
    line: int
    done: int
    n_lines: int
    waits: bool = False


def _cut(data: bytes, quotes: bool) -> int:
    """Where the last whole record ends; 0 if there is none.

    A line end inside quotes is text: it has an odd number of quotes before it. A stray quote
    breaks that count; if no line end fits, each line is a record.
    """
    plain = at = data.rfind(b"\n") + 1
    if not quotes or b'"' not in data:
        return plain
    inside = data.count(b'"', 0, at) % 2
    while at and inside:
        quote = data.rfind(b'"', 0, at)
        before = data.rfind(b"\n", 0, quote) + 1
        inside = (inside + data.count(b'"', before, at)) % 2
        at = before
    return at or plain


def line_chunks(
    ref: FileRef, *, quotes: bool, first_lines: float, encoding: str | None = None
) -> Iterator[Chunk]:
    """Chunks of about ``CHUNK_BYTES`` of a text file, decompressed and in UTF-8.

    When a pipe pauses, the bytes so far become a chunk; the first has at least ``first_lines``
    lines.
    """
    try:
        with ref.opened() as raw:
            stream: Any = pipe_reader(raw, first_lines) if ref.once else raw
            if ref.compression:
                import pyarrow as pa

                if ref.compression == "xz":  # Arrow cannot read it
                    stream = pa.PythonFile(lzma.LZMAFile(raw), "r")  # noqa: SIM115
                else:
                    stream = pa.input_stream(pa.PythonFile(raw, "r"), compression=ref.compression)
            if encoding is not None and isinstance(stream, PipeReader):
                stream = _Decoded(stream, encoding)
            elif encoding is not None:
                import pyarrow as pa

                plain = stream if ref.compression else pa.PythonFile(raw, "r")
                stream = pa.transcoding_input_stream(plain, encoding, "utf-8")
            yield from _chunks(stream, raw, ref, quotes, CHUNK_BYTES)
    except UnicodeError as error:
        why = getattr(error, "reason", error)
        raise DataError(
            f"is not text in {encoding} ({why}); say which encoding it is in (encoding=, on the "
            "command line --encoding)",
            source=ref.name,
        ) from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"cannot be read to its end: {_why(error, ref)}", source=ref.name) from None


def _why(error: Exception, ref: FileRef) -> str:
    """What is wrong with packed data, in plain words."""
    text = str(error)
    if ref.compression and any(word in text for word in _NOT_PACKED):
        return (
            f"its name says {ref.compression}, and not all of it is; cut off what does not belong, "
            "or unpack it"
        )
    if ref.compression and any(word in text for word in _CUT_OFF):
        return f"its {ref.compression} data are cut off; copy the whole file again"
    return text


def _chunks(stream: Any, raw: Any, ref: FileRef, quotes: bool, size: int) -> Iterator[Chunk]:
    rest, line, done, ended = b"", 1, 0, False
    after = stream.read(size)
    while after and not ended:
        more, after = after, b""
        if not done:
            _refuse_what_is_no_text(more, ref)
        data = rest + more if rest else more
        done = raw.tell() if ref.compression and not ref.once else done + len(more)
        is_pipe = isinstance(stream, PipeReader | _Decoded)
        if not is_pipe and len(more) < size:
            after = stream.read(size)
        ended = stream.ended if is_pipe else len(more) < size and not after
        cut = _cut(data, quotes)
        # a last line without an end tells what the columns are as any other does
        if ended and _is_whole(data[cut:], quotes) and not (ref.once and pipes_were_ended()):
            cut = len(data)
        rest, data = data[cut:], data[:cut]
        if data:
            n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
            yield Chunk(data, line, done, n_lines, is_pipe and stream.waits)
            line += n_lines
        elif len(rest) > _LONGEST:
            raise DataError(
                f"line {line} has no end in its first {_LONGEST >> 20} MiB; "
                "is this a text file of the format given?",
                source=ref.name,
            )
        after = after if after or ended else stream.read(size)
    if rest and not (ref.once and pipes_were_ended()):
        yield Chunk(rest, line, done, rest.count(b"\n") + 1)


def _is_whole(record: bytes, quotes: bool) -> bool:
    """Whether a record without a line end has all its quotes."""
    return not (quotes and record.count(b'"') % 2)


def _refuse_what_is_no_text(data: bytes, ref: FileRef) -> None:
    for beginning, what in _NO_TEXT.items():
        if data.startswith(beginning):
            raise DataError(what, source=ref.name)


def line_of(chunk: Chunk, record: int) -> str:
    """``"line 7: "`` for a message if each line is a record; else an empty text."""
    if b'"' in chunk.data:
        return ""
    for number, line in enumerate(chunk.data.split(b"\n"), chunk.line):
        if line.strip(b"\r"):
            if record == 0:
                return f"line {number}: "
            record -= 1
    return ""
