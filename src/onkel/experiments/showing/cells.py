"""A table with a line for every cell of a paper's: ours, what was printed, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onkel.experiments.formats import mean_std, parameters
from onkel.experiments.results import Result
from onkel.experiments.showing.layout import Content, Layout, Line, Mark
from onkel.experiments.showing.notes import units

HEAD = ("data set", "rows", "algorithm", "ours", "printed", "verdict", "settings", "step", "runs",
        "s/run", "printed s", "÷ fogd, printed")  # fmt: skip
_LEFT = ("data set", "algorithm", "verdict", "settings", "step")
_VERDICT = HEAD.index("verdict")


def content(results: Sequence[Result]) -> Content:
    """One line per result; "÷ fogd": seconds over FOGD's on the same data."""
    fogd = {r.case.dataset: r for r in results if r.case.algorithm == "fogd" and r.values}
    lines = []
    for result in results:
        mark: Mark = "bad" if result.failed else "good" if result.case.published else "weak"
        lines.append(Line(_line(result, fogd.get(result.case.dataset)), {_VERDICT: mark}))
    return Content(HEAD, lines, _LEFT)


def _line(result: Result, fogd: Result | None) -> list[str]:
    case, cell = result.case, result.case.published
    said = "" if cell is None else mean_std(cell.value, cell.std, case.quantity)
    std = result.std if len(result.values) > 1 else None
    ratios = ""
    if fogd is not None and result.values and fogd.case.published is not None:
        ours = np.median(result.seconds) / np.median(fogd.seconds)
        ratios = _ratio(ours)
        base = fogd.case.published.seconds
        if cell is not None and cell.seconds and base:
            ratios += f", {_ratio(cell.seconds / base)}"
    return [
        case.panel or case.dataset,
        f"{result.n_rows:,}" if result.n_rows else "",
        (case.label or case.algorithm) + ("" if case.x is None else f", {case.x:g}"),
        mean_std(result.mean, std, case.quantity) if result.values else "",
        said,
        result.verdict,
        parameters(case.parameters) if result.values else "",
        ("search here" if case.here else case.step) if result.values else "",
        str(len(result.values)) if result.values else "",
        f"{float(np.median(result.seconds)):.2g}" if result.values else "",
        "" if cell is None or cell.seconds is None else f"{cell.seconds:g}",
        ratios,
    ]


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _said(results: Sequence[Result]) -> str:
    return f"Values: {units(results)}."


CELLS = Layout(
    content, _said, short=("data set", "algorithm", "ours", "printed", "verdict", "s/run")
)
#: for tables where nothing was printed, and settings are what a reader wants
SETTINGS = Layout(
    content, _said, short=("data set", "algorithm", "ours", "settings", "s/run"),
    folded=("settings",),
)  # fmt: skip
