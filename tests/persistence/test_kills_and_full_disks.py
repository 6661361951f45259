"""Killed, or out of disk space, at each call that writes: a good model is there, and no row lost.

A child process makes checkpoints, saves or takes cuts, and ends at the n-th call of the functions
that write, rename or remove, for every n. What it had acknowledged must be in what is left.
"""

from __future__ import annotations

import builtins
import errno
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.serve.stream import opened

import onkel
from onkel.errors import JournalError, ModelFileError
from onkel.persistence import save

if not hasattr(os, "fork"):
    pytest.skip("a child process as POSIX has it", allow_module_level=True)

_CALLS = ("write", "fsync", "fdatasync", "replace", "unlink", "truncate", "ftruncate", "chmod")
_MOST = 400
_DEAD = 77


class _Disk:
    """The calls that change the disk, of which the n-th fails: ``at(n, fail)``."""

    def __init__(self, n, fail):
        self.left, self.fail = n, fail

    def counted(self, real):
        def call(*args, **how):
            self.left -= 1
            if self.left == 0:
                self.fail(real, args)
            return real(*args, **how)

        return call

    def install(self, patch):
        for name in _CALLS:
            if hasattr(os, name):
                patch.setattr(os, name, self.counted(getattr(os, name)))
        real = builtins.open

        def opens(path, mode="r", *args, **how):
            if not isinstance(path, str | Path) or not set(mode) & set("xaw"):
                return real(path, mode, *args, **how)
            self.counted(lambda: None)()
            file = real(path, mode, *args, **how)
            return _Writing(file, self)

        patch.setattr(builtins, "open", opens)


class _Writing:
    """A file whose writes are counted, too."""

    def __init__(self, file, disk):
        self._file = file
        self.write = disk.counted(file.write)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


def _die(real, args):
    """End as kill -9 does, perhaps amid a write."""
    if real.__name__ == "write" and len(args[-1]) > 1:
        real(*args[:-1], bytes(args[-1])[: len(args[-1]) // 2])
    os._exit(_DEAD)


def _is_full(real, args):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _killed_at(n, work):
    """Whether a child that does the work comes to the n-th call, where it is killed."""
    child = os.fork()
    if child == 0:
        try:
            _Disk(n, _die).install(pytest.MonkeyPatch())
            work()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, _DEAD)
    return status == _DEAD


def _note(path, word):
    """Acknowledge: other processes see it, whatever comes."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    _WRITE(handle, word.encode())
    os.close(handle)


_WRITE = os.write


def _models():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = onkel.make("pa", "regression")
    for a in range(0, 60, 20):
        yield model.partial_fit(X[a : a + 20], X[a : a + 20, 0])


def test_a_save_that_is_killed_leaves_the_model_before_or_after(tmp_path):
    contents = [model.to_bytes() for model in _models()]
    for n in range(1, _MOST):
        folder = tmp_path / str(n)
        folder.mkdir()

        def work(folder=folder):
            for model in _models():
                save(model, folder / "m.onkel")
                _note(folder / "saved", "x")

        was_killed = _killed_at(n, work)
        saved = len((folder / "saved").read_text()) if (folder / "saved").exists() else 0
        if saved or (folder / "m.onkel").exists():
            assert (folder / "m.onkel").read_bytes() in contents[max(saved - 1, 0) : saved + 1]
        # a later save is not held up by what is left
        save(next(_models()), folder / "m.onkel")
        if not was_killed:
            break
    assert n > 3 * 3


def test_a_disk_that_is_full_at_any_call_of_a_save_keeps_the_file(tmp_path):
    models = _models()
    old, model = next(models).to_bytes(), next(models)
    path = tmp_path / "m.onkel"
    path.write_bytes(old)
    for n in range(1, _MOST):
        with pytest.MonkeyPatch.context() as patch:
            disk = _Disk(n, _is_full)
            disk.install(patch)
            said = _error_of(lambda: save(model, path), ModelFileError)
        if said is None:
            break
        assert said == f"cannot save {path}: No space left on device"
        # the flush after the rename may fail, too
        assert path.read_bytes() in (old, model.to_bytes())
    assert n > 5
    assert [own.name for own in tmp_path.iterdir()] == ["m.onkel"]
    assert path.read_bytes() == model.to_bytes()


def test_cuts_and_snapshots_that_are_killed_lose_no_acknowledged_row(tmp_path):
    rows = [{"id": t, "a": t / 7, "b": t % 3, "place": "p", "y": t / 5} for t in range(12)]
    whole = tmp_path / "whole"
    whole.mkdir()
    _take(whole, rows)
    expected = (whole / "m.onkel").read_bytes()
    for n in range(1, _MOST):
        folder = tmp_path / str(n)
        folder.mkdir()
        was_killed = _killed_at(n, lambda folder=folder: _take(folder, rows))
        acknowledged = (folder / "known").read_text() if (folder / "known").exists() else ""
        model = opened(folder, "pa")
        list(model.recover())
        assert model.live.model.n_rows >= len(acknowledged)
        model.journal.close()
        # the rest, and what was not answered again: the file has the bytes of an unbroken run
        _take(folder, rows[model.live.model.n_rows :])
        assert (folder / "m.onkel").read_bytes() == expected
        if not was_killed:
            break
    assert n > 12 * 2


def _take(folder, rows):
    model = opened(folder, "pa")
    list(model.recover())
    for row in rows:
        model.take([row], {"row": row["id"]})
        _note(folder / "known", "x")
        if row["id"] % 4 == 3:
            model.snapshot()
    model.snapshot()
    model.journal.close()


def test_a_disk_that_is_full_at_any_write_keeps_file_and_cuts(tmp_path):
    rows = [{"id": t, "a": t / 7, "b": t % 3, "place": "p", "y": t / 5} for t in range(6)]
    for n in range(1, _MOST):
        folder = tmp_path / str(n)
        folder.mkdir()
        model = opened(folder, "pa")
        with pytest.MonkeyPatch.context() as patch:
            disk = _Disk(n, _is_full)
            disk.install(patch)
            for row in rows:
                _until_done(partial(model.take, [row]), JournalError, folder / "journal")
                if row["id"] % 2:
                    _until_done(model.snapshot, (ModelFileError, JournalError), folder)
                onkel.load(folder / "m.onkel")
        assert model.live.model.n_rows == len(rows)
        kept = model.live.to_bytes()
        model.journal.close()
        again = opened(folder, "pa")
        list(again.recover())
        assert again.live.to_bytes() == kept
        again.journal.close()
        if disk.left > 0:
            break
    assert n > 6


def _until_done(step, errors, named):
    """Do a step, and do it again where it failed: the error names the file or folder."""
    said = _error_of(step, errors)
    if said is not None:
        assert str(named) in said
        assert "No space left on device" in said
        step()


def _error_of(step, errors):
    """What the error of a step says; None if there was none."""
    try:
        step()
    except errors as error:
        return str(error)
    return None
