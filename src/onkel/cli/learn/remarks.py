"""Remarks on a stream and its settings at the end of a run."""

from __future__ import annotations

from typing import Any

from onkel.cli.console import note
from onkel.evaluation.formatting import count
from onkel.pipeline import StreamModel


def say_of_rows(stream: Any) -> None:
    """Note rows that were skipped, and columns that came in mid-stream."""
    if stream.n_unlabelled:
        note(f"skipped, as the target is missing: {count(stream.n_unlabelled, 'row')}")
    layout = stream.encoder.layout
    late = [c.name for k, c in enumerate(layout.columns) if c.late and not layout.waits(k)]
    if late:
        note(f"came in mid-stream, and were learned from then on: {', '.join(late)}")


def say_of_weights(model: StreamModel, weights: Any) -> None:
    """Warn of weights for classes that never came: they do nothing and may be a slip."""
    if isinstance(weights, dict) and model.task == "classification":
        classes = model.classes_.tolist()
        never = [repr(label) for label in weights if label not in classes]
        if never:
            told = ", ".join(never)
            note(f"warning: class_weight has weights for classes that never came: {told}")
