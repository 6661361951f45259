"""Learners as ONNX graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from onkel.learners.checking import column_names
from onkel.learners.portable.mergeable import Mergeable
from onkel.model.lock import locked

if TYPE_CHECKING:
    from onkel.export.graph import Value
    from onkel.export.outputs import Outputs


class Exported(Mergeable):
    """A learner that writes itself as an ONNX graph."""

    _task: ClassVar[str]

    @locked
    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the learner as an ONNX graph, for runtimes without Python.

        The graph takes ``X`` (n, d) of the learner's ``dtype`` and gives ``prediction`` (n,), as
        ``predict`` does; for a classifier also ``decision``, (n,) for two classes, else
        (n, n_classes), and ``probabilities`` (n, n_classes) if ``predict_proba`` has them. It does
        not learn, has no memory, and does not refuse NaN. See docs/onnx.md.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onnx``. An existing file is replaced.

        Raises
        ------
        ImportError
            The package onnx is missing: ``pip install 'onkel[onnx]'``.
        ExportError
            A part of the learner cannot be written as a graph; the message says which and why.
        ModelFileError
            The folder does not exist or cannot be written.
        """
        from onkel.export.graph import Graph, write

        check_is_fitted(self)
        graph = Graph()
        self.graph_outputs(graph.input("X", self.dtype, self.n_features_in_)).write()
        write(graph, path, type(self).__name__, self.graph_facts())

    def graph_outputs(self, X: Value) -> Outputs:
        """What the learner gives for rows X (n, d), as a graph."""
        from onkel.export.models import scores

        return self._outputs_of(scores(self.model_, X.to(self.dtype)))

    def _outputs_of(self, scores: Value) -> Outputs:
        """Predictions of scores (n, K)."""
        raise NotImplementedError

    def graph_facts(self) -> dict[str, Any]:
        """What an ONNX file says about the learner."""
        facts = {"learner": type(self).__name__, "task": self._task, "rows": int(self.n_rows_)}
        if self._task == "classification":
            facts["classes"] = self.classes_.tolist()
        names = column_names(self)
        return facts if names is None else facts | {"columns": [str(name) for name in names]}
