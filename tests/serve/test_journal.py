"""The journal: what was committed is read again, torn ends are dropped, damage is an error."""

from __future__ import annotations

import errno
import math
import os
import shutil
import sys
import threading
from contextlib import suppress

import pytest

from onkel.errors import JournalError
from onkel.serve import journal as journals
from onkel.serve.journal import Journal
from onkel.serve.records import beginning

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a journal needs the locks of POSIX")


def _filled(folder, n=5, **how):
    with Journal(folder, **how) as journal:
        for k in range(n):
            journal.append([{"id": k, "a": k / 3}], position={"p": k})
            journal.commit()
    return sorted(folder.glob("*.journal"))


def _numbers(folder, after=0):
    with Journal(folder) as journal:
        return [cut.number for cut in journal.records(after)]


def test_cuts_are_read_as_they_were_returned(tmp_path):
    odd = [
        {"id": "\ud800 é", "a": math.inf, "b": 10**30, "c": None},
        "line 3: no JSON",
        {"y": -0.0},
    ]
    with Journal(tmp_path) as journal:
        one = journal.append(odd, position=[1, {"x": "y"}])
        two = journal.append([{1: (2, 3)}])
        journal.commit()
        assert two.events == [{"1": [2, 3]}]
    with Journal(tmp_path) as journal:
        assert list(journal.records()) == [one, two]
        assert list(journal.records(after=1)) == [two]
        assert journal.append([]).number == 3


