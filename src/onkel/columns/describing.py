"""Describe what the columns of a table became, for people and programs."""

from __future__ import annotations

from typing import Any

from onkel.columns.column import CODE, EXACT, GAP
from onkel.columns.encoding import Encoder
from onkel.columns.layout import Layout

_WRITTEN = {
    "point": "as text",
    "comma": "with decimal commas",
    "ymd": "as text",
    "dmy": "day first",
    "mdy": "month first",
}


def describe_columns(encoder: Encoder) -> list[dict[str, Any]]:
    """Name, kind, notation and features of each input column.

    Returns
    -------
    list of dict
        ``name``; ``kind``; ``written``, empty if the type shows it; ``categories``, None unless
        text; ``gaps``, the rows so far in which it was missing; ``features``, their number;
        ``became``, in words; ``late``, whether it appeared in mid-stream.
    """
    layout = encoder.layout
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "written": _WRITTEN.get(column.form, ""),
            "categories": len(layout.categories[k].values) if column.kind == "text" else None,
            "gaps": layout.gaps[k],
            "features": len(layout.of(k)),
            "became": _became(layout, k),
            "late": column.late,
        }
        for k, column in enumerate(layout.columns)
    ]


def _became(layout: Layout, k: int) -> str:
    column = layout.columns[k]
    if layout.waits(k):
        value = repr(column.constant) if column.kind == "text" else column.constant
        what = value if column.constant else "missing"
        return f"left out while it is {what} in every row (--keep-columns to use it)"
    parts: list[str] = []
    if column.kind == "text":
        own = layout.categories[k]
        if own.values:
            parts.append("1 category" if len(own.values) == 1 else f"{len(own.values)} categories")
        if own.hashes and not layout.statistics:
            parts.append(f"{own.n_hash} features that other values share")
        if layout.get(k, CODE) >= 0:
            parts.append("the target's mean" + (", values hashed" if own.hashes else ""))
    elif column.kind == "time":
        parts.append("trend, hour, weekday and day of the year")
    else:
        far = f" counted from {column.origin:,.12g}" if column.origin else ""
        parts.append(f"number{far}" if column.kind == "number" else "0 or 1")
        if layout.get(k, EXACT) >= 0:
            parts.append("the target's mean where it stands")
    if layout.get(k, GAP) >= 0:
        parts.append("whether it is missing")
    return "; ".join(parts)
