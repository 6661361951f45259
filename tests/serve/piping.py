"""``onkel live --journal`` in a pipe, ended at random moments, and what its answers and file say.

``python -m tests.serve.piping --times 100 [--learner pa|krls|okl]``. Rows are written, and labels
that come late, in another order, twice, or for no row. The process is killed, or ended by a signal.
Then another one starts, and everything is written again that came after the last row whose answer
was read. Afterwards a model that nothing interrupts takes the cuts that stand in the journal: each
answer must be its answer, each label learned once, and the file must have its bytes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import select
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.serve.brokers import keeping
from tests.serve.killing import LEARNERS
from threadpoolctl import threadpool_limits

from onkel.serve import LiveModel
from onkel.serve.durable import DurableModel
from onkel.serve.journal import Journal

_PATIENCE = 240.0
# Each third end is a signal that the process hears of.
_ENDS = (signal.SIGKILL,) * 6 + (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Events that are written and whose answers were not read.
_AHEAD = 300


class Events:
    """Events without end: a line each, and the id of the row that it is, if it is one."""

    def __init__(self, seed):
        self.rng, self.lines, self.rows = random.Random(seed), [], []
        self.sent, self._waiting = Counter(), []

    def to(self, n):
        """Make events until there are so many."""
        while len(self.lines) < n:
            self._add()

    def end(self):
        """Make the last labels."""
        for label in self._waiting:
            self._put(label)
        self._waiting = []

    def _add(self):
        rng, id = self.rng, self.sent["rows"]
        a, b = rng.uniform(-1, 1), rng.uniform(-1, 1)
        row = {"id": id, "a": a, "b": b, "place": f"p{id % 3}"}
        label = {"id": id, "y": a * b + id % 3}
        self.sent["rows"] += 1
        self.sent["labels"] += 1
        if rng.random() < 0.3:
            self._put(row | label, id)
        else:
            self._put(row, id)
            self._waiting.append(label)
            if rng.random() < 0.02:
                self._waiting.append({"id": f"nobody {id}", "y": 1.0})
        rng.shuffle(self._waiting)
        while len(self._waiting) > 30:
            self._put(self._waiting.pop())

    def _put(self, event, id=None):
        self.lines.append(json.dumps(event).encode() + b"\n")
        self.rows.append(id)


class Life:
    """One process: what is written to it, and the answers that are read, in one thread."""

    def __init__(self, folder, learner, events, taken):
        context = multiprocessing.get_context("forkserver")
        source, self._write = context.Pipe(duplex=False)
        self._read, out = context.Pipe(duplex=False)
        words = ["live", str(folder / "m.onkel"), "--journal", str(folder / "journal"),
                 "--task", "regression", "--level", "0.9", "--save-every", "300",
                 "--save-seconds", "0.3", "--metrics-every", "0", *LEARNERS[learner]]  # fmt: skip
        self.process = keeping.start(words, folder / "said", source, out)
        source.close()
        out.close()
        os.set_blocking(self._write.fileno(), False)
        self._events, self._rest, self._left = events, b"", b""
        self.written = self.taken = taken
        self.answers, self.ended = [], False

    def turn(self, may_write, rng):
        """Write some bytes, perhaps to the middle of a line, and read answers."""
        may_write = may_write and self.written - self.taken < _AHEAD
        ready = select.select([self._read], [self._write] if may_write else [], [], 0.02)
        if ready[0]:
            self._hear(os.read(self._read.fileno(), 1 << 16))
        if ready[1]:
            if not self._left:
                n = rng.randint(1, 60)
                self._events.to(self.written + n)
                self._left = b"".join(self._events.lines[self.written : self.written + n])
                self.written += n
            self._give(self._left[: rng.randint(1, 4000)])

    def finish(self):
        """Write the last labels, and the end of the input; read all answers."""
        self._events.end()
        self._left += b"".join(self._events.lines[self.written :])
        self.written = len(self._events.lines)
        while self._left:
            ready = select.select([self._read], [self._write], [])
            if ready[0]:
                self._hear(os.read(self._read.fileno(), 1 << 16))
            if ready[1]:
                self._give(self._left)
        self._write.close()
        self.close("the end of its input")

    def close(self, why):
        """Read the answers to the end, and wait for the process."""
        until = time.monotonic() + _PATIENCE
        while not self.ended:
            assert time.monotonic() < until, f"the process does not end after {why}"
            if select.select([self._read], [], [], 1.0)[0]:
                self._hear(os.read(self._read.fileno(), 1 << 16))
        self.process.join(_PATIENCE)
        self._read.close()
        self._write.close()

    def _give(self, data):
        try:
            self._left = self._left[os.write(self._write.fileno(), data) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._left = b""

    def _hear(self, data):
        """Note answers; each is that of the next row, and all before it was taken."""
        self.ended = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            while self._events.rows[self.taken] is None:
                self.taken += 1
            assert answer["id"] == self._events.rows[self.taken], (answer, self.taken)
            self.taken += 1
            self.answers.append(answer)


def play(times, learner="pa", seed=0):
    """End a process so many times; how many rows there were, and the counts of the model."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        events, answers, taken = Events(seed), [], 0
        for _ in range(times):
            life = Life(folder, learner, events, taken)
            try:
                _live(life, rng, folder)
                # one that has only been forked ignores some signals
                how = rng.choice(_ENDS) if life.answers else signal.SIGKILL
                os.kill(life.process.pid, how)
                life.close(f"{how.name}: {_said(folder)}")
            finally:
                life.process.kill()
            expected = -how if how == signal.SIGKILL else 128 + how
            assert life.process.exitcode == expected, (how, life.process.exitcode, _said(folder))
            answers += life.answers
            taken = life.taken
        life = Life(folder, learner, events, taken)
        try:
            life.finish()
        finally:
            life.process.kill()
        assert life.process.exitcode == 0, _said(folder)
        with threadpool_limits(1, user_api="blas"):  # as the process
            return _compare(folder, learner, events, answers + life.answers)


