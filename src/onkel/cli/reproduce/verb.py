"""``onkel reproduce``: the papers' tables and figures, and the default learner's own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from onkel.cli import options
from onkel.cli.arguments import names_in
from onkel.cli.reproduce import running
from onkel.cli.reproduce.papers import papers


class _Names(TyperGroup):
    """A word that is not a verb is the name of an experiment."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """All but ``streams`` goes to ``papers``: names of experiments, options, or nothing."""
        if not args or args[0] != "streams":
            args = ["papers", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Names,
    help="Repeat the papers' tables and figures: 'onkel reproduce' lists them.",
)
app.command()(papers)


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
        int, typer.Option(min=1, metavar="N", help="Number of seeds, if a learner is random.")
    ] = 5,
    jobs: options.Jobs = None,
    report: running.Report = None,
    cache: running.CacheFolder = None,
    as_markdown: options.Markdown = False,
) -> None:
    """Compare the default, its rivals and River's forests on streams in the order of time.

    Example: onkel reproduce streams streams/ --rows 2000 --runs 1
    """
    from onkel.experiments.files import find_streams
    from onkel.experiments.streams.entry import experiment
    from onkel.experiments.streams.learners import find_learners

    found = find_streams(folder, names_in(data)), find_learners(learners)
    chosen = experiment(*found, runs, rows)
    running.run_and_show([chosen], None, jobs, cache, report, as_markdown)
