"""``onkel export``: a saved model as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from onkel.cli import options

_Out = Annotated[Path, typer.Argument(metavar="FILE", help="ONNX file to write.")]
_Values = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="Rows with the texts to expect, if a column has more than --max-categories.",
    ),
]


def export(model: options.Model, out: _Out, values: _Values = None) -> None:
    """Write a saved model as an ONNX graph, for runtimes without Python.

    Example: onkel export flights.onkel flights.onnx
    """
    from onkel.cli.console import note
    from onkel.cli.outputs import check_outputs
    from onkel.evaluation.formatting import bytes_text

    check_outputs(out, inputs=[model, *([] if values is None else [values])])
    loaded = _load(model)
    known = {} if values is None else {"values": _texts(loaded, model, values)}
    try:
        loaded.export_onnx(out, **known)
    except ImportError as error:
        raise ValueError(str(error)) from None
    note(f"{out}, {bytes_text(out.stat().st_size)}: {_inputs(loaded)}")


def _load(path: str) -> Any:
    from onkel.errors import ModelFileError
    from onkel.learners.base import OnlineEstimator
    from onkel.persistence import load
    from onkel.pipeline import StreamModel

    loaded = load(path)
    if not isinstance(loaded, StreamModel | OnlineEstimator):
        raise ModelFileError(
            f"{path}: holds a {type(loaded).__name__}, which predicts nothing; give a file that "
            "'onkel learn --save' wrote"
        )
    return loaded


def _texts(model: Any, path: str, source: str) -> dict[str, list[str]]:
    """The texts in a source, for each of the model's columns of text."""
    from onkel.columns.values import text_of
    from onkel.pipeline import StreamModel
    from onkel.pipeline.rows import reading_to_predict
    from onkel.streams import open_stream

    if not isinstance(model, StreamModel) or model.encoder is None:
        raise ValueError(f"--values: {path} holds a model without columns of text")
    encoder = model.encoder
    names = [name for name, kind in encoder.kinds.items() if kind == "text"]
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    reading = reading_to_predict(model.settings, features=names, missing="zero", keep=names)
    stream = open_stream(source, reading)
    for block in stream:
        for name, column in stream.kept(block.n_rows).items():
            found[name] |= dict.fromkeys(text_of(column, name, encoder.na_values).known)
    return {name: list(known) for name, known in found.items()}


def _inputs(model: Any) -> str:
    """The graph's inputs, in short."""
    from onkel.evaluation.formatting import listed
    from onkel.pipeline import StreamModel

    if isinstance(model, StreamModel) and model.encoder is not None and model.encoder.kinds:
        return f"takes the columns {listed(list(model.encoder.kinds))}, (n, 1) each"
    learner = model.estimator if isinstance(model, StreamModel) else model
    return f"takes X (n, {learner.n_features_in_})"
