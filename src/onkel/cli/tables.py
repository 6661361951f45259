"""Tables on the terminal: a run, a comparison, the columns of a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.console import note, plain_table, print_json, stdout
from onkel.columns.failures import count
from onkel.evaluation.comparison.table import Comparison
from onkel.evaluation.formatting import bytes_text, duration, listed, short
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run_summary import column_rows, score_rows
from onkel.metrics import METRICS

if TYPE_CHECKING:
    from rich.console import Console
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
    rows.append(("rows", f"{result.n_rows:,} × {count(extra['n_features'], 'feature')}"))
    lower = {metric.title for metric in METRICS.values() if metric.lower_is_better}
    rows += [
        (name, f"{text}   (lower is better)" if name in lower else text)
        for name, text in score_rows(result)
    ]
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
        rows.append(("kept rows", waiting_text(extra["waiting_rows"])))
    rows += [(name, _file_text(path)) for name, path in extra.items() if isinstance(path, Path)]
    stdout().print(facts_table(rows, result.part))


def _file_text(path: Path) -> str:
    """A file, and its size: rows that wait take less room there than in memory."""
    return f"{path}, {bytes_text(path.stat().st_size)}" if path.is_file() else str(path)


def waiting_text(waiting: dict[str, int]) -> str:
    """What `waiting_rows` found, in words."""
    size = bytes_text(waiting["bytes"])
    return f"{waiting['rows']:,}, for fits up to row {waiting['until']:,}: {size} of the model"


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


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print several learners, the best in bold as well; what a narrow terminal cannot show is left
    out from the right."""
    n = len(comparison.head)
    while n > 2 and _width(_comparison_table(comparison, n), console) > console.width:
        n -= 1
    console.print(_comparison_table(comparison, n))
    if left_out := comparison.head[n:]:
        note(f"{', '.join(left_out)}: left out, as the terminal has {console.width} columns")


def _comparison_table(comparison: Comparison, n: int) -> Table:
    """The first n columns."""
    table = plain_table()
    for i, title in enumerate(comparison.head[:n]):
        table.add_column(title, justify="right" if i else "left", no_wrap=True)
    for line in comparison.lines:
        table.add_row(*line.cells[:n], style="bold" if line.among_best else None)
    return table


def _width(table: Table, console: Console) -> int:
    """How wide a table is that breaks no line."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), table).maximum


# With more columns than this, plain numbers that matter less are counted, not listed.
_MOST = 40


# A narrower terminal shows less, so that words are whole.
NARROW = 60


def columns_table(columns: list[dict[str, Any]], useless: dict[str, str], width: int = 80) -> Table:
    """Name, kind, categories, gaps and what it became; then what was left out, and why.

    Where the ``width`` of the terminal is small, kind and categories are left out: what a column
    became tells them.
    """
    from rich.text import Text

    narrow = width < NARROW
    most = max((column.get("importance", 0.0) for column in columns), default=0.0)
    heads = ["name", "kind", "categories", "gaps", "importance", "became"]
    if narrow:
        heads = ["name", "gaps", "importance", "became"]
    if narrow and not any(column.get("gaps") for column in columns):
        heads.remove("gaps")
    if not most:
        heads.remove("importance")
    table = plain_table()
    for title in ("column" if head == "name" else head for head in heads):
        # names may be long: where there is no room they break, and nothing is cut off
        table.add_column(title, justify="right" if title in ("categories", "gaps") else "left",
                         overflow="fold")  # fmt: skip
    listed = columns if len(columns) <= _MOST else _worth_a_line(columns)
    rows = column_rows(listed, useless)
    for column, row in zip(listed, rows, strict=False):
        size = 0 if narrow or not most else round(10 * column.get("importance", 0.0) / most)
        row["importance"] = f"{row['importance']:>7} {'█' * size}".rstrip()
        table.add_row(*(Text(row[head]) for head in heads))
    if len(listed) < len(columns):
        more = len(columns) - len(listed)
        table.add_row(*((f"... {more:,} more",) if listed else (count(more, "column"), "numbers")))
    for row in rows[len(listed) :]:
        table.add_row(Text(row["name"]), *[""] * (len(heads) - 2), Text(row["became"]))
    return table


def _worth_a_line(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Columns that are no plain numbers, and numbers that matter most, as far as they are known."""
    kept = [i for i, column in enumerate(columns) if not _is_plain(column)][:_MOST]
    others = set(range(len(columns))).difference(kept)
    matter = sorted((i for i in others if columns[i].get("importance")),
                    key=lambda i: -columns[i]["importance"])  # fmt: skip
    return [columns[i] for i in sorted(kept + matter[: _MOST - len(kept)])]


def _is_plain(column: dict[str, Any]) -> bool:
    """Whether a column is a number without gaps, or all that is known of it is its name."""
    there = column.get("kind", "number") == "number" and bool(column.get("features", 1))
    return there and not (column.get("gaps") or column.get("written"))


def say_of_bad_values(stream: Stream, read: str = "") -> None:
    """Note how many values were taken for gaps, of which columns, and in which rows."""
    found = stream.bad_values
    if found:
        names = listed([f"{name} {n:,}" for name, n in found.items()])
        what = count(sum(found.values()), "value")
        note(f"taken for missing, as no number or time: {what} ({names}){read}")
