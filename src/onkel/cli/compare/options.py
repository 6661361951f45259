"""The options of ``onkel compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from onkel.cli import options
from onkel.cli.arguments import Learning
from onkel.cli.options import of_model, of_output, of_run

DEFAULT_LEARNERS = "okl,krls,fogd,nogd,rrf,pa"

Learners = Annotated[
    list[str] | None,
    of_model(
        "Names, separated by commas, each with optional settings: "
        "okl,fogd,fogd:n_components=100. Repeatable.",
        "--algorithms",
        "-a",
        metavar="NAMES",
        show_default=DEFAULT_LEARNERS,
    ),
]
Rivals = Annotated[
    list[str] | None,
    of_model(
        "A learner of another library that has partial_fit, or one of River's: "
        "sklearn.linear_model:Perceptron, or with settings NAME:alpha=0.001. Repeatable.",
        "--rival",
        metavar="MODULE:CLASS",
    ),
]
Order = Annotated[
    Literal["shuffled", "stream"],
    of_run("Order of the rows; with 'stream', runs differ only in seeds."),
]
TableForm = Annotated[
    Literal["text", "markdown", "csv", "latex"],
    of_output("Form of the table on stdout.", "--table"),
]
Figure = Annotated[Path | None, of_output("Learning curves: PNG, SVG or PDF.", metavar="FILE")]


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
