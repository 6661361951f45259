"""Output of the command line: results on stdout, everything else on stderr."""

from __future__ import annotations

import errno
import json
import os
import select
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console


def stdout() -> Console:
    """Console for results; in a pipe it is wide enough for a table."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def stderr() -> Console:
    """Console for progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def note(text: str) -> None:
    """Say something on stderr that is not part of a result."""
    from rich.text import Text

    stderr().print(Text(text, style="dim"), soft_wrap=True)


def complain(text: str) -> None:
    """Say in red, on one line of stderr, what went wrong."""
    from rich.text import Text

    parts = [part.strip() for part in text.splitlines() if part.strip()]
    line = ". ".join(p if p.endswith("...") else p.removesuffix(".") for p in parts)
    stderr().print(Text.assemble(("error: ", "bold red"), (line, "red")), soft_wrap=True)


def say_warnings() -> None:
    """Show warnings as notes, without the source line that raised them."""

    def show(message: Warning | str, *about: Any, **more: Any) -> None:
        note(f"warning: {message}")

    warnings.showwarning = show


def fail(text: str) -> NoReturn:
    """Complain and leave with exit status 2."""
    complain(text)
    raise typer.Exit(2)


def print_json(value: Any) -> None:
    """Write one JSON object on stdout."""
    typer.echo(as_json(value))


def as_json(value: Any) -> str:
    """One line of JSON; numbers that are not finite are null."""
    from onkel.evaluation.result import finite

    return json.dumps(finite(value), default=str)


class UnwrittenError(OSError):
    """The result could not be written to stdout."""


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
    sys.stdout = _Results(sys.stdout)  # type: ignore[assignment]
    sys.stderr = Notices(sys.stderr)  # type: ignore[assignment]


def never_wait() -> None:
    """From now on notices are dropped while nobody reads stderr, and nothing waits for a reader."""
    if isinstance(sys.stderr, Notices):
        sys.stderr.waits = False


def say_line(text: str) -> None:
    """Write one plain line on stderr, in less time than `note` takes."""
    sys.stderr.write(" ".join(text.split()) + "\n")
    sys.stderr.flush()


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
        return int(self._try("write", text) or 0)

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


class Notes:
    """Remarks made during long work, as notes on stderr."""

    def say(self, text: str) -> bool:
        """Say it."""
        note(text)
        return True

    def busy(self, text: str | None) -> None:
        """Does nothing: only progress lines show this."""


def watched(blocks: Any, title: str, total: int | None) -> Iterator[Any]:
    """Pass blocks through, with a progress bar on stderr if it is a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} rows"),
        TimeRemainingColumn(compact=True),
    )
    console = stderr()
    with Progress(
        *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=total)
        for block in blocks:
            yield block
            bar.advance(task, block.X.shape[0])
