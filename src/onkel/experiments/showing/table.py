"""Results of an experiment as the lines of a table: for a terminal, Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from onkel.experiments.entry import METRICS
from onkel.experiments.formats import markdown_table, mean_std, parameters, rich_table
from onkel.experiments.results import Result

if TYPE_CHECKING:
    from rich.table import Table

HEAD = ("data set", "rows", "algorithm", "ours", "printed", "verdict", "settings", "step", "runs",
        "s/run", "printed s", "÷ fogd, printed")  # fmt: skip
LEFT = ("data set", "algorithm", "verdict", "settings", "step")
_SHORT = (0, 2, 3, 4, 5, 9)


def lines(results: Sequence[Result]) -> list[list[str]]:
    """One line a result, under :data:`HEAD`; "÷ fogd": seconds over FOGD's on the same data."""
    fogd = {r.case.dataset: r for r in results if r.case.algorithm == "fogd" and r.values}
    return [_line(result, fogd.get(result.case.dataset)) for result in results]


def terminal_table(results: Sequence[Result]) -> Table:
    """A table for a terminal; what isn't met is red."""
    rows = []
    for result, line in zip(results, lines(results), strict=True):
        colour = "red" if result.failed else "green" if result.case.published else "dim"
        line[5] = f"[{colour}]{line[5]}[/{colour}]"
        rows.append([line[i] for i in _SHORT])
    return rich_table([HEAD[i] for i in _SHORT], rows, left=LEFT)


def markdown(results: Sequence[Result]) -> str:
    """The same as Markdown, what isn't met in bold."""
    rows = lines(results)
    for result, row in zip(results, rows, strict=True):
        row[5] = f"**{row[5]}**" if result.failed else row[5]
    return markdown_table(HEAD, rows, left=LEFT)


def notes(results: Iterable[Result]) -> list[str]:
    """What a reader has to know: notes of cells, runs that failed, data that are not here."""
    results = list(results)
    found = [f"{r.case.name}: {r.case.note}" for r in results if r.case.note and r.values]
    found += [f"{r.case.name}: {len(r.failures)} failed: {r.failures[0]}"
              for r in results if r.failures]  # fmt: skip
    return found + list(dict.fromkeys(f"Left out: {r.missing}" for r in results if r.missing))


def units(results: Iterable[Result]) -> str:
    """What the numbers are."""
    return "; ".join(dict.fromkeys(METRICS[result.case.metric] for result in results))


def summary(results: Iterable[Result]) -> str:
    """How many cells have which verdict."""
    counts = Counter(r.verdict for r in results if r.verdict != "reference")
    return ", ".join(f"{word}: {n}" for word, n in counts.most_common())


def _line(result: Result, fogd: Result | None) -> list[str]:
    case, cell = result.case, result.case.published
    said = "" if cell is None else mean_std(cell.value, cell.std, case.metric)
    std = result.std if len(result.values) > 1 else None
    ratios = ""
    if fogd is not None and result.values and fogd.case.published is not None:
        ours = np.median(result.seconds) / np.median(fogd.seconds)
        ratios = f"{ours:.2g}"
        base = fogd.case.published.seconds
        if cell is not None and cell.seconds and base:
            ratios += f", {cell.seconds / base:.2g}"
    return [
        case.panel or case.dataset,
        f"{result.n_rows:,}" if result.n_rows else "",
        (case.label or case.algorithm) + ("" if case.x is None else f", {case.x:g}"),
        mean_std(result.mean, std, case.metric) if result.values else "",
        said,
        result.verdict,
        parameters(case.parameters) if result.values else "",
        ("search here" if case.here else case.step) if result.values else "",
        str(len(result.values)) if result.values else "",
        f"{float(np.median(result.seconds)):.2g}" if result.values else "",
        "" if cell is None or cell.seconds is None else f"{cell.seconds:g}",
        ratios,
    ]
