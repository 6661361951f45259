"""Watching a run: a live bar and a table at powers of two. Silent where nobody watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from onkel.evaluation.formatting import clock, duration, short
from onkel.evaluation.result import CurveRow
from onkel.evaluation.time_left import TimeLeft
from onkel.numerics import notices
from onkel.numerics.compiling import compile_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from onkel.evaluation.run import PrequentialRun

_LONG = 1.0
"""What is done between rows gets a line of the table if it takes more seconds than this."""
_BESIDE = 69
"""Columns that the bar and the numbers beside it need."""
_FIRST_SHARE = 0.05
"""The share done of long work from which on it tells how long the rest takes."""
_REFRESH = 0.1
"""Seconds between two updates of the bar: an update at every block would cost time."""


class RunProgress:
    """Shows a prequential run on a console, as its ``progress``.

    On a terminal: a bar with rows, rows a second, the error so far and, if the length is known, the
    time left; above it a row of the table at every checkpoint, as Vowpal Wabbit prints them.
    Elsewhere: nothing, unless ``table`` asks for the table. ``total``: the rows to come, if known;
    ``fraction``: gives the share of the source that has been read, where they are not.
    ``fits_last``: a last fit on all rows follows the last of them.
    """

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        total: int | None = None,
        fraction: Callable[[], float | None] | None = None,
        table: bool | None = None,
        fits_last: bool = False,
    ) -> None:
        self.console = console
        self.title = title
        self.total = total
        self.fraction = fraction
        self.table: bool = console.is_terminal if table is None else table
        self.show_bar: bool = console.is_terminal
        self.fits_last = fits_last
        self._bar: Any = None
        self._task: Any = None
        self._headed = False
        self._shown = 0.0
        self._doing, self._since, self._compiled = "", 0.0, 0.0
        #: seconds so far of what goes on in parts
        self._parts: dict[str, float] = {}
        self._left = TimeLeft()
        self._entered = 0.0

    def __enter__(self) -> RunProgress:
        if self.show_bar:
            self._bar = _bar(self.console)
            self._task = self._bar.add_task(
                self.title, total=self.total, error="", speed="", doing="", ends=None
            )
            self._bar.start()
        notices.begin(self)
        self._entered = time.perf_counter() - compile_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        notices.end(self)
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> bool:
        """Print a remark above the bar, where there is a bar or a table."""
        if self.show_bar or self.table:
            self._line(text, "dim")
        return self.show_bar or self.table

    def busy(self, text: str | None) -> None:
        """Show beside the bar what is being done; if it took long, it gets a line of the table."""
        if text is not None:
            self._show_doing(text)
            self._doing, self._since, self._compiled = text, time.perf_counter(), compile_seconds()
            return
        working = self._end_part() + self._parts.pop(self._doing, 0.0)
        self._show_doing("")
        if self.table and working > _LONG:
            self._line(f"{self._doing} took {duration(working)}", "dim")

    def pause(self) -> None:
        """What is being done goes on with the next rows."""
        self._parts[self._doing] = self._parts.get(self._doing, 0.0) + self._end_part()

    def reached(self, share: float) -> None:
        """Say how long what is being done still takes: it is the last of the run."""
        now = time.perf_counter()
        if self._bar is None or now - self._shown < _REFRESH or share <= _FIRST_SHARE:
            return
        self._shown = now
        spent = now - self._since - (compile_seconds() - self._compiled)
        self._bar.update(self._task, ends=now + spent * (1.0 - share) / share)

    def _end_part(self) -> float:
        """Seconds of what was being done, without those of compiling, which get a line here."""
        compiling = compile_seconds() - self._compiled
        working = time.perf_counter() - self._since - compiling
        self._left.fitted(working)
        if self.table and compiling > _LONG:
            self._line(f"compiling took {duration(compiling)}", "dim")
        return working

    def _show_doing(self, text: str) -> None:
        room = max(self.console.width - len(self.title) - _BESIDE, 0)
        doing = f" · {text}" if len(text) <= room else f" · {text[: room - 1]}…" if room > 1 else ""
        doing = doing if text else ""
        if self._bar is not None and self._bar.tasks[0].fields["doing"] != doing:
            self._bar.update(self._task, doing=doing)

    def block(self, run: PrequentialRun) -> None:
        """Move the bar after a block."""
        now = time.perf_counter()
        if self._bar is None or (now - self._shown < _REFRESH and run.n_rows != self.total):
            return
        self._shown = now
        total = self._total(run.n_rows)
        self._left.begin(self._entered, run.rows_before, run.work_before)
        work = run.work_of_fits(0 if total is None else max(int(total) - run.n_rows, 0))
        left = self._left.after(now - compile_seconds(), run.n_rows, total, work, self.fits_last)
        self._bar.update(
            self._task,
            completed=run.n_rows,
            total=total,
            error=f"{run.metrics[0].title} {run.metrics[0].format(run.value)}",
            speed=f"{short(run.rows_per_second)} rows/s",
            doing="",
            ends=None if left is None else now + left,
        )

    def checkpoint(self, row: CurveRow) -> None:
        """Print a line of the table."""
        if not self.table:
            return
        narrow, regression = self.console.width < _NARROW, "rmse" in row.metrics
        cells = {"rows": f"{row.n_rows:,}"}
        if not (narrow and regression):
            cells["loss" if narrow else "average loss"] = f"{row.loss:.5g}"
            cells["since" if narrow else "since last"] = f"{row.loss_since_last:.5g}"
        if regression:
            # a mistake rate is the average loss itself; an RMSE is worth its own column
            cells["RMSE"] = f"{row.metrics['rmse']:.5g}"
        cells["rows/s"] = short(row.rows_per_second)
        if not self._headed:
            self._headed = True
            self._line(_columns(list(cells), narrow), "bold")
        self._line(_columns(list(cells.values()), narrow))

    def _line(self, text: str, style: str | None = None) -> None:
        self.console.print(text, style=style, highlight=False, soft_wrap=True)

    def _total(self, n_rows: int) -> float | None:
        if self.total is not None or self.fraction is None:
            return self.total
        share = self.fraction()
        return n_rows / share if share else None


# A narrower terminal shows less in a line.
_NARROW = 60


def _columns(cells: list[str], narrow: bool) -> str:
    """One line of the table."""
    widths = (9, 10, 9, 8) if narrow else (13, 13, 11, 11 if len(cells) > 4 else 8, 8)
    return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False))


def _bar(console: Console) -> Any:
    from rich.progress import BarColumn, ProgressColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Left(ProgressColumn):
        """Counts down, also while a block takes long."""

        def render(self, task: Any) -> Text:
            ends = task.fields["ends"]
            left = 0 if ends is None else round(ends - time.perf_counter())
            return Text(f"{clock(left)} left" if left > 0 else "")

    return wide_bar(
        console,
        TextColumn("[bold]{task.description}[/bold]{task.fields[doing]}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} rows"),
        TextColumn("[cyan]{task.fields[speed]}"),
        TextColumn("[magenta]{task.fields[error]}"),
        Left(Column(no_wrap=True)),
    )


_ROOM = 3
"""Columns for the ^C that a terminal shows behind a bar: in the next line, a bar would stay."""


def wide_bar(console: Console, *columns: Any, disable: bool = False) -> Any:
    """A bar as wide as the console, of which nothing is left at the end."""
    from rich.constrain import Constrain
    from rich.progress import Progress

    class Bar(Progress):
        def get_renderables(self) -> Iterator[Constrain]:
            for renderable in super().get_renderables():
                yield Constrain(renderable, max(console.width - _ROOM, 1))

    return Bar(*columns, console=console, transient=True, expand=True, disable=disable)
