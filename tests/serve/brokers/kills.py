"""SIGKILL at random moments: ``python -m tests.serve.brokers.kills [BROKER ...] [--times N]``.

``onkel live`` stands at a real broker. Rows come without pause, and their labels come late, in
another order, on a topic of their own; some come twice and some belong to no row. The process is
killed and started again so many times, and at last ended by SIGTERM. Then it is checked that

- each row has exactly one answer, and no other answer is there;
- the answers are those of a run that was never interrupted, with the same cuts;
- the labels that were learned, and those that were doubled or unknown, are as sent;
- the model's file has the bytes of that run's file.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.serve.brokers import keeping
from tests.serve.brokers.clients import CLIENTS
from tests.serve.brokers.servers import SERVERS
from threadpoolctl import threadpool_limits

from onkel.cli.live.opening import open_durable
from onkel.cli.live.options import LiveOptions
from onkel.serve import notation
from onkel.serve.journal import Journal

ROWS, ANSWERS, LABELS = "rows", "answers", "labels"
_MODEL = {"task": "regression", "algorithm": "krls", "settings": ["n_components=20"]}
_PATIENCE = 240.0


class Feed(threading.Thread):
    """Sends rows, and their labels some rows later, until it is stopped; then the last labels."""

    def __init__(self, client: Any, seed: int, rate: float) -> None:
        super().__init__(daemon=True)
        self._client, self._random, self._rate = client, random.Random(seed), rate
        self._stopped = threading.Event()
        self._waiting: list[bytes] = []
        self.n_rows = 0
        self.sent: Counter[str] = Counter()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            began = time.monotonic()
            while not self._stopped.wait(0.02):
                due = int((time.monotonic() - began) * self._rate) + 1
                self._send(min(due - self.n_rows, 200))
            self._client.send(LABELS, self._waiting)
        except Exception as error:
            self.error = error

    def _send(self, n: int) -> None:
        rng, rows = self._random, []
        for id in range(self.n_rows, self.n_rows + n):
            a, b = rng.uniform(-1, 1), rng.uniform(-1, 1)
            rows.append(json.dumps({"id": id, "a": a, "b": b, "place": f"p{id % 3}"}).encode())
            label = json.dumps({"id": id, "y": a * b + id % 3, "note": "of no interest"}).encode()
            self._waiting.append(label)
            self.sent["labels"] += 1
            if id % 50 == 0:
                self._waiting += [b'{"id": %d, "y": 1.0}' % (-1 - id), b"rubbish"]
                self.sent["unknown"] += 1
                self.sent["refused"] += 1
            if id % 70 == 0:
                self._waiting.append(label)
                self.sent["doubled"] += 1
        if rows:
            self._client.send(ROWS, rows)
        self.n_rows += n
        rng.shuffle(self._waiting)
        late = max(len(self._waiting) - 100, 0)
        self._client.send(LABELS, self._waiting[:late])
        del self._waiting[:late]

    def stop(self) -> None:
        self._stopped.set()
        self.join()
        if self.error is not None:
            raise self.error


def options_of(folder: Path, url: str) -> LiveOptions:
    """What the process is started with."""
    return LiveOptions(
        model=folder / "m.onkel", source=f"{url}/{ROWS}", out=ANSWERS, labels=LABELS,
        journal=folder / "journal", **_MODEL,
    )  # fmt: skip


def start(options: LiveOptions) -> Any:
    """``onkel live``, with what it says in a file."""
    words = [
        "live", str(options.model), options.source, "--out", ANSWERS, "--labels", LABELS,
        "--journal", str(options.journal), "--task", "regression", "--algorithm", "krls",
        "--set", "n_components=20", "--save-every", "1000", "--save-seconds", "1",
        "--metrics-every", "1", "--json",
    ]  # fmt: skip
    return keeping.start(words, options.model.parent / "said")


def run(scheme: str, folder: Path, times: int, seed: int = 0, rate: float = 50.0) -> str:
    """Kill it so many times at one broker, and check what is left; a line that says what was."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    keeping.warmed()
    with SERVERS[scheme](folder / "broker") as where:
        client = CLIENTS[scheme](where)
        feeding = CLIENTS[scheme](where)
        client.make(ROWS, ANSWERS, LABELS)
        options = options_of(folder, f"{scheme}://{where}")
        feed = Feed(feeding, seed, rate)
        feed.start()
        live = start(options)
        try:
            began = time.monotonic()
            while not client.read(ANSWERS):
                assert live.is_alive(), _said(folder)
                assert time.monotonic() - began < _PATIENCE, _said(folder)
                time.sleep(0.05)
            for _ in range(times):
                # at any moment: while it starts, recovers, takes rows or saves
                time.sleep(rng.uniform(0.0, 2.5))
                assert live.is_alive(), _said(folder)
                live.kill()
                live.join()
                live = start(options)
            feed.stop()
            wait_for_the_rest(folder, live, feed)
            live.terminate()
            live.join(_PATIENCE)
            assert live.exitcode == 128 + signal.SIGTERM, _said(folder)
        finally:
            feed.stop()
            live.kill()
            live.join()
        found = client.read(ANSWERS)
        sources = {source for source, _ in client.read(ROWS)} if scheme == "redis" else None
        client.close()
        feeding.close()
    n_cuts = check(options, found, feed, sources)
    return f"{times} kills, {feed.n_rows:,} rows, {n_cuts:,} cuts"


