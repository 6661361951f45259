"""The options of ``onkel compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from onkel.cli import options
from onkel.cli.arguments import Learning
from onkel.cli.options import MODEL, OUTPUT, RUN

Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithms", "-a", metavar="NAMES", rich_help_panel=MODEL,
        help="Names, separated by commas, each with optional settings: "
        "okl,fogd,fogd:n_components=100. Repeatable.",
    ),
]  # fmt: skip
Rivals = Annotated[
    list[str] | None,
    typer.Option(
        "--rival", metavar="MODULE:CLASS", rich_help_panel=MODEL,
        help="A learner of another library that has partial_fit, or one of River's: "
        "sklearn.linear_model:SGDClassifier:alpha=0.001. Repeatable.",
    ),
]  # fmt: skip
Order = Annotated[
    Literal["shuffled", "stream"],
    typer.Option(
        help="Order of the rows; with 'stream', runs differ only in seeds.", rich_help_panel=RUN
    ),
]
TableForm = Annotated[
    Literal["text", "markdown", "csv", "latex"],
    typer.Option("--table", help="Form of the table on stdout.", rich_help_panel=OUTPUT),
]
Figure = Annotated[
    Path | None,
    typer.Option(help="Learning curves: PNG, SVG or PDF.", metavar="FILE", rich_help_panel=OUTPUT),
]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Learning):
    """What ``onkel compare`` is given."""

    settings: options.SettingsOfSome = None
    seed: options.FirstSeed = 0
    algorithms: Learners = None
    rivals: Rivals = None
    runs: options.Runs = 5
    order: Order = "shuffled"
    memory: options.Memory = 1000
    jobs: options.Jobs = None
    table: TableForm = "text"
    figure: Figure = None
    report: options.Report = None
    as_json: options.Json = False
