"""``onkel learn``: one pass over a stream, to a model."""

from __future__ import annotations

import typer

from onkel.cli.arguments import command
from onkel.cli.learn.options import LearnOptions


@command(LearnOptions)
def learn(options: LearnOptions) -> None:
    """Learn a stream in one pass: each row is predicted, scored, and then learned.

    A run that a bad row or a signal ends early replaces no model and no report that exists: it
    writes NAME.partial.EXT beside it.

    Example: onkel learn flights.csv --target delayed --save flights.onkel
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
