"""Options of the command line, each declared once.

A verb with many options lists them as the fields of a dataclass (:mod:`onkel.cli.asked`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

MODEL, READING, RUN, OUTPUT = "Model", "Reading", "Run", "Output"
_LONG = "File, folder, glob or URL, or several, read in turn; '-' for stdin (with --format)."
_ROWS, _COLUMN, _FILE, _N = ({"metavar": name} for name in ("ROWS", "COLUMN", "FILE", "N"))


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def names(incomplete: str) -> list[str]:
    """Names of algorithms, for the shell to complete."""
    from onkel.algorithms import ALGORITHMS

    return [name for name in ALGORITHMS if name.startswith(incomplete)]


Formats = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "svmlight"]
Policies = Literal["auto", "error", "zero", "mean", "skip"]

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE...", help=_LONG)]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="File that 'onkel learn --save' wrote.")
]
Target = Annotated[str | None, _option("--target", "-t", help="Column to learn.", **_COLUMN)]
Format = Annotated[Formats | None, _option(help="By extension if not given.", panel=READING)]
Exclude = Annotated[
    list[str] | None,
    _option(help="Column to leave out: a,b. Repeatable.", panel=READING, **_COLUMN),
]
Categorical = Annotated[
    list[str] | None,
    _option(help="Column of categories, though it holds numbers or times: a,b. Repeatable.",
            panel=READING, **_COLUMN),
]  # fmt: skip
Missing = Annotated[Policies, _option(help="What to do with missing values.", panel=READING)]
MissingAsLearned = Annotated[
    Policies | None, _option(help="As the model was learned if not given.", panel=READING)
]
MaxCategories = Annotated[
    int,
    _option(
        min=0, help="Values of a text column with a feature of their own.", panel=READING, **_N
    ),
]
Hashed = Annotated[
    int,
    _option(min=1, help="Features other values share, without --statistics.", panel=READING, **_N),
]
Statistics = Annotated[
    bool,
    _option(
        "--statistics/--no-statistics", panel=READING,
        help="Also the mean target of each text value over the rows before.",
    ),
]  # fmt: skip
Dtype = Annotated[
    Literal["float32", "float64"], _option(help="Precision of the features.", panel=READING)
]
Decimal = Annotated[
    Literal[".", ","], _option(help="Decimal mark of numbers in text.", panel=READING)
]
Thousands = Annotated[
    str | None,
    _option(help="Mark between thousands, where the first rows have none.", metavar="MARK",
            panel=READING),
]  # fmt: skip
Sep = Annotated[
    str | None,
    _option(help="What stands between fields; by the header if not given.", metavar="MARK",
            panel=READING),
]  # fmt: skip
Encoding = Annotated[
    str | None,
    _option(help="Of a text file, such as latin-1; UTF-8 if not given.", metavar="NAME",
            panel=READING),
]  # fmt: skip
Header = Annotated[
    bool, _option("--header/--no-header", help="Whether a line names the columns.", panel=READING)
]
NaValues = Annotated[
    list[str] | None,
    _option(help="What stands for no value, beside ?, NA, - and the like: a,b. Repeatable.",
            metavar="TEXT", panel=READING),
]  # fmt: skip
Dates = Annotated[
    Literal["dayfirst", "monthfirst"] | None,
    _option(help="How times such as 2/3/2024 begin, where the rows do not tell.", panel=READING),
]
KeepColumns = Annotated[
    list[str] | None,
    _option(
        help="Column to use though it looks like an id: a,b. Repeatable.",
        panel=READING, **_COLUMN,
    ),
]  # fmt: skip
Limit = Annotated[
    int | None, _option(min=1, help="Use the first so many rows only.", panel=READING, **_ROWS)
]
Shuffle = Annotated[
    int, _option(min=0, help="Rows of the shuffle buffer; 0: none.", panel=READING, **_ROWS)
]
Memory = Annotated[
    int,
    _option(
        min=1, metavar="MB", panel=READING,
        help="MB for the rows; a larger source is not held in memory.",
    ),
]  # fmt: skip
Jobs = Annotated[
    int | None,
    _option(
        min=1, metavar="N", panel=RUN,
        help="Processes, of one thread each: one a core if not given, where there is enough to do.",
    ),
]  # fmt: skip
Task = Annotated[
    Literal["auto", "classification", "regression"],
    _option(help="'auto' decides on the first block.", panel=MODEL),
]
Algorithm = Annotated[
    str | None,
    _option(
        "--algorithm", "-a", metavar="NAME", help="See 'onkel algorithms'.", panel=MODEL,
        autocompletion=names,
    ),
]  # fmt: skip
Features = Annotated[
    int | None,
    _option(
        min=1, panel=MODEL, **_N,
        help="Features that a map makes (its n_components): more are slower and more accurate.",
    ),
]  # fmt: skip
Settings = Annotated[
    list[str] | None,
    _option(
        "--set", metavar="NAME=VALUE", panel=MODEL,
        help="Parameter of the algorithm, such as gamma=1/128. Repeatable.",
    ),
]  # fmt: skip
SettingsOfSome = Annotated[
    list[str] | None,
    _option(
        "--set", metavar="NAME=VALUE", panel=MODEL,
        help="Parameter of all that have it, or of one: fogd.gamma=0.1. Repeatable.",
    ),
]  # fmt: skip
Scaling = Annotated[
    Literal["auto", "standard", "minmax", "none"],
    _option(
        help="Of the features; auto: standard with heavy tails drawn in, or none where the learner "
        "scales by itself.",
        panel=MODEL,
    ),
]
Seed = Annotated[int, _option(min=0, help="Seed of the model and the shuffle.", panel=MODEL, **_N)]
FirstSeed = Annotated[
    int,
    _option(min=0, help="Seed of the first run; run r uses seed + r.", panel=MODEL, **_N),
]
Runs = Annotated[int, _option(min=1, help="Orders of the rows.", panel=RUN, **_N)]
Checkpoint = Annotated[
    Path | None, _option(help="File the run can be resumed from.", panel=RUN, **_FILE)
]
CheckpointEvery = Annotated[
    int, _option(min=1, help="Rows between checkpoints.", panel=RUN, **_ROWS)
]
Delay = Annotated[
    str,
    _option(
        panel=RUN, metavar="ROWS|TIME",
        help="A row's label is learned only after so many more rows have been predicted, or, by "
        "--time, so much later: 90s, 15min, 1h, 2d, 1w.",
    ),
]  # fmt: skip
Group = Annotated[
    str | None,
    _option(
        help="Column of the series each row belongs to; learners with a memory have one for each.",
        panel=READING, **_COLUMN,
    ),
]  # fmt: skip
Time = Annotated[
    str | None,
    _option(help="Column of when each row came, for --delay: times or seconds.", panel=READING,
            **_COLUMN),
]  # fmt: skip
Workers = Annotated[
    int | None,
    _option(
        min=1, help="Learn partitions of the source apart, in so many processes (onkel[dask]).",
        panel=RUN, **_N,
    ),
]  # fmt: skip
Scheduler = Annotated[
    str | None,
    _option(
        help="The same on a Dask cluster that runs: tcp://HOST:PORT.", panel=RUN, metavar="ADDRESS"
    ),
]
SkipBad = Annotated[
    bool,
    _option(
        "--skip-bad-partitions", panel=RUN,
        help="With --workers: leave out partitions that cannot be read, and name them.",
    ),
]  # fmt: skip
Resume = Annotated[bool, _option("--resume", help="Continue from --checkpoint.", panel=RUN)]
Base = Annotated[
    Path | None,
    _option("--from", help="Saved model to go on from, with another source.", panel=RUN, **_FILE),
]
Overwrite = Annotated[
    bool, _option("--overwrite", help="Begin anew, though --checkpoint exists.", panel=RUN)
]
Save = Annotated[Path | None, _option("--save", "-o", help="Model file.", panel=OUTPUT, **_FILE)]
Out = Annotated[
    str,
    _option(
        "--out", "-o", help=".parquet, .csv or .jsonl file; '-': CSV on stdout.", panel=OUTPUT,
        **_FILE,
    ),
]  # fmt: skip
Report = Annotated[Path | None, _option(help="HTML report.", panel=OUTPUT, **_FILE)]
Json = Annotated[bool, _option("--json", help="One JSON object on stdout.", panel=OUTPUT)]
Verbose = Annotated[
    bool,
    _option(
        "--verbose", "-v", help="Table of progress even where stderr is no terminal.", panel=OUTPUT
    ),
]
Proba = Annotated[
    bool, _option("--proba", help="Class probabilities as well (logistic losses).", panel=OUTPUT)
]
Keep = Annotated[
    str | None,
    _option(help="Columns of the source to write as well: id,name.", metavar="COLUMNS",
            panel=OUTPUT),
]  # fmt: skip
Intervals = Annotated[
    float | None,
    _option(help="Bounds as well that hold such a share of the targets, say 0.9 (regression by okl "
            "and krls).", metavar="SHARE", panel=OUTPUT),
]  # fmt: skip
Scores = Annotated[bool, _option("--scores", help="Scores as well.", panel=OUTPUT)]
Data = Annotated[
    list[str] | None,
    _option("--data", metavar="NAME", help="Data set. Repeatable; all if not given."),
]
Markdown = Annotated[bool, _option("--markdown", help="Print Markdown.")]
