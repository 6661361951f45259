"""Reports: one self-contained HTML file, which needs no network either."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from onkel._version import __version__
from onkel.evaluation import pictures
from onkel.evaluation.comparison.table import comparison
from onkel.evaluation.curves import plot, to_svg
from onkel.evaluation.formatting import bytes_text, short
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run_summary import column_table, score_rows, sentences, tiles
from onkel.persistence.atomic import atomic_file
from onkel.pipeline import StreamModel
from onkel.pipeline.summary import columns_with_importance

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
    model: StreamModel | None = None,
) -> None:
    """Write runs as a self-contained HTML page: table, curve, settings, versions.

    Parameters
    ----------
    results : PrequentialResult or sequence of them
        Runs of the same task. Runs of one name are shown as mean ± standard deviation.
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
    model : StreamModel, optional
        The model of a single run: its columns, their importance and its changes are shown.

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
    alone = runs[0] if len(runs) == 1 else None
    columns = [] if model is None else columns_with_importance(model)
    changes, alarms = ([], []) if model is None else (model.changes_, model.alarms_)
    drawn = (
        {"curve": plot(runs, caption="")}
        if alone is None
        else _pictures(alone, columns, changes, alarms)
    )
    among: Table | None = None
    if alone is None:
        table = comparison(runs, linear)
        rows = [_row(*line.cells, best=line.among_best) for line in table.lines]
        among = {"head": table.head, "rows": rows, "note": f"{table.note}."}
    pages = Environment(loader=PackageLoader("onkel.evaluation"), autoescape=True)
    page = pages.get_template("report.html.jinja").render(
        title=title,
        lead=lead,
        notes=notes,
        tiles=alone and tiles(alone),
        sentences=alone and sentences(alone, columns, changes, alarms),
        comparison=among,
        figures={name: Markup(to_svg(figure)) for name, figure in drawn.items()},
        scores=alone and _scores(alone),
        bands=len({run.name for run in runs}) < len(runs),
        columns=model and column_table(columns, model.settings.get("useless", {})),
        progress=alone and _progress(alone),
        settings=_settings(runs, settings or {}),
        versions=versions(),
    )
    with atomic_file(Path(path)) as file:
        file.write(page.encode())


def _scores(run: PrequentialResult) -> list[tuple[str, ...]]:
    """Lines of the score; beside those of all rows those of the last source, if there were more."""
    rows: list[tuple[str, ...]] = list(score_rows(run))
    if run.part is None:
        return rows
    beside = dict(score_rows(run.part))
    return [("", "all rows", "this source")] + [(*row, beside.get(row[0], "")) for row in rows]


def _progress(run: PrequentialResult) -> Table:
    rows, seconds, learned = [], 0.0, 0
    for row in run.curve:
        # rows per second over the rows since the line before
        timed = row.n_rows - row.untimed_rows
        spent, n = row.learn_seconds - seconds, timed - learned
        seconds, learned = row.learn_seconds, timed
        rows.append(
            _row(
                f"{row.n_rows:,}", run.metric.format(row.metrics[run.metric.name]),
                run.metric.format(run.metric.finish(row.loss_since_last)),
                short(n / spent if spent > 0 else float("nan")), bytes_text(row.model_bytes),
            )
        )  # fmt: skip
    title = run.metric.title
    return {"head": ("rows", f"{title} so far", "since the line above", "rows/s", "model"),
            "rows": rows}  # fmt: skip


def _pictures(
    run: PrequentialResult,
    columns: Sequence[dict[str, Any]],
    changes: Sequence[int],
    alarms: Sequence[int],
) -> dict[str, Any]:
    """Figures by name; those with nothing to draw are left out."""
    details, found = run.details, {}
    if not details:
        return {"curve": plot([run])} if math.isfinite(run.value) else {}
    found["curve"] = pictures.windows_picture(run.metric, details, changes, alarms)
    if run.part is not None and run.part.details:
        found["part"] = pictures.windows_picture(run.metric, run.part.details, ())
    shares = [column.get("importance", 0.0) for column in columns]
    if any(shares):
        names = [column["name"] for column in columns]
        found["importance"] = pictures.importance_picture(names, shares)
    if "confusion" in details:
        found["confusion"] = pictures.confusion_picture(details["confusion"])
    if details.get("calibration"):
        found["calibration"] = pictures.calibration_picture(details["calibration"])
    last = details.get("intervals", {}).get("last", {})
    if last.get("target"):
        found["bounds"] = pictures.bounds_picture(last, run.n_rows)
    if "sample" in details:
        found["residuals"] = pictures.residual_picture(details["sample"])
    return found


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


def _value(value: object) -> str:
    """A setting as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_value(v)}" for k, v in value.items() if v is not None) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def versions() -> str:
    """Versions of the libraries that results depend on, and the kind of machine, as one line."""
    libraries = ("numpy", "scipy", "numba", "scikit-learn", "pyarrow")
    parts = [f"onkel {__version__}", f"Python {platform.python_version()}"]
    parts += [f"{name} {version(name)}" for name in libraries]
    return " · ".join([*parts, f"{platform.system()} {platform.machine()}"])
