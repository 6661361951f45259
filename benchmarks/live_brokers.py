"""`onkel live` at brokers, with a journal.

First so many rows lie in the topic: rows per second, from the answer to row 3,000 to the last, and
the processor time of `onkel live` for each. Then rows come at a rate: milliseconds from a row's
sending to its answer in the hands of a reader. Three processes, as in use: the broker, `onkel
live`, and one that sends and reads. The brokers are those of the tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.serve.brokers.clients import CLIENTS
from tests.serve.brokers.servers import SERVERS

from benchmarks.live_pipe import LEARNERS, WARM, cpu, json_lines
from benchmarks.timing import head, line

_PATIENCE = 300.0


@contextmanager
def standing(url: str, learner: str, how: tuple[str, ...], folder: Path) -> Iterator[int]:
    """``onkel live`` at a broker; its process."""
    command = [sys.executable, "-m", "onkel", "live", str(folder / "m.onkel"), f"{url}/rows",
               "--out", "answers", "--task", "classification", "--algorithm", learner, *how,
               "--no-proba", "--metrics-every", "0"]  # fmt: skip
    live = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield live.pid
    finally:
        live.terminate()
        live.wait(_PATIENCE)


def most(client: Any, lines: list[bytes], process: int) -> tuple[float, float]:
    """Rows per second while rows wait for the model, and microseconds of processor time a row."""
    began = 0.0
    until = time.monotonic() + _PATIENCE
    while (n := client.count("answers")) < len(lines):
        if n >= WARM and not began:
            began, first, before = time.perf_counter(), n, cpu(process)
        if time.monotonic() > until:
            raise TimeoutError(f"{n:,} answers came in {_PATIENCE:g} s")
        time.sleep(0.01)
    rows = len(lines) - first
    spent = cpu(process) - before
    return rows / (time.perf_counter() - began), 1e6 * spent / rows


def waited(client: Any, reader: Any, rate: int, seconds: float, first: int) -> np.ndarray:
    """Milliseconds from sending a row to reading its answer, at a rate."""
    n = int(rate * seconds)
    lines = json_lines(first + n)[first:]
    sent, came = np.full(n, np.nan), np.full(n, np.nan)
    ready = threading.Event()
    reading = threading.Thread(target=_read, args=(reader, first, came, ready))
    reading.start()
    ready.wait(_PATIENCE)
    began, t = time.perf_counter(), 0
    while t < n:
        due = min(int((time.perf_counter() - began) * rate) + 1, n)
        if due > t:
            sent[t:due] = time.perf_counter()
            client.send("rows", lines[t:due])
            t = due
        time.sleep(1e-3)
    reading.join(_PATIENCE)
    return 1e3 * (came - sent)


def _read(reader: Any, first: int, came: np.ndarray, ready: threading.Event) -> None:
    left = len(came)
    stream = reader.follow("answers", first)
    assert next(stream) == b""
    ready.set()
    for payload in stream:
        came[json.loads(payload)["id"] - first] = time.perf_counter()
        left -= 1
        if not left:
            return


def table(scheme: str, n: int, rate: int, seconds: float) -> None:
    """Print what all learners take at a broker where n rows lie, and then at a rate."""
    lines = json_lines(WARM + n)
    head("broker", "learner", "rows/s", "CPU µs", "at rows/s", "p50 ms", "p99 ms", "p99.9 ms")
    for learner, how in LEARNERS:
        with tempfile.TemporaryDirectory() as name, SERVERS[scheme](Path(name) / "b") as where:
            client, reader = CLIENTS[scheme](where), CLIENTS[scheme](where)
            client.make("rows", "answers")
            client.send("rows", lines)
            with standing(f"{scheme}://{where}", learner, how, Path(name)) as process:
                top, spent = most(client, lines, process)
                late = waited(client, reader, rate, seconds, len(lines))
            client.close()
            reader.close()
        shares = (f"{share:.1f}" for share in np.percentile(late, [50, 99, 99.9]))
        line(scheme, learner, f"{top:,.0f}", f"{spent:.0f}", f"{rate:,}", *shares)
