"""Watching a run: a live bar and a table at powers of two. Silent where nobody watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onkel.evaluation.formatting import duration, short
from onkel.evaluation.result import CurveRow
from onkel.numerics import notices
from onkel.numerics.compiling import compile_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from onkel.evaluation.run import PrequentialRun

_LONG = 1.0
"""What is done between rows gets a line of the table if it takes more seconds than this."""
_RECENT = 10.0
"""The time left is judged by the speed of so many seconds."""
_REFRESH = 0.1
"""Seconds between two updates of the bar: an update at every block would cost time."""


class RunProgress:
    """Shows a prequential run on a console, as its ``progress``.

    On a terminal: a bar with rows, rows a second, the error so far and, if the length is known, the
    time left; above it a row of the table at every checkpoint, as Vowpal Wabbit prints them.
    Elsewhere: nothing, unless ``table`` asks for the table. ``total``: the rows to come, if known;
    ``fraction``: gives the share of the source that has been read, where they are not.
    """

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        total: int | None = None,
        fraction: Callable[[], float | None] | None = None,
        table: bool | None = None,
    ) -> None:
        self.console = console
        self.title = title
        self.total = total
        self.fraction = fraction
        self.table: bool = console.is_terminal if table is None else table
        self.show_bar: bool = console.is_terminal
        self._bar: Any = None
        self._task: Any = None
        self._headed = False
        self._shown = 0.0
        self._doing, self._since, self._compiled = "", 0.0, 0.0
        self._eta = _Eta()

    def __enter__(self) -> RunProgress:
        if self.show_bar:
            self._bar = _bar(self.console)
            self._task = self._bar.add_task(
                self.title, total=self.total, error="", speed="", doing="", left=""
            )
            self._bar.start()
        notices.begin(self)
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
        if self._bar is not None:
            self._bar.update(self._task, doing=f" · {text}" if text else "")
        now = time.perf_counter()
        if text is not None:
            self._doing, self._since, self._compiled = text, now, compile_seconds()
            return
        self._eta.leave_out(now - self._since)
        compiling = compile_seconds() - self._compiled
        if self.table and compiling > _LONG:
            self._line(f"compiling took {duration(compiling)}", "dim")
        working = now - self._since - compiling
        if self.table and working > _LONG:
            self._line(f"{self._doing} took {duration(working)}", "dim")

    def block(self, run: PrequentialRun) -> None:
        """Move the bar after a block."""
        now = time.perf_counter()
        if self._bar is None or (now - self._shown < _REFRESH and run.n_rows != self.total):
            return
        self._shown = now
        self._bar.update(
            self._task,
            completed=run.n_rows,
            total=self._total(run.n_rows),
            error=f"{run.metrics[0].title} {run.metrics[0].format(run.value)}",
            speed=f"{short(run.rows_per_second)} rows/s",
            left=self._eta.left(now, run.n_rows, self._total(run.n_rows)),
        )

    def checkpoint(self, row: CurveRow) -> None:
        """Print a line of the table."""
        if not self.table:
            return
        regression = "rmse" in row.metrics
        if not self._headed:
            self._headed = True
            error = f" {'RMSE':>11}" if regression else ""
            head = f"{'rows':>13} {'average loss':>13} {'since last':>11}{error} {'rows/s':>8}"
            self._line(head, "bold")
        # A mistake rate is the average loss itself; an RMSE is worth its own column.
        error = f" {row.metrics['rmse']:>11.5g}" if regression else ""
        self._line(
            f"{row.n_rows:>13,} {row.loss:>13.5g} {row.loss_since_last:>11.5g}{error} "
            f"{short(row.rows_per_second):>8}"
        )

    def _line(self, text: str, style: str | None = None) -> None:
        self.console.print(text, style=style, highlight=False, soft_wrap=True)

    def _total(self, n_rows: int) -> float | None:
        if self.total is not None or self.fraction is None:
            return self.total
        share = self.fraction()
        return n_rows / share if share else None


class _Eta:
    """The time left, by the speed of the last rows.

    A search or a fit between rows is done once: its time is left out of the speed. So is the time
    before the last such work, when the model was another.
    """

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []

    def leave_out(self, seconds: float) -> None:
        """Work between rows took so long."""
        if seconds > _REFRESH:
            self._marks.clear()

    def left(self, now: float, rows: int, total: float | None) -> str:
        """Text such as "3 min 05 s left"; empty while unknown."""
        self._marks.append((now, rows))
        while len(self._marks) > 2 and now - self._marks[1][0] > _RECENT:
            self._marks.pop(0)
        began, first = self._marks[0]
        if total is None or now - began < _LONG or rows == first:
            return ""
        return f"{duration(max(total - rows, 0) * (now - began) / (rows - first))} left"


def _bar(console: Console) -> Any:
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("[bold]{task.description}[/bold]{task.fields[doing]}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} rows"),
        TextColumn("[cyan]{task.fields[speed]}"),
        TextColumn("[magenta]{task.fields[error]}"),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        expand=True,
    )
