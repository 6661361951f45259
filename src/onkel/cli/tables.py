"""Final tables of runs and comparisons on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onkel.cli.console import print_json, stdout
from onkel.evaluation.details.telling import score_lines
from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.summary import best, summarize
from onkel.evaluation.text import bytes_text, duration, short

__all__ = ["comparison_table", "show_run", "summaries_json"]


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
    rows.append(("in all", f"{duration(final.seconds)}, reading included"))
    rows.append(("model size", bytes_text(final.model_bytes)))
    rows += [(name, str(path)) for name, path in extra.items() if isinstance(path, Path)]
    for name, text in rows:
        table.add_row(name, Text(text))
    stdout().print(table)


def comparison_table(results: Sequence[PrequentialResult], linear: set[str]) -> Any:
    """Table of several learners, one line each; the best, and what is within its std, in bold."""
    from rich import box
    from rich.table import Table

    summaries = summarize(results)
    metric = summaries[0].metric
    arrow = "↓" if metric.lower_is_better else "↑"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("algorithm")
    table.add_column(f"{metric.title} {arrow}", justify="right")
    table.add_column("rows/s", justify="right")
    table.add_column("learning", justify="right")
    table.add_column("in all", justify="right")
    table.add_column("model size", justify="right")
    winners = best(summaries)
    for s in summaries:
        name = f"{s.name} (linear)" if s.name in linear else s.name
        table.add_row(
            name, s.score, short(s.rows_per_second), duration(s.learn_seconds),
            duration(s.seconds), bytes_text(s.model_bytes),
            style="bold" if s.name in winners else None,
        )  # fmt: skip
    return table


def summaries_json(results: Sequence[PrequentialResult], linear: set[str]) -> list[dict[str, Any]]:
    """The same table for machines, one dict a learner."""
    rows = []
    for summary in summarize(results):
        metric = summary.metric
        of_metric = {"metric": metric.name, "lower_is_better": metric.lower_is_better}
        rows.append(vars(summary) | of_metric | {"linear": summary.name in linear})
    return rows
