"""``onkel reproduce``: the papers' tables and figures, and the default learner's own numbers."""

from __future__ import annotations

import re
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from onkel.cli import options
from onkel.cli.reproduce.papers import papers

if TYPE_CHECKING:
    from rich.console import Console

_OF_A_PAPER = re.compile(r"[a-z]+\.(table|figure|regret|rates|budget)")


class _Names(TyperGroup):
    """What is no verb is the name of an experiment."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Names of experiments go to ``papers``, and so does nothing at all."""
        own = args and args[0] in ("default", "rivals", "streams", "--help", "-h")
        if not own or any(map(_OF_A_PAPER.match, args)):
            args = ["papers", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Names,
    help="Repeat the papers' tables and figures: 'onkel reproduce' lists them, 'onkel reproduce "
    "papers --help' tells the options.",
)
app.command()(papers)


@app.command()
def default(
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Random orders.")] = 10,
    data: options.Data = None,
    json_file: options.ResultFile = None,
    as_markdown: options.Markdown = False,
) -> None:
    """One setting on every data set, against what is asked for, the papers and tuned rivals.

    Example: onkel reproduce default --json default.json
    """
    from onkel.experiments.own import goal_tables, rivals
    from onkel.experiments.own.default import Outcome, about, measure
    from onkel.experiments.own.goals import find_goals
    from onkel.experiments.own.watching import work_on
    from onkel.experiments.records import Record

    goals = find_goals(data)
    record = Record(json_file, about())
    outcomes: list[Outcome] = []
    try:
        for _, outcome in work_on(
            goals, _name, lambda goal, said: measure(goal, record, runs, said)
        ):
            outcomes.append(outcome)
    finally:
        found = rivals.stored()
        if outcomes and as_markdown:
            typer.echo(goal_tables.default_markdown(outcomes, found))
        elif outcomes:
            _wide().print(goal_tables.default_table(outcomes, found))
            _wide().print(goal_tables.summary(outcomes, found), style="dim")


@app.command()
def rivals(
    data: options.Data = None,
    json_file: options.ResultFile = None,
    run: Annotated[
        bool, typer.Option("--run", help="Search and run again; without it, show what is stored.")
    ] = False,
    as_markdown: options.Markdown = False,
) -> None:
    """FOGD, NOGD and RRF, each at the best of the papers' grids on the same data.

    Example: onkel reproduce rivals --run --json rivals.json
    """
    from onkel.experiments.own import goal_tables, rivals
    from onkel.experiments.own.goals import find_goals
    from onkel.experiments.own.watching import work_on
    from onkel.experiments.records import Record

    goals = find_goals(data)
    found = rivals.stored()
    if run or json_file is not None:
        record = Record(json_file, rivals.ABOUT)
        found = record.results
        if run:
            deque(work_on(goals, _name, lambda g, said: rivals.measure_rivals(g, record, said)), 0)
    goals = [goal for goal in goals if goal.dataset in found]
    if as_markdown:
        typer.echo(goal_tables.rivals_markdown(goals, found))
    else:
        _wide().print(goal_tables.rivals_table(goals, found))


@app.command()
def streams(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Parquet files with a target column y.")
    ],
    data: options.Data = None,
    learners: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="default, fast, rrf, krls, last, arf, arf-lags, amf, amf-lags; separated by "
            "commas. River's forests (arf, amf) are slow.",
        ),
    ] = None,
    rows: options.Limit = None,
    runs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Seeds where something is random.")
    ] = 5,
    json_file: options.ResultFile = None,
    as_markdown: options.Markdown = False,
) -> None:
    """Streams in the order of time: the default, its rivals and River's forests on the same rows.

    Example: onkel reproduce streams streams/ --rows 2000 --runs 1
    """
    from onkel.experiments.own.watching import work_on
    from onkel.experiments.records import Record
    from onkel.experiments.streams.learners import find_learners
    from onkel.experiments.streams.measuring import Outcome, about, measure
    from onkel.experiments.streams.reading import find_streams

    chosen, files = find_learners(learners), find_streams(folder, data)
    record = Record(json_file, about(rows))
    outcomes: list[Outcome] = []
    try:
        for _, outcome in work_on(
            files,
            lambda stream: stream.name,
            lambda stream, said: measure(stream, chosen, record, runs, rows, said),
        ):
            outcomes.append(outcome)
    finally:
        if outcomes:
            _show_streams(outcomes, chosen, as_markdown)


def _show_streams(outcomes: Any, learners: Any, as_markdown: bool) -> None:
    from onkel.experiments.streams import table

    if as_markdown:
        typer.echo(table.markdown(outcomes, learners))
        return
    _wide().print(table.terminal_table(outcomes, learners))
    _wide().print(table.summary(outcomes), style="dim")


def _name(goal: Any) -> str:
    return str(goal.dataset)


def _wide() -> Console:
    """Standard output, with room for a table where it is no terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 110)
