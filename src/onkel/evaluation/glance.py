"""What a reader of a report asks first: how good, against what, and is it getting better?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onkel.evaluation.details.telling import verdict
from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.text import bytes_text, duration, short

_CHANGED = 0.1


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
    run: PrequentialResult, columns: Sequence[dict[str, Any]], changes: Sequence[int]
) -> list[str]:
    """A few sentences in plain words."""
    if not run.details:
        return []
    told = [_against_baseline(run), _trend(run)]
    if changes:
        rows = ", ".join(f"{row:,}" for row in changes[-8:])
        told.append(f"The stream changed, and the learner began anew after row {rows}.")
    best = sorted(columns, key=lambda c: -c.get("importance", 0.0))[:3]
    names = [f"{c['name']} ({100 * c['importance']:.0f} %)" for c in best if c.get("importance")]
    if names and len(columns) > 1:
        told.append(f"What moves the predictions most: {', '.join(names)}.")
    return [sentence for sentence in told if sentence]


def _against_baseline(run: PrequentialResult) -> str:
    details, best = run.details, run.details["baseline"]
    worse = verdict(run.name, run.task, details, run.final.loss)
    if worse is not None:
        return f"{worse}."
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
