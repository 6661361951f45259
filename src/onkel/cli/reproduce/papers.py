"""``onkel reproduce NAME ...``: the papers' tables and figures, run or listed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from onkel.cli import options
from onkel.cli.arguments import names_in
from onkel.cli.console import note
from onkel.cli.reproduce import listing, running

_Runs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Runs; by default as many as in the paper.")
]
_Learners = Annotated[
    list[str] | None,
    typer.Option("--learner", metavar="NAME", help="Name in a table. Repeatable; by default all."),
]
_Search = Annotated[bool, typer.Option("--search", help="Search all settings that have a grid.")]


def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Experiments, or 'all'; without a name, list them."),
    ] = None,
    data: options.Data = None,
    learners: _Learners = None,
    runs: _Runs = None,
    jobs: options.Jobs = None,
    report: running.Report = None,
    cache: running.CacheFolder = None,
    search: _Search = False,
    as_markdown: options.Markdown = False,
) -> None:
    """Run tables and figures of the papers, beside the printed values. Finished runs are kept.

    For your own streams, in the order of time: onkel reproduce streams --help

    Example: onkel reproduce lsokl.table5 --data german,spambase --runs 20 --jobs 2 --report out/
    """
    from onkel.experiments import find

    if not names:
        listing.show()
        return
    chosen = _chosen(find(names), names_in(data), names_in(learners))
    running.run_and_show(chosen, runs, jobs, cache, report, as_markdown, search)


def _chosen(found: Sequence[Any], data: list[str], learners: list[str]) -> list[Any]:
    """The experiments that this verb can run, limited to these data and learners.

    Raises
    ------
    ValueError
        None of them has such data, or such a learner.
    """
    _refuse_unknown("--data", data, [name for entry in found for name in entry.datasets])
    _refuse_unknown("--learner", learners, [name for entry in found for name in entry.algorithms])
    chosen = []
    for entry in found:
        part = entry.on(data, learners)
        if not entry.cases:
            note(
                f"left out: {entry.name}, which needs files: 'onkel reproduce {entry.name} FOLDER'"
            )
        elif part.cases:
            chosen.append(part)
    if not chosen:
        raise ValueError(
            "no experiment has these learners on these data; leave --data or --learner out"
        )
    return chosen


def _refuse_unknown(option: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            among = ", ".join(dict.fromkeys(known))
            raise ValueError(f"{option} {name}: must be among {among}{hint}")
