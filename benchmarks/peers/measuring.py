"""One learner on one data set, in a process of its own: error, rows a second, memory.

The process is forked from one that holds the rows. It first runs the learner on a few rows, which
loads and compiles code, and is measured from there. Seconds are processor time.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ceilings import cut, error

_WARM = 512
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Outcome:
    """The result of a run; ``why`` says why it has no numbers, if it has none."""

    error: float = float("nan")
    rows_per_second: float = float("nan")
    megabytes: float = float("nan")
    why: str = ""


def _memory(name: str) -> float:
    """``VmRSS``, or the largest it has been, ``VmHWM``, in megabytes."""
    for text in _STATUS.read_text("utf8").splitlines():
        if text.startswith(f"{name}:"):
            return int(text.split()[1]) / 1024
    raise OSError(f"{_STATUS} has no line {name}")


def _run(run: Callable[..., np.ndarray], X: np.ndarray, y: np.ndarray, batch: bool) -> Outcome:
    run(X[:_WARM], y[:_WARM])
    gc.collect()
    _RESET.write_text("5", "utf8")  # resets the peak
    before, began = _memory("VmRSS"), time.process_time()
    predicted = run(X, y)
    seconds, peak = time.process_time() - began, _memory("VmHWM")
    learned = cut(len(y)) if batch else len(y)
    return Outcome(error(predicted, y), learned / seconds, max(0.0, peak - before))


def _child(pipe: Any, *task: Any) -> None:
    try:
        pipe.send(_run(*task))
    except ImportError as missing:
        pipe.send(Outcome(why=f"not installed: {missing}"))
    except Exception as problem:
        pipe.send(Outcome(why=f"{type(problem).__name__}: {problem}".splitlines()[0]))


def measure(
    run: Callable[..., np.ndarray], X: np.ndarray, y: np.ndarray, batch: bool, most: float
) -> Outcome:
    """Run a learner on the rows; at most ``most`` seconds by the clock."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_child, args=(there, run, X, y, batch), daemon=True)
    process.start()
    there.close()
    try:
        outcome = here.recv() if here.poll(most) else Outcome(why=f"stopped after {most:g} s")
    except EOFError:
        outcome = Outcome(why="the process ended by itself")
    process.kill()
    process.join()
    return outcome
