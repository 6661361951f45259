"""``python -m papers``: list the papers' tables and figures, run them, write a report."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn
from rich.text import Text
from typer.core import TyperGroup

from papers import Cache, Experiment, find, run_cases
from papers.cache import default_folder
from papers.kept import keep, write_pages
from papers.listing import table_of_all
from papers.notes import notes
from papers.pages import Part, about, markdown_of, write_report
from papers.registry import LAYOUTS, limited, quick
from papers.rows import find_streams
from papers.seconds import seconds_of
from papers.streams import experiment, find_learners

Data = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="NAME", help="Data set. Repeatable; all if not given."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N",
        help="Processes of one thread each; by default one per core if there is enough work.",
    ),
]  # fmt: skip
Report = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder to write: HTML page, Markdown and values."),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FOLDER", help="Keeps runs; by default the user's cache."),
]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]

_LONG = 20.0
"""Seconds of work above which one process per core saves more time than it takes to start."""


class _Names(TyperGroup):
    """A word that is not a verb is the name of an experiment; errors are one red line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Other words go to ``tables``: names of experiments, options, or nothing ("list")."""
        if args[:1] == ["list"]:
            args = args[1:]
        if not args or args[0] not in ("tables", "streams", "pages"):
            args = ["tables", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; ``ONKEL_TRACEBACK=1`` shows where an error comes from."""
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            if os.environ.get("ONKEL_TRACEBACK"):
                raise
            _fail(str(error))


app = typer.Typer(
    cls=_Names,
    help="Repeat the papers' tables and figures.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def tables(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Experiments, or 'all'; without a name, list them."),
    ] = None,
    data: Data = None,
    learners: Annotated[
        list[str] | None,
        typer.Option("--learner", metavar="NAME", help="Name in a table. Repeatable."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs; by default as in the paper.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Leave out data sets that take a core longer."),
    ] = None,
    jobs: Jobs = None,
    report: Report = None,
    cache: CacheFolder = None,
    search: Annotated[
        bool, typer.Option("--search", help="Search all settings that have a grid.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--keep", help="Add the numbers to those that papers/results keeps.")
    ] = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Run tables and figures of the papers, beside the printed values. Finished runs are kept.

    For your own streams, in the order of time: python -m papers streams --help

    Example: python -m papers lsokl.table5 --data german,spambase --runs 20 --jobs 2 --report out/
    """
    if not names:
        _stdout().print(table_of_all())
        _note(
            "min: minutes on one core, roughly, for the data that are here. For options: 'python "
            "-m papers --help'; for data sets: 'onkel datasets list'."
        )
        return
    found = find(names)
    for entry in found:
        if not entry.cases:
            _note(f"left out: {entry.name}: 'python -m papers {entry.name} FOLDER'")
    chosen = limited(found, _names_in(data), _names_in(learners))
    if within is not None:
        chosen = quick(chosen, runs, within)
    parts = _run_and_show(chosen, runs, jobs, cache, report, as_markdown, search)
    if kept:
        for path in keep(parts, about(_command())):
            _note(f"kept: {path}")


@app.command()
def streams(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Parquet files with a target column y.")
    ],
    data: Data = None,
    learners: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="default, fast, rrf, krls, last, arf, arf-lags, amf, amf-lags; separated by "
            "commas. River's forests (arf, amf) are slow.",
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only this many first rows.")
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of seeds, if a learner is random.")
    ] = 5,
    jobs: Jobs = None,
    report: Report = None,
    cache: CacheFolder = None,
    as_markdown: AsMarkdown = False,
) -> None:
    """Compare the default, its rivals and River's forests on streams in the order of time.

    Example: python -m papers streams streams/ --rows 2000 --runs 1
    """
    found = find_streams(folder, _names_in(data)), find_learners(learners)
    _run_and_show([experiment(*found, runs, rows)], None, jobs, cache, report, as_markdown)


@app.command()
def pages() -> None:
    """Write the pages of papers/results anew from the numbers that are kept there."""
    for path in write_pages():
        _note(str(path))


# ---- what to run ---------------------------------------------------------------------------------


def _names_in(given: list[str] | None) -> list[str]:
    """Names given one by one, or several with commas between them."""
    parts = (name.strip() for text in given or () for name in text.split(","))
    return [name for name in parts if name]


# ---- runs ----------------------------------------------------------------------------------------


def _run_and_show(
    chosen: Sequence[Experiment],
    n_runs: int | None,
    jobs: int | None,
    cache: Path | None,
    report: Path | None,
    as_markdown: bool,
    search: bool = False,
) -> list[Part]:
    """Run experiments and show their results.

    Raises
    ------
    ValueError
        None of their data is on this machine.
    """
    cases = [case for entry in chosen for case in entry.cases]
    kept = Cache(cache or default_folder())
    seconds = sum((n_runs or case.n_runs) * seconds_of(case) for case in cases)
    jobs = jobs or ((os.cpu_count() or 1) if seconds > _LONG else 1)
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
        write_report(parts, report, _command())
        _note(f"report: {report / 'index.html'}")
    if all(result.missing for part in parts for result in part.results):
        raise ValueError("none of the data sets asked for is on this machine")
    return parts


def _command() -> str:
    """What was typed; where runs are kept makes no difference to them."""
    arguments = list(sys.argv[1:])
    if "--cache" in arguments:
        at = arguments.index("--cache")
        arguments[at : at + 2] = []
    return shlex.join(["python", "-m", "papers", *arguments])


def _show(part: Part) -> None:
    entry, layout = part.experiment, LAYOUTS[part.experiment.layout]
    _stdout().print(f"[bold]{entry.name}[/bold]  {escape(entry.title)}")
    if entry.pictures:
        _stdout().print("A figure: --report FOLDER draws it.", style="dim")
    _stdout().print(layout.terminal(part.results))
    _stdout().print(escape(layout.summary(part.results)), style="dim")
    for line in notes(part.results):
        _stderr().print(escape(line), style="dim", soft_wrap=True)


@contextmanager
def _bar() -> Iterator[Callable[[float, float], None]]:
    """A bar with the time left, where stderr is a terminal."""
    console = _stderr()
    columns = (BarColumn(bar_width=None), TaskProgressColumn(), TimeRemainingColumn(compact=True))
    with Progress(
        *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("runs", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


# ---- output --------------------------------------------------------------------------------------


def _stdout() -> Console:
    """For results; in a pipe it is wide enough for a table."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False)


def _note(text: str) -> None:
    _stderr().print(Text(text, style="dim"), soft_wrap=True)


def _fail(text: str) -> NoReturn:
    line = ". ".join(part.strip().removesuffix(".") for part in text.splitlines() if part.strip())
    _stderr().print(Text.assemble(("error: ", "bold red"), (line, "red")), soft_wrap=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    app(prog_name="python -m papers")
