"""Tables on the terminal: a run, a comparison, the columns of a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.console import note, plain_table, print_json, stderr, stdout
from onkel.evaluation.comparison.table import Comparison
from onkel.evaluation.formatting import bytes_text, count, duration, listed, short
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run_summary import score_rows
from onkel.metrics import METRICS

if TYPE_CHECKING:
    from rich.table import Table

    from onkel.streams import Stream

_BRIEF = 0.05
"""Loading and compiling in fewer seconds is not mentioned."""


def show_run(result: PrequentialResult, *, as_json: bool, extra: dict[str, Any]) -> None:
    """Print the result of one run: a table, or one JSON object.

    ``extra`` holds files written and the like; the table shows its paths.
    """
    if as_json:
        print_json(result.to_dict() | extra)
        return
    final = result.final
    rows = [("algorithm", f"{extra['algorithm']} ({result.task})")]
    if extra["status"] not in ("complete", "not written"):
        rows.insert(0, ("status", f"{extra['status']}: what follows is of the rows before"))
    rows.append(("rows", f"{result.n_rows:,} × {extra['n_features']} features"))
    rows += with_direction(score_rows(result))
    if extra.get("alarms"):
        rows.append(
            ("alarms", "after row " + ", ".join(f"{row:,}" for row in extra["alarms"][-8:]))
        )
    rows.append(
        ("learning", f"{duration(final.learn_seconds)}, {short(result.rows_per_second)} rows/s")
    )
    # from the first byte read
    startup = result.startup_seconds
    in_all = f"{duration(final.seconds + startup)}, reading included"
    in_all += f", {duration(startup)} of it compiling" if startup >= _BRIEF else ""
    rows.append(("in all", in_all))
    rows.append(("model size", bytes_text(final.model_bytes)))
    if extra.get("waiting_rows"):
        rows.append(("waiting rows", waiting_text(extra["waiting_rows"])))
    rows += [(name, _file_text(path)) for name, path in extra.items() if isinstance(path, Path)]
    stdout().print(facts_table(rows, result.part))


def _file_text(path: Path) -> str:
    """A file, and its size: rows that wait take less room there than in memory."""
    return f"{path}, {bytes_text(path.stat().st_size)}" if path.is_file() else str(path)


def waiting_text(waiting: dict[str, int]) -> str:
    """What `waiting_rows` found, in words."""
    return (
        f"{waiting['rows']:,} are kept for fits up to row {waiting['until']:,}: "
        f"{bytes_text(waiting['bytes'])} of the model, which it then no longer holds"
    )


def with_direction(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Rows of a score, with the direction of its metrics."""
    lower = {metric.title for metric in METRICS.values() if metric.lower_is_better}
    return [(n, f"{text}   (lower is better)" if n in lower else text) for n, text in rows]


def facts_table(rows: list[tuple[str, str]], part: PrequentialResult | None = None) -> Table:
    """Names and values; beside the score of all rows that of a ``part`` of them."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=part is not None, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column("all rows" if part else "", overflow="fold")
    beside: dict[str, str] = {}
    if part is not None:
        table.add_column("this source", overflow="fold")
        beside = dict(score_rows(part)) | {"rows": f"{part.n_rows:,}"}
    for name, text in rows:
        style = "red" if name == "status" else ""
        table.add_row(name, Text(text, style), *([Text(beside.get(name, ""))] if part else []))
    return table


def comparison_table(comparison: Comparison) -> Any:
    """The table of several learners for a terminal; the best in bold as well."""
    table = plain_table()
    for i, title in enumerate(comparison.head):
        table.add_column(title, justify="right" if i else "left", no_wrap=i > 0)
    for line in comparison.lines:
        table.add_row(*line.cells, style="bold" if line.among_best else None)
    return table


# With more columns than this, plain numbers are counted, not listed.
_MOST = 40
# Defaults for a column of which only the name is known.
_PLAIN: dict[str, Any] = {
    "kind": "number", "written": "", "late": False, "categories": None, "gaps": 0, "became": "",
    "features": 1,
}  # fmt: skip


def show_columns(columns: list[dict[str, Any]], useless: dict[str, str], rows: int) -> None:
    """Print the columns, as the first ``rows`` show them, on stderr; nothing without names."""
    if columns or useless:
        stderr().print(columns_table(columns, useless))
        note(f"counted in the first {count(rows, 'row')}")


def columns_table(columns: list[dict[str, Any]], useless: dict[str, str]) -> Table:
    """Name, kind, categories, gaps and what it became; then what was left out, and why."""
    from rich.text import Text

    table = plain_table()
    for title in ("column", "kind"):
        table.add_column(title)
    for title in ("categories", "gaps"):
        table.add_column(title, justify="right")
    most = max((column.get("importance", 0.0) for column in columns), default=0.0)
    if most:
        table.add_column("importance")
    table.add_column("became")
    listed = [_PLAIN | c for c in columns if len(columns) <= _MOST or not _is_plain(c)][:_MOST]
    for column in listed:
        kind = column["kind"] + (f", {column['written']}" if column["written"] else "")
        late = " (came in mid-stream)" if column["late"] and column["features"] else ""
        distinct = "" if column["categories"] is None else f"{column['categories']:,}"
        gaps = f"{column['gaps']:,}" if column["gaps"] else ""
        share = column.get("importance", 0.0)
        bar = [f"{100 * share:5.1f} % {'█' * round(10 * share / most)}"] if most else []
        became = Text(column["became"] + late)
        table.add_row(Text(column["name"]), kind, distinct, gaps, *bar, became)
    if len(listed) < len(columns):
        more = f"{len(columns) - len(listed):,}"
        table.add_row(*((f"... {more} more",) if listed else (f"{more} columns", "numbers")))
    for name, why in useless.items():
        why = f"left out: {why} (--keep-columns to use it)"
        table.add_row(Text(name), *[""] * (len(table.columns) - 2), Text(why))
    return table


def _is_plain(column: dict[str, Any]) -> bool:
    column = _PLAIN | column
    there = column["kind"] == "number" and bool(column["features"])
    return there and not (column["gaps"] or column["written"])


def say_of_bad_values(stream: Stream) -> None:
    """Note how many values were taken for gaps, and of which columns."""
    found = stream.bad_values
    if found:
        names = listed([f"{name} {n:,}" for name, n in found.items()])
        what = count(sum(found.values()), "value")
        note(f"taken for missing, as no number or time: {what} ({names})")
