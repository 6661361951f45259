"""``onkel datasets``: the data sets of the papers, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from onkel.cli import options
from onkel.cli.help import Group, Verb

app: typer.Typer = typer.Typer(
    cls=Group,
    help="Data sets of the papers: list them, fetch them, find them.",
    no_args_is_help=True,
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, see 'onkel datasets list'.")]


@app.command("list", cls=Verb)
def show(as_json: options.Json = False) -> None:
    """List the data sets, and which of them are on this machine."""
    from onkel import datasets
    from onkel.cli.console import plain_table, print_json, stdout

    entries = datasets.available()
    if as_json:
        print_json({"datasets": [entry.to_dict() for entry in entries]})
        return
    table = plain_table()
    table.add_column("name", style="bold")
    table.add_column("task")
    for title in ("rows", "features"):
        table.add_column(title, justify="right")
    table.add_column("here")
    for e in entries:
        table.add_row(
            e.name, e.task, f"{e.n_rows:,}", f"{e.n_features:,}", "yes" if e.local else ""
        )
    stdout().print(table)


@app.command(cls=Verb)
def fetch(name: _Name) -> None:
    """Download a data set (from OpenML) and print its path."""
    from onkel import datasets

    typer.echo(datasets.fetch(name))


@app.command(cls=Verb)
def path(name: _Name) -> None:
    """Print the path of a data set, without downloading."""
    from onkel import datasets

    typer.echo(datasets.path(name))
