"""A learner with its columns and its scaling, as one ONNX graph."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from onkel.errors import ExportError
from onkel.export.columns import Reading, features_of, fill_of, scaled
from onkel.export.functions import where
from onkel.export.graph import Graph, Value, write
from onkel.export.outputs import in_units
from onkel.learners.base import OnlineEstimator
from onkel.learners.saving import graph_facts, graph_outputs
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
    graph = Graph()
    if encoder is not None and encoder.n_vector is None:
        # the rows (n, d) before scaling, from one input per column
        dtype = np.dtype(model.settings.get("dtype", "float32"))
        places, means = model.as_tables()
        rows = features_of(encoder, graph, Reading(_missing(model), dtype, means, values), places)
    else:
        rows = _of_vectors(model, graph)
    outputs = graph_outputs(learner, scaled(model.scaler, rows))
    target = model.target_scaler
    if target is not None:
        outputs = in_units(outputs, target.scale, target.center)
    outputs.write()
    write(graph, path, type(learner).__name__, _facts(model, learner))


def _missing(model: BlockModel) -> str:
    return str(model.settings.get("missing", "auto"))


def _of_vectors(model: BlockModel, graph: Graph) -> Value:
    """The same from one input ``X``, for unnamed columns."""
    dtype = np.dtype(model.settings.get("dtype", "float64"))
    X = graph.input("X", dtype, model.scaler.n_features_in_)
    if model.encoder is None:
        return X
    fill = fill_of(model.encoder, _missing(model))
    if np.isnan(fill).all():
        return X
    return where(X.of("IsNaN", bool), fill, X)


def _facts(model: BlockModel, learner: OnlineEstimator) -> dict[str, object]:
    facts, encoder = graph_facts(learner), model.encoder
    if encoder is None:
        return facts
    if encoder.target is not None:
        facts["target"] = encoder.target
    return facts | ({"columns": encoder.kinds} if encoder.n_vector is None else {})
