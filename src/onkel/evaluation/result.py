"""What a prequential run gives: a curve, totals and how they came about."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from onkel.evaluation.metrics import Metric, metrics_of

__all__ = ["CurveRow", "PrequentialResult"]


@dataclass(frozen=True)
class CurveRow:
    """The state of a run after ``n_rows`` rows.

    Attributes
    ----------
    n_rows : int
        Rows predicted and learned so far.
    loss : float
        Average loss so far: share of mistakes, or mean squared error.
    loss_since_last : float
        Average loss of the rows since the checkpoint before.
    metrics : dict of str to float
        Every metric of the task over all rows so far.
    learn_seconds : float
        Time spent in the model (scaling included), without reading and encoding. Within a block
        it is interpolated by rows.
    seconds : float
        Time since the run began, all included.
    model_bytes : int
        Size of the learner's state.
    """

    n_rows: int
    loss: float
    loss_since_last: float
    metrics: dict[str, float]
    learn_seconds: float
    seconds: float
    model_bytes: int

    @property
    def rows_per_second(self) -> float:
        """Rows learned a second of learning time."""
        return self.n_rows / self.learn_seconds if self.learn_seconds > 0 else math.nan

    def flat(self) -> dict[str, float]:
        """The row as one flat record.

        Returns
        -------
        dict of str to number
            Metrics stand beside the other fields.
        """
        return {
            "n_rows": self.n_rows,
            "loss": self.loss,
            "loss_since_last": self.loss_since_last,
            **self.metrics,
            "rows_per_second": self.rows_per_second,
            "learn_seconds": self.learn_seconds,
            "seconds": self.seconds,
            "model_bytes": self.model_bytes,
        }


@dataclass
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
        How the model and the stream were set.
    """

    name: str
    task: str
    curve: list[CurveRow]
    startup_seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)

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
    def value(self) -> float:
        """Main metric over the whole run."""
        return self.final.metrics[self.metric.name]

    @property
    def rows_per_second(self) -> float:
        """Rows learned a second of learning time, over the whole run."""
        return self.final.rows_per_second

    def columns(self) -> dict[str, list[float]]:
        """The curve as columns.

        Returns
        -------
        dict of str to list
            Each of as many entries as checkpoints.
        """
        rows = [row.flat() for row in self.curve]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def to_frame(self) -> Any:
        """The curve as a data frame.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
            A pandas frame where pandas is installed, else an Arrow table.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            import pyarrow

            return pyarrow.table(self.columns())
        return pandas.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        return _finite(
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
                "settings": self.settings,
                "curve": [row.flat() for row in self.curve],
            }
        )

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Everything as JSON text.

        Parameters
        ----------
        path : path-like, optional
            Write it there as well.

        Returns
        -------
        str
            One object.
        """
        text = json.dumps(self.to_dict(), default=str)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        return text

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the curve.

        Parameters
        ----------
        path : path-like, optional
            Write it there (PNG, SVG or PDF by its ending).

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from onkel.evaluation.figure import plot

        return plot([self], path)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
