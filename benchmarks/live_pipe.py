"""`onkel live` in a pipe, fed at several rates.

Milliseconds from the moment a row is written to the moment its answer is there, and rows per second
answered; two processes, as in use. Rows that are due together are written together, as a broker
hands them out. A label comes with its row, or later: in turn with the rows, or a hundred at a time.
"CPU" is what `onkel live` took for a row, with its last save: a million over it are the rows that a
core holds a second.
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
#: of the pipe alone: the default takes longer, as it searches
DEFAULT = (("okl", ()), ("okl", ("--in-order",)))
LABELS = ("with the row", "10 rows later, in turn", "after 100 rows, together")
WARM, PAUSE = 3000, 4.0


def rows(n: int) -> list[dict[str, Any]]:
    """n rows of ten numbers with a class."""
    X = np.random.default_rng(0).standard_normal((n, 10)).tolist()
    return [{f"x{j}": v for j, v in enumerate(x)} | {"y": int(x[0] * x[1] > 0)} for x in X]


def json_lines(n: int) -> list[bytes]:
    """The same as lines of JSON, with their numbers as ids."""
    return [json.dumps({"id": t} | row).encode() + b"\n" for t, row in enumerate(rows(n))]


def written_at_once(n: int, labels: str) -> list[bytes]:
    """For each of n rows what is written when it is due."""
    if labels == LABELS[0]:
        return json_lines(n)
    events, known = [], []
    for t, row in enumerate(rows(n)):
        known.append(json.dumps({"id": t, "y": row.pop("y")}).encode() + b"\n")
        events.append(json.dumps({"id": t} | row).encode() + b"\n")
        if labels == LABELS[1]:
            events[t] += b"".join(known[max(t - 10, 0) : max(t - 9, 0)])
        elif t % 100 == 99:
            events[t] += b"".join(known[-100:])
    return events


def write(file: int, data: bytes) -> None:
    """Write all of it."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def feed(file: int, lines: list[bytes], rate: float, end: float, written: list[float]) -> None:
    """Write lines at a rate until it is time to end, and note when."""
    began, t = time.perf_counter(), 0
    while t < len(lines) and time.perf_counter() < end:
        due = min(int((time.perf_counter() - began) * rate) + 1, len(lines), t + 1000)
        if due > t:
            now = time.perf_counter()
            written += [now] * (due - t)
            write(file, b"".join(lines[t:due]))
            t = due
        time.sleep(min(1e-3, max(0.0, began + t / rate - time.perf_counter())))
    os.close(file)


def cpu(process: int) -> float:
    """Seconds of processor time that a process has had; NaN where the system does not tell."""
    try:
        found = Path(f"/proc/{process}/stat").read_text("utf8").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return sum(map(int, found[11:13])) / os.sysconf("SC_CLK_TCK")


def run(learner: str, how: tuple[str, ...], labels: str, rate: int, seconds: float) -> None:
    """Print a line of the table."""
    n = max(int(rate * seconds), 5)
    events = written_at_once(WARM + n, labels)
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
        # until their labels are learned
        time.sleep(PAUSE)
        written: list[float] = []
        before = cpu(live.pid)
        end = time.perf_counter() + max(seconds, n / rate)
        writer = threading.Thread(target=feed, args=(source, events[WARM:], rate, end, written))
        writer.start()
        came = [time.perf_counter() for _ in answers]
        writer.join()
        spent = 1e6 * (cpu(live.pid) - before) / len(came)
        live.wait()
    waited = 1e3 * (np.array(came) - np.array(written))
    shares = (f"{share:.1f}" for share in np.percentile(waited, [50, 99, 99.9]))
    shown = (value.rpartition("=")[2] for value in how if value != "--set")
    name = " ".join([learner, *shown])
    answered = len(came) / (came[-1] - written[0])
    line(name, labels, f"{rate:,}", f"{answered:,.0f}", *shares, f"{spent:,.0f}")


def table(rates: list[int], seconds: float) -> None:
    """Print what all learners take at all rates."""
    times = ("p50 ms", "p99 ms", "p99.9 ms", "CPU µs")
    head("learner", "labels", "rows/s written", "rows/s answered", *times, left=2)
    for learner, how in (*LEARNERS, *DEFAULT):
        for labels in LABELS:
            # later labels change nothing but where rows are many
            for rate in rates if labels == LABELS[0] else rates[-2:]:
                run(learner, how, labels, rate, seconds)
