"""The columns of a table and what became of them, as a table on the terminal."""

from __future__ import annotations

from typing import Any

from onkel.cli.console import stderr

# With more columns than this, plain numbers are counted, not listed.
_MOST = 40
# Defaults for a column of which only the name is known.
_PLAIN: dict[str, Any] = {
    "kind": "number", "written": "", "late": False, "categories": None, "gaps": 0, "became": "",
    "features": 1,
}  # fmt: skip


def show_columns(columns: list[dict[str, Any]], useless: dict[str, str]) -> None:
    """Print the table on stderr, above the run; nothing where columns have no names."""
    if columns or useless:
        stderr().print(columns_table(columns, useless))


def columns_table(columns: list[dict[str, Any]], useless: dict[str, str]) -> Any:
    """Name, kind, categories, gaps and what it became; then what was left out, and why."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
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
        count = "" if column["categories"] is None else f"{column['categories']:,}"
        gaps = f"{column['gaps']:,}" if column["gaps"] else ""
        share = column.get("importance", 0.0)
        bar = [f"{100 * share:5.1f} % {'█' * round(10 * share / most)}"] if most else []
        became = Text(column["became"] + late)
        table.add_row(Text(column["name"]), kind, count, gaps, *bar, became)
    if len(listed) < len(columns):
        more = f"{len(columns) - len(listed):,}"
        table.add_row(*((f"... {more} more",) if listed else (f"{more} columns", "numbers")))
    for name, why in useless.items():
        told = f"left out: {why} (--keep-columns to use it)"
        table.add_row(Text(name), *[""] * (len(table.columns) - 2), Text(told))
    return table


def _is_plain(column: dict[str, Any]) -> bool:
    column = _PLAIN | column
    there = column["kind"] == "number" and bool(column["features"])
    return there and not (column["gaps"] or column["written"])
