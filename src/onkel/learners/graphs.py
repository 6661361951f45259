"""A fitted learner as an ONNX graph."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from onkel.learners.checking import column_names

if TYPE_CHECKING:
    from onkel.export.graph import Value
    from onkel.export.outputs import Outputs


def write_graph(learner: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted learner as an ONNX graph."""
    from onkel.export.graph import Graph, write

    check_is_fitted(learner)
    graph = Graph()
    graph_outputs(learner, graph.input("X", learner.dtype, learner.n_features_in_)).write()
    write(graph, path, type(learner).__name__, graph_facts(learner))


def graph_outputs(learner: Any, X: Value) -> Outputs:
    """What the learner gives for rows X (n, d), as a graph."""
    from onkel.export.models import scores
    from onkel.export.outputs import of_classes, of_value

    P = scores(learner.model_, X.to(learner.dtype))
    if learner._task == "regression":
        return of_value(P)
    link = learner.calibration_
    return of_classes(P, learner.classes_, learner.probability_link if link is None else link)


def graph_facts(learner: Any) -> dict[str, object]:
    """What an ONNX file says about the learner."""
    facts = {"learner": type(learner).__name__, "task": learner._task}
    facts["rows"] = int(learner.n_rows_)
    if learner._task == "classification":
        facts["classes"] = learner.classes_.tolist()
    names = column_names(learner)
    return facts if names is None else facts | {"columns": [str(name) for name in names]}
