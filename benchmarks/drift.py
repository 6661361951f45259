"""Streams that change: ``python -m benchmarks.drift [--picture FILE] [--json FILE]``.

The default learner, the same without its cells of columns, and the same without its restart, with
and without forgetting. The generated streams don't change, change abruptly, gradually, or back and
forth; there are also flights in order of time. With ``--json`` the curves are kept, and a later run
goes on from there.
"""

from __future__ import annotations

from benchmarks.timing import one_core  # first: it sets the threads

# isort: split
import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onkel import StreamModel, algorithms, make, prequential
from onkel.datasets import DRIFTS, drift_stream, load
from onkel.evaluation.curves import COLOURS
from onkel.streams import Block
from papers.cache import Record
from papers.tables import markdown_table

#: all rows count, or about the last 5 000 or 2 000
FORGETTING = (1.0, 0.9998, 0.9995)
N_ROWS, PERIOD, WINDOW = 100_000, 20_000, 1000
FLIGHTS_WINDOW = 20_000
BLOCK = 4096


@dataclass(frozen=True)
class Case:
    """A stream: its name, rows of a window, and where its concept changes."""

    name: str
    task: str
    window: int
    changes: tuple[int, ...] = ()

    def blocks(self, flights: int | None) -> Iterator[Block]:
        """The rows, generated or loaded each time; only the first ``flights`` flights."""
        if self.name in DRIFTS:
            yield from drift_stream(self.name, N_ROWS, period=PERIOD)
            return
        rows = load(self.name, scaling="none", order="time", dtype="float32")
        X, y = rows.X[:flights], rows.y[:flights]
        for a in range(0, len(y), BLOCK):
            yield Block(X[a : a + BLOCK], y[a : a + BLOCK], a)


_CHANGES = tuple(range(PERIOD, N_ROWS, PERIOD))
CASES = (
    Case("none", "classification", WINDOW),
    Case("abrupt", "classification", WINDOW, _CHANGES),
    Case("gradual", "classification", WINDOW, _CHANGES),
    Case("recurring", "classification", WINDOW, _CHANGES),
    Case("airlines_late", "classification", FLIGHTS_WINDOW),
    Case("airlines_delay", "regression", FLIGHTS_WINDOW),
)


def variants() -> dict[str, dict[str, Any]]:
    """Names and parameters."""
    default = f"`{algorithms.DEFAULT}` (default)"
    named: dict[str, dict[str, Any]] = {default: {}, "without cells": {"pairs": False}}
    for forgetting in FORGETTING:
        name = "without restart" + (f", forgetting = {forgetting}" if forgetting < 1.0 else "")
        named[name] = {"restart": False, "forgetting": forgetting}
    return named


def curve(case: Case, params: dict[str, Any], flights: int | None) -> dict[str, Any]:
    """Metric of each window and of the whole stream."""
    model = StreamModel(make(algorithms.DEFAULT, case.task, **params))
    result = prequential(model, case.blocks(flights), checkpoints="none", every=case.window)
    return {
        "rows": [row.n_rows for row in result.curve],
        "windows": [result.metric.finish(row.loss_since_last) for row in result.curve],
        "value": result.value,
        "rows_per_second": result.rows_per_second,
    }


def after_changes(case: Case, found: dict[str, Any]) -> tuple[float, float]:
    """Mean metric of the 2 000 rows after the changes, and of the 2 000 before them."""
    windows, width = np.array(found["windows"]), 2
    at = [change // case.window for change in case.changes]
    after = np.mean([windows[a : a + width].mean() for a in at])
    before = np.mean([windows[a - width : a].mean() for a in at])
    return float(after), float(before)


def table(results: dict[str, Any]) -> str:
    """Markdown: one line per variant."""
    cases = [case for case in CASES if case.name in results]
    names = [name for name in variants() if all(name in results[c.name] for c in cases)]
    heads = []
    for case in cases:
        heads.append(case.name + (", RMSE" if case.task == "regression" else ", %"))
        if case.changes and case.name != "gradual":
            heads.append("after / before a change")
    lines = []
    for name in names:
        cells = []
        for case in cases:
            found = results[case.name][name]
            cells.append(f"{found['value']:.2f}")
            if case.changes and case.name != "gradual":
                cells.append(" / ".join(f"{v:.1f}" for v in after_changes(case, found)))
        lines.append([name, *cells])
    return markdown_table(["learner", *heads], lines, left=["learner"])


def draw(results: dict[str, Any], path: Path) -> None:
    """The windows of every case, one panel each."""
    from matplotlib.figure import Figure

    cases = [case for case in CASES if case.name in results and case.name != "none"]
    figure = Figure(figsize=(9, 2.6 * len(cases)), dpi=120, layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(cases), 1))
    for axes, case in zip(panels, cases, strict=True):
        for i, name in enumerate(variants()):
            found = results[case.name][name]
            # the first on top, so that it is the one seen where curves coincide
            how = {"color": COLOURS[i], "zorder": 3.0 - 0.1 * i, "label": name.replace("`", "")}
            axes.plot(found["rows"], found["windows"], linewidth=1.2, **how)
        for change in case.changes:
            axes.axvline(change, color="#bbbbbb", linewidth=0.8, linestyle=":")
        axes.set_title(f"{case.name}: windows of {case.window:,} rows", loc="left", fontsize=10)
        axes.set_ylabel("RMSE, minutes" if case.task == "regression" else "mistakes, %")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, ncols=5, loc="outside upper center")
    panels[-1].set_xlabel("rows learned; lower is better")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="write the curves there")
    parser.add_argument("--json", type=Path, help="keep the curves there")
    parser.add_argument("--stream", action="append", choices=[c.name for c in CASES])
    parser.add_argument("--flights", type=int, metavar="ROWS", help="the first so many flights")
    options = parser.parse_args()
    one_core()
    about = {"algorithm": algorithms.DEFAULT, "variants": variants(), "flights": options.flights}
    record = Record(options.json, about)
    for case in CASES:
        if options.stream and case.name not in options.stream:
            continue
        found = record.results.setdefault(case.name, {})
        for name, params in variants().items():
            if name not in found:
                found[name] = curve(case, params, options.flights)
                record.save()
    print(table(record.results))
    if options.picture:
        draw(record.results, options.picture)


if __name__ == "__main__":
    main()
