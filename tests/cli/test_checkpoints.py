"""The files left by runs that are cut short, resumed, or out of disk space."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel import persistence
from onkel.cli import app
from onkel.cli.learn import continuing
from onkel.persistence import atomic, load_with_info

ROWS = 6000


@pytest.fixture
def lines():
    """A header and 6 000 rows a,b,y."""
    X = np.random.default_rng(0).normal(size=(ROWS, 2)).round(4)
    return ["a,b,y", *(f"{a},{b},{'up' if a > b else 'down'}" for a, b in X.tolist())]


@pytest.fixture
def rows(tmp_path, lines):
    """The rows as a file."""
    path = tmp_path / "rows.csv"
    write(path, lines)
    return path


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")


def learn(path, *args):
    return CliRunner().invoke(app, ["learn", str(path), "-t", "y", "-a", "pa", *map(str, args)])


# ---- resuming ------------------------------------------------------------------------------------


def _reversed(lines):
    return [lines[0], *lines[:0:-1]]


def _swapped(lines):
    return [",".join(np.array(line.split(","))[[1, 0, 2]]) for line in lines]


def _shortened(lines):
    return lines[:2001]


def _edited(lines):
    return [*lines[:7], "9.5,1.5,down", *lines[8:]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_reversed, "are not those read before"),
        (_swapped, "are not those read before"),
        (_shortened, "has 2,000 rows, and 4,096 were read before"),
        (_edited, "are not those read before"),
    ],
)
def test_resume_refuses_a_source_that_changed(rows, lines, tmp_path, change, said):
    kept = tmp_path / "c.onkel"
    assert learn(rows, "--checkpoint", kept, "--limit", 4096).exit_code == 0
    before = kept.read_bytes()
    write(rows, change(lines))
    result = learn(rows, "--checkpoint", kept, "--resume")
    assert result.exit_code == 2
    assert said in result.stderr
    assert kept.read_bytes() == before


def test_resume_takes_rows_that_were_added(rows, lines, tmp_path):
    kept = tmp_path / "c.onkel"
    write(rows, lines[:4097])
    assert learn(rows, "--checkpoint", kept).exit_code == 0
    write(rows, lines)
    assert learn(rows, "--checkpoint", kept, "--resume").exit_code == 0
    assert onkel.load(kept).n_rows == ROWS


def test_a_checkpoint_is_not_begun_anew_unasked(rows, tmp_path):
    kept = tmp_path / "c.onkel"
    assert learn(rows, "--checkpoint", kept).exit_code == 0
    before = kept.read_bytes()
    result = learn(rows, "--checkpoint", kept, "--limit", 10)
    assert result.exit_code == 2
    assert "--resume" in result.stderr
    assert "--overwrite" in result.stderr
    assert kept.read_bytes() == before
    assert learn(rows, "--checkpoint", kept, "--limit", 10, "--overwrite").exit_code == 0
    assert onkel.load(kept).n_rows == 10
    both = learn(rows, "--checkpoint", kept, "--resume", "--overwrite")
    assert both.exit_code == 2
    assert "give one of them" in both.stderr


@pytest.mark.parametrize("option", ["--save", "--report"])
def test_a_checkpoint_shares_its_file_with_nothing(rows, tmp_path, option):
    path = tmp_path / "c.onkel"
    result = learn(rows, "--checkpoint", path, option, path)
    assert result.exit_code == 2
    assert "another use" in result.stderr
    assert not path.exists()


# ---- a full disk ---------------------------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch):
    """``full_disk(n)``: the disk is full for the first n checkpoints."""

    def fill(n):
        tries = []

        def to_bytes(model, **more):
            tries.append(model.n_rows)
            if len(tries) <= n:
                raise OSError(errno.ENOSPC, "No space left on device")
            return persistence.to_bytes(model, **more)

        monkeypatch.setattr(continuing, "to_bytes", to_bytes)
        return tries

    return fill


def test_a_full_disk_at_a_checkpoint_does_not_end_the_run(rows, tmp_path, full_disk):
    full_disk(100)
    kept, saved = tmp_path / "c.onkel", tmp_path / "m.onkel"
    result = learn(
        rows, "--checkpoint", kept, "--checkpoint-every", 2000, "--save", saved, "--json"
    )
    assert result.exit_code == 1
    assert "could not be written" in result.stderr
    assert "No space left" in result.stderr
    assert onkel.load(saved).n_rows == ROWS
    found = json.loads(result.stdout)
    assert found["status"] == "not written"
    assert "checkpoint" not in found


def test_a_checkpoint_is_tried_again(rows, tmp_path, full_disk):
    tries = full_disk(1)
    kept = tmp_path / "c.onkel"
    result = learn(rows, "--checkpoint", kept, "--checkpoint-every", 4096)
    assert tries == [4096, ROWS]
    assert result.exit_code == 0
    assert "could not be written" in result.stderr
    assert "after 6,000 rows was written" in result.stderr
    assert onkel.load(kept).n_rows == ROWS


# ---- runs that are cut short ---------------------------------------------------------------------


def test_a_failed_run_replaces_no_model_and_no_report(rows, lines, tmp_path):
    saved, report = tmp_path / "m.onkel", tmp_path / "r.html"
    outputs = ["--save", saved, "--report", report, "--missing", "error"]
    assert learn(rows, *outputs).exit_code == 0
    before = saved.read_bytes(), report.read_bytes()
    write(rows, [*lines[:4], "1.5,inf,up", *lines[4:]])
    result = learn(rows, *outputs)
    assert result.exit_code == 2
    assert (saved.read_bytes(), report.read_bytes()) == before
    assert onkel.load(tmp_path / "m.partial.onkel").n_rows == 3
    assert "m.partial.onkel holds the model of the first 3 rows" in " ".join(result.stderr.split())
    assert "cut short" in (tmp_path / "r.partial.html").read_text("utf8")


def test_rows_learned_before_an_error_in_mid_block_are_in_the_curve(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 2)).round(4)
    targets = (X @ [1.0, 2.0]).round(4)
    targets[4500] = 1e200
    path, kept = tmp_path / "r.csv", tmp_path / "c.onkel"
    body = [f"{a},{b},{y}" for (a, b), y in zip(X.tolist(), targets.tolist(), strict=True)]
    write(path, ["a,b,y", *body])
    result = learn(path, "--task", "regression", "--json", "--checkpoint", kept)
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    model, info = load_with_info(kept)
    assert model.n_rows == 4500
    assert found["n_rows"] == 4500
    assert info["run"]["totals"]["n_rows"] == 4500


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_sigterm_saves_as_ctrl_c_does(tmp_path, lines):
    saved = tmp_path / "m.onkel"
    args = ["learn", "-", "--format", "csv", "-t", "y", "-a", "pa", "--save", str(saved), "-v"]
    process = subprocess.Popen(
        [sys.executable, "-m", "onkel", *args], text=True, stdin=subprocess.PIPE,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("\n".join(lines + 25 * lines[1:]) + "\n")
    process.stdin.flush()
    said = []
    for line in process.stderr:
        said.append(line)
        if line.split()[:1] == ["8,192"]:
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    said += process.stderr.readlines()
    assert process.wait(timeout=30) == 143
    process.stdin.close()
    process.stderr.close()
    n_rows = onkel.load(saved).n_rows
    assert n_rows >= 8192
    assert f"terminated after {n_rows:,} rows" in "".join(said)


def test_a_checkpoint_whose_folder_could_not_be_flushed_is_not_that_of_another(
    rows, tmp_path, monkeypatch
):
    tries, sync_folder = [], atomic.sync_folder

    def fail_once(folder):
        tries.append(folder)
        if len(tries) == 1:
            raise OSError(errno.EIO, "Input/output error")
        sync_folder(folder)

    monkeypatch.setattr(atomic, "sync_folder", fail_once)
    kept = tmp_path / "c.onkel"
    result = learn(rows, "--checkpoint", kept, "--checkpoint-every", 4096)
    assert len(tries) > 1
    assert result.exit_code == 0
    assert onkel.load(kept).n_rows == ROWS
    assert not (tmp_path / "c.2.onkel").exists()
