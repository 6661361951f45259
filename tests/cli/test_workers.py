"""``onkel learn --workers``: learning in partitions, and options that do not fit it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from typer.testing import CliRunner

from onkel import load
from onkel.cli.app import app
from onkel.cli.learn import workers

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        x = rng.normal(0, 3, (400, 2))
        rows = [f"{a},{b},{'big' if a > b else 'small'}" for a, b in x.round(3)]
        (tmp_path / f"{k}.csv").write_text("\n".join(["a,b,what", *rows]) + "\n")
    (tmp_path / "2.csv").write_text("a,b,what\n1,2,big\n3,many,small\n" * 90)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["learn", *map(str, arguments), "--target", "what"])


@pytest.mark.slow
def test_workers(files):
    pytest.importorskip("distributed")
    out = files / "model.onkel"
    chosen = "--algorithm", "fogd", "--set", "gamma=0.2", "--workers", 1, "--skip-bad-partitions"
    result = run(files / "*.csv", *chosen, "--json", "--save", out)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["n_rows"] == 800
    assert facts["metrics"]["mistakes"] < 20
    left = [part["name"] for part in facts["partitions"] if part["failure"]]
    assert left == [str(files / "2.csv")]
    # a line of the file, as a person counts
    assert f"left out: {files / '2.csv'}, line 3, column 'b': 'many' stands" in result.stderr
    assert "http://" in result.stderr
    model = load(out)
    assert model.n_rows == 800
    assert model.predict({"a": 5.0, "b": -5.0}) == "big"


def test_a_cluster_that_runs(files, monkeypatch):
    distributed = pytest.importorskip("distributed")
    (files / "2.csv").unlink()
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        chosen = "--algorithm", "fogd", "--set", "gamma=0.2", "--scheduler"
        result = run(files / "*.csv", *chosen, cluster.scheduler_address, "--json")
        # the cluster is left running
        assert cluster.status is distributed.Status.running
        saved = files / "m.onkel"
        monkeypatch.setattr(workers, "_progress", lambda options: _written_meanwhile(saved))
        other = run(files / "*.csv", *chosen, cluster.scheduler_address, "--save", saved, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["n_rows"] == 800
    assert facts["metrics"]["mistakes"] < 20
    assert other.exit_code == 1
    assert "m.onkel was written by another process" in " ".join(other.stderr.split())
    assert saved.read_bytes() == b"theirs"
    assert json.loads(other.stdout)["save"] == str(files / "m.2.onkel")
    assert load(files / "m.2.onkel").n_rows == 800


@contextmanager
def _written_meanwhile(path):
    path.write_bytes(b"theirs")
    yield lambda report: None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--workers", 2, "--delay", 5, "--shuffle", 9], "--shuffle, --delay: needs rows in one"),
        (["--workers", 2, "--scheduler", "tcp://127.0.0.1:1"], "give one"),
        (["--workers", 2, "--intervals", 90], "--intervals: needs rows in one order"),
        (["--skip-bad-partitions"], "give --workers"),
        # before a cluster is started
        (["--workers", 2, "-a", "forgetron"], "this learner cannot be merged: it stores rows"),
    ],
)
def test_what_does_not_go_together(files, more, said):
    result = run(files / "0.csv", *more)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_a_run_with_workers_in_one_line(tmp_path, number, status, word):
    pytest.importorskip("distributed")
    X = np.random.default_rng(0).normal(size=(20_000, 3)).round(3)
    rows = "".join(f"{a},{b},{c},{'big' if a > b else 'small'}\n" for a, b, c in X.tolist())
    for k in range(12):
        (tmp_path / f"{k}.csv").write_text("a,b,c,what\n" + rows)
    save = tmp_path / "m.onkel"
    chosen = ["--algorithm", "fogd", "--set", "gamma=0.2", "--set", "n_components=1000"]
    command = ["learn", f"{tmp_path}/*.csv", "-t", "what", "--workers", "1", "--save", str(save)]
    # as a terminal does it: Ctrl-C comes to all processes of the group
    with subprocess.Popen(
        [sys.executable, "-m", "onkel", *command, *chosen, "--verbose"], start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if ".csv: " in line:
                    break
            if number == signal.SIGINT:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            said = process.stderr.read()
            assert process.wait(120) == status, said
        finally:
            process.kill()
    assert "Traceback" not in said
    assert f"error: {word}: no model was kept" in said
    assert not save.exists()