def _live(life, rng, folder):
    """Let a process live: for some time, or for some time after its first answer."""
    until = time.monotonic() + _PATIENCE
    if rng.random() < 0.75:
        while not life.answers:
            assert time.monotonic() < until, _said(folder)
            assert not life.ended, _said(folder)
            life.turn(True, rng)
    until = time.monotonic() + rng.uniform(0.0, 0.7)
    while time.monotonic() < until:
        life.turn(True, rng)


def _compare(folder, learner, events, answers):
    """Let a model take the same cuts without interruption, and compare."""
    live = LiveModel.load(folder / "m.onkel")
    how = live.saved_options | {"say": lambda line: None}
    (folder / "whole").mkdir()
    expected = {}
    with Journal(folder / "journal") as cuts:
        assert cuts.first == 1
        whole = DurableModel.open(folder / "whole" / "m.onkel", Journal(folder / "whole" / "j"),
                                  lambda: _new(folder, learner, how), **how)  # fmt: skip
        for cut in cuts.records():
            for answer in whole.take(cut.events):
                if answer is not None:
                    assert expected.setdefault(answer["id"], answer) == answer
    whole.snapshot()
    whole.journal.close()
    assert {answer["id"]: answer for answer in answers} == expected
    assert all(answer == expected[answer["id"]] for answer in answers)
    counts = whole.live.counts
    assert len(expected) == counts["rows"] == events.sent["rows"]
    assert counts["labels"] == whole.live.model.n_rows == events.sent["labels"]
    assert counts["refused"] == counts["late"] == 0
    assert (folder / "whole" / "m.onkel").read_bytes() == (folder / "m.onkel").read_bytes()
    return len(expected), counts


def _new(folder, learner, how):
    """The model that the first process began with."""
    from onkel.cli.live.opening import new_model
    from onkel.cli.live.options import LiveOptions

    words = LEARNERS[learner]
    options = LiveOptions(
        model=folder / "m.onkel", task="regression", algorithm=words[1], settings=words[3::2]
    )
    return new_model(options, **how)


def _said(folder):
    path = folder / "said"
    return path.read_text(errors="replace")[-5000:] if path.exists() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--learner", choices=LEARNERS, default="pa")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows, counts = play(options.times, options.learner, options.seed)
    again = f"{counts['repeated']:,} rows and {counts['doubled']:,} labels came again"
    print(f"{options.learner}: {options.times} ends; {rows:,} rows were answered once, and their "
          f"{counts['labels']:,} labels learned once; {again}; the file has the bytes of a run "
          "without them")  # fmt: skip


if __name__ == "__main__":
    main()
