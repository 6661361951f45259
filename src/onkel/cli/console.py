"""Output of the command line: results on stdout, everything else on stderr."""

from __future__ import annotations

import errno
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from onkel.cli.guarded import UnwrittenError
    from onkel.streams import Block, Stream


#: from so many columns on, names and what they mean fit side by side
WIDE = 76


def stdout() -> Console:
    """Console for results; in a pipe it is wide enough for a table."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def stderr() -> Console:
    """Console for progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def plain_table(**more: Any) -> Any:
    """A table with a rule below its head."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, **more)


def print_listing(console: Console, table: Any, entries: Iterable[tuple[str, str, str]]) -> None:
    """Print a table; where names and what they mean don't fit side by side, entries instead.

    An entry is a name, what stands behind it, and what it means, which stands below.
    """
    from rich.text import Text

    if console.width >= WIDE:
        console.print(table)
        return
    for name, more, text in entries:
        console.print(Text.assemble((name, "bold"), f"  {more}"))
        console.print(Text(filled(text, console.width, 4, 4)))


def filled(text: str, width: int, first: int, rest: int) -> str:
    """A paragraph in lines of this width, so far indented; no word is broken that fits into one."""
    return fill(
        text,
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * rest,
        break_on_hyphens=False,
    )


def note(text: str, console: Console | None = None) -> None:
    """Say something on stderr that is not part of a result."""
    from rich.text import Text

    _print(Text(text, style="dim"), console or stderr())


def _print(text: object, console: Console) -> None:
    """Print a paragraph: as one line, or on a terminal broken between words."""
    console.print(text, soft_wrap=not console.is_terminal)


def complain(text: str) -> None:
    """Say in red, on one line of stderr, what went wrong."""
    from rich.text import Text

    parts = [part.strip() for part in text.splitlines() if part.strip()]
    line = ". ".join(p if p.endswith("...") else p.removesuffix(".") for p in parts)
    _print(Text.assemble(("error: ", "bold red"), (line, "red")), stderr())


def complain_unwritten(what: object, error: OSError) -> None:
    """Say that a file could not be written, and why."""
    complain(f"{what} could not be written: {error.strerror or error}")


def complain_of_result(error: UnwrittenError) -> None:
    """Say that the result could not be written; with "| head" enough of it was read."""
    if error.errno != errno.EPIPE:
        where = error.filename or "stdout"
        complain(f"the result could not be written to {where}: {error.strerror}")


def say_warnings() -> None:
    """Show warnings as notes, without the source line that raised them."""

    def show(message: Warning | str, *about: object, **more: Any) -> None:
        note(f"warning: {message}")

    warnings.showwarning = show


def fail(text: str) -> NoReturn:
    """Complain and leave with exit status 2."""
    complain(text)
    raise typer.Exit(2)


def print_json(value: object) -> None:
    """Write one JSON object on stdout."""
    typer.echo(as_json(value))


def as_json(value: object) -> str:
    """One line of JSON; numbers that are not finite are null."""
    from onkel.evaluation.result import finite

    return json.dumps(finite(value), default=str)


def say_line(text: str) -> None:
    """Write one plain line on stderr, in less time than `note` takes."""
    sys.stderr.write(" ".join(text.split()) + "\n")
    sys.stderr.flush()


class Notes:
    """Remarks made during long work, as notes on stderr; those beside a bar on its console."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console

    def say(self, text: str) -> bool:
        """Say it."""
        note(text, self._console)
        return True

    def busy(self, text: str | None) -> None:
        """Does nothing: only progress lines show this."""

    def pause(self) -> None:
        """Does nothing: only progress lines stand still meanwhile."""

    def reached(self, share: float) -> None:
        """Does nothing: only progress lines show how far a fit is."""


def watched(blocks: Stream, total: int | None) -> Iterator[Block]:
    """Pass blocks to predict through, with a progress bar on stderr if it is a terminal."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from onkel.evaluation.progress import wide_bar
    from onkel.numerics.notices import heard_by

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} rows"),
        TimeRemainingColumn(compact=True),
    )
    console = stderr()
    bar = wide_bar(console, *columns, disable=not console.is_terminal)
    with bar, heard_by(Notes(console)):
        task = bar.add_task("predicting", total=total)
        for block in blocks:
            yield block
            bar.advance(task, block.X.shape[0])
