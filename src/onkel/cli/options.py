"""Options of the command line, each declared once.

A verb with many options lists them as the fields of a dataclass (:mod:`onkel.cli.arguments`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from onkel.streams.reading import LISTS, Formats, Policies, in_short

MODEL, READING, RUN, OUTPUT = "Model", "Reading", "Run", "Output"
_LONG = "Files, folders, globs or URLs, read one after another; '-' for stdin (with --format)."
_ROWS, _COLUMN, _FILE, _N, _MARK = (
    {"metavar": name} for name in ("ROWS", "COLUMN", "FILE", "N", "MARK")
)


def _option(panel: str | None, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


plain: Callable[..., Any] = partial(_option, None)
of_model: Callable[..., Any] = partial(_option, MODEL)
of_reading: Callable[..., Any] = partial(_option, READING)
of_run: Callable[..., Any] = partial(_option, RUN)
of_output: Callable[..., Any] = partial(_option, OUTPUT)


def _read(name: str, *names: str, but: str = "", of: Any = None, **more: Any) -> Any:
    """An option of `Reading`, in its words: the first sentence, and ``but`` what differs here.

    ``of`` is the literal type of the values: help names them, as a narrow terminal cuts types.
    """
    help = in_short(name)
    if name in LISTS:
        help += " As a,b. Repeatable."
    elif but:
        help = f"{help.removesuffix('.')}; {but}."
    if of is not None:
        help += f" One of {', '.join(get_args(of))}."
    return of_reading(help, *names, **more)


def names(incomplete: str) -> list[str]:
    """Names of algorithms, for the shell to complete."""
    from onkel.algorithms import ALGORITHMS

    return [name for name in ALGORITHMS if name.startswith(incomplete)]


Sources = Annotated[list[str], typer.Argument(metavar="SOURCE", help=_LONG)]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="File that 'onkel learn --save' wrote.")
]
Target = Annotated[str | None, plain(in_short("target"), "--target", "-t", **_COLUMN)]
Format = Annotated[Formats | None, _read("format", of=Formats, metavar="FORMAT")]
Exclude = Annotated[list[str] | None, _read("exclude", **_COLUMN)]
Categorical = Annotated[list[str] | None, _read("categorical", **_COLUMN)]
Missing = Annotated[Policies, _read("missing", of=Policies, metavar="HOW")]
MissingAsLearned = Annotated[
    Policies | None,
    _read("missing", but="by default as in learning", of=Policies, metavar="HOW"),
]
_BadValues = Literal["error", "missing"]
BadValues = Annotated[_BadValues, _read("bad_values", of=_BadValues, metavar="HOW")]
MaxCategories = Annotated[int, _read("max_categories", min=0, **_N)]
Hashed = Annotated[int, _read("n_hash", but="with --no-statistics", min=1, **_N)]
Statistics = Annotated[bool, _read("statistics")]
_Types = Literal["float32", "float64"]
Dtype = Annotated[_Types, _read("dtype", of=_Types, metavar="TYPE")]
Decimal = Annotated[Literal[".", ","], _read("decimal", **_MARK)]
Thousands = Annotated[str | None, _read("thousands", **_MARK)]
Sep = Annotated[str | None, _read("sep", **_MARK)]
Encoding = Annotated[str | None, _read("encoding", metavar="NAME")]
Header = Annotated[bool, _read("header")]
NaValues = Annotated[list[str] | None, _read("na_values", metavar="TEXT")]
_Orders = Literal["dayfirst", "monthfirst"]
Dates = Annotated[_Orders | None, _read("dates", of=_Orders, metavar="ORDER")]
KeepColumns = Annotated[list[str] | None, _read("keep_columns", **_COLUMN)]
Shuffle = Annotated[int, _read("shuffle", min=0, **_ROWS)]
BlockRows = Annotated[int, _read("block_rows", but="1: learned as by 'onkel live'", min=1, **_ROWS)]
Group = Annotated[
    str | None, _read("group", but="learners with a memory keep one for each", **_COLUMN)
]
Time = Annotated[str | None, _read("time", but="for --delay", **_COLUMN)]
Limit = Annotated[int | None, of_reading("Use only the first ROWS rows.", min=1, **_ROWS)]
Memory = Annotated[
    int, of_reading("MB for the rows; a larger source is not held in memory.", min=1, metavar="MB")
]
Jobs = Annotated[
    int | None,
    of_run(
        "Processes of one thread each; by default one per core if there is enough work.",
        min=1,
        metavar="N",
    ),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    of_model(
        "classification or regression; auto: the target in the first block decides.",
        metavar="TASK",
    ),
]
algorithm: Callable[..., Any] = partial(
    of_model,
    "The learner: a name that 'onkel algorithms' lists.",
    *("--algorithm", "-a"),
    metavar="NAME",
    autocompletion=names,
)
Algorithm = Annotated[str | None, algorithm(show_default="okl")]
Features = Annotated[
    int | None,
    of_model(
        "Number of features of the map (n_components): more are slower and more accurate.",
        min=1,
        **_N,
    ),
]
Settings = Annotated[
    list[str] | None,
    of_model(
        "Parameter of the algorithm, such as gamma=1/128. Repeatable.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
SettingsOfSome = Annotated[
    list[str] | None,
    of_model(
        "Parameter of all learners that have it, or of one: fogd.gamma=0.1. Repeatable.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
Scaling = Annotated[
    Literal["auto", "standard", "minmax", "none"],
    of_model(
        "Scaling of the features: standard, minmax, none or auto. auto: none if the learner "
        "scales by itself, else standard, with heavy tails compressed.",
        metavar="SCALING",
    ),
]
Seed = Annotated[int, of_model("Seed of the model and the shuffle.", min=0, **_N)]
FirstSeed = Annotated[int, of_model("Seed of the first run; run r uses seed + r.", min=0, **_N)]
Runs = Annotated[
    int, of_run("Runs of each learner, each in another order of the rows.", min=1, **_N)
]
Checkpoint = Annotated[Path | None, of_run("File the run can be resumed from.", **_FILE)]
CheckpointEvery = Annotated[int, of_run("Rows between checkpoints.", min=1, **_ROWS)]
Delay = Annotated[
    str,
    of_run(
        "Learn a row's label only after this many more rows have been predicted or, with "
        "--time, this much later: 90s, 15min, 1h, 2d, 1w.",
        metavar="ROWS|TIME",
    ),
]
Workers = Annotated[
    int | None, of_run("Learn partitions in parallel, in N processes; needs Dask.", min=1, **_N)
]
Scheduler = Annotated[
    str | None, of_run("The same on a running Dask cluster: tcp://HOST:PORT.", metavar="ADDRESS")
]
SkipBad = Annotated[
    bool,
    of_run(
        "With --workers: leave out partitions that cannot be read, and name them.",
        "--skip-bad-partitions",
    ),
]
Resume = Annotated[bool, of_run("Continue from --checkpoint.", "--resume")]
Base = Annotated[
    Path | None, of_run("Saved model to continue with this source.", "--from", **_FILE)
]
Overwrite = Annotated[bool, of_run("Start over even if --checkpoint exists.", "--overwrite")]
Save = Annotated[Path | None, of_output("Model file.", "--save", "-o", **_FILE)]
Out = Annotated[
    str, of_output(".parquet, .csv or .jsonl file; '-': CSV on stdout.", "--out", "-o", **_FILE)
]
Report = Annotated[Path | None, of_output("HTML report.", **_FILE)]
Json = Annotated[bool, of_output("One JSON object on stdout.", "--json")]
Verbose = Annotated[
    bool, of_output("Progress table even if stderr is not a terminal.", "--verbose", "-v")
]
Proba = Annotated[
    bool, of_output("Also write class probabilities (okl, krls, logistic losses).", "--proba")
]
Keep = Annotated[
    str | None, of_output("Columns of the source to write as well: id,name.", metavar="COLUMNS")
]
Intervals = Annotated[
    float | None,
    of_output(
        "Also write bounds that hold this share of the targets, say 90 (%) or 0.9; of classes, "
        "which labels are in a set that holds it.",
        metavar="SHARE",
    ),
]
IntervalsOfRun = Annotated[
    float | None,
    of_output(
        "Put bounds around each prediction that cover this share of the targets, say 90 "
        "(%) or 0.9, and measure them; of classes, sets of labels.",
        "--intervals",
        metavar="SHARE",
    ),
]
Next = Annotated[
    bool,
    plain(
        "The rows come right after those that were learned: the default also predicts "
        "from the last labels.",
        "--next",
    ),
]
Learn = Annotated[
    bool,
    plain("As --next, and each row that has a label is learned after its prediction.", "--learn"),
]
SaveLearned = Annotated[
    Path | None,
    of_output("With --learn: file for the model that has learned the rows.", "--save", **_FILE),
]
ReportOfScore = Annotated[Path | None, of_output("HTML report of the score.", "--report", **_FILE)]
JsonOfScore = Annotated[bool, of_output("The score as one JSON object on stdout.", "--json")]
Scores = Annotated[bool, of_output("Also write scores.", "--scores")]
