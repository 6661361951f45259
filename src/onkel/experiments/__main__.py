"""``python -m onkel.experiments``: repeat the papers' tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from onkel.experiments.entry import Experiment
from onkel.experiments.registry import find
from onkel.experiments.runner import run
from onkel.experiments.search import search
from onkel.experiments.watching import work_on


def experiments(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names, globs or parts of names; none: all.")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Orders; the paper's number if not given."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all values there.")
    ] = None,
    markdown: Annotated[bool, typer.Option(help="Print Markdown.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="Print names, run nothing.")] = False,
    searching: Annotated[
        bool, typer.Option("--search", help="Search the steps; prints the five best.")
    ] = False,
) -> None:
    """Repeat cells of the papers' tables on data that are here; see 'onkel datasets list'."""
    try:
        chosen = find(names or [])
        if listing:
            typer.echo("\n".join(entry.name for entry in chosen))
        elif searching:
            _search(chosen, runs or 3)
        else:
            _measure(chosen, runs, json_file, markdown)
    except (ValueError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None


def _measure(
    chosen: list[Experiment], runs: int | None, json_file: Path | None, as_markdown: bool
) -> None:
    from rich.console import Console

    from onkel.experiments import table

    done = work_on(chosen, _name, lambda entry, update: run(entry, runs, update))
    results = [result for _, result in done]
    if as_markdown:
        typer.echo(table.markdown(results))
    else:
        width = None if sys.stdout.isatty() else 100
        Console(highlight=False, width=width).print(table.terminal_table(results))
    if json_file is not None:
        text = json.dumps({"results": [result.to_dict() for result in results]}, indent=1)
        json_file.write_text(text + "\n", encoding="utf-8")


def _search(chosen: list[Experiment], runs: int) -> None:
    gridded = [entry for entry in chosen if entry.grid]
    for entry, trials in work_on(gridded, _name, lambda e, update: search(e, runs, update)):
        typer.echo(f"{entry.name}: {entry.step}, {_chosen(entry)}")
        for trial in trials[:5]:
            what = ", ".join(f"{k}={_text(v)}" for k, v in trial.parameters.items())
            typer.echo(f"  {trial.value:.5g}  {what}")


def _name(entry: Experiment) -> str:
    return entry.name


def _chosen(entry: Experiment) -> str:
    return ", ".join(f"{k}={_text(entry.parameters.get(k))}" for k in entry.grid)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def main() -> None:
    """The command."""
    typer.run(experiments)


if __name__ == "__main__":
    main()
