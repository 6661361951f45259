"""``onkel learn``: one pass over a stream, to a model."""

from __future__ import annotations

import typer

from onkel.cli.arguments import command
from onkel.cli.learn.options import LearnOptions


@command(LearnOptions)
def learn(options: LearnOptions) -> None:
    """Learn a stream in one pass, testing on every row before learning it.

    A run cut short by a bad row or a signal replaces no model and no report: if the file exists,
    NAME.partial is written beside it.

    Example: onkel learn flights.parquet --target delayed --save flights.onkel
    """
    if options.workers is not None or options.scheduler is not None:
        from onkel.cli.learn.workers import learn_with_workers

        learn_with_workers(options)
        return
    if options.skip_bad_partitions:
        raise ValueError("--skip-bad-partitions is for partitions: give --workers, too")
    from onkel.cli.learn.job import LearnJob

    status = LearnJob(options).run()
    if status:
        raise typer.Exit(status)
