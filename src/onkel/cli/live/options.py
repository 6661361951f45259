"""The options of ``onkel live``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from onkel.cli import options
from onkel.cli.options import of_model, of_run


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """How a live model is made, what its events are, and when it is saved."""

    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model to go on with, and to save; may be new.")
    ]
    id: Annotated[str, of_run("Key with the id of a row.", "--id", metavar="COLUMN")] = "id"
    target: options.Target = None
    group: options.Group = None
    algorithm: options.Algorithm = None
    task: Annotated[
        Literal["classification", "regression"] | None,
        of_model("classification or regression; needed for a new model.", "--task", metavar="TASK"),
    ] = None
    features: options.Features = None
    settings: options.Settings = None
    scaling: options.Scaling = "auto"
    seed: options.Seed = 0
    missing: options.Missing = "auto"
    exclude: options.Exclude = None
    proba: Annotated[
        bool, of_run("Whether answers have the classes' probabilities.", "--proba/--no-proba")
    ] = True
    level: Annotated[
        float, of_run("Share of labels inside the answers' intervals, say 0.9; 0: none.", "--level")
    ] = 0.0
    journal: Annotated[
        Path | None,
        of_run(
            "Folder of a journal: what was answered is there first, and survives any crash.",
            "--journal",
            metavar="FOLDER",
        ),
    ] = None
    waiting: Annotated[
        int, of_run("Rows that may wait for labels.", "--waiting", min=1, metavar="ROWS")
    ] = 100_000
    save_every: Annotated[
        int, of_run("Save after so many events.", "--save-every", min=1, metavar="N")
    ] = 100_000
    save_seconds: Annotated[
        float, of_run("Save after so many seconds.", "--save-seconds", min=0.1, metavar="S")
    ] = 60.0


@dataclass(frozen=True, kw_only=True)
class LiveOptions(EventOptions):
    """What ``onkel live`` is given."""

    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="File or named pipe; '-' for stdin. Or kafka://HOST/TOPIC, redis://HOST/STREAM, "
            "nats://HOST/SUBJECT.",
        ),
    ] = "-"
    out: Annotated[
        str | None, of_run("Topic of a broker for the answers.", "--out", metavar="TOPIC")
    ] = None
    labels: Annotated[
        str | None, of_run("Topic of a broker with labels by id.", "--labels", metavar="TOPIC")
    ] = None
    client: Annotated[
        Path | None,
        of_run(
            "Lines name=value for the broker's client, such as a password.",
            "--client",
            metavar="FILE",
        ),
    ] = None
    format: Annotated[
        Literal["jsonl", "csv"], of_run("Format of lines and answers.", "--format")
    ] = "jsonl"
    sep: Annotated[str, of_run("Separator of CSV.", "--sep", metavar="MARK")] = ","
    in_order: Annotated[
        bool,
        of_run(
            "Learn each label before later rows are answered, however long they wait.",
            "--in-order",
        ),
    ] = False
    metrics_every: Annotated[
        float, of_run("Metrics on stderr; 0: none.", "--metrics-every", min=0, metavar="S")
    ] = 60.0
    metrics_rows: Annotated[
        int,
        of_run("Metrics after so many rows, too; 0: never.", "--metrics-rows", min=0, metavar="N"),
    ] = 0
    as_json: Annotated[bool, of_run("Metrics as JSON lines.", "--json")] = False
