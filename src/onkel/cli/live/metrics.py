"""The metrics of ``onkel live``: when a line of them is due, and the line."""

from __future__ import annotations

import math
import time
from typing import Any

from onkel.cli.console import as_json, say_line
from onkel.cli.live.options import LiveOptions
from onkel.columns.failures import count
from onkel.evaluation.formatting import skill_text


class Metrics:
    """Lines on stderr, each about the rows since the one before, too.

    ``n_rows``: how many rows were answered so far.
    """

    def __init__(self, options: LiveOptions, n_rows: int) -> None:
        self._rows = options.metrics_rows or math.inf
        self._seconds = options.metrics_every or math.inf
        self._as_json = options.as_json
        self._begin(n_rows)

    def _begin(self, n_rows: int) -> None:
        self._n_rows, self._since = n_rows, time.monotonic()

    @property
    def are_wanted(self) -> bool:
        """Whether any line is to be printed."""
        return min(self._rows, self._seconds) < math.inf

    def seconds_left(self) -> float:
        """Seconds until a line is due though no row comes."""
        return self._since + self._seconds - time.monotonic()

    def are_due(self, n_rows: int) -> bool:
        """Whether a line is due, by rows or by time."""
        return n_rows - self._n_rows >= self._rows or self.seconds_left() <= 0.0

    def print(self, report: dict[str, Any]) -> None:
        """Print a line."""
        self._begin(report["rows"])
        say_line(as_json(report) if self._as_json else text_of(report))


def text_of(report: dict[str, Any]) -> str:
    """The metrics as one line for people."""
    from onkel.metrics import METRICS

    def shown(values: dict[str, float]) -> str:
        known = [f"{METRICS[k].title} {METRICS[k].format(v)}" for k, v in values.items()
                 if k in METRICS]  # fmt: skip
        coverage = values.get("coverage")
        return ", ".join(known + ([] if coverage is None else [f"coverage {coverage:.1%}"]))

    parts = [count(report["rows"], "row"), count(report["labels"], "label")]
    parts += [f"{report['waiting']:,} waiting"]
    # at a broker none is behind
    parts += [count(report["behind"], "label") + " behind"] if report.get("behind") else []
    if report["score"]:
        parts += [shown(report["score"])]
    if report["recent"]:
        parts += [f"since the last line {shown(report['recent'])}"]
    if report["skill"] is not None:
        parts += [f"skill {skill_text(report['skill'])}"]
    if report["alarms"]:
        alarms = report["alarms"]
        parts += [f"{count(len(alarms), 'alarm')}, the last at row {alarms[-1]:,}"]
    counts = ("unknown", "doubled", "late", "refused")
    parts += [f"{report[name]:,} {name}" for name in counts if report[name]]
    return "; ".join(parts)
