"""`onkel live` in a pipe, fed at several rates.

Milliseconds from the moment a row is written to the moment its answer is there, and rows per second
answered; two processes, as in use. Rows that are due together are written together, as a broker
hands them out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import head, line

LEARNERS = (("pa", ()), ("krls", ("--set", "n_components=100")), ("okl", ("--set", "speed=fast")))
WARM = 3000


def rows(n: int) -> list[dict[str, Any]]:
    """n rows of ten numbers with a class."""
    X = np.random.default_rng(0).standard_normal((n, 10)).tolist()
    return [{f"x{j}": v for j, v in enumerate(x)} | {"y": int(x[0] * x[1] > 0)} for x in X]


def json_lines(n: int) -> list[bytes]:
    """The same as lines of JSON, with their numbers as ids."""
    return [json.dumps({"id": t} | row).encode() + b"\n" for t, row in enumerate(rows(n))]


def write(file: int, data: bytes) -> None:
    """Write all of it."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def feed(file: int, lines: list[bytes], rate: float, written: list[float]) -> None:
    """Write lines at a rate, and note when."""
    began, t = time.perf_counter(), 0
    while t < len(lines):
        due = min(int((time.perf_counter() - began) * rate) + 1, len(lines))
        if due > t:
            now = time.perf_counter()
            written += [now] * (due - t)
            write(file, b"".join(lines[t:due]))
            t = due
        time.sleep(min(1e-3, max(0.0, began + t / rate - time.perf_counter())))
    os.close(file)


def run(learner: str, how: tuple[str, ...], rate: int, seconds: float) -> None:
    """Print a line of the table."""
    n = max(int(rate * seconds), 5)
    events = json_lines(WARM + n)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "onkel", "live", str(Path(folder) / "m.onkel"),
                   "--task", "classification", "--algorithm", learner, *how,
                   "--no-proba", "--metrics-every", "0"]  # fmt: skip
        live = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert live.stdin is not None
        assert live.stdout is not None
        source, answers = os.dup(live.stdin.fileno()), os.fdopen(os.dup(live.stdout.fileno()), "rb")
        live.stdin.close()
        warm = threading.Thread(target=lambda: write(source, b"".join(events[:WARM])))
        warm.start()
        for _ in range(WARM):
            answers.readline()
        warm.join()
        written: list[float] = []
        writer = threading.Thread(target=feed, args=(source, events[WARM:], rate, written))
        writer.start()
        came = []
        for _ in range(n):
            answers.readline()
            came.append(time.perf_counter())
        writer.join()
        live.wait()
    waited = 1e3 * (np.array(came) - np.array(written))
    shares = (f"{share:.1f}" for share in np.percentile(waited, [50, 99, 99.9]))
    line(learner, f"{rate:,}", f"{n / (came[-1] - written[0]):,.0f}", *shares)


def table(rates: list[int], seconds: float) -> None:
    """Print what all learners take at all rates."""
    head("learner", "rows/s written", "rows/s answered", "p50 ms", "p99 ms", "p99.9 ms")
    for learner, how in LEARNERS:
        for rate in rates:
            run(learner, how, rate, seconds)
