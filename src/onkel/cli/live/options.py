"""The options of ``onkel live``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onkel.cli import options


def _option(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel=options.RUN, **more)


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """What ``onkel live`` is given."""

    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model to go on with, and to save; may be new.")
    ]
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="File or named pipe; '-' for stdin.")
    ] = "-"
    id: Annotated[str, _option("--id", "Key with the id of a row.", metavar="COLUMN")] = "id"
    target: options.Target = None
    group: options.Group = None
    format: Annotated[
        Literal["jsonl", "csv"], _option("--format", "Of lines and answers.")
    ] = "jsonl"  # fmt: skip
    sep: Annotated[str, _option("--sep", "Separator of CSV.", metavar="MARK")] = ","
    algorithm: options.Algorithm = None
    task: Annotated[
        Literal["classification", "regression"] | None,
        typer.Option("--task", help="Needed for a new model.", rich_help_panel=options.MODEL),
    ] = None
    features: options.Features = None
    settings: options.Settings = None
    scaling: options.Scaling = "auto"
    seed: options.Seed = 0
    missing: options.Missing = "auto"
    exclude: options.Exclude = None
    proba: Annotated[
        bool, _option("--proba/--no-proba", "Whether answers have the classes' probabilities.")
    ] = True
    level: Annotated[
        float,
        _option("--level", "Share of labels inside the answers' intervals, say 0.9; 0: none."),
    ] = 0.0
    waiting: Annotated[
        int, _option("--waiting", "Rows that may wait for labels.", min=1, metavar="ROWS")
    ] = 100_000
    save_every: Annotated[
        int, _option("--save-every", "Save after so many events.", min=1, metavar="N")
    ] = 100_000
    save_seconds: Annotated[
        float, _option("--save-seconds", "Save after so many seconds.", min=0.1, metavar="S")
    ] = 60.0
    metrics_every: Annotated[
        float, _option("--metrics-every", "Metrics on stderr; 0: none.", min=0, metavar="S")
    ] = 60.0
    as_json: Annotated[
        bool, _option("--json", "Metrics as JSON lines.")
    ] = False  # fmt: skip
