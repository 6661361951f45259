"""``onkel compare``: several algorithms over the same rows in the same orders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onkel.cli.choices import Dtype, Format, Missing, Scaling, Task

__all__ = ["compare"]


def compare(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="File, folder, glob or URL.")],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column to learn.")
    ] = None,
    algorithms: Annotated[
        str, typer.Option("--algorithms", "-a", metavar="NAMES", help="Names, separated by commas.")
    ] = "okl,krls,fogd,nogd,rrf,pa",
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Orders of the rows.")] = 5,
    task: Annotated[Task, typer.Option(help="'auto' decides on the first block.")] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Parameter of all that have it, or of one: fogd.gamma=0.1. Repeatable.",
        ),
    ] = None,
    scaling: Annotated[
        Scaling,
        typer.Option(
            help="Of the features; auto: none where the learner scales by itself, else standard."
        ),
    ] = Scaling.auto,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the first run; then counted on.")
    ] = 0,
    format: Annotated[Format | None, typer.Option(help="By extension if not given.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out. Repeatable.")
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="What to do with missing values.")
    ] = Missing.error,
    n_hash: Annotated[
        int, typer.Option(min=1, metavar="N", help="Features a text column becomes.")
    ] = 32,
    dtype: Annotated[Dtype, typer.Option(help="Precision of the features.")] = Dtype.float32,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="ROWS", help="Use the first so many rows only.")
    ] = None,
    memory: Annotated[
        int,
        typer.Option(
            min=1, metavar="MB", help="MB for the rows; a larger source is not held in memory."
        ),
    ] = 1000,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="HTML report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Compare algorithms: the same rows, in the same orders, each tested before it learns.

    There is always a linear learner among them, to see what a kernel gains.

    Example: onkel compare letter.parquet --target y --runs 5 --report letter.html
    """
    from onkel.cli.checks import check_outputs
    from onkel.cli.comparison import Comparison

    check_outputs(report, inputs=[source])
    reading = {
        "target": target,
        "format": format.value if format else None,
        "exclude": tuple(exclude or ()),
        "missing": missing.value,
        "n_hash": n_hash,
        "dtype": dtype.value,
    }
    comparison = Comparison(source, reading, limit=limit, most_bytes=memory * 1e6)
    comparison.choose(algorithms.split(","), task.value, settings or [], scaling.value, seed)
    comparison.run(runs)
    comparison.show(report=report, as_json=as_json)
