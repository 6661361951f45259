"""Requests to `onkel serve` over many connections, and how long their answers took."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live_pipe import LEARNERS, WARM, cpu, rows
from benchmarks.timing import head, line

CONNECTIONS = 64
_REQUEST = (
    "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    "content-length: {size}\r\n\r\n"
)


class _Connection(asyncio.Protocol):
    """Sends a request, waits for its answer, and sends the next."""

    def __init__(self, following: Callable[[], bytes | None], waited: list[float]) -> None:
        self._following, self._waited = following, waited
        self._content, self._sent = b"", 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._content += data
        head, found, body = self._content.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        if len(body) < size:
            return
        assert b" 200 " in head[:20], self._content
        self._waited.append(time.perf_counter() - self._sent)
        self._content = b""
        self._send()

    def _send(self) -> None:
        request = self._following()
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)


async def _load(port: int, requests: list[bytes], seconds: float) -> tuple[float, list[float]]:
    """Requests a second, and the seconds that each took."""
    waited: list[float] = []
    left, end = iter(requests), time.perf_counter() + seconds
    loop = asyncio.get_running_loop()

    def following() -> bytes | None:
        return next(left, None) if time.perf_counter() < end else None

    began = time.perf_counter()
    pairs = [await loop.create_connection(lambda: _Connection(following, waited), "127.0.0.1", port)
             for _ in range(CONNECTIONS)]  # fmt: skip
    for _, connection in pairs:
        await connection.done
    return len(waited) / (time.perf_counter() - began), waited


def _requests(path: str, bodies: list[dict[str, Any]]) -> list[bytes]:
    found = []
    for body in bodies:
        content = json.dumps(body).encode()
        found.append(_REQUEST.format(path=path, size=len(content)).encode() + content)
    return found


def run(learner: str, how: tuple[str, ...], seconds: float, most: int = 40_000) -> None:
    """Print lines of the table: rows that are predicted, learned, and that wait for a label."""
    import uvloop

    data = rows(WARM + most)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "onkel", "serve", str(Path(folder) / "m.onkel"),
                   "--task", "classification", "--algorithm", learner, *how, "--port", "0",
                   "--no-proba"]  # fmt: skip
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert service.stderr is not None
        listening = next(text for text in service.stderr if "listening" in text)
        port = int(listening.rstrip().rpartition(":")[2])
        try:
            while not _is_ready(port):
                time.sleep(0.2)
            plain = [{name: v for name, v in row.items() if name != "y"} for row in data]
            learned = [{"id": t} | row for t, row in enumerate(data)]
            waiting = [{"id": f"w{t}"} | row for t, row in enumerate(plain)]
            labels = [{"id": f"w{t}", "y": row["y"]} for t, row in enumerate(data)]
            uvloop.run(_load(port, _requests("/learn", learned[:WARM]), 600))
            n = 0
            for path, bodies in (
                ("/predict", plain[WARM:]),
                ("/learn", learned[WARM:]),
                ("/predict with id", waiting),
                ("/label", labels),
            ):
                # a label needs its row
                bodies = bodies[:n] if path == "/label" else bodies
                asked = _requests(path.partition(" ")[0], bodies)
                before = cpu(service.pid)
                rate, waited = uvloop.run(_load(port, asked, seconds))
                n = len(waited)
                spent = f"{1e6 * (cpu(service.pid) - before) / n:.0f}"
                shares = np.percentile(1e3 * np.array(waited), [50, 99, 99.9])
                shown = (f"{share:.1f}" for share in shares)
                line(learner, path, f"{rate:,.0f}", *shown, spent)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(60)
            service.stderr.close()


def table(seconds: float) -> None:
    """Print what the requests to all learners take."""
    head("learner", "request", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "CPU µs")
    for learner, how in LEARNERS:
        run(learner, how, seconds)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
