"""The result of a prequential run: its curve, totals and settings."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from onkel.columns.failures import count
from onkel.evaluation.formatting import bytes_text, duration, short
from onkel.metrics import Metric, metrics_of
from onkel.persistence.atomic import atomic_file
from onkel.pipeline.summary import html_table


@dataclass(frozen=True)
class CurveRow:
    """The state of a run after ``n_rows`` rows."""

    n_rows: int
    #: all rows but the first ones, before which no label was known
    n_scored: int
    #: average loss of the scored rows: share of mistakes, or mean squared error
    loss: float
    #: the same of the rows since the checkpoint before
    loss_since_last: float
    #: every metric of the task over all rows so far
    metrics: dict[str, float]
    #: time in the model (scaling included), without reading and encoding; within a block it is
    #: interpolated by rows
    learn_seconds: float
    #: time since the run began, all included
    seconds: float
    model_bytes: int
    #: rows at the head whose time is not known: a saved model keeps their losses alone
    untimed_rows: int = 0

    @property
    def rows_per_second(self) -> float:
        """Rows learned per second of learning time."""
        return rate(self.n_rows - self.untimed_rows, self.learn_seconds)

    def flat(self) -> dict[str, float]:
        """The row as one flat record, with the metrics among the other fields."""
        fields = asdict(self)
        metrics = fields.pop("metrics")
        return fields | metrics | {"rows_per_second": self.rows_per_second}


@dataclass(repr=False)
class PrequentialResult:
    """Curve and totals of one prequential run.

    Attributes
    ----------
    name : str
        What was run, for legends.
    task : {"classification", "regression"}
        Chooses the metrics.
    curve : list of CurveRow
        Checkpoints in order; the last is the end of the run.
    startup_seconds : float
        Time for loading or compiling the engine, counted in neither of the other times.
    settings : dict
        Settings of the model and the stream.
    details : dict
        Measures beside the score. Always: ``baselines`` (loss of each), ``baseline`` (the name
        of the better), ``skill`` (the share of its loss that the model avoids), ``skills`` (against
        each; against the last class this is Kappa-temporal), ``windows`` (losses in equal windows).
        Classes: ``balanced_accuracy``, ``recall`` of each class and ``auc``, ``confusion`` of up to
        50 classes; ``log_loss`` and ``calibration`` where there are probabilities. Regressions:
        ``r2``, and a ``sample`` of targets and predictions.
    part : PrequentialResult or None
        The same of the rows of the last source alone, where a run goes on after others.
    """

    name: str
    task: str
    curve: list[CurveRow]
    startup_seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    part: PrequentialResult | None = None

    def __repr__(self) -> str:
        value = self.metric.format(self.value) if self.curve else "-"
        rows = count(self.n_rows if self.curve else 0, "row")
        return f"<PrequentialResult of {self.name}: {self.metric.title} {value}, {rows}>"

    def _repr_html_(self) -> str:
        if not self.curve:
            return html_table("PrequentialResult", [("name", self.name)])
        final = self.final
        scores = [(m.title, m.format(final.metrics[m.name])) for m in metrics_of(self.task)]
        rows = [
            ("name", self.name),
            ("task", self.task),
            ("rows", f"{self.n_rows:,}"),
            ("scored", self.scored),
            *scores,
            ("learning", f"{duration(final.learn_seconds)}, {short(self.rows_per_second)} rows/s"),
            ("model size", bytes_text(final.model_bytes)),
        ]
        return html_table("PrequentialResult", rows)

    @property
    def metric(self) -> Metric:
        """The main metric of the task: mistakes or RMSE."""
        return metrics_of(self.task)[0]

    @property
    def final(self) -> CurveRow:
        """The last checkpoint."""
        return self.curve[-1]

    @property
    def n_rows(self) -> int:
        """Rows of the run."""
        return self.final.n_rows

    @property
    def scored(self) -> str:
        """Which rows are scored: those before which a label was known."""
        n, last = self.final.n_scored, self.n_rows
        return f"rows {last - n + 1:,} to {last:,}" if n else "no row: no label was known before"

    @property
    def value(self) -> float:
        """Main metric over the whole run."""
        return self.final.metrics[self.metric.name]

    @property
    def rows_per_second(self) -> float:
        """Rows learned per second of learning time, over the whole run."""
        return self.final.rows_per_second

    def columns(self) -> dict[str, list[float]]:
        """The curve as columns, each of as many entries as checkpoints."""
        rows = [row.flat() for row in self.curve]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def to_frame(self) -> Any:
        """The curve as a pandas frame, or an Arrow table where pandas is not installed."""
        try:
            import pandas
        except ModuleNotFoundError:
            import pyarrow

            return pyarrow.table(self.columns())
        return pandas.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; numbers that are not finite are None."""
        return finite(
            {
                "name": self.name,
                "task": self.task,
                "n_rows": self.n_rows,
                "metric": self.metric.name,
                "lower_is_better": self.metric.lower_is_better,
                "value": self.value,
                **{k: v for k, v in asdict(self.final).items() if k != "n_rows"},
                "rows_per_second": self.rows_per_second,
                "startup_seconds": self.startup_seconds,
                "details": self.details,
                "settings": self.settings,
                "curve": [row.flat() for row in self.curve],
                **({} if self.part is None else {"part": self.part.to_dict()}),
            }
        )

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Everything as one JSON object, which is also written to ``path`` if one is given."""
        text = json.dumps(self.to_dict(), default=str)
        if path is not None:
            with atomic_file(Path(path)) as file:
                file.write(text.encode() + b"\n")
        return text

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the curve; ``path`` (PNG, SVG or PDF by its ending) is where to write it."""
        from onkel.evaluation.curves import plot

        return plot([self], path)


def rate(rows: int, seconds: float) -> float:
    """Rows per second; NaN where no time was taken."""
    return rows / seconds if seconds > 0 else math.nan


def finite(value: object) -> Any:
    """The value with None for numbers that are not finite, which JSON cannot hold."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
