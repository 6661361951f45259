"""The measures beside the score, in words: lines for tables, and a warning below a baseline."""

from __future__ import annotations

import math
from typing import Any

from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.text import listed

_MOST_SHOWN = 12


def score_lines(task: str, details: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values: baselines, skill, and what belongs to the task.

    Parameters
    ----------
    task : {"classification", "regression"}
    details : dict
        Of a `PrequentialResult`.
    """
    if not details:
        return []
    metric = metrics_of(task)[0]
    baselines = details["baselines"].items()
    told = [f"{name} {metric.format(metric.finish(loss))}" for name, loss in baselines]
    lines = [("baselines", ", ".join(told))]
    if math.isfinite(details["skill"]):
        what = "mistakes" if task == "classification" else "squared error"
        share = f"{details['skill']:.3f}"
        lines.append(("skill", f"{share} of the {what} of the {details['baseline']} avoided"))
    for name, title, form in _NUMBERS:
        value = details.get(name)
        if value is not None and math.isfinite(value):
            lines.append((title, form.format(value)))
    if details.get("recall"):
        recalls = [f"{label} {value:.1f} %" for label, value in details["recall"].items()]
        lines.append(("recall", listed(recalls, _MOST_SHOWN)))
    return lines


_NUMBERS = (
    ("r2", "R²", "{:.4f}"),
    ("auc", "AUC", "{:.4f}"),
    ("log_loss", "log loss", "{:.4f}"),
    ("balanced_accuracy", "balanced accuracy", "{:.2f} %"),
)


def verdict(name: str, task: str, details: dict[str, Any], loss: float) -> str | None:
    """A warning where a learner is worse than the better of its baselines.

    Parameters
    ----------
    name : str
        Of the learner.
    task : {"classification", "regression"}
    details : dict
        Of a `PrequentialResult`.
    loss : float
        The learner's mean loss.
    """
    if not details:
        return None
    best = details["baseline"]
    against = details["baselines"][best]
    if loss <= against:
        return None
    metric = metrics_of(task)[0]
    ours, theirs = (metric.format(metric.finish(value)) for value in (loss, against))
    return f"{name} is worse than its baseline, the {best}: {metric.title} {ours} against {theirs}"
