"""Whether lines are poured into a pipe, or come from somebody who waits for answers."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest

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
    monkeypatch.setattr(Arrivals, "_look", pytest.fail)
    source, write = os.pipe()
    room = fcntl.fcntl(source, fcntl.F_GETPIPE_SZ)
    arrivals = Arrivals(source, in_order=True)
    assert fcntl.fcntl(source, fcntl.F_GETPIPE_SZ) == room
    data = LINE * (room // len(LINE))
    os.write(write, data)
    assert arrivals.read() == data
    os.close(write)


def test_what_was_read_already_is_the_rest():
    arrivals, write, thread = _arriving([LINE * 10_000], ends=False)
    thread.join()
    first = arrivals.read()
    assert arrivals.has_more
    pieces = [first]
    while data := arrivals.rest():
        pieces.append(data)
    assert b"".join(pieces) == LINE * 10_000
    os.close(write)
