"""What is said of a stream and its settings when a run has ended."""

from __future__ import annotations

from typing import Any

from onkel.cli.console import note
from onkel.evaluation.text import count
from onkel.pipeline import StreamModel


def say_of_rows(stream: Any) -> None:
    """Rows that were skipped, and columns that came in mid-stream."""
    if stream.n_unlabelled:
        note(f"skipped, as the target is missing: {count(stream.n_unlabelled, 'row')}")
    layout = stream.encoder.layout
    late = [c.name for k, c in enumerate(layout.columns) if c.late and not layout.waits(k)]
    if late:
        note(f"came in mid-stream, and were learned from then on: {', '.join(late)}")


def say_of_weights(model: StreamModel, weights: Any) -> None:
    """Weights of classes that are none may be a slip; they do nothing."""
    if isinstance(weights, dict) and model.task == "classification":
        classes = model.classes_.tolist()
        never = [repr(label) for label in weights if label not in classes]
        if never:
            told = ", ".join(never)
            note(f"warning: class_weight has weights for classes that never came: {told}")
