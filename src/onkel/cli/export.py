"""``onkel export``: a saved model as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from onkel.cli import options

_Out = Annotated[Path, typer.Argument(metavar="FILE", help="ONNX file to write.")]


def export(model: options.Model, out: _Out) -> None:
    """Write a saved model as an ONNX graph, for runtimes without Python.

    Example: onkel export flights.onkel flights.onnx
    """
    from onkel.cli.console import note
    from onkel.cli.writers import check_outputs
    from onkel.evaluation.text import bytes_text

    check_outputs(out, inputs=[model])
    loaded = _load(model)
    try:
        loaded.export_onnx(out)
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


def _inputs(model: Any) -> str:
    """What the graph takes, in short."""
    from onkel.evaluation.text import listed
    from onkel.pipeline import StreamModel

    if isinstance(model, StreamModel) and model.encoder is not None and model.encoder.kinds:
        return f"takes the columns {listed(list(model.encoder.kinds))}, (n, 1) each"
    learner = model.estimator if isinstance(model, StreamModel) else model
    return f"takes X (n, {learner.n_features_in_})"