def wait_for_the_rest(folder: Path, live: Any, feed: Feed) -> None:
    """Wait until all rows and labels were taken, as the process says of itself."""
    n_labels, until = sum(feed.sent.values()), time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        assert live.is_alive(), _said(folder)
        reports = [line for line in _said(folder).splitlines()[1:] if line.startswith("{")]
        if reports:
            last = json.loads(reports[-1])
            if last["rows"] == feed.n_rows and sum(map(last.get, feed.sent)) == n_labels:
                return
        time.sleep(0.2)
    raise AssertionError(f"not all was taken in {_PATIENCE:g} s: {_said(folder)}")


def check(
    options: LiveOptions, found: list[tuple[str, bytes]], feed: Feed, sources: set[str] | None
) -> int:
    """Check answers, labels and the model's file against a run that nothing interrupts."""
    folder = options.model.parent
    other = folder / "again"
    other.mkdir()
    expected: dict[str, bytes] = {}
    n_cuts = 0
    assert options.journal is not None
    fresh = replace(options, model=other / "m.onkel")
    with Journal(options.journal) as journal, threadpool_limits(1, user_api="blas"):
        model = open_durable(fresh, other / "journal")
        model.live.say = lambda line: None
        for _, position, events in journal.records():
            answers = model.take(events, position)
            n_cuts += 1
            for source, answer in zip(position["rows"], answers[position["older"] :], strict=False):
                assert answer is not None
                expected[source] = notation.encoded(answer)
        model.snapshot()
        model.journal.close()
        counts = model.live.counts
    assert len(found) == feed.n_rows, (len(found), feed.n_rows, _said(folder))
    assert dict(found) == expected
    assert len(expected) == feed.n_rows
    assert sources is None or sources == set(expected)
    wanted = {"rows": feed.n_rows, **feed.sent}
    learned = {name: counts[name] for name in wanted}
    assert learned == wanted, (learned, wanted, _said(folder))
    assert options.model.read_bytes() == (other / "m.onkel").read_bytes()
    return n_cuts


def _said(folder: Path) -> str:
    return (folder / "said").read_text(errors="replace")[-5000:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("brokers", nargs="*", help=f"of {', '.join(SERVERS)}; by default all")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for scheme in options.brokers or SERVERS:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{scheme}: {run(scheme, Path(folder), options.times, options.seed)}; all right")


if __name__ == "__main__":
    main()
