"""``onkel reproduce``: the numbers that the default learner is judged by, measured again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app"]

app = typer.Typer(help="Measure the default learner's numbers again.", no_args_is_help=True)

_Data = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="NAME", help="Data set. Repeatable; all if not given."),
]
_Json = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Keeps every result; go on from it later."),
]


@app.command()
def default(
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Random orders.")] = 10,
    data: _Data = None,
    json_file: _Json = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """One setting on every data set, against what is asked for, the papers and tuned rivals.

    Example: onkel reproduce default --json default.json
    """
    from onkel.cli.console import say_if_cold
    from onkel.experiments import default_table, rivals
    from onkel.experiments.default import Outcome, about, measure
    from onkel.experiments.goals import find_goals
    from onkel.experiments.records import Record

    goals = find_goals(data)
    record = Record(json_file, about())
    say_if_cold()
    outcomes: list[Outcome] = []
    try:
        _each(goals, lambda goal, said: outcomes.append(measure(goal, record, runs, said)))
    finally:
        found = rivals.stored()
        if outcomes and as_markdown:
            typer.echo(default_table.markdown(outcomes, found))
        elif outcomes:
            _wide().print(default_table.rich_table(outcomes, found))
            _wide().print(default_table.summary(outcomes, found), style="dim")


@app.command()
def rivals(
    data: _Data = None,
    json_file: _Json = None,
    run: Annotated[
        bool, typer.Option("--run", help="Search and run again; without it, show what is stored.")
    ] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """FOGD, NOGD and RRF, each at the best of the papers' grids on the same data.

    Example: onkel reproduce rivals --run --json rivals.json
    """
    from onkel.experiments import rivals, rivals_table
    from onkel.experiments.goals import find_goals
    from onkel.experiments.records import Record

    goals = find_goals(data)
    found = rivals.stored()
    if run or json_file is not None:
        record = Record(json_file, rivals.ABOUT)
        found = record.results
        if run:
            _each(goals, lambda goal, said: rivals.measure_rivals(goal, record, said))
    goals = [goal for goal in goals if goal.dataset in found]
    if as_markdown:
        typer.echo(rivals_table.markdown(goals, found))
    else:
        _wide().print(rivals_table.rich_table(goals, found))


def _wide() -> Console:
    """Standard output, with room for a table where it is no terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 110)


def _each(goals: list[Any], work: Callable[[Any, Any], object]) -> None:
    """Work on every goal whose data are here; a bar on a terminal, missing sets are said."""
    from rich.progress import Progress

    from onkel.cli.console import note, stderr

    console = stderr()
    absent = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        total = bar.add_task("data sets", total=len(goals))
        for goal in goals:
            task = bar.add_task(goal.dataset, total=None)

            def said(done: int, of: int, task: Any = task) -> None:
                bar.update(task, completed=done, total=of)

            try:
                work(goal, said)
            except FileNotFoundError as error:
                absent += 1
                note(f"left out: {error}")
            bar.remove_task(task)
            bar.advance(total)
    if absent == len(goals):
        raise FileNotFoundError("none of the data sets asked for is on this machine")
