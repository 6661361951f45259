"""A queue that is partly on disk hands out what was put in, in that order."""

from __future__ import annotations

import errno
import tempfile
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.cli.live import backlog
from onkel.cli.live.backlog import Backlog

STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 12)), max_size=30)


@settings(deadline=None)
@given(STEPS, st.integers(0, 20) | st.none())
def test_nothing_is_lost_and_order_stays(steps, full_after):
    """Also where the disk is full after some pieces."""
    said, n_written = [], 0

    class File(backlog._File):
        def write(self, entries):
            nonlocal n_written
            n_written += 1
            super().write(entries)
            if full_after is not None and n_written > full_after:
                self.pieces.pop()
                raise OSError(errno.ENOSPC, "no space")

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for name, value in (("_MOST", 5), ("_PIECE", 3), ("_FILE", 200), ("_File", File)):
            patch.setattr(backlog, name, value)
        own, alike, n = Backlog(folder, said.append), deque(), 0
        for adds, times in steps:
            for _ in range(times):
                if adds:
                    n += 1
                    own.append({"id": n, "text": "Ü" * n})
                    alike.append({"id": n, "text": "Ü" * n})
                elif alike:
                    assert own.popleft() == alike.popleft()
                assert len(own) == len(alike)
        while own:
            assert own.popleft() == alike.popleft()
        assert not alike
        assert len(said) == (full_after is not None and n_written > full_after)


def test_few_are_in_memory_and_files_that_were_read_are_closed(monkeypatch, tmp_path):
    for name, value in (("_MOST", 10), ("_PIECE", 4), ("_FILE", 500)):
        monkeypatch.setattr(backlog, name, value)
    own = Backlog(tmp_path, pytest.fail)
    for k in range(1000):
        own.append(k)
        assert len(own._first) + len(own._last) <= 10 + 4
    files = list(own._files)
    assert len(files) > 5
    assert [own.popleft() for _ in range(1000)] == list(range(1000))
    assert all(one.file.closed for one in files[:-1])
    assert not own.is_full
