"""``onkel learn``: one pass over a stream, to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onkel.cli.choices import Dtype, Format, Missing, Scaling, Task

__all__ = ["learn"]

_MODEL, _READING, _RUN, _OUTPUT = "Model", "Reading", "Run", "Output"


def learn(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="File, folder, glob or URL; '-' for stdin (with --format)."
        ),
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column to learn.")
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="NAME",
            help="See 'onkel algorithms'.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    task: Annotated[
        Task, typer.Option(help="'auto' decides on the first block.", rich_help_panel=_MODEL)
    ] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Parameter of the algorithm, such as gamma=1/128. Repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    scaling: Annotated[
        Scaling,
        typer.Option(
            help="Of the features; auto: none where the learner scales by itself, else standard.",
            rich_help_panel=_MODEL,
        ),
    ] = Scaling.auto,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Of the model and the shuffle.", rich_help_panel=_MODEL
        ),
    ] = 0,
    format: Annotated[
        Format | None, typer.Option(help="By extension if not given.", rich_help_panel=_READING)
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column to leave out. Repeatable.", rich_help_panel=_READING
        ),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="What to do with missing values.", rich_help_panel=_READING)
    ] = Missing.error,
    n_hash: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Features a text column becomes.", rich_help_panel=_READING
        ),
    ] = 32,
    shuffle: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="ROWS",
            help="Rows of the shuffle buffer; 0: none.",
            rich_help_panel=_READING,
        ),
    ] = 0,
    dtype: Annotated[
        Dtype, typer.Option(help="Precision of the features.", rich_help_panel=_READING)
    ] = Dtype.float32,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="ROWS", help="Stop after so many rows.", rich_help_panel=_READING
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File the run can be resumed from.", rich_help_panel=_RUN
        ),
    ] = None,
    checkpoint_every: Annotated[
        int,
        typer.Option(min=1, metavar="ROWS", help="Rows between checkpoints.", rich_help_panel=_RUN),
    ] = 100_000,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue from --checkpoint.", rich_help_panel=_RUN),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option("--save", "-o", metavar="FILE", help="Model file.", rich_help_panel=_OUTPUT),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="HTML report.", rich_help_panel=_OUTPUT)
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object on stdout.", rich_help_panel=_OUTPUT),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Table of progress even where stderr is no terminal.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
) -> None:
    """Learn a stream in one pass, testing on every row before learning it.

    Example: onkel learn flights.parquet --target delayed --save flights.onkel
    """
    from onkel.cli.job import LearnJob
    from onkel.cli.options import LearnOptions

    options = LearnOptions(
        source=source,
        target=target,
        algorithm=algorithm,
        task=task.value,
        params=tuple(settings or ()),
        scaling=scaling.value,
        seed=seed,
        format=format.value if format else None,
        exclude=tuple(exclude or ()),
        missing=missing.value,
        n_hash=n_hash,
        shuffle=shuffle,
        dtype=dtype.value,
        limit=limit,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
        save=save,
        report=report,
        as_json=as_json,
        verbose=verbose,
    )
    status = LearnJob(options).run()
    if status:
        raise typer.Exit(status)
