"""A run in words: score lines, a warning below a baseline, tiles and sentences, its columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onkel.evaluation.formatting import bytes_text, duration, listed, short, skill_text
from onkel.evaluation.result import PrequentialResult
from onkel.metrics import metrics_of

_MOST_RECALLS = 12
_MOST_PAIRS = 6


def score_rows(result: PrequentialResult) -> list[tuple[str, str]]:
    """Names and values: the rows that are scored, the metrics, and the `score_lines`."""
    values = result.final.metrics
    metrics = [metric for metric in metrics_of(result.task) if metric.lower_is_better]
    rows = [(metric.title, metric.format(values[metric.name])) for metric in metrics]
    return [("scored", result.scored), *rows, *score_lines(result.task, result.details)]


def score_lines(task: str, details: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of ``details``: baselines, skill, and what belongs to the task."""
    if not details:
        return []
    metric = metrics_of(task)[0]
    baselines = details["baselines"].items()
    values = [f"{name} {metric.format(metric.finish(loss))}" for name, loss in baselines]
    lines = [("baselines", ", ".join(values))]
    if math.isfinite(details["skill"]):
        what = "mistakes" if task == "classification" else "squared error"
        share = skill_text(details["skill"])
        lines.append(("skill", f"{share} of the {what} of the {details['baseline']} avoided"))
    for name, title, form in _NUMBERS:
        value = details.get(name)
        if value is not None and math.isfinite(value):
            lines.append((title, form.format(value) if abs(value) < 1e4 else f"{value:.4g}"))
    for what in ("intervals", "sets"):
        if details.get(what):
            lines.append(_of_bounds(what, details[what]))
    if details.get("recall"):
        recalls = [f"{label} {value:.1f} %" for label, value in details["recall"].items()]
        lines.append(("recall", listed(recalls, _MOST_RECALLS)))
    if details.get("confusion"):
        lines += _of_confusion(**details["confusion"])
    return lines


def _of_confusion(labels: list[str], rows: list[list[int]]) -> list[tuple[str, str]]:
    """A line on the pairs of classes that are mistaken most often; none without mistakes."""
    wrong = [
        (n, true, labels[j])
        for i, (true, row) in enumerate(zip(labels, rows, strict=True))
        for j, n in enumerate(row)
        if i != j and n
    ]
    wrong.sort(key=lambda pair: -pair[0])
    texts = [f"{n:,} {true} as {predicted}" for n, true, predicted in wrong]
    return [("confusion", listed(texts, _MOST_PAIRS))] if texts else []


def _of_bounds(what: str, found: dict[str, Any]) -> tuple[str, str]:
    """A line on intervals or sets of labels: their level, and how good they were."""
    parts = [f"coverage {100 * found['coverage']:.1f} %"]
    if what == "sets":
        parts.append(f"mean size {found['size']:.3g}")
    else:
        parts += [f"mean width {found['width']:.4g}", f"Winkler score {found['winkler']:.4g}"]
    if math.isfinite(found["worst_window"]):
        parts.append(f"worst 500 rows {100 * found['worst_window']:.1f} %")
    return f"{100 * found['level']:g} % {what}", ", ".join(parts)


_NUMBERS = (
    ("r2", "R²", "{:.4f}"),
    ("auc", "AUC", "{:.4f}"),
    ("log_loss", "log loss", "{:.4f}"),
    ("balanced_accuracy", "balanced accuracy", "{:.2f} %"),
)


def one_class(results: Sequence[PrequentialResult]) -> str | None:
    """The class, where all rows of a classification were of one; then any score is perfect."""
    recalls = [run.details.get("recall", {}) for run in results]
    labels = {label for recall in recalls for label in recall}
    # the first row is not scored; if it was of another class, the next one was mistaken for it
    perfect = any(share == 100.0 for recall in recalls for share in recall.values())
    return labels.pop() if len(labels) == 1 and perfect else None


