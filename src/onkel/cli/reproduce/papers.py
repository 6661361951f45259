"""``onkel reproduce NAME ...``: the papers' tables and figures, run or listed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from onkel.cli import options
from onkel.cli.asked import names_in
from onkel.cli.console import note, stderr, stdout

_Runs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Orders; the paper's number if not given.")
]
_Jobs = Annotated[int, typer.Option(min=1, metavar="N", help="Processes, of one thread each.")]
_Report = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write a page, Markdown and values there.")
]
_Cache = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keeps runs; the user's cache if not given.")
]
_Search = Annotated[bool, typer.Option("--search", help="Search all settings that have a grid.")]


def papers(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Experiments, or 'all'; none: list.")
    ] = None,
    data: options.Data = None,
    runs: _Runs = None,
    jobs: _Jobs = 1,
    report: _Report = None,
    cache: _Cache = None,
    search: _Search = False,
    as_markdown: options.Markdown = False,
) -> None:
    """Run tables and figures of the papers beside what was printed. Runs are kept: go on any time.

    Example: onkel reproduce lsokl.table5 --data german,spambase --runs 20 --jobs 2 --report out/
    """
    from onkel.experiments import Cache, find, run_cases
    from onkel.experiments.running.cache import default_folder
    from onkel.experiments.showing.report import Part, markdown_of, write_report

    if not names:
        _list()
        return
    chosen = _chosen(find(names), names_in(data))
    cases = [case for entry in chosen for case in entry.cases]
    with _bar() as progress:
        results = iter(
            run_cases(cases, runs, jobs=jobs, cache=Cache(cache or default_folder()),
                      progress=progress, search=search)
        )  # fmt: skip
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


def _chosen(found: Sequence[Any], data: list[str]) -> list[Any]:
    """Those that this verb can run, on these data; ValueError for data that none of them has."""
    import difflib

    known = list(dict.fromkeys(name for entry in found for name in entry.datasets))
    for name in data:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"--data {name}: must be among {', '.join(known)}{hint}")
    chosen = []
    for entry in found:
        if not entry.cases:
            note(f"left out: {entry.name}; run 'onkel reproduce {entry.name}' by itself")
        elif entry.on(data).cases:
            chosen.append(entry.on(data))
    return chosen


def _list() -> None:
    """What there is: name, title, data, what is missing here, minutes."""
    from onkel import datasets
    from onkel.experiments import EXPERIMENTS
    from onkel.experiments.formats import rich_table
    from onkel.experiments.running.minutes import minutes_of

    rows = []
    for entry in EXPERIMENTS.values():
        here = [name for name in entry.datasets if datasets.info(name).local]
        absent = [name for name in entry.datasets if name not in here]
        minutes = f"{max(1.0, minutes_of(entry)):,.0f}" if entry.cases else ""
        rows.append([entry.name, entry.title, " ".join(here), " ".join(absent), minutes])
    head = ("name", "what", "data here", "missing here", "min")
    stdout().print(rich_table(head, rows, left=head[:-1], folded=head[1:-1]))
    note(
        "min: about so many on one core, with the data that are here. "
        "'onkel datasets list' tells where data lie."
    )


def _show(part: Any) -> None:
    from rich.markup import escape

    from onkel.experiments.showing import table

    entry = part.experiment
    stdout().print(f"[bold]{entry.name}[/bold]  {escape(entry.title)}")
    if entry.pictures:
        stdout().print("A figure: --report FOLDER draws it.", style="dim")
    stdout().print(table.terminal_table(part.results))
    for line in table.notes(part.results):
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
