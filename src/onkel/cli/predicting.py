"""Predictions of a stream, block by block, into a file that appears only when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onkel.cli.console import watched
from onkel.cli.writers import open_writer

__all__ = ["predict_stream"]


def predict_stream(
    model: Any,
    source: str,
    out: str,
    *,
    format: str | None = None,
    missing: str | None = None,
    proba: bool = False,
    scores: bool = False,
) -> int:
    """Write the predictions of a model for every row of a source.

    Parameters
    ----------
    model : StreamModel
        With its encoder.
    source : str
        As for `onkel.streams.open_stream`.
    out : str
        File ending in .parquet, .csv or .jsonl, or "-" for CSV on stdout.
    format : str, optional
        Format of the source.
    missing : {"error", "zero", "mean"}, optional
        As the model was learned by default, but never "skip": every row has its prediction.
    proba, scores : bool, default=False
        Columns beside ``prediction``.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    ValueError
        If the model has no such output, or the file cannot be written as asked.
    DataError
        If a row cannot be read; then no file is written.
    """
    from onkel.streams import open_stream

    _check(model, proba=proba, scores=scores, missing=missing)
    default = model.settings.get("missing", "error")
    stream = open_stream(
        source,
        format=format,
        missing=missing or ("error" if default == "skip" else default),
        encoder=model.encoder,
        dtype=model.settings.get("dtype", "float32"),
    )
    rows = 0
    with open_writer(out) as write:
        for columns in _columns(model, stream, proba=proba, scores=scores):
            write(columns)
            rows += len(columns["prediction"])
        if rows == 0:
            raise ValueError(f"{source}: there are no rows to predict")
    return rows


def _check(model: Any, *, proba: bool, scores: bool, missing: str | None) -> None:
    if missing == "skip":
        raise ValueError(
            "--missing skip: predictions would no longer stand beside their rows; "
            "use zero, mean or error"
        )
    if (proba or scores) and model.task == "regression":
        raise ValueError("--proba and --scores are for classifiers; this model is a regressor")
    if proba and not hasattr(model.estimator, "predict_proba"):
        loss = getattr(model.estimator, "loss", None)
        raise ValueError(
            f"--proba: this model has no probabilities (loss={loss!r}); "
            "learn with --set loss=logistic, or ask for --scores"
        )


def _columns(model: Any, stream: Any, *, proba: bool, scores: bool) -> Iterator[dict[str, Any]]:
    for block in watched(stream, "predicting", stream.n_rows):
        columns = {"prediction": model.predict(block.X)}
        if scores:
            columns |= _by_class(model, "score", model.decision_function(block.X))
        if proba:
            columns |= _by_class(model, "proba", model.predict_proba(block.X))
        yield columns


def _by_class(model: Any, name: str, values: np.ndarray) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    labels = model.estimator.classes_
    return {f"{name}_{label}": values[:, i] for i, label in enumerate(labels)}
