"""``onkel compare``: several learners over the same rows in the same orders."""

from __future__ import annotations

import typer

from onkel.cli.arguments import command
from onkel.cli.compare.options import CompareOptions


@command(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare learners on the same rows in the same orders; each row is predicted, then learned.

    A linear learner is always compared, to show what a kernel gains. A star marks the best learner
    and those not significantly worse. Ctrl-C keeps finished runs.

    Example: onkel compare flights.csv --target delayed -a okl,fogd --runs 5
    """
    from onkel.cli.compare.job import CompareJob

    status = CompareJob(options).run()
    if status:
        raise typer.Exit(status)
