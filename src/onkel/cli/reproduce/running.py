"""The work behind all of ``onkel reproduce``: run cases, show tables, write the report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from onkel.cli.console import note, stderr, stdout

Report = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder to write: HTML page, Markdown and values."),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FOLDER", help="Keeps runs; by default the user's cache."),
]

_LONG = 20.0
"""Seconds of work above which one process per core saves more time than it takes to start."""


def run_and_show(
    chosen: Sequence[Any],
    n_runs: int | None,
    jobs: int | None,
    cache: Path | None,
    report: Path | None,
    as_markdown: bool,
    search: bool = False,
) -> None:
    """Run experiments and show their results.

    Raises
    ------
    ValueError
        None of their data is on this machine.
    """
    from onkel.experiments import Cache, run_cases
    from onkel.experiments.running.cache import default_folder
    from onkel.experiments.running.minutes import seconds_of
    from onkel.experiments.showing.report import Part, markdown_of, write_report
    from onkel.numerics.threads import n_cores

    cases = [case for entry in chosen for case in entry.cases]
    kept = Cache(cache or default_folder())
    seconds = sum((n_runs or case.n_runs) * seconds_of(case) for case in cases)
    jobs = jobs or (n_cores() if seconds > _LONG else 1)
    with _bar() as progress:
        found = run_cases(cases, n_runs, jobs=jobs, cache=kept, progress=progress, search=search)
    results = iter(found)
    parts = [Part(entry, [next(results) for _ in entry.cases]) for entry in chosen]
    for part in parts:
        if as_markdown:
            typer.echo(f"{markdown_of(part)}\n")
        else:
            _show(part)
    if report is not None:
        write_report(parts, report, shlex.join(["onkel", *sys.argv[1:]]))
        note(f"report: {report / 'index.html'}")
    if all(result.missing for part in parts for result in part.results):
        raise ValueError("none of the data sets asked for is on this machine")


def _show(part: Any) -> None:
    from rich.markup import escape

    from onkel.experiments.showing.layouts import LAYOUTS
    from onkel.experiments.showing.notes import notes

    entry, layout = part.experiment, LAYOUTS[part.experiment.layout]
    stdout().print(f"[bold]{entry.name}[/bold]  {escape(entry.title)}")
    if entry.pictures:
        stdout().print("A figure: --report FOLDER draws it.", style="dim")
    stdout().print(layout.terminal(part.results))
    stdout().print(escape(layout.summary(part.results)), style="dim")
    for line in notes(part.results):
        stderr().print(escape(line), style="dim", soft_wrap=True)


@contextmanager
def _bar() -> Iterator[Callable[[float, float], None]]:
    """A bar with the time left, where stderr is a terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    console = stderr()
    columns = (BarColumn(bar_width=None), TaskProgressColumn(), TimeRemainingColumn(compact=True))
    with Progress(
        *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("runs", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
