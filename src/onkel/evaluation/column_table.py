"""The columns of a model as a table of its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_HEADS = ("name", "kind", "categories", "gaps", "importance", "became")


def column_table(
    columns: Sequence[dict[str, Any]], useless: Mapping[str, str]
) -> dict[str, Any] | None:
    """A line for each column: name, kind, categories, gaps, importance, what it became.

    Columns that were left out come last.
    """
    rows = [_row(column) for column in columns]
    for name, why in useless.items():
        rows.append({"name": name, "became": f"left out: {why} (--keep-columns to use it)"})
    if not rows:
        return None
    # leave out columns of the table that are empty in all rows
    heads = [head for head in _HEADS if any(row.get(head) for row in rows)]
    cells = [[row.get(head, "") for head in heads] for row in rows]
    return {"head": heads, "rows": [{"cells": own, "best": False} for own in cells]}


def _row(column: dict[str, Any]) -> dict[str, str]:
    written, categories, gaps = (column.get(key) for key in ("written", "categories", "gaps"))
    late = " (came in mid-stream)" if column.get("late") and column["features"] else ""
    return {
        "name": column["name"],
        "kind": ", ".join(filter(None, (column.get("kind"), written))),
        "categories": f"{categories:,}" if categories else "",
        "gaps": f"{gaps:,}" if gaps else "",
        "importance": f"{100 * column['importance']:.1f} %",
        "became": column.get("became", "") + late,
    }
