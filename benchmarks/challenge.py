"""Should the alarm start the default's challenger? Errors, time and changes without it and with it.

    python -m benchmarks.challenge [--streams FOLDER] [--speed fast] [--rows 60000] [NAME ...]

As it is, a challenger begins when the mean loss of the last rows is far above that before
(`onkel.default.loss_window`). *with the alarm*: also when `onkel.Alarm` rings over the same losses.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from onkel import Alarm, OnlineKernelClassifier, OnlineKernelRegressor
from onkel.datasets import drift_stream
from onkel.default import challenger
from onkel.default.loss_window import LossHistory
from papers.rows import find_streams

PERIOD = 20_000


class Watched(LossHistory):
    """Losses have also risen where the alarm rang."""

    alarm = Alarm()

    def add(self, losses: np.ndarray) -> bool:
        rung = bool(len(self.alarm.learn(losses)))
        return super().add(losses) or rung


def sources(folder: Path | None, n_rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, str]]:
    """Names, rows, targets and tasks."""
    for kind in ("abrupt", "gradual", "none"):
        blocks = list(drift_stream(kind, n_rows, seed=0, period=PERIOD))
        X, y = (np.concatenate([getattr(of, name) for of in blocks]) for name in ("X", "y"))
        yield f"drift, {kind}", X, y, "classification"
    for stream in find_streams(folder) if folder else ():
        yield stream.name, *stream.read(n_rows)


def run(X: np.ndarray, y: np.ndarray, task: str, speed: str) -> tuple[float, float, int]:
    """Mistakes in percent or RMSE, CPU seconds, and changes."""
    values = task == "regression"
    model = (OnlineKernelRegressor if values else OnlineKernelClassifier)(speed=speed)
    y, began = y.astype(np.float64) if values else y, time.process_time()
    p = model.predict_then_learn(X, y)
    spent = time.process_time() - began
    error = np.sqrt(np.mean((p - y) ** 2)) if values else 100.0 * np.mean(p != y)
    return float(error), spent, len(model.changes_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--streams", type=Path)
    parser.add_argument("--speed", default="fast")
    parser.add_argument("--rows", type=int, default=60_000, help="of each stream at most")
    options = parser.parse_args()
    one_core()
    head("stream", "error", "with the alarm", "seconds", "with the alarm", "changes", "with it")
    for name, *rows in sources(options.streams, options.rows):
        if options.names and name not in options.names:
            continue
        found = []
        for history in (LossHistory, Watched):
            challenger.LossHistory = history
            Watched.alarm = Alarm()
            found.append(run(*rows, options.speed))
        errors, seconds, changes = zip(*found, strict=True)
        shown = [f"{error:.3f}" for error in errors] + [f"{spent:.1f}" for spent in seconds]
        line(name, *shown, *changes)


if __name__ == "__main__":
    main()
