"""Options of the command line, each declared once.

A verb with many options lists them as the fields of a dataclass (:mod:`onkel.cli.arguments`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onkel.streams.reading import LISTS, Formats, Policies, in_short

MODEL, READING, RUN, OUTPUT = "Model", "Reading", "Run", "Output"
_LONG = "Files, folders, globs or URLs, read one after another; '-' for stdin (with --format)."
_ROWS, _COLUMN, _FILE, _N, _MARK = (
    {"metavar": name} for name in ("ROWS", "COLUMN", "FILE", "N", "MARK")
)


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def _read(name: str, *names: str, but: str = "", **more: Any) -> Any:
    """An option of `Reading`, in its words: the first sentence, and ``but`` what differs here."""
    help = in_short(name)
    if name in LISTS:
        help += " As a,b. Repeatable."
    elif but:
        help = f"{help.removesuffix('.')}; {but}."
    return _option(*names, help=help, panel=READING, **more)


def names(incomplete: str) -> list[str]:
    """Names of algorithms, for the shell to complete."""
    from onkel.algorithms import ALGORITHMS

    return [name for name in ALGORITHMS if name.startswith(incomplete)]


Sources = Annotated[list[str], typer.Argument(metavar="SOURCE", help=_LONG)]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="File that 'onkel learn --save' wrote.")
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help=in_short("target"), metavar="COLUMN")
]
Format = Annotated[Formats | None, _read("format")]
Exclude = Annotated[list[str] | None, _read("exclude", **_COLUMN)]
Categorical = Annotated[list[str] | None, _read("categorical", **_COLUMN)]
Missing = Annotated[Policies, _read("missing")]
MissingAsLearned = Annotated[Policies | None, _read("missing", but="by default as in learning")]
MaxCategories = Annotated[int, _read("max_categories", min=0, **_N)]
Hashed = Annotated[int, _read("n_hash", but="with --no-statistics", min=1, **_N)]
Statistics = Annotated[bool, _read("statistics")]
Dtype = Annotated[Literal["float32", "float64"], _read("dtype")]
Decimal = Annotated[Literal[".", ","], _read("decimal")]
Thousands = Annotated[str | None, _read("thousands", **_MARK)]
Sep = Annotated[str | None, _read("sep", **_MARK)]
Encoding = Annotated[str | None, _read("encoding", metavar="NAME")]
Header = Annotated[bool, _read("header")]
NaValues = Annotated[list[str] | None, _read("na_values", metavar="TEXT")]
Dates = Annotated[Literal["dayfirst", "monthfirst"] | None, _read("dates")]
KeepColumns = Annotated[list[str] | None, _read("keep_columns", **_COLUMN)]
Shuffle = Annotated[int, _read("shuffle", min=0, **_ROWS)]
Group = Annotated[
    str | None, _read("group", but="learners with a memory keep one for each", **_COLUMN)
]
Time = Annotated[str | None, _read("time", but="for --delay", **_COLUMN)]
Limit = Annotated[
    int | None, _option(min=1, help="Use only this many first rows.", panel=READING, **_ROWS)
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
        help="Processes of one thread each; by default one per core if there is enough work.",
    ),
]  # fmt: skip
Task = Annotated[
    Literal["auto", "classification", "regression"],
    _option(help="'auto' decides by the first block.", panel=MODEL),
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
        help="Parameter of all learners that have it, or of one: fogd.gamma=0.1. Repeatable.",
    ),
]  # fmt: skip
Scaling = Annotated[
    Literal["auto", "standard", "minmax", "none"],
    _option(
        help="Scaling of the features; auto: standard with heavy tails drawn in, or none if the "
        "learner scales by itself.",
        panel=MODEL,
    ),
]
Seed = Annotated[int, _option(min=0, help="Seed of the model and the shuffle.", panel=MODEL, **_N)]
FirstSeed = Annotated[
    int, _option(min=0, help="Seed of the first run; run r uses seed + r.", panel=MODEL, **_N)
]
Runs = Annotated[
    int,
    _option(
        min=1, help="Runs of each learner, each in another order of the rows.", panel=RUN, **_N
    ),
]
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
        help="Learn a row's label only after this many more rows have been predicted or, with "
        "--time, this much later: 90s, 15min, 1h, 2d, 1w.",
    ),
]  # fmt: skip
Workers = Annotated[
    int | None,
    _option(
        min=1, help="Learn partitions in parallel, in N processes; needs Dask.",
        panel=RUN, **_N,
    ),
]  # fmt: skip
Scheduler = Annotated[
    str | None,
    _option(
        help="The same on a running Dask cluster: tcp://HOST:PORT.", panel=RUN, metavar="ADDRESS"
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
    _option("--from", help="Saved model to continue with this source.", panel=RUN, **_FILE),
]
Overwrite = Annotated[
    bool, _option("--overwrite", help="Start over even if --checkpoint exists.", panel=RUN)
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
        "--verbose", "-v", help="Progress table even if stderr is not a terminal.", panel=OUTPUT
    ),
]
Proba = Annotated[
    bool,
    _option(
        "--proba", help="Also write class probabilities (okl, krls, logistic losses).", panel=OUTPUT
    ),
]
Keep = Annotated[
    str | None,
    _option(help="Columns of the source to write as well: id,name.", metavar="COLUMNS",
            panel=OUTPUT),
]  # fmt: skip
Intervals = Annotated[
    float | None,
    _option(help="Also write bounds around this share of the targets, say 90 (%) or 0.9 "
            "(regression).", metavar="SHARE", panel=OUTPUT),
]  # fmt: skip
IntervalsOfRun = Annotated[
    float | None,
    _option("--intervals", help="Put bounds around each prediction that cover this share of the "
            "targets, say 90 (%) or 0.9, and measure them (regression).", metavar="SHARE",
            panel=OUTPUT),
]  # fmt: skip
Next = Annotated[
    bool,
    _option(
        "--next",
        help="The rows come right after those that were learned: the default also predicts from "
        "the last labels.",
    ),
]
Learn = Annotated[
    bool,
    _option(
        "--learn", help="As --next, and each row that has a label is learned after its prediction."
    ),
]
SaveLearned = Annotated[
    Path | None,
    _option("--save", help="With --learn: file for the model that has learned the rows.",
            panel=OUTPUT, **_FILE),
]  # fmt: skip
ReportOfScore = Annotated[Path | None, _option("--report", help="HTML report of the score.",
                                               panel=OUTPUT, **_FILE)]  # fmt: skip
JsonOfScore = Annotated[
    bool, _option("--json", help="The score as one JSON object on stdout.", panel=OUTPUT)
]
Scores = Annotated[bool, _option("--scores", help="Also write scores.", panel=OUTPUT)]