def test_what_was_not_committed_is_not_there(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append([1])
        journal.commit()
        journal.append([2])
    assert _numbers(tmp_path) == [1]


def test_no_cut_is_lost_that_is_appended_while_the_one_before_is_written(tmp_path, monkeypatch):
    """As at a broker, where one cut is on its way to the disk while the next is read."""
    monkeypatch.setattr(journals, "_sync", lambda file: None)
    switch, n = sys.getswitchinterval(), 20_000
    sys.setswitchinterval(1e-6)
    try:
        with Journal(tmp_path) as journal:
            for k in range(n):
                journal.append([k])
                begun = journal.commit_meanwhile()
                if k % 3 == 0:
                    begun.result()
    finally:
        sys.setswitchinterval(switch)
    assert _numbers(tmp_path) == list(range(1, n + 1))


def test_after_a_cut_that_could_not_be_written_none_that_was_appended_is(tmp_path, monkeypatch):
    write, let = journals._write, threading.Event()

    def full(file, content):
        let.wait()
        monkeypatch.setattr(journals, "_write", write)
        os.write(file, content[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Journal(tmp_path) as journal:
        journal.append([1])
        journal.commit()
        monkeypatch.setattr(journals, "_write", full)
        begun = []
        for k in (2, 3):
            journal.append([k])
            begun.append(journal.commit_meanwhile())
        let.set()
        with pytest.raises(JournalError, match="No space left on device"):
            begun[0].result()
        with pytest.raises(JournalError, match="cuts before it could not be written"):
            begun[1].result()
        assert journal.append([4]).number == journal.last == 2
        journal.commit()
        journal.append([5])
        journal.commit_meanwhile().result()
    with Journal(tmp_path) as journal:
        assert [cut.events for cut in journal.records()] == [[1], [4], [5]]


def test_every_torn_end_is_dropped(tmp_path):
    (path,) = _filled(tmp_path, 3)
    content = path.read_bytes()
    with Journal(tmp_path) as journal:
        journal.append(["the last"])
        journal.commit()
    whole = path.read_bytes()
    for end in range(len(content), len(whole)):
        path.write_bytes(whole[:end])
        with Journal(tmp_path) as journal:
            assert journal.last == 3
            assert (journal.dropped is None) == (end == len(content))
        assert path.read_bytes() == content
    # the file had grown, and its content had not come to the disk
    path.write_bytes(content + bytes(len(whole) - len(content)))
    with Journal(tmp_path) as journal:
        assert [cut.number for cut in journal.records()] == [1, 2, 3]
        assert str(path) in journal.dropped


def test_a_segment_that_had_hardly_begun_is_dropped(tmp_path):
    _filled(tmp_path, 3)
    with Journal(tmp_path) as journal:
        journal.begin_segment()
    path = sorted(tmp_path.glob("*.journal"))[1]
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with Journal(tmp_path) as journal:
            assert journal.last == 3
            journal.begin_segment()


def test_damage_in_the_middle_names_file_and_byte(tmp_path):
    (path,) = _filled(tmp_path, 3)
    content = path.read_bytes()
    starts = [k for k in range(len(content)) if content.startswith(b"\xa5oj1", k)]
    assert len(starts) == 4
    for byte in range(starts[-1]):
        damaged = bytearray(content)
        damaged[byte] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match="damaged") as error:
            Journal(tmp_path)
        at = max(start for start in starts if start <= byte)
        assert f"{path}: the record at byte {at:,} is damaged" in str(error.value)
    path.write_bytes(content)
    assert _numbers(tmp_path) == [1, 2, 3]


def test_damage_before_another_segment_is_an_error(tmp_path):
    paths = _filled(tmp_path, 6, segment_bytes=100)
    assert len(paths) > 2
    assert _numbers(tmp_path) == [1, 2, 3, 4, 5, 6]
    content = paths[0].read_bytes()
    paths[0].write_bytes(content[:-3])
    with pytest.raises(JournalError, match="damaged"):
        Journal(tmp_path)
    paths[0].write_bytes(content)
    paths[1].unlink()
    with pytest.raises(JournalError, match="a segment is missing"):
        Journal(tmp_path)


def test_segments_before_a_number_are_forgotten(tmp_path):
    _filled(tmp_path, 3)
    with Journal(tmp_path) as journal:
        journal.begin_segment("digest")
        journal.append([4])
        journal.commit()
        journal.forget(2)
        assert journal.first == 1
        journal.forget(3)
        assert journal.first == 4
        assert [cut.number for cut in journal.records(3)] == [4]
    with Journal(tmp_path) as journal:
        assert (journal.first, journal.last) == (4, 4)
        journal.follow(3, "digest")
        journal.follow(4, "any")
        for number, digest in [(3, "another"), (2, None), (5, None)]:
            with pytest.raises(JournalError, match="folder of this model"):
                journal.follow(number, digest)


def test_one_process_at_a_time(tmp_path):
    with Journal(tmp_path), pytest.raises(JournalError, match="another process"):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_a_full_disk_takes_nothing(tmp_path, monkeypatch):
    real, room = os.write, [0]

    def write(file, content):
        n = real(file, bytes(content)[: room[0]])
        if not n:
            raise OSError(28, "No space left on device")
        room[0] -= n
        return n

    with Journal(tmp_path) as journal:
        journal.append([1])
        journal.commit()
        size = journal.nbytes
        monkeypatch.setattr(os, "write", write)
        for room[0] in range(30):
            journal.append([2])
            with pytest.raises(JournalError, match="No space left"):
                journal.commit()
            assert (journal.last, journal.nbytes) == (1, size)
        monkeypatch.undo()
        journal.append([2])
        journal.commit()
    assert _numbers(tmp_path) == [1, 2]


def test_events_that_json_cannot_hold_are_refused(tmp_path):
    with Journal(tmp_path) as journal:
        with pytest.raises(TypeError, match="as JSON has them"):
            journal.append([{"a": object()}])
        assert journal.append([]).number == 1


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
@pytest.mark.parametrize("often", [1, 2])
def test_a_disk_that_was_full_when_a_segment_began_loses_nothing(
    tmp_path, monkeypatch, call, often
):
    """Each call of the system may fail, and the one that follows it."""
    for nth in range(1, 5):
        folder = tmp_path / f"{nth}"
        _filled(folder, 3)
        with Journal(folder) as journal:
            real, n = getattr(os, call), [0]

            def fails(*args, real=real, n=n, nth=nth, **how):
                n[0] += 1
                if nth <= n[0] < nth + often:
                    raise OSError(28, "No space left on device")
                return real(*args, **how)

            with monkeypatch.context() as patch:
                patch.setattr(os, call, fails)
                with suppress(JournalError):
                    journal.begin_segment("digest")
                with suppress(JournalError):
                    journal.append(["perhaps"])
                    journal.commit()
            known = journal.last
            journal.append(["after"])
            journal.commit()
            # a start that comes now
            _check_copy(folder, tmp_path / f"copy {nth}", known + 1)
            journal.begin_segment()
            journal.append(["in another segment"])
            journal.commit()
            journal.forget(known + 1)
        assert _numbers(folder, known + 1) == [known + 2]


def _check_copy(folder, copy, last):
    shutil.copytree(folder, copy)
    assert _numbers(copy) == list(range(1, last + 1))


@pytest.mark.parametrize("others", ["before", "after", "both"])
def test_what_earlier_versions_left_of_a_segment_on_a_full_disk_is_dropped(tmp_path, others):
    """The cuts went on in the segment before, and later in one that could be begun."""
    content = beginning(3, "f" * 64)
    for end in range(len(content) + 1):
        folder = tmp_path / f"{end}"
        _filled(folder, 5)
        left = folder / f"{4:020d}.journal"
        if others != "before":
            with Journal(folder) as journal:
                journal.begin_segment()
                journal.append([6])
                journal.commit()
                if others == "after":
                    journal.forget(5)
        left.write_bytes(content[:end])
        expected = {"before": [1, 2, 3, 4, 5], "after": [6], "both": [1, 2, 3, 4, 5, 6]}[others]
        with Journal(folder) as journal:
            assert (journal.first, journal.last) == (expected[0], expected[-1])
            assert [cut.number for cut in journal.records()] == expected
            journal.append(["more"])
            journal.commit()
        assert not left.exists()
        assert _numbers(folder) == [*expected, expected[-1] + 1]


def test_a_segment_that_lost_its_cuts_is_no_leftover(tmp_path):
    paths = _filled(tmp_path, 6, segment_bytes=100)
    content = paths[1].read_bytes()
    for size in (0, 30, len(beginning(2, None))):
        paths[1].write_bytes(content[:size])
        with pytest.raises(JournalError, match="a segment is missing"):
            Journal(tmp_path)
        assert paths[1].stat().st_size == size
    paths[1].write_bytes(bytes(len(content)))
    with pytest.raises(JournalError, match="segment is missing"):
        Journal(tmp_path)
    paths[1].write_bytes(content)
    assert _numbers(tmp_path) == [1, 2, 3, 4, 5, 6]
