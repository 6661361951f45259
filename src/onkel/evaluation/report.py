"""Reports: one HTML file that needs nothing beside it, not even a network."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from onkel._version import __version__
from onkel.evaluation.figure import plot, to_svg
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.summary import Summary, best, summarize
from onkel.evaluation.text import bytes_text, count, duration, short

__all__ = ["write_html"]

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  color: #1b1f24; background: #f4f5f7; margin: 0; }
main { max-width: 60rem; margin: 2rem auto; padding: 2rem 2.5rem; background: #fff;
  border-radius: 12px; box-shadow: 0 1px 4px #0002; }
h1 { font-size: 1.7rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.lead { color: #57606a; margin: .2rem 0 1.4rem; }
p.note { color: #57606a; font-size: .88rem; margin: .5rem 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; }
.tile { flex: 1 1 6rem; background: #f4f5f7; border-radius: 8px; padding: .7rem 1rem; }
.tile b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tile span { color: #57606a; font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid #e4e6ea;
  white-space: nowrap; }
th { color: #57606a; font-weight: 600; font-size: .85rem; border-bottom-width: 2px; }
th:first-child, td:first-child { text-align: left; }
tr.best td { font-weight: 700; background: #eef7f2; }
table.settings td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.settings td:first-child { white-space: nowrap; color: #57606a; width: 12rem; }
svg { width: 100%; height: auto; }
footer { color: #57606a; font-size: .85rem; margin-top: 2.2rem; }
@media print { body { background: #fff; } main { box-shadow: none; margin: 0; } }
"""


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
        Written there; an existing file is replaced.
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
    >>> from onkel.estimators import PAClassifier
    >>> from onkel.evaluation import prequential, write_html
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> write_html(
    ...     prequential(PAClassifier(), (X, X[:, 0] > 0)), tempfile.mkdtemp() + "/report.html"
    ... )
    """
    runs = [results] if isinstance(results, PrequentialResult) else list(results)
    if not runs:
        raise ValueError("a report needs at least one run")
    summaries = summarize(runs)
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(lead)}</p>' if lead else "",
        _tiles(runs[0]) if len(runs) == 1 else _comparison(summaries, linear),
        "".join(f'<p class="note">{escape(note)}</p>' for note in notes),
        "<h2>Learning curve</h2>",
        to_svg(plot(runs)),
        _curve_note(runs),
        "<h2>Checkpoints</h2>" + _checkpoints(runs[0]) if len(runs) == 1 else "",
        _all_settings(runs, settings or {}),
        f"<footer>{escape(_versions())}</footer>",
    ]
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main>\n{chr(10).join(part for part in body if part)}\n</main></body></html>\n"
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def _tiles(run: PrequentialResult) -> str:
    final = run.final
    numbers = [(m, final.metrics[m.name]) for m in _metrics(run)]
    tiles = [(metric.format(value), metric.title) for metric, value in numbers]
    tiles += [
        (f"{run.n_rows:,}", "rows"),
        (short(run.rows_per_second), "rows/s"),
        (duration(final.seconds), "in all, with reading"),
        (bytes_text(final.model_bytes), "model"),
    ]
    cells = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(what)}</span></div>'
        for value, what in tiles
    )
    return f'<div class="tiles">{cells}</div>'


def _metrics(run: PrequentialResult) -> list[Any]:
    from onkel.evaluation.metrics import metrics_of

    return [metric for metric in metrics_of(run.task) if metric.lower_is_better]


def _comparison(summaries: Sequence[Summary], linear: Collection[str]) -> str:
    metric = summaries[0].metric
    winners = best(summaries)
    direction = "lower" if metric.lower_is_better else "higher"
    head = ("algorithm", f"{metric.title} ({direction} is better)", "rows/s", "learning", "in all",
            "model")  # fmt: skip
    rows = [
        (
            "best" if s.name in winners else "",
            (_marked(s.name, linear), s.score, short(s.rows_per_second), duration(s.learn_seconds),
             duration(s.seconds), bytes_text(s.model_bytes)),
        )
        for s in summaries
    ]  # fmt: skip
    note = f"{count(summaries[0].runs, 'run')} of {count(summaries[0].n_rows, 'row')}"
    if summaries[0].runs > 1:
        note += ": mean ± standard deviation; speeds and times are medians"
    if winners:
        note += ". Marked: the best mean, and what lies within its standard deviation of it"
    return _table(head, rows) + f'<p class="note">{escape(note)}.</p>'


def _marked(name: str, linear: Collection[str]) -> str:
    return f"{name} (linear)" if name in linear else name


def _checkpoints(run: PrequentialResult) -> str:
    head = ("rows", "average loss", "since last", run.metric.title, "rows/s", "model")
    rows = [
        (
            "",
            (f"{row.n_rows:,}", f"{row.loss:.5g}", f"{row.loss_since_last:.5g}",
             run.metric.format(row.metrics[run.metric.name]), short(row.rows_per_second),
             bytes_text(row.model_bytes)),
        )
        for row in run.curve
    ]  # fmt: skip
    return _table(head, rows)


def _curve_note(runs: Sequence[PrequentialResult]) -> str:
    text = "Every row was predicted before it was learned (prequential evaluation)."
    if len(summarize(runs)) < len(runs):
        text += " Bands: one standard deviation over the permutations."
    return f'<p class="note">{text}</p>'


def _all_settings(runs: Sequence[PrequentialResult], common: Mapping[str, Any]) -> str:
    settings = dict(common)
    names = {run.name for run in runs}
    for run in runs:
        if len(names) == 1:
            settings |= run.settings
        elif run.settings:
            settings[run.name] = _value(run.settings)
    if not settings:
        return ""
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(_value(value))}</td></tr>"
        for name, value in settings.items()
        if value is not None
    )
    return f'<h2>Settings</h2><table class="settings">{rows}</table>'


def _value(value: Any) -> str:
    """A setting as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_value(v)}" for k, v in value.items() if v is not None) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(head: Iterable[str], rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr{f' class={name}' if name else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, cells in rows
    )
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'


def _versions() -> str:
    parts = [f"onkel {__version__}", f"Python {platform.python_version()}"]
    for name in ("numpy", "scipy", "numba", "scikit-learn", "pyarrow"):
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return " · ".join([*parts, f"{platform.system()} {platform.machine()}"])