def verdict(name: str, task: str, details: dict[str, Any], loss: float) -> str | None:
    """A warning where a learner, with this mean loss, is worse than the better of its baselines.

    ``details`` are those of a `PrequentialResult`.
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


_CHANGED = 0.1
_MOVES = 0.005
"""A column of a smaller share, which rounds to 0 %, does not move predictions."""


def tiles(run: PrequentialResult) -> list[tuple[str, str]]:
    """Values and what they are."""
    final, details = run.final, run.details
    metrics = [metric for metric in metrics_of(run.task) if metric.lower_is_better]
    found = [(metric.format(final.metrics[metric.name]), metric.title) for metric in metrics]
    if details:
        best = details["baseline"]
        loss = details["baselines"][best]
        found.append((run.metric.format(run.metric.finish(loss)), f"baseline: {best}"))
    return [
        *found,
        (f"{run.n_rows:,}", "rows"),
        (short(run.rows_per_second), "rows/s"),
        (duration(final.seconds + run.startup_seconds), "in all, with reading and compiling"),
        (bytes_text(final.model_bytes), "model"),
    ]


def sentences(
    run: PrequentialResult,
    columns: Sequence[dict[str, Any]],
    changes: Sequence[int],
    alarms: Sequence[int] = (),
) -> list[str]:
    """A few sentences in plain words."""
    if not run.details:
        return []
    found = [_against_baseline(run), _trend(run)]
    if changes:
        rows = ", ".join(f"{row:,}" for row in changes[-8:])
        found.append(f"The stream changed, and the learner restarted after row {rows}.")
    if alarms:
        rows = ", ".join(f"{row:,}" for row in alarms[-8:])
        found.append(f"The errors became larger: the alarm rang after row {rows}.")
    best = sorted(columns, key=lambda c: -c.get("importance", 0.0))[:3]
    names = [
        f"{c['name']} ({100 * c['importance']:.0f} %)"
        for c in best
        if c.get("importance", 0.0) >= _MOVES
    ]
    if names and len(columns) > 1:
        found.append(f"What moves the predictions most: {', '.join(names)}.")
    return [sentence for sentence in found if sentence]


def _against_baseline(run: PrequentialResult) -> str:
    details, best = run.details, run.details["baseline"]
    worse = verdict(run.name, run.task, details, run.final.loss)
    if worse is not None:
        return f"{worse}."
    only = one_class([run])
    if only is not None:
        return f"Only one class came, {only!r}: there was nothing to tell apart."
    if not math.isfinite(details["skill"]):
        return f"Neither the learner nor the baseline ({best}) was ever wrong."
    what = "mistakes" if run.task == "classification" else "squared error"
    share = f"{100 * details['skill']:.0f} %"
    return f"The learner avoids {share} of the {what} of the baseline ({best})."


def _trend(run: PrequentialResult) -> str:
    """The last quarter of the rows against the one before."""
    losses = np.array(run.details["windows"]["loss"])
    n = len(losses)
    if n < 16:
        return ""
    before, last = losses[n // 2 : 3 * n // 4].mean(), losses[3 * n // 4 :].mean()
    now = run.metric.format(run.metric.finish(float(last)))
    if abs(last - before) <= _CHANGED * before:
        word = "about as in the quarter before"
    else:
        word = "fewer than" if last < before else "more than"
        if run.task == "regression":
            word = "lower than" if last < before else "higher than"
        word += " in the quarter before"
    title = run.metric.title[0].upper() + run.metric.title[1:]
    return f"{title} of the last quarter of the rows: {now}, {word}."


_HEADS = ("name", "kind", "categories", "gaps", "importance", "became")


def column_table(
    columns: Sequence[dict[str, Any]], useless: Mapping[str, str]
) -> dict[str, Any] | None:
    """A line for each column: name, kind, categories, gaps, importance, what it became.

    Columns that were left out come last.
    """
    rows = column_rows(columns, useless)
    if not rows:
        return None
    # leave out columns of the table that are empty in all rows
    heads = [head for head in _HEADS if any(row.get(head) for row in rows)]
    cells = [[row.get(head, "") for head in heads] for row in rows]
    return {"head": heads, "rows": [{"cells": own, "best": False} for own in cells]}


def column_rows(
    columns: Sequence[dict[str, Any]], useless: Mapping[str, str]
) -> list[dict[str, str]]:
    """Texts of each column, by their heads; columns that were left out come last."""
    rows = []
    for column in columns:
        written, categories, gaps = (column.get(key) for key in ("written", "categories", "gaps"))
        late = " (came in mid-stream)" if column.get("late") and column["features"] else ""
        own = {
            "name": column["name"],
            "kind": ", ".join(filter(None, (column.get("kind"), written))),
            "categories": "" if categories is None else f"{categories:,}",
            "gaps": f"{gaps:,}" if gaps else "",
            "importance": f"{100 * column.get('importance', 0.0):.1f} %",
            "became": column.get("became", "") + late,
        }
        rows.append(own)
    why = {name: f"left out: {text} (--keep-columns to use it)" for name, text in useless.items()}
    return rows + [{"name": name, "became": text} for name, text in why.items()]
