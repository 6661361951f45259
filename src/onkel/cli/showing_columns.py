"""The columns of a table and what became of them, as a table on the terminal."""

from __future__ import annotations

from typing import Any

from onkel.cli.console import stderr

__all__ = ["columns_table", "show_columns"]

# Of more columns than these, plain numbers are counted and not listed.
_MOST = 40


def show_columns(columns: list[dict[str, Any]], useless: dict[str, str]) -> None:
    """Print the table on stderr, above the run."""
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
    table.add_column("became")
    listed = [c for c in columns if len(columns) <= _MOST or not _is_plain(c)][:_MOST]
    for column in listed:
        kind = column["kind"] + (f", {column['written']}" if column["written"] else "")
        late = " (came in mid-stream)" if column["late"] else ""
        count = "" if column["categories"] is None else f"{column['categories']:,}"
        gaps = f"{column['gaps']:,}" if column["gaps"] else ""
        table.add_row(Text(column["name"]), kind, count, gaps, Text(column["became"] + late))
    if len(listed) < len(columns):
        table.add_row(f"... {len(columns) - len(listed):,} more", "", "", "", "")
    for name, why in useless.items():
        told = f"left out: {why} (--keep-columns to use it)"
        table.add_row(Text(name), "", "", "", Text(told))
    return table


def _is_plain(column: dict[str, Any]) -> bool:
    return column["kind"] == "number" and not (column["gaps"] or column["written"])
