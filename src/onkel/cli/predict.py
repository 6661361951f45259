"""``onkel predict``: a saved model over new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onkel.cli.choices import Format, Missing

__all__ = ["predict"]


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="File that 'onkel learn --save' wrote.")
    ],
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="File, folder, glob or URL; '-' for stdin (with --format)."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help=".parquet, .csv or .jsonl file; '-': CSV on stdout."
        ),
    ] = "-",
    proba: Annotated[
        bool, typer.Option("--proba", help="Class probabilities as well (logistic losses).")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Scores as well.")] = False,
    format: Annotated[Format | None, typer.Option(help="By extension if not given.")] = None,
    missing: Annotated[
        Missing | None,
        typer.Option(help="As the model was learned if not given."),
    ] = None,
) -> None:
    """Predict the rows of a source, in their order.

    Columns are found by name; the target may be there or not.

    Example: onkel predict flights.onkel new.csv --out predictions.parquet
    """
    from onkel.cli.checks import check_outputs
    from onkel.cli.console import note, say_if_cold
    from onkel.cli.predicting import predict_stream
    from onkel.errors import ModelFileError
    from onkel.persistence import load
    from onkel.pipeline import StreamModel

    if out != "-":
        check_outputs(Path(out), inputs=[source, model])
    loaded = load(model)
    if not isinstance(loaded, StreamModel) or loaded.encoder is None:
        raise ModelFileError(
            f"{model}: holds a {type(loaded).__name__} without its columns; 'onkel predict' needs "
            "a file that 'onkel learn --save' wrote. In Python: onkel.load(...).predict(X)"
        )
    say_if_cold()
    rows = predict_stream(
        loaded,
        source,
        out,
        format=format.value if format else None,
        missing=missing.value if missing else None,
        proba=proba,
        scores=scores,
    )
    note(f"{rows:,} predictions in {out}" if out != "-" else f"{rows:,} predictions")
