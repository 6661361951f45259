"""Play a slow pipe into ``onkel learn -`` and end it by a signal, at random moments.

The model that is saved must be that of the rows that were read, to the last one.

    python -m tests.cli.endings [--times 20] [--seed 0] [--signals HUP INT TERM]

prints a line for each ending, and how many were right.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from array import array
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ONKEL = [sys.executable, "-m", "onkel"]
ROWS_PER_SECOND = 200


class Ending(NamedTuple):
    """How a run ended."""

    status: int
    #: whole lines that the process took from the pipe
    read: int
    #: rows that the saved model has learned; None: no model was saved
    saved: int | None
    #: whether the model is that of a run over just these rows
    same: bool
    said: str

    @property
    def right(self) -> bool:
        """Whether every row that was read is in the model, and nothing else."""
        return self.same and (self.saved or 0) == self.read


def lines(n: int, seed: int = 0) -> list[bytes]:
    """n JSON lines with two numbers, a text and a class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(4).tolist()
    places = rng.integers(0, 5, n)
    rows = (
        {"a": a, "b": b, "place": f"p{p}", "y": "up" if a * b > 0 else "down"}
        for (a, b), p in zip(X, places, strict=True)
    )
    return [json.dumps(row).encode() + b"\n" for row in rows]


def arguments(save: Path) -> list[str]:
    """Of a run over standard input."""
    return ["learn", "-", "--format", "jsonl", "-t", "y", "-a", "pa", "--save", str(save)]


def _with_signals() -> None:
    """Undo what a shell's background job or nohup ignore."""
    for name in ("SIGHUP", "SIGINT", "SIGTERM"):
        signal.signal(signal.Signals[name], signal.SIG_DFL)


class SlowPipe:
    """A process that reads lines as they come, one after the other."""

    def __init__(self, args: list[str], rows: list[bytes], speed: float, **more: Any) -> None:
        self._left, self._feed = os.pipe()
        self.process = subprocess.Popen(
            [*ONKEL, *args], stdin=self._left, preexec_fn=_with_signals, **more
        )
        self._rows, self._speed, self._written = rows, speed, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def __enter__(self) -> SlowPipe:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no process and no thread behind, whatever a test found."""
        self._stop.set()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def _write(self) -> None:
        began = time.monotonic()
        for i, row in enumerate(self._rows):
            self._stop.wait(max(began + i / self._speed - time.monotonic(), 0.0))
            if self._stop.is_set():
                return
            self._written += os.write(self._feed, row)

    def wait_until_read(self) -> None:
        """Wait for the process to take the first bytes."""
        unread = array("i", [0])
        while self.process.poll() is None:
            written = self._written
            fcntl.ioctl(self._left, termios.FIONREAD, unread)
            if unread[0] < written:
                return
            time.sleep(0.01)

    def rows_read(self) -> int:
        """Whole lines that the process, which has ended, took from the pipe."""
        self._stop.set()
        os.set_blocking(self._left, False)
        unread, last = 0, False
        while not last:
            last = not self._thread.is_alive()  # it may wait for room in the pipe
            try:
                while part := os.read(self._left, 1 << 16):
                    unread += len(part)
            except BlockingIOError:
                time.sleep(0.01)
        os.close(self._left)
        os.close(self._feed)
        return b"".join(self._rows)[: self._written - unread].count(b"\n")


def play(number: int, moment: float, folder: Path, speed: float = ROWS_PER_SECOND) -> Ending:
    """Send a signal so many seconds after the first row was read, and look at what is left."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, save = lines(20_000), folder / "m.onkel"
    with SlowPipe(arguments(save), rows, speed, stdout=subprocess.DEVNULL,
                  stderr=subprocess.PIPE) as pipe:  # fmt: skip
        pipe.wait_until_read()
        time.sleep(moment)
        pipe.process.send_signal(number)
        said = pipe.process.communicate(timeout=120)[1].decode()
        read = pipe.rows_read()
    if not save.exists():
        return Ending(pipe.process.returncode, read, None, True, said)
    kept = save.read_bytes()
    # an unbroken run over the same rows, with the same options
    whole = subprocess.run([*ONKEL, *arguments(save)], input=b"".join(rows[:read]),
                           capture_output=True, check=False)  # fmt: skip
    same = whole.returncode == 0 and save.read_bytes() == kept
    save.write_bytes(kept)
    import onkel

    return Ending(pipe.process.returncode, read, onkel.load(save).n_rows, same, said)


def main() -> int:
    """Play every signal so many times; the exit status is 1 if one ending was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signals", nargs="+", default=["HUP", "INT", "TERM"])
    options = parser.parse_args()
    moments = random.Random(options.seed)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.signals:
            number, good = signal.Signals[f"SIG{name}"], 0
            for k in range(options.times):
                moment = moments.uniform(0.0, 6.0)
                found = play(number, moment, Path(folder) / f"{name}{k}")
                good += found.right
                word = "right" if found.right else f"WRONG: {found.said!r}"
                print(
                    f"{name} after {moment:.2f} s: status {found.status}, {found.read} rows read, "
                    f"{found.saved} in the model: {word}",
                    flush=True,
                )
            print(f"{name}: {good} of {options.times}", flush=True)
            wrong += options.times - good
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
