"""A learner with its columns and its scaling, as one ONNX graph."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from onkel.errors import ExportError
from onkel.export.columns import Reading, features_of, fill_of, scaled
from onkel.export.functions import where
from onkel.export.graph import Graph, write
from onkel.export.outputs import in_units
from onkel.learners.base import OnlineEstimator
from onkel.learners.graphs import graph_facts, graph_outputs
from onkel.pipeline.statistics import is_fitted

if TYPE_CHECKING:
    from onkel.pipeline.block_model import BlockModel


def export(
    model: BlockModel,
    path: str | os.PathLike[str],
    values: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Write a fitted model; see `StreamModel.export_onnx`."""
    learner = model.estimator
    if not isinstance(learner, OnlineEstimator):
        raise ExportError(
            f"no ONNX graph is known for {type(learner).__name__}: it is no learner of onkel"
        )
    if not (is_fitted(learner) and is_fitted(model.scaler)):
        raise ExportError("the model has learned no rows yet: there is nothing to export")
    encoder, values = model.encoder, values or {}
    kinds = {} if encoder is None else encoder.kinds
    for name, own in values.items():
        if kinds.get(name) != "text":
            texts = [column for column, kind in kinds.items() if kind == "text"]
            raise ValueError(f"values: {name!r} is no column of text; there is: {texts}")
        if isinstance(own, str) or not all(isinstance(value, str) for value in own):
            raise ValueError(f"values: those of {name!r} must be a list of texts")
    graph, named = Graph(), encoder is not None and encoder.n_vector is None
    missing = str(model.settings.get("missing", "auto"))
    dtype = np.dtype(model.settings.get("dtype", "float32" if named else "float64"))
    # the rows (n, d) before scaling, from one input per column, or from ``X`` for unnamed ones
    if encoder is None or not named:
        rows = graph.input("X", dtype, model.scaler.n_features_in_)
        fill = np.nan if encoder is None else fill_of(encoder, missing)
        if not np.isnan(fill).all():
            rows = where(rows.of("IsNaN", bool), fill, rows)
    else:
        places, means = model.as_tables()
        rows = features_of(encoder, graph, Reading(missing, dtype, means, values), places)
    outputs = graph_outputs(learner, scaled(model.scaler, rows))
    target = model.target_scaler
    if target is not None:
        outputs = in_units(outputs, target.scale, target.center)
    outputs.write()
    facts = graph_facts(learner)
    if encoder is not None and encoder.target is not None:
        facts["target"] = encoder.target
    write(graph, path, type(learner).__name__, facts | ({"columns": kinds} if named else {}))
