"""From scores to predictions: values, labels and probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.default.calibration import MANY, MORE, TWO, Calibration
from onkel.errors import ExportError
from onkel.export.functions import concat, filled, pick, where
from onkel.export.graph import Value


class Outputs(NamedTuple):
    """A graph's outputs for each row; None where it lacks one."""

    #: (n,), labels or values
    prediction: Value
    #: (n,) of two classes, else (n, K)
    decision: Value | None = None
    #: (n, K)
    probabilities: Value | None = None
    n_classes: int = 0

    def write(self) -> None:
        """Make them the outputs of their graph."""
        graph, K = self.prediction.graph, self.n_classes
        graph.output("prediction", self.prediction)
        if self.decision is not None:
            graph.output("decision", self.decision, K if K > 2 else None)
        if self.probabilities is not None:
            graph.output("probabilities", self.probabilities, K)


def of_value(scores: Value) -> Outputs:
    """A regression's values from scores (n, 1)."""
    return Outputs(scores.shaped(-1))


def of_classes(scores: Value, classes: np.ndarray, link: Calibration | str | None) -> Outputs:
    """A classifier's outputs from scores (n, 1 or K).

    ``link`` turns scores into probabilities: "softmax", or a learned calibration. None: there are
    no probabilities.
    """
    K = len(classes)
    if K == 0:
        raise ExportError("no class is known yet: learn at least one row first")
    decision = scores if K > 2 else scores.shaped(-1)
    chances = None if link is None else _probabilities(scores, K, link)
    return Outputs(_labels(scores, classes), decision, chances, K)


def _labels(scores: Value, classes: np.ndarray) -> Value:
    """Of two classes the second if its score is ≥ 0; of more, the first with the highest score."""
    if len(classes) == 2:
        codes = (scores.shaped(-1) >= 0.0).to(np.int64)
    else:
        codes = scores.graph.node("ArgMax", scores, dtype=np.int64, axis=1, keepdims=0)
    return pick(classes, codes)


def _probabilities(scores: Value, K: int, link: Calibration | str) -> Value:
    if K == 1:
        return filled(scores, 1.0, 1)
    if isinstance(link, Calibration):
        return _calibrated(scores, K, link)
    if link != "softmax":
        raise ExportError(f"no ONNX graph is known for probabilities by {link!r}")
    if K == 2:
        return _of_two(scores.of("Sigmoid"))
    return scores.graph.node("Softmax", scores, axis=1)


def _calibrated(scores: Value, K: int, calibration: Calibration) -> Value:
    graph = scores.graph
    if K > 2:
        bent = _bent(scores.shaped(-1, 1), MANY, calibration.many[0])
        return graph.node("Softmax", bent.shaped(-1, K), axis=1)
    positive = _bent(scores, TWO, calibration.two[0]).of("Sigmoid")
    # a probability never contradicts the predicted class
    above, below = graph.node("Max", positive, MORE), graph.node("Min", positive, 0.5)
    return _of_two(where(scores > 0.0, above, below))


def _bent(f: Value, knots: np.ndarray, values: np.ndarray) -> Value:
    """f (n, 1) under the function that is linear between knots: the sum of its pieces."""
    gaps = np.diff(knots)
    pieces = f.graph.node("Max", f.graph.node("Min", f - knots[:-1], gaps), 0.0)
    return pieces @ (np.diff(values) / gaps)[:, None] + values[0]


def _of_two(positive: Value) -> Value:
    """Both probabilities (n, 2) from that of the second class (n, 1)."""
    return concat(-positive + 1.0, positive)


def in_units(outputs: Outputs, scale: float, center: float) -> Outputs:
    """A regression's values in the target's own units."""
    return outputs._replace(prediction=outputs.prediction * scale + center)
