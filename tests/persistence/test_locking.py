"""One process at a time writes a file."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from onkel.cli import app
from onkel.persistence.locking import only_writer

pytest.importorskip("fcntl")

HELD = """
import sys
from pathlib import Path
from onkel.persistence.locking import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_and_a_killed_one_is_none(tmp_path):
    path = tmp_path / "m.onkel"
    command = [sys.executable, "-c", HELD, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"held\n"
        link = tmp_path / "link.onkel"
        link.symlink_to(path)
        for name in (path, link):
            with pytest.raises(ValueError, match="another process learns this model"):
                only_writer(name).__enter__()
        with only_writer(tmp_path / "other.onkel"):
            pass
        process.kill()
    with only_writer(path):
        pass
    link.unlink()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_was_removed_meanwhile_is_made_anew(tmp_path):
    path = tmp_path / "m.onkel"
    with only_writer(path):
        (tmp_path / ".m.onkel.lock").unlink()
        with only_writer(path), pytest.raises(ValueError, match="another process"):
            only_writer(path).__enter__()


def test_a_folder_that_is_not_there_is_refused_elsewhere(tmp_path):
    with only_writer(tmp_path / "nowhere" / "m.onkel"):
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [[], ["--journal", "second"]])
def test_two_that_learn_one_model(tmp_path, more, monkeypatch):
    """Their journals are not of each other's files: after a crash one could not be taken again."""
    monkeypatch.chdir(tmp_path)
    command = ["live", "m.onkel", "rows.jsonl", "--task", "regression", "-a", "pa", *more]
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "a": 1.0, "y": 2.0}\n' * 3)
    with only_writer(tmp_path / "m.onkel"):
        refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 2
    assert "another process learns this model and writes its file" in " ".join(
        refused.stderr.split()
    )
    assert not (tmp_path / "m.onkel").exists()
    assert not (tmp_path / "second").exists()
    assert not (tmp_path / ".m.onkel.lock").exists()
