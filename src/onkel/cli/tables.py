"""Final tables of runs and comparisons on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onkel.cli.console import print_json, stdout
from onkel.evaluation.comparison.table import Comparison
from onkel.evaluation.formatting import bytes_text, duration, short
from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run_summary import score_lines

_BRIEF = 0.05
"""Seconds of loading and compiling that are not worth a word."""


def show_run(result: PrequentialResult, *, as_json: bool, extra: dict[str, Any]) -> None:
    """Print the result of one run: a table, or one JSON object.

    ``extra`` holds files written and the like; the table shows its paths.
    """
    if as_json:
        print_json(result.to_dict() | extra)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    final = result.final
    rows = [("algorithm", f"{extra['algorithm']} ({result.task})")]
    rows.append(("rows", f"{result.n_rows:,} × {extra['n_features']} features"))
    for metric in metrics_of(result.task):
        if metric.lower_is_better:
            value = metric.format(final.metrics[metric.name])
            rows.append((metric.title, f"{value}   (lower is better)"))
    rows += score_lines(result.task, result.details)
    rows.append(
        ("learning", f"{duration(final.learn_seconds)}, {short(result.rows_per_second)} rows/s")
    )
    rows.append(("in all", _in_all(result)))
    rows.append(("model size", bytes_text(final.model_bytes)))
    rows += [(name, str(path)) for name, path in extra.items() if isinstance(path, Path)]
    for name, text in rows:
        table.add_row(name, Text(text))
    stdout().print(table)


def _in_all(result: PrequentialResult) -> str:
    """Elapsed time, from the first byte read."""
    startup = result.startup_seconds
    shown = f"{duration(result.final.seconds + startup)}, reading included"
    return shown if startup < _BRIEF else f"{shown}, {duration(startup)} of it compiling"


def comparison_table(comparison: Comparison) -> Any:
    """The table of several learners for a terminal; the best in bold as well."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(comparison.head):
        table.add_column(title, justify="right" if i else "left", no_wrap=i > 0)
    for line in comparison.lines:
        table.add_row(*line.cells, style="bold" if line.among_best else None)
    return table
