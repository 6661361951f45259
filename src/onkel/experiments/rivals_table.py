"""The tuned rivals as a table: what they reached, and with what settings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.experiments.goals import Goal
from onkel.experiments.rivals import INPUTS, RIVALS
from onkel.experiments.table import mean_std, parameters

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["markdown", "rich_table"]

_HEAD = ("data", "rows", "rival", "inputs", "result", "settings")


def _rows(goals: Sequence[Goal], found: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for goal, inputs, rival in itertools.product(goals, INPUTS, RIVALS):
        entry = found[goal.dataset].get(f"{rival}, {inputs}")
        if entry is None:
            continue
        values = entry["values"]
        std = float(np.std(values, ddof=1))
        result = mean_std(float(np.mean(values)), std, goal.metric)
        settings = parameters(entry["parameters"])
        rows.append((goal.dataset, f"{entry['rows']:,}", rival, inputs, result, settings))
    return rows


def rich_table(goals: Sequence[Goal], found: dict[str, Any]) -> Table:
    """For a terminal; ``found`` as :func:`onkel.experiments.rivals.stored` gives it."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in _HEAD:
        right = title in ("rows", "result")
        table.add_column(title, justify="right" if right else "left", no_wrap=title != "settings")
    for row in _rows(goals, found):
        table.add_row(*row)
    return table


def markdown(goals: Sequence[Goal], found: dict[str, Any]) -> str:
    """For a page."""
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|--:|---|---|--:|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in _rows(goals, found)])
