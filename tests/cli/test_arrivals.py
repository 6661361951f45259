"""Whether lines are poured into a pipe, or come from somebody who waits for answers."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import sys
import threading
import time

import pytest

from onkel.cli.live import arrivals as arrivals_module
from onkel.cli.live.arrivals import Arrivals

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
LINE = b'{"id": 1, "a": 0.123456789, "b": "some text", "y": 1.0}\n'


def _write(file, pieces, pause=0.0):
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left) :]
        time.sleep(pause)


def _arriving(pieces, pause=0.0, *, ends=True):
    """Arrivals whose pieces are written by a thread; the writing end; the thread."""
    source, write = os.pipe()

    def run():
        _write(write, pieces, pause)
        if ends:
            os.close(write)

    thread = threading.Thread(target=run, daemon=True)
    arrivals = Arrivals(source)
    thread.start()
    return arrivals, write, thread


def _size_of_all(arrivals):
    """The bytes that come until the end; nothing of them is taken for poured."""
    size = 0
    while data := arrivals.read():
        assert not arrivals.is_poured
        size += len(data)
        arrivals.wait(1.0)
    return size


@pytest.mark.parametrize("n", [1, 500, 5_000, 400_000])
def test_what_is_written_at_once_is_poured_and_comes_whole(n):
    arrivals, _, thread = _arriving([LINE * n])
    if n <= 500:
        thread.join()
    pieces = []
    while data := arrivals.read():
        assert arrivals.is_poured
        assert len(data) <= 1 << 16
        pieces.append(data)
    thread.join()
    assert b"".join(pieces) == LINE * n


def test_a_program_that_makes_lines_as_fast_as_it_can_pours_them():
    code = f"import sys; [sys.stdout.buffer.write({LINE!r}) for _ in range(1_000_000)]"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, bufsize=0) as made:
        arrivals = Arrivals(made.stdout.fileno())
        size, poured = 0, 0
        while data := arrivals.read():
            size += len(data)
            poured += arrivals.is_poured
    assert size == len(LINE) * 1_000_000
    # a busy machine may stop the program for a moment
    assert poured > 500


def test_lines_after_which_nothing_comes_are_waited_for():
    """A crowd that had been held up is no pour, though it came at once."""
    arrivals, write, thread = _arriving([LINE * 10_000], ends=False)
    thread.join()
    size = 0
    while arrivals.wait(0.0):
        size += len(arrivals.read())
        assert not arrivals.is_poured
    assert size == len(LINE) * 10_000
    assert not arrivals.has_more
    os.close(write)
    assert arrivals.read() == b""


def test_a_pipe_at_20_000_lines_a_second_is_waited_for():
    arrivals, _, thread = _arriving([LINE * 100 for _ in range(100)], 0.005)
    time.sleep(0.2)
    assert _size_of_all(arrivals) == len(LINE) * 10_000
    thread.join()


def test_a_writer_that_catches_up_is_waited_for():
    """A million lines a second for a moment, what was held up, and 20,000 from then on."""
    burst = [LINE * 1000 for _ in range(30)]
    arrivals, _, thread = _arriving([*burst, *(LINE * 20 for _ in range(300))], 0.001)
    assert _size_of_all(arrivals) == len(LINE) * 36_000
    thread.join()


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="pipes have a size on Linux")
def test_rows_in_order_neither_get_more_room_nor_are_looked_at(monkeypatch):
    monkeypatch.setattr(Arrivals, "_look_at_first", pytest.fail)
    source, write = os.pipe()
    room = fcntl.fcntl(source, fcntl.F_GETPIPE_SZ)
    arrivals = Arrivals(source, in_order=True)
    assert fcntl.fcntl(source, fcntl.F_GETPIPE_SZ) == room
    data = LINE * (room // len(LINE))
    os.write(write, data)
    arrivals.look()
    assert select.select([source], [], [], 0.0)[0]
    assert arrivals.read() == data
    os.close(write)


def test_what_was_read_already_is_the_rest():
    arrivals, write, thread = _arriving([LINE * 10_000], ends=False)
    thread.join()
    pieces = [arrivals.read()]
    assert arrivals.has_more
    arrivals.look()
    while data := arrivals.rest():
        pieces.append(data)
    assert b"".join(pieces) == LINE * 10_000
    os.close(write)


class _Pipe:
    """A pipe of a writer at a pace, whose lines wait where the pipe is full; time stands still."""

    def __init__(self, monkeypatch, rate, room=1 << 20):
        self.rate, self.room, self.now, self.due = rate, room, 0.0, 0.0
        monkeypatch.setattr(arrivals_module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(arrivals_module.os, "read", self.read)
        monkeypatch.setattr(arrivals_module, "_widen", lambda source: None)
        monkeypatch.setattr(arrivals_module, "_has_ended", lambda source: False)
        monkeypatch.setattr(Arrivals, "_is_there", lambda own, seconds: self.is_there(seconds))
        self.arrivals = Arrivals(0)

    def pass_by(self, seconds):
        self.now += seconds
        self.due += self.rate * seconds

    def is_there(self, seconds):
        if self.due < 1.0 and seconds:
            self.pass_by(seconds)
        return self.due >= 1.0

    def read(self, source, most):
        # a writer that was held up writes a million lines a second
        n = int(min(self.due, most // len(LINE), self.room // len(LINE)))
        self.due -= n
        self.pass_by(n * 1e-6)
        return LINE * n

    def go_on(self, seconds, line_takes):
        """Read and answer lines for so many seconds; the time in which they were poured."""
        end, poured = self.now + seconds, 0.0
        while self.now < end:
            began = self.now
            if self.arrivals.wait(1e-3):
                n = self.arrivals.read().count(b"\n")
                for _ in range(0, n, 200):
                    self.pass_by(line_takes * min(n, 200))
                    self.arrivals.look()
            self.arrivals.look()
            poured += (self.now - began) * self.arrivals.is_poured
        return poured


@pytest.mark.parametrize("rate", [1_000, 20_000])
@pytest.mark.parametrize("stall", [0.5, 5.0, 100.0])
def test_what_we_held_up_is_not_poured(monkeypatch, rate, stall):
    """As while loops are compiled: the writer has the rows of so many seconds."""
    pipe = _Pipe(monkeypatch, rate)
    assert not pipe.go_on(2.0, 2e-5)
    for _ in range(2):
        pipe.pass_by(stall)
        assert not pipe.go_on(2.0, 2e-5)


@pytest.mark.parametrize("known", [True, False])
def test_what_came_while_the_process_started_is_not_poured(monkeypatch, known):
    """Only as it is known since when lines may have come: these are 200,000."""
    pipe = _Pipe(monkeypatch, 20_000)
    pipe.pass_by(10.0)
    pipe.arrivals = Arrivals(0, began=0.0 if known else None)
    assert pipe.arrivals.read()
    assert pipe.arrivals.is_poured is not known


def test_a_writer_that_is_faster_than_answers_pours(monkeypatch):
    pipe = _Pipe(monkeypatch, 200_000)
    assert pipe.go_on(2.0, 1e-5) > 1.0
    # labels take long
    assert pipe.go_on(5.0, 1e-3) > 4.9


def test_what_was_poured_is_so_no_longer_when_lines_come_at_a_pace(monkeypatch):
    """Also where they come faster than they are taken in order."""
    pipe = _Pipe(monkeypatch, 200_000)
    assert pipe.go_on(1.0, 1e-5)
    pipe.rate, pipe.due = 1_000, 0.0
    pipe.go_on(5.0, 2.5e-3)
    assert not pipe.go_on(5.0, 2.5e-3)
    assert pipe.arrivals.has_more
