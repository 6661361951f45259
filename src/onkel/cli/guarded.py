"""Standard streams that nobody may listen to: a run survives a closed terminal and a full pipe."""

from __future__ import annotations

import errno
import os
import select
import sys
from typing import Any


class UnwrittenError(OSError):
    """The result could not be written to stdout, or to the file ``filename``."""


def guard_streams() -> None:
    """Let a run survive that nobody listens to it: the terminal is closed, a pipe or disk is full.

    Notices that cannot be written to stderr are dropped. A result that cannot be written to stdout
    raises an `UnwrittenError`; a character that stdout cannot encode becomes a question mark.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # so that no file that is opened later takes its place
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout = _Results(sys.stdout)
    sys.stderr = Notices(sys.stderr)


def never_wait() -> None:
    """From now on notices are dropped while nobody reads stderr, and nothing waits for a reader."""
    if isinstance(sys.stderr, Notices):
        sys.stderr.waits = False


class _Guarded:
    """A standard stream whose errors do not end a run; ``stream`` is None if it is closed."""

    def __init__(self, stream: Any, descriptor: int) -> None:
        self._stream = stream
        self._descriptor = descriptor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def encoding(self) -> str:
        return str(getattr(self._stream, "encoding", "utf-8"))

    def isatty(self) -> bool:
        return self._stream is not None and bool(self._stream.isatty())

    def write(self, text: Any) -> int:
        # Typer writes "" to see whether it can, and swallows what that raises
        return 0 if isinstance(text, str) and not text else int(self._try("write", text) or 0)

    def flush(self) -> None:
        self._try("flush")

    def _try(self, what: str, *args: Any) -> Any:
        raise NotImplementedError

    def _silence(self) -> None:
        """Send what is still in the buffers nowhere: Python writes it at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)


PIECE = 4096
"""Bytes that a pipe which is ready takes without waiting."""


class Notices(_Guarded):
    """stderr: what cannot be written is dropped; if it never ``waits``, also what nobody reads."""

    def __init__(self, stream: Any, descriptor: int = 2, waits: bool = True) -> None:
        super().__init__(stream, descriptor)
        self.waits = waits
        self._dropped = 0

    def write(self, text: Any) -> int:
        if self.waits:
            return super().write(text)
        if self._dropped:
            text = f"({self._dropped:,} notices were dropped) {text}"
        data = text.encode("utf-8", "replace")
        try:
            while data and select.select([], [self._descriptor], [], 0)[1]:
                data = data[os.write(self._descriptor, data[:PIECE]) :]
        except (OSError, ValueError):
            pass
        self._dropped = self._dropped + 1 if data else 0
        return len(text)

    def _try(self, what: str, *args: Any) -> Any:
        if self._stream is None:
            return None
        try:
            return getattr(self._stream, what)(*args)
        except (OSError, ValueError):
            self._silence()
            return None


class _Results(_Guarded):
    """stdout: what cannot be written raises an `UnwrittenError`."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream, 1)

    @property
    def buffer(self) -> Any:
        """The stream of bytes."""
        return _Results(None if self._stream is None else self._stream.buffer)

    @property
    def closed(self) -> bool:
        return False

    def _try(self, what: str, *args: Any) -> Any:
        if self._stream is None:
            if what == "flush" or not args[0]:
                return None
            raise UnwrittenError(errno.EBADF, "it is closed")
        try:
            return getattr(self._stream, what)(*args)
        except OSError as error:
            self._silence()
            raise UnwrittenError(error.errno, error.strerror) from None
