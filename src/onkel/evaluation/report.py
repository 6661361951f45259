"""Reports: one HTML file that needs nothing beside it, not even a network."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from onkel._version import __version__
from onkel.evaluation.figure import plot, to_svg
from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.summary import Summary, best, summarize
from onkel.evaluation.text import bytes_text, count, duration, short
from onkel.persistence.atomic import atomic_file

__all__ = ["write_html"]

Table = dict[str, Any]


def write_html(
    results: PrequentialResult | Sequence[PrequentialResult],
    path: str | os.PathLike[str],
    *,
    title: str = "onkel report",
    lead: str = "",
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    linear: Collection[str] = (),
) -> None:
    """Write runs as a self-contained HTML page: table, curve, settings, versions.

    Parameters
    ----------
    results : PrequentialResult or sequence of them
        Runs of the same task. Those of one name are taken together: mean ± standard deviation.
    path : path-like
        An existing file is replaced once the new one is whole.
    title : str, default="onkel report"
        Heading.
    lead : str, optional
        One sentence below the heading.
    notes : sequence of str, optional
        Remarks below the table.
    settings : mapping, optional
        What is common to all runs, shown before the settings of the runs themselves.
    linear : collection of str, optional
        Names of runs to mark as linear in the table.

    Raises
    ------
    ValueError
        If there is no run, or runs of different tasks.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from onkel.learners import PAClassifier
    >>> from onkel.evaluation import prequential, write_html
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> write_html(
    ...     prequential(PAClassifier(), (X, X[:, 0] > 0)), tempfile.mkdtemp() + "/report.html"
    ... )
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    runs = [results] if isinstance(results, PrequentialResult) else list(results)
    if not runs:
        raise ValueError("a report needs at least one run")
    summaries = summarize(runs)
    alone = runs[0] if len(runs) == 1 else None
    pages = Environment(loader=PackageLoader("onkel.evaluation"), autoescape=True)
    page = pages.get_template("report.html.jinja").render(
        title=title,
        lead=lead,
        notes=notes,
        tiles=alone and _tiles(alone),
        comparison=None if alone else _comparison(summaries, linear),
        figure=Markup(to_svg(plot(runs))),
        bands=len(summaries) < len(runs),
        checkpoints=alone and _checkpoints(alone),
        settings=_settings(runs, settings or {}),
        versions=_versions(),
    )
    with atomic_file(Path(path)) as file:
        file.write(page.encode())


def _tiles(run: PrequentialResult) -> list[tuple[str, str]]:
    final = run.final
    metrics = [metric for metric in metrics_of(run.task) if metric.lower_is_better]
    return [
        *((metric.format(final.metrics[metric.name]), metric.title) for metric in metrics),
        (f"{run.n_rows:,}", "rows"),
        (short(run.rows_per_second), "rows/s"),
        (duration(final.seconds), "in all, with reading"),
        (bytes_text(final.model_bytes), "model"),
    ]


def _comparison(summaries: Sequence[Summary], linear: Collection[str]) -> Table:
    metric = summaries[0].metric
    direction = "lower" if metric.lower_is_better else "higher"
    winners = best(summaries)
    rows = [
        _row(
            f"{s.name} (linear)" if s.name in linear else s.name, s.score,
            short(s.rows_per_second), duration(s.learn_seconds), duration(s.seconds),
            bytes_text(s.model_bytes), best=s.name in winners,
        )
        for s in summaries
    ]  # fmt: skip
    note = f"{count(summaries[0].runs, 'run')} of {count(summaries[0].n_rows, 'row')}"
    if summaries[0].runs > 1:
        note += ": mean ± standard deviation; speeds and times are medians"
    if winners:
        note += ". Marked: the best mean, and what lies within its standard deviation of it"
    scored = f"{metric.title} ({direction} is better)"
    head = ("algorithm", scored, "rows/s", "learning", "in all", "model")
    return {"head": head, "rows": rows, "note": f"{note}."}


def _checkpoints(run: PrequentialResult) -> Table:
    rows = [
        _row(
            f"{row.n_rows:,}", f"{row.loss:.5g}", f"{row.loss_since_last:.5g}",
            run.metric.format(row.metrics[run.metric.name]), short(row.rows_per_second),
            bytes_text(row.model_bytes),
        )
        for row in run.curve
    ]  # fmt: skip
    head = ("rows", "average loss", "since last", run.metric.title, "rows/s", "model")
    return {"head": head, "rows": rows}


def _row(*cells: str, best: bool = False) -> dict[str, Any]:
    return {"cells": cells, "best": best}


def _settings(
    runs: Sequence[PrequentialResult], common: Mapping[str, Any]
) -> list[tuple[str, str]]:
    settings = dict(common)
    names = {run.name for run in runs}
    for run in runs:
        if len(names) == 1:
            settings |= run.settings
        elif run.settings:
            settings[run.name] = run.settings
    return [(name, _value(value)) for name, value in settings.items() if value is not None]


def _value(value: Any) -> str:
    """A setting as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_value(v)}" for k, v in value.items() if v is not None) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _versions() -> str:
    libraries = ("numpy", "scipy", "numba", "scikit-learn", "pyarrow")
    parts = [f"onkel {__version__}", f"Python {platform.python_version()}"]
    parts += [f"{name} {version(name)}" for name in libraries]
    return " · ".join([*parts, f"{platform.system()} {platform.machine()}"])
